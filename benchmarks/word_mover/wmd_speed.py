"""Exact Word Mover's Distance: microseconds a pair, against the packages that people use.

The same documents for all, CPU time of one thread, with everything that a distance needs. Ours
computes whole blocks; the others get ready-made bags and vectors and are called pair by pair, which
is the only way they offer. Rivals that are not installed are left out, and named. Writes
docs/tables/wmd-speed.md. Takes about five minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wmd_speed [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import by_length, vectors
from fewpairs.transport.ground import Ground

Distance = Callable[[fp.Documents, fp.Documents], float]


def rivals() -> dict[str, Distance]:
    """Every package at its best: without checks, with prepared input, with buffers kept."""
    array = np.ascontiguousarray(vectors().array, dtype=np.float64)
    single = array.astype(np.float32)
    found: dict[str, Distance] = {}
    try:
        import ot
        from ot.lp.emd_wrap import emd_c

        def pot(a, b):
            return ot.emd2(a.weights, b.weights, cdist(array[a.words], array[b.words]))

        def pot_solver(a, b):
            cost = cdist(array[a.words], array[b.words])
            return emd_c(a.weights, b.weights, cost, 100_000, 1)[1]

        found["POT emd2 + cdist"] = pot
        found["POT's C solver + cdist"] = pot_solver
    except ImportError as error:
        print(f"left out: {error}")
    try:
        from gensim.models import KeyedVectors

        keyed = KeyedVectors(array.shape[1])
        keyed.add_vectors(vectors().words, single)

        def gensim(a, b):
            return keyed.wmdistance(_tokens(a), _tokens(b), norm=False)

        found["gensim wmdistance"] = gensim
    except ImportError as error:
        print(f"left out: {error}")
    try:
        from pyemd import emd

        def py_emd(a, b):
            words = np.union1d(a.words, b.words)
            one, other = _spread(a, words), _spread(b, words)
            return emd(one, other, cdist(array[words], array[words]))

        found["pyemd + cdist"] = py_emd
    except ImportError as error:
        print(f"left out: {error}")
    try:
        import libwmdrelax

        cache = libwmdrelax.emd_cache_init(256)

        def relax(a, b):
            words = np.union1d(a.words, b.words)
            cost = cdist(single[words], single[words]).astype(np.float32)
            one, other = _spread(a, words), _spread(b, words)
            return libwmdrelax.emd(one.astype(np.float32), other.astype(np.float32), cost, cache)

        found["wmd-relax emd + cdist"] = relax
    except ImportError as error:
        print(f"left out: {error}")
    return found


def _tokens(document: fp.Documents) -> list[str]:
    """Tokens of a document, each as often as it occurs; weights are counts / total."""
    smallest = document.weights.min()
    counts = np.rint(document.weights / smallest).astype(int)
    words = vectors().words
    return [words[w] for w, c in zip(document.words, counts, strict=True) for _ in range(c)]


def _spread(document: fp.Documents, words: np.ndarray) -> np.ndarray:
    """Weights of all these words, 0 for those that the document lacks."""
    result = np.zeros(len(words))
    result[np.searchsorted(words, document.words)] = document.weights
    return result


def ours(documents: fp.Documents, landmarks: np.ndarray, repeats: int) -> list[float]:
    """Microseconds a pair, distances between words included."""
    ground = Ground.of(vectors(), "euclidean", normalize=False)
    chosen = documents[landmarks]
    ground.block(documents[:50], chosen[:2])  # compiles before the clock starts
    taken = []
    for _ in range(repeats):
        start = time.thread_time()
        ground.block(documents, chosen)
        taken.append((time.thread_time() - start) / (len(documents) * len(chosen)) * 1e6)
    return taken


def theirs(distance: Distance, pairs: list, repeats: int) -> tuple[list[float], np.ndarray]:
    """Microseconds a pair, and the distances."""
    taken, values = [], np.empty(len(pairs))
    for _ in range(repeats):
        start = time.thread_time()
        for k, (a, b) in enumerate(pairs):
            values[k] = distance(a, b)
        taken.append((time.thread_time() - start) / len(pairs) * 1e6)
    return taken, values


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    repeats = 2 if options.quick else 5
    named = rivals()
    rows, off = [], dict.fromkeys(named, 0.0)
    with threadpool_limits(1):
        for title, documents in by_length().items():
            rng = np.random.default_rng(0)
            landmarks = rng.permutation(len(documents))[:20]
            length = np.diff(documents.starts).mean()
            mine = ours(documents, landmarks, repeats)
            count = 100 if options.quick else 300
            picked = [
                (documents[int(i)], documents[int(j)])
                for i, j in zip(
                    rng.permutation(len(documents))[:count], rng.choice(landmarks, count),
                    strict=True,
                )
            ]  # fmt: skip
            exact = np.array([fp.wmd(a, b)[0, 0] for a, b in picked])
            cells = [f"{title}, L = {length:.1f}", f"**{min(mine):.2f}** ({max(mine):.2f})"]
            for name, distance in named.items():
                taken, values = theirs(distance, picked, repeats)
                far = exact > 1e-9
                gap = np.abs(values - exact)[far] / exact[far]
                off[name] = max(off[name], float(gap.max()))
                low, high = min(taken) / max(mine), max(taken) / min(mine)
                cells.append(
                    f"{min(taken):.0f}: **{np.median(taken) / np.median(mine):.0f}×** "
                    f"({low:.0f}–{high:.0f})"
                )
            rows.append(cells)
            print(*cells, sep=" | ", flush=True)
    rows.append(["largest relative difference", "", *(f"{off[name]:.0e}" for name in named)])
    text = table(["documents", "fewpairs, µs a pair", *named], rows)
    text = (
        "Best time of each, then the ratio of medians to ours, with the smallest and largest ratio "
        f"over {repeats} repetitions.\n\n{text}\n"
    )
    print("\n" + text)
    publish("wmd-speed", text, quick=options.quick)


if __name__ == "__main__":
    main()
