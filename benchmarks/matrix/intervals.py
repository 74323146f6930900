"""How often the stated 95 % interval holds the true error of the whole matrix.

Each matrix is fitted with ten seeds at s/n = 0.1, and the error of each fit is estimated 100 times
from fresh pairs, every time as if it were the first. Writes docs/tables/intervals.md. Takes about
twenty minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.intervals [--quick]
"""

from __future__ import annotations

import copy
import warnings

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import ONE_ON_THE_DIAGONAL, all_matrices
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs.error.audit import draw_audit, judge

SHOWN = (
    "STS-B cross-attention",
    "STS-B cross-attention, clipped",
    "STS-B cross-encoder",
    "RTE logits",
    "MRPC probabilities",
    "WMD γ = 0.2",
    "WMD γ = 0.5",
    "Levenshtein, words",
    "PMI, words",
    "tanh, word vectors",
)


def audits(title: str, matrix: np.ndarray, seed: int, count: int, pairs: int, *, weighted: bool):
    """Estimate the error of one fit `count` times.

    For each time: whether the interval held the truth, its half-width, the estimate relative to
    the truth, whether there was a warning.
    """
    n = len(matrix)
    s = round(0.1 * n)
    own = {"diagonal": 1.0} if title.startswith(ONE_ON_THE_DIAGONAL) else {}
    oracle = fp.Oracle(range(n), fp.Precomputed(matrix))
    budget = cost_of_columns(n, s)
    with threadpool_limits(1):
        found = fp.approximate(oracle, budget=budget, error_pairs=0, random_state=seed, **own)
        true = relative(found.to_dense(), matrix)
        rng = np.random.default_rng(1000 + seed)
        rows = []
        for _ in range(count):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # On a copy, which forgets the pairs that the last estimate has evaluated.
                again = copy.deepcopy(oracle)
                audit = draw_audit(found, again, pairs, rng, weighted=weighted)
                e = judge(found, again, audit).warned()
            half = np.sqrt(e.high / e.low) - 1
            rows.append((e.low <= true <= e.high, half, e.value / true, bool(caught)))
    return rows


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    fits, count = (2, 50) if options.quick else (10, 100)
    rows = []
    matrices = [(t, m) for t, m in all_matrices(quick=True) if t in SHOWN]
    for title, matrix in matrices:
        cells = []
        for pairs, weighted in ((1000, True), (1000, False)):
            found = Parallel(n_jobs=2)(
                delayed(audits)(title, matrix, seed, count, pairs, weighted=weighted)
                for seed in range(fits)
            )
            every = np.array([row for fit in found for row in fit], dtype=float)
            covered, half, ratio = every[:, 0].mean(), np.median(every[:, 1]), every[:, 2].mean()
            text = f"{covered:.3f}, ±{half:.1%}, {ratio:.3f}"
            warned = every[:, 3].mean()
            cells.append(text + (f", warns in {warned:.0%}" if warned >= 0.005 else ""))
        rows.append([title, *cells])
        print(*rows[-1], sep=" | ", flush=True)
    headings = ["matrix", "1,000 weighted pairs", "1,000 uniform pairs"]
    text = (
        f"Coverage of the 95 % interval, median half-width, mean of estimate / truth; "
        f"{fits} fits × {count} audits for each cell, s/n = 0.1.\n\n{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("intervals", text, quick=options.quick)


if __name__ == "__main__":
    main()
