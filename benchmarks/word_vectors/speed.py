"""Word vectors from 16 million words: seconds and quality, against gensim and GloVe.

Every training runs in a process of its own, on two threads, from the same token lists; reading and
tokenising are not timed. Ratios are those of CPU seconds, which count all threads and which other
work on the machine changes little. `--only` leaves out methods whose names begin otherwise: their
lines stay as an earlier run has made them, with a mark. `--keep` saves the vectors, for cnn.py;
those of a quick run in a folder of their own. Writes docs/tables/word-vectors.md. Takes about four
hours on one core, with GloVe at every K.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.speed [--quick] [--dimensions 100 200 300]
        [--only NAME …] [--keep FOLDER]
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared import word_quality as quality
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.earlier import NONE, Earlier
from benchmarks.shared.glove_training import train_glove
from benchmarks.shared.kept import code
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import MIN_COUNT, wikipedia
from fewpairs.text.cooccurrence import Cooccurrences
from fewpairs.text.corpus import EncodedCorpus

OURS: dict[str, dict[str, Any]] = {
    "build-up, 4K references": {"references": "paper"},
    "**build-up (default)**": {},
    "default, positive PMI, smoothing 0.75": {"positive": True, "smoothing": 0.75},
    "divide and conquer": {"method": "divide"},
    "eigs": {"method": "eigs"},
}
RIVALS = ("gensim word2vec", "gensim fastText", "GloVe")
THREADS = 2
TEXT = """\
100 MB of English Wikipedia, 15.9 million tokens, two threads. No package that trains GloVe could be
had: it is trained by a loop of ours after its paper, in compiled code on one thread, with the
settings of its authors' demonstration: 15 passes, a window of 15, x_max = 10. "–": not run.

## Seconds and quality

{made}

Pairs covered: {covered}.

## How many times less processor time ours takes

