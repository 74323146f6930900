"""How often the stated 95 % interval holds the true error, on matrices made to mislead it.

Whole runs of `approximate` with its defaults: for each kind of matrix, size and budget the share of
runs whose interval holds the truth, the median of the true error, and the median interval. Writes
docs/tables/coverage.md.

    python -m benchmarks.reliability.coverage [--quick]
"""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

BUDGETS = {"5 %": {"budget": 0.05}, "20 %": {"budget": 0.2}, "100 landmarks": {}}


def symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def with_pairs(n: int, pairs: int, value: float, rest: np.ndarray, rng) -> np.ndarray:
    """A few pairs of items with another value than the rest."""
    matrix = rest.copy()
    i, j = rng.permutation(n)[: 2 * pairs].reshape(2, -1)
    matrix[i, j] = matrix[j, i] = value
    return matrix


def kinds(n: int, seed: int) -> dict[str, np.ndarray]:
    """One matrix of each kind."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20))
    smooth = np.tanh(x @ x.T / 5)
    heavy = smooth * np.where(np.arange(n) < max(1, n // 100), 30, 1)
    labels = rng.integers(0, max(2, n // 15), n)
    links = np.triu(rng.random((n, n)) < 0.02, 1)
    clusters = rng.normal(size=(n, 6)) + 2 * rng.normal(size=(8, 6))[rng.integers(0, 8, n)]
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return {
        "tanh of inner products": smooth,
        "clusters, Gaussian kernel": np.exp(
            -((clusters[:, None] - clusters[None]) ** 2).sum(axis=2) / 8
        ),
        "noise": symmetric(rng.normal(size=(n, n))),
        "block labels 0/1": (labels[:, None] == labels[None]).astype(float),
        "duplicate labels 0/1": with_pairs(n, n // 5, 1.0, np.eye(n), rng),
        "few duplicate labels 0/1": with_pairs(n, max(3, n // 50), 1.0, np.eye(n), rng),
        "sparse 0/1": links + links.T + np.eye(n),
        "near-diagonal": np.exp(-steps / 1.5),
        "heavy rows": symmetric(heavy * np.where(np.arange(n) < max(1, n // 100), 30, 1)[:, None]),
        "lognormal": symmetric(np.exp(2 * rng.normal(size=(n, n)))),
        "Cauchy": symmetric(rng.standard_cauchy((n, n))),
        "many outlier pairs": with_pairs(n, n // 5, 5.0, 0.1 * smooth, rng),
        "few outlier pairs": with_pairs(n, max(2, n // 30), 5.0, 0.1 * smooth, rng),
    }


def runs(n: int, seed: int) -> list[tuple[str, str, float, fp.ErrorEstimate]]:
    """One run of each kind and budget: the true error, and the stated one."""
    found = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for kind, matrix in kinds(n, seed).items():
            for budget, options in BUDGETS.items():
                try:
                    made = fp.approximate(
                        range(n), fp.Precomputed(matrix), random_state=seed, **options
                    )
                except fp.errors.BudgetError:
                    continue
                if made.error.n_pairs:
                    found.append((kind, budget, relative(made.to_dense(), matrix), made.error))
    return found


def main() -> None:
    options = arguments(__doc__).parse_args()
    cases = ((60, 40), (300, 10)) if options.quick else ((60, 400), (300, 100))
    rows = []
    for n, count in cases:
        cells = defaultdict(list)
        for one in Parallel(n_jobs=2)(delayed(runs)(n, seed) for seed in range(count)):
            for kind, budget, true, error in one:
                cells[kind, budget].append((true, error.value, error.low, error.high))
        for (kind, budget), every in cells.items():
            true, value, low, high = np.array(every).T
            slack = 1e-9 * true + 1e-12  # rounding of errors that are zero
            holds = float(np.mean((low <= true + slack) & (true - slack <= high)))
            middle = [f"{np.median(v):.2g}" for v in (true, value, low, high)]
            rows.append(
                [
                    n,
                    kind,
                    budget,
                    f"{holds:.3f}",
                    middle[0],
                    f"{middle[1]} ({middle[2]}–{middle[3]})",
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    headings = ["n", "matrix", "budget", "holds", "true error", "stated error and interval"]
    told = " and ".join(f"{count} runs at n = {n}" for n, count in cases)
    text = (
        "Share of runs whose 95 % interval holds the true error; medians of the true and the "
        f"stated error, and of its ends; {told}.\n\n"
        f"{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("coverage", text, quick=options.quick)


if __name__ == "__main__":
    main()
