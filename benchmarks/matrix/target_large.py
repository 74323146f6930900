"""Whether `target_error` stays cheap where there are many items.

Word vectors under a Gaussian kernel, place names under Jaro-Winkler, points under tanh: 20,000 to
100,000 items, whose matrices nobody can hold. The truth is measured on a million random pairs. For
each: the evaluations of a run with a target, relative to the smallest budget at which a run that
does not estimate its error has a true error below the target, and the share of all pairs. Writes
docs/tables/target-large.md. Takes about half an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.target_large [--quick]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import common_words
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors
from fewpairs import datasets

JUDGES = 1_000_000


def cases(*, quick: bool) -> list[tuple[str, Any, fp.Similarity, float]]:
    """Items, similarity, target."""
    points = np.random.default_rng(0).normal(size=(5000 if quick else 100_000, 12))
    table_of_words = vectors()
    words = np.stack([table_of_words[w] for w in common_words(2000 if quick else 20_000)])
    names = [r["text"] for r in datasets.read_records("place_aliases", "records")]
    names = names[: 3000 if quick else None]
    return [
        ("word vectors, Gaussian kernel", words, fp.VectorSimilarity("rbf"), 0.05),
        ("place names, Jaro-Winkler", names, fp.StringSimilarity("jaro_winkler"), 0.3),
        ("points, tanh of inner products", points, fp.VectorSimilarity("sigmoid", gamma=0.15), 0.1),
    ]


class Judge:
    """The true error of a result, on random pairs of different items."""

    def __init__(self, items: Any, similarity: fp.Similarity, *, count: int) -> None:
        rng = np.random.default_rng(1)
        n = len(items)
        self.rows = rng.integers(0, n, count)
        self.columns = (self.rows + rng.integers(1, n, count)) % n
        self.exact = fp.Oracle(items, similarity, progress=False).entries(self.rows, self.columns)

    def error(self, found: fp.FactoredMatrix) -> float:
        """‖K − K̃‖ / ‖K‖ on these pairs."""
        residuals = found.entries(self.rows, self.columns) - self.exact
        return float(np.linalg.norm(residuals) / np.linalg.norm(self.exact))


def smallest(items: Any, similarity: fp.Similarity, target: float, judge: Judge) -> int:
    """The smallest budget, to 5 %, whose true error is below the target."""

    def enough(budget: int) -> bool:
        found = fp.approximate(items, similarity, budget=budget, error_pairs=0, random_state=0)
        return judge.error(found) <= target

    n = len(items)
    low = high = 12 * n
    while not enough(high):
        low, high = high, 2 * high
    if high == low:
        return low
    while high > 1.05 * low:
        middle = int(np.sqrt(low * high))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    rows = []
    for title, items, similarity, target in cases(quick=options.quick):
        n = len(items)
        judge = Judge(items, similarity, count=JUDGES // (10 if options.quick else 1))
        needed = smallest(items, similarity, target, judge)
        for seed in range(1 if options.quick else 3):
            start = time.process_time()
            found = fp.approximate(items, similarity, target_error=target, random_state=seed)
            seconds = time.process_time() - start
            rows.append(
                [
                    title,
                    f"{n:,}",
                    target,
                    found.stopped_because,
                    f"{judge.error(found):.3f}",
                    f"{found.error.value:.3f} ({found.error.low:.3f}–{found.error.high:.3f})",
                    f"{found.evaluations:,} ({found.evaluations / (n * (n + 1) / 2):.2%})",
                    f"{found.evaluations / needed:.2f}×",
                    f"{seconds:.0f} s",
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    headings = [
        "matrix",
        "n",
        "target",
        "ended because",
        "true error",
        "stated",
        "evaluations",
        "of the smallest budget",
        "CPU time",
    ]
    text = (
        "Runs with a target error on many items; one line a seed. The truth is from "
        f"{len(judge.rows):,} random pairs.\n\n{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("target-large", text, quick=options.quick)


if __name__ == "__main__":
    main()
