"""Compare every method at the same number of evaluated pairs.

Everyone may spend what s columns take, n·s − s(s−1)/2 evaluations; nothing is spent on stating the
error; five seeds. "Best of paper" is picked in hindsight, matrix by matrix and size by size. Writes
docs/tables/equal-budget.md. Takes about half an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.equal_budget [--quick]
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from benchmarks.shared.budgets import PUBLISHED, cost_of_columns, run
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import ONE_ON_THE_DIAGONAL, all_matrices
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

SHOWN = (
    *PUBLISHED,
    "truncated Nyström",
    "SiCUR + exact + diagonal",
    "scikit-learn Nystroem",
    "fitted",
)
#: Landmarks relative to the number of items.
SIZES = (0.05, 0.1, 0.2, 0.3, 0.5)


def patched_sicur(matrix, budget: int, seed: int) -> np.ndarray:
    """SiCUR, symmetrised, with evaluated entries put back, and the diagonal too, free of charge."""
    found = run(matrix, budget, seed, "sicur", known="exact").symmetrized()
    dense = found.to_dense()
    np.fill_diagonal(dense, np.diag(matrix))
    return dense


def scikit_learn(matrix, size: int, seed: int) -> np.ndarray:
    features = Nystroem(
        kernel=lambda a, b: matrix[int(a[0]), int(b[0])], n_components=size, random_state=seed
    ).fit_transform(np.arange(len(matrix), dtype=float)[:, None])
    return features @ features.T


def cell(matrix, size: int, seeds: range, *, declared: bool) -> dict[str, list[float]]:
    """Errors of every method on one matrix; `declared` tells that its diagonal is 1."""
    n = len(matrix)
    budget = cost_of_columns(n, size)
    errors: dict[str, list[float]] = {}
    for seed in seeds:
        results = {
            name: run(matrix, budget, seed, method, **options).to_dense()
            for name, (method, options) in PUBLISHED.items()
        }
        truncated = run(matrix, budget, seed, "nystrom", threshold=1e-2)
        results["truncated Nyström"] = truncated.to_dense()
        results["SiCUR + exact + diagonal"] = patched_sicur(matrix, budget, seed)
        if n <= 700:  # it calls the kernel pair by pair: minutes for larger ones
            results["scikit-learn Nystroem"] = scikit_learn(matrix, size, seed)
        own = {"diagonal": 1.0} if declared else {}
        results["fitted"] = run(matrix, budget, seed, "fitted", **own).to_dense()
        for name, guess in results.items():
            errors.setdefault(name, []).append(relative(guess, matrix))
    return errors


def one_cell(matrix, share: float, seeds: range, *, declared: bool) -> dict[str, list[float]]:
    with threadpool_limits(1):
        return cell(matrix, round(share * len(matrix)), seeds, declared=declared)


def short(values) -> str:
    mean = np.mean(values)
    return ">10" if mean > 10 else f"{mean:.3g}"


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(2 if options.quick else 5)
    sizes = SIZES[1:4:2] if options.quick else SIZES
    rows, advantages, worst, losses = [], [], 0.0, []
    headings: list[str] = []
    for title, matrix in all_matrices(quick=options.quick):
        found = Parallel(n_jobs=2)(
            delayed(one_cell)(matrix, share, seeds, declared=title.startswith(ONE_ON_THE_DIAGONAL))
            for share in sizes
        )
        for share, errors in zip(sizes, found, strict=True):
            best = min(PUBLISHED, key=lambda name: np.mean(errors[name]))
            advantage = np.mean(errors[best]) / np.mean(errors["fitted"])
            advantages.append(advantage)
            worst = max(worst, max(errors["fitted"]) / np.mean(errors["fitted"]))
            if advantage < 1:
                losses.append((title, share, best, round(advantage, 3)))
            headings = ["matrix", "s/n", *SHOWN, "best of paper / fitted"]
            cells = [short(errors[k]) if k in errors else "–" for k in SHOWN]
            rows.append([title, share, *cells, f"{advantage:.2f}× ({best})"])
            print(*rows[-1], sep=" | ", flush=True)
    mean = np.exp(np.mean(np.log(advantages)))
    summary = (
        f"{len(advantages)} cells, {len(seeds)} seeds: best of paper / fitted has a geometric mean "
        f"of {mean:.2f}×, a median of {np.median(advantages):.2f}×, from {min(advantages):.2f}× to "
        f"{max(advantages):.1f}×. Cells where fitted is behind: {losses or 'none'}. "
        f"Worst trial / mean of its cell: {worst:.2f}."
    )
    print("\n" + summary)
    publish("equal-budget", f"{summary}\n\n{table(headings, rows)}", quick=options.quick)


if __name__ == "__main__":
    main()
