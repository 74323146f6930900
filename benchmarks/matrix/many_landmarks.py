"""Arithmetic with a thousand landmarks and more: the default method beside SMS-Nyström.

CPU seconds of one thread, less those inside the similarity; stated errors included, as a user has
them. `tanh` are inner products of random vectors; its entries are computed when they are asked for.
`TWITTER` are exact Word Mover's Distances between all tweets (exp(−distance/5)), computed before.
`one way` is tanh times a number for each row, so that it is not symmetric: SMS-Nyström takes no
such matrix, and SiCUR stands beside the default. True errors on 300 rows, all columns. Prints its
table. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.many_landmarks [--quick]
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import threadpoolctl

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import tweets
from benchmarks.shared.tables import table
from fewpairs.errors import ErrorEstimateWarning

SIZES = (1000, 1500, 2000)
ROWS = 300


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


def measured(items: Any, similarity: Any, size: int, method: str) -> tuple[float, float]:
    """CPU seconds beside the similarity, and the relative error on some rows."""
    similarity.seconds = 0.0
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ErrorEstimateWarning)
        found = fp.approximate(items, similarity, landmarks=size, method=method, random_state=0)
    seconds = time.process_time() - start - similarity.seconds
    some = np.random.default_rng(1).permutation(len(items))[:ROWS]
    exact = similarity.block(np.asarray(items)[some], np.asarray(items))
    error = np.linalg.norm(found[some, :] - exact) / np.linalg.norm(exact)
    return seconds, float(error)


def cases(*, quick: bool) -> list[tuple[str, Any, Any]]:
    """Names, items and similarities."""
    rng = np.random.default_rng(0)
    made: list[tuple[str, Any, Any]] = []
    for n in (2000,) if quick else (3000, 10_000):
        vectors = rng.normal(size=(n, 20))
        made += [("tanh", vectors, Tanh(one_way=False)), ("one way", vectors, Tanh(one_way=True))]
    if not quick:
        distances = fp.wmd(tweets(10**6)[0])
        made.append(("TWITTER", range(len(distances)), Stored(np.exp(-distances / 5))))
    return made


def main() -> None:
    options = arguments(__doc__).parse_args()
    if not options.quick:
        need_data()
    fp.approximate(np.eye(100), Tanh(one_way=False), landmarks=15)  # compiles
    lines = []
    with threadpoolctl.threadpool_limits(1):
        for name, items, similarity in cases(quick=options.quick):
            for size in SIZES[:1] if options.quick else SIZES:
                rival = "sms" if similarity.symmetric else "sicur"
                both = [measured(items, similarity, size, way) for way in (rival, "fitted")]
                (theirs, their_error), (ours, our_error) = both
                lines.append([
                    name, f"{len(items):,}", f"{size:,}", rival, f"{theirs:.1f}", f"{ours:.1f}",
                    f"{ours / theirs:.1f}×", f"{their_error:.4f}", f"{our_error:.4f}",
                ])  # fmt: skip
                print(*lines[-1], sep=" | ", flush=True)
    headings = ["matrix", "n", "s", "rival", "rival, CPU s", "default, CPU s", "default / rival"]
    headings += ["rival's error", "default's error"]
    print(table(headings, lines))


if __name__ == "__main__":
    main()