From tokens to vectors; in brackets the vector step alone (GloVe's with its counting).

{ratios}
"""


class Trained(NamedTuple):
    """Vectors and what they took: wall and CPU seconds by stage, bytes at the peak."""

    words: list[str]
    array: np.ndarray
    wall: dict[str, float]
    cpu: dict[str, float]
    memory: int


class Clock:
    """Wall and CPU seconds by stage."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._last = time.perf_counter(), time.process_time()

    def stop(self, stage: str) -> None:
        """End a stage; the next begins."""
        now = time.perf_counter(), time.process_time()
        self.wall[stage], self.cpu[stage] = now[0] - self._last[0], now[1] - self._last[1]
        self._last = now


def train_ours(title: str, dimensions: int, limit: int | None) -> Trained:
    texts = wikipedia(limit)
    options = {"n_components": dimensions, "min_count": MIN_COUNT, "n_jobs": THREADS, **OURS[title]}
    few = fp.DistanceGeometryVectors(**options | {"n_components": 5})
    few.fit(texts[:2000])  # compiles before the clock starts
    model = fp.DistanceGeometryVectors(**options)
    before, clock = peak_memory(), Clock()
    corpus = EncodedCorpus.of(texts, min_count=MIN_COUNT)
    clock.stop("reading tokens")
    counts: Cooccurrences = model._counts(corpus)  # noqa: SLF001 - stage by stage
    clock.stop("counting")
    gram = model._pmi(counts)  # noqa: SLF001
    clock.stop("PMI")
    model._place(counts, gram)  # noqa: SLF001
    clock.stop("vectors")
    vectors = model.vectors_
    return Trained(vectors.words, vectors.array, clock.wall, clock.cpu, peak_memory() - before)


def train_gensim(title: str, dimensions: int, limit: int | None) -> Trained:
    from gensim.models import FastText, Word2Vec

    texts = wikipedia(limit)
    kind = Word2Vec if "word2vec" in title else FastText
    before, clock = peak_memory(), Clock()
    model = kind(
        texts, vector_size=dimensions, window=5, min_count=MIN_COUNT, sg=1, negative=5, epochs=5,
        workers=THREADS, seed=1,
    )  # fmt: skip
    clock.stop("vectors")
    kept = model.wv
    return Trained(
        list(kept.index_to_key), kept.vectors, clock.wall, clock.cpu, peak_memory() - before
    )


def train_by_glove(title: str, dimensions: int, limit: int | None) -> Trained:  # noqa: ARG001
    texts = wikipedia(limit)
    train_glove(EncodedCorpus.of(texts[:2000], min_count=MIN_COUNT), 5)  # compiles
    before, clock = peak_memory(), Clock()
    corpus = EncodedCorpus.of(texts, min_count=MIN_COUNT)
    clock.stop("reading tokens")
    vectors = train_glove(corpus, dimensions)
    clock.stop("vectors")
    return Trained(vectors.words, vectors.array, clock.wall, clock.cpu, peak_memory() - before)


def train_random(title: str, dimensions: int, limit: int | None) -> Trained:  # noqa: ARG001
    words = EncodedCorpus.of(wikipedia(limit), min_count=MIN_COUNT).words
    array = np.random.default_rng(0).normal(size=(len(words), dimensions)).astype(np.float32)
    return Trained(words, array, {"vectors": 0.0}, {"vectors": 0.0}, 0)


def in_its_own_process(title: str, dimensions: int, limit: int | None) -> Trained:
    train = {"random": train_random, "GloVe": train_by_glove}.get(title, train_gensim)
    train = train_ours if title in OURS else train
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(train, title, dimensions, limit).result()


def keep(folder: Path, title: str, dimensions: int, found: Trained) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")
    fp.WordVectors(found.words, found.array).save(folder / f"{name}-{dimensions}.npz")


def row(title: str, dimensions: int, found: Trained) -> list[str]:
    vectors = fp.WordVectors(found.words, found.array)
    with threadpool_limits(1):  # threads that wait for a busy core only get in the way
        return _row(title, dimensions, found, vectors)


def _row(title: str, dimensions: int, found: Trained, vectors: fp.WordVectors) -> list[str]:
    cells = [f"{quality.similarity(vectors, name)[0]:.3f}" for name in quality.SIMILARITY]
    cells += [f"{100 * quality.analogies(vectors):.1f}"]
    cells += [f"{score:.1f}" for score in quality.qvec(vectors)]
    cells += [f"{quality.f1(vectors, name):.1f}" for name in quality.CLASSIFICATION]
    split = " + ".join(f"{seconds:.1f}" for seconds in found.cpu.values())
    return [
        str(dimensions),
        title,
        f"{sum(found.cpu.values()):.1f} ({split})" if len(found.cpu) > 1 else f"{split}",
        f"{sum(found.wall.values()):.1f}",
        f"{found.memory / 1e9:.2f}",
        *cells,
    ]


def ratios(dimensions: int, found: dict[str, Trained]) -> Iterable[list[str]]:
    """How many times less CPU time each of ours takes than each rival of the same run."""

    def ratio(rival: str, ours: dict[str, float]) -> str:
        if rival not in found:
            return NONE
        theirs = found[rival].cpu
        whole = sum(theirs.values()) / sum(ours.values())
        return f"{whole:.0f} ({theirs['vectors'] / ours['vectors']:.0f})"

    for title in OURS:
        if title in found:
            cells = [ratio(rival, found[title].cpu) for rival in RIVALS]
            yield [str(dimensions), title, *cells]


def covered(found: dict[str, Trained]) -> str:
    """Which share of the pairs has vectors; all methods have the same words."""
    some = next(iter(found.values()))
    vectors = fp.WordVectors(some.words, some.array)
    shares = {name: quality.similarity(vectors, name)[1] for name in quality.SIMILARITY}
    return ", ".join(f"{name} {share:.0%}" for name, share in shares.items())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--dimensions", type=int, nargs="*", default=[100, 200, 300])
    parser.add_argument("--only", nargs="*", help="methods whose names begin so; else all")
    parser.add_argument("--keep", type=Path, help="a folder for the vectors, for cnn.py")
    options = parser.parse_args()
    need_data()
    limit = 10_000 if options.quick else None
    # Vectors of a part of the corpus must not be taken for those of all.
    folder = options.keep / "quick" if options.keep and options.quick else options.keep
    made_by = code("text")
    lines, faster = [], []
    for dimensions in [100] if options.quick else options.dimensions:
        found = {}
        for title in (*OURS, *RIVALS, "random"):
            if title.startswith("gensim") and find_spec("gensim") is None:
                print(f"left out: {title}, which is not installed")
            elif title.strip("*").startswith(tuple(options.only or [""])):
                found[title] = in_its_own_process(title, dimensions, limit)
                if folder:
                    keep(folder, title, dimensions, found[title])
                lines.append(row(title, dimensions, found[title]))
                print(*lines[-1], sep=" | ", flush=True)
        if not found:
            sys.exit("nothing to train: no method that is installed has such a name")
        faster += ratios(dimensions, found)
        headings = ["K", "method", "CPU s (tokens + counts + PMI + vectors)", "wall s", "GB"]
        headings += [*quality.SIMILARITY, "analogies, %", "QVEC", "QVEC-CCA"]
        headings += [f"F1 {name}" for name in quality.CLASSIFICATION]
        text = TEXT.format(
            made=table(headings, lines),
            covered=covered(found),
            ratios=table(["K", "method", *RIVALS], faster),
        )
        if not options.quick:
            text = Earlier.of("word-vectors", made_by).fill(text)
        publish("word-vectors", text, quick=options.quick)
    print("\n" + text)


if __name__ == "__main__":
    main()
