"""Arithmetic with a thousand landmarks and more: the default method beside SMS-Nyström.

CPU seconds of one thread, less those inside the similarity; stated errors included, as a user has
them. `tanh` are inner products of random vectors; its entries are computed when they are asked for.
`TWITTER` are exact Word Mover's Distances between all tweets (exp(−distance/5)), computed before.
`one way` is tanh times a number for each row, so that it is not symmetric: SMS-Nyström takes no
such matrix, and SiCUR stands beside the default. The rival is run twice: with as many landmarks,
and with as many evaluations as the default has spent. True errors on 300 rows, all columns. Writes
docs/tables/many-landmarks.md. Takes about ten minutes on one core, 3,000 items alone two.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.many_landmarks [--quick]
        [--items N …] [--sizes S …] [--repeat N]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import tweets
from benchmarks.shared.tables import publish, table
from fewpairs.errors import ErrorEstimateWarning

SIZES = (1000, 1500, 2000)
ROWS = 300
HEADINGS = [
    "matrix", "n", "s", "rival", "default, CPU s", "its evaluations, %", "rival's, %",
    "time: default / rival", "at equal evaluations", "error: default", "rival",
    "rival, equal evaluations",
]  # fmt: skip
TEXT = """\
CPU seconds of one thread beside the similarity, shortest of {repeat}. "Rival" is the published
method with as many landmarks s, SMS-Nyström or, where the matrix is not symmetric, SiCUR; at equal
evaluations it has as many landmarks as what the default has spent pays for. Evaluations in per
cent of all pairs; relative errors on 300 rows. TWITTER is exp(−WMD/5) of 2,830 different tweets
with two known words or more; tanh and one way (not symmetric) are made from random vectors.

{table}
"""


class Tanh(fp.VectorSimilarity):
    """Tanh of inner products, times a number for each row where that is wanted; knows its time."""

    def __init__(self, *, one_way: bool) -> None:
        super().__init__("sigmoid", gamma=0.1, coef0=-0.5)
        self.symmetric = not one_way
        self.seconds = 0.0

    def block(self, left: Any, right: Any) -> np.ndarray:
        """Return all similarities of some items with others."""
        start = time.process_time()
        values = super().block(left, right)
        if not self.symmetric:
            values = values * (1 + 0.1 * np.sin(np.asarray(left)[:, :1]))
        self.seconds += time.process_time() - start
        return values


class Stored(fp.Precomputed):
    """A matrix, with the seconds that looking it up takes."""

    seconds = 0.0

    def block(self, left: Any, right: Any) -> np.ndarray:
        """Return all similarities of some items with others."""
        start = time.process_time()
        values = super().block(left, right)
        self.seconds += time.process_time() - start
        return values


class Run(NamedTuple):
    """CPU seconds beside the similarity, evaluations, and the relative error on some rows."""

    seconds: float
    evaluations: int
    error: float


def measured(items: Any, similarity: Any, method: str, repeat: int, **spent: int) -> Run:
    """The shortest time of several, of one result."""
    seconds = []
    for _ in range(repeat):
        similarity.seconds = 0.0
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ErrorEstimateWarning)
            found = fp.approximate(items, similarity, method=method, random_state=0, **spent)
        seconds.append(time.process_time() - start - similarity.seconds)
    some = np.random.default_rng(1).permutation(len(items))[:ROWS]
    exact = similarity.block(np.asarray(items)[some], np.asarray(items))
    error = np.linalg.norm(found[some, :] - exact) / np.linalg.norm(exact)
    return Run(min(seconds), found.evaluations, float(error))


def cases(numbers: Sequence[int], *, quick: bool) -> Iterator[tuple[str, Any, Any]]:
    """Names, items and similarities."""
    rng = np.random.default_rng(0)
    for n in (2000,) if quick else numbers:
        vectors = rng.normal(size=(n, 20))
        yield "one way", vectors, Tanh(one_way=True)
        yield "tanh", vectors, Tanh(one_way=False)
    if not quick:
        distances = fp.wmd(tweets(10**6)[0])
        yield "TWITTER", range(len(distances)), Stored(np.exp(-distances / 5))


def line(name: str, items: Any, similarity: Any, size: int, repeat: int) -> list[str]:
    """One line of the table."""
    rival = "sms" if similarity.symmetric else "sicur"
    ours = measured(items, similarity, "fitted", repeat, landmarks=size)
    alike = measured(items, similarity, rival, repeat, landmarks=size)
    fair = measured(items, similarity, rival, repeat, budget=ours.evaluations)
    share = 100 / similarity_pairs(len(items), symmetric=similarity.symmetric)
    cells = [name, f"{len(items):,}", f"{size:,}", rival, f"{ours.seconds:.1f}"]
    cells += [f"{share * run.evaluations:.0f}" for run in (ours, alike)]
    cells += [f"{ours.seconds / run.seconds:.1f} ×" for run in (alike, fair)]
    return [*cells, *(f"{run.error:.4f}" for run in (ours, alike, fair))]


def similarity_pairs(n: int, *, symmetric: bool) -> int:
    """Number of entries that all pairs take."""
    return n * (n - 1) // 2 if symmetric else n * n


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[3000, 10_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="landmarks")
    parser.add_argument("--repeat", type=int, default=1, help="times, of which the shortest counts")
    options = parser.parse_args()
    if not options.quick:
        need_data()
    fp.approximate(np.eye(100), Tanh(one_way=False), landmarks=15)  # compiles
    lines = []
    with threadpoolctl.threadpool_limits(1):
        for name, items, similarity in cases(options.items, quick=options.quick):
            for size in SIZES[:1] if options.quick else options.sizes:
                lines.append(line(name, items, similarity, size, options.repeat))
                print(*lines[-1], sep=" | ", flush=True)
                text = TEXT.format(table=table(HEADINGS, lines), repeat=options.repeat)
                publish("many-landmarks", text, quick=options.quick)
    print(text)


if __name__ == "__main__":
    main()
