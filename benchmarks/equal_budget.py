"""Compare every method at the same number of evaluated pairs.

B(s) = n·s − s(s−1)/2 evaluations for everyone, `error_pairs=0`, five seeds. "Best of paper" is
picked in hindsight for each cell. Writes docs/equal-budget-table.md.

    FEWPAIRS_DATA=… python benchmarks/equal_budget.py [--quick]
"""

from __future__ import annotations

import numpy as np
from common import DOCS, arguments, need_data, relative, table
from joblib import Parallel, delayed
from matrices import all_matrices
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import fewpairs as fp

PAPER = {
    "Nyström": ("nystrom", {}),
    "SMS Alg. 1": ("sms", {}),
    "SMS as coded": ("sms", {"shift_columns": False}),
    "SMS β": ("sms-rescaled", {"shift_columns": False}),
    "skeleton": ("skeleton", {}),
    "SiCUR": ("sicur", {}),
    "StaCUR(s)": ("stacur", {}),
    "StaCUR(d)": ("stacur", {"same": False}),
}
SHOWN = (
    *PAPER,
    "truncated Nyström",
    "SiCUR + exact + diagonal",
    "scikit-learn Nystroem",
    "fitted",
)
#: Similarities that every item has with itself by definition.
DECLARED = ("WMD", "Levenshtein", "Jaro")
SIZES = (0.05, 0.1, 0.2, 0.3, 0.5)


def run(matrix, similarity, budget, seed, method, **options):
    """Error of one run, which must stay within the budget."""
    found = fp.approximate(
        range(len(matrix)),
        similarity,
        budget=budget,
        method=method,
        error_pairs=0,
        random_state=seed,
        **options,
    )
    assert found.evaluations <= budget  # noqa: S101 - this is what "equal budget" means
    return found


def patched_sicur(matrix, similarity, budget, seed):
    """SiCUR, symmetrised, with evaluated entries and (not charged) the diagonal put back."""
    found = run(matrix, similarity, budget, seed, "sicur", known="exact").symmetrized()
    dense = found.to_dense()
    np.fill_diagonal(dense, np.diag(matrix))
    return dense


def scikit_learn(matrix, size, seed):
    features = Nystroem(
        kernel=lambda a, b: matrix[int(a[0]), int(b[0])], n_components=size, random_state=seed
    ).fit_transform(np.arange(len(matrix), dtype=float)[:, None])
    return features @ features.T


def cell(matrix, size: int, seeds: range, *, declared: bool) -> dict[str, list[float]]:
    similarity = fp.Precomputed(matrix)
    n = len(matrix)
    budget = n * size - size * (size - 1) // 2
    errors: dict[str, list[float]] = {}
    for seed in seeds:
        results = {
            name: run(matrix, similarity, budget, seed, method, **options).to_dense()
            for name, (method, options) in PAPER.items()
        }
        results["truncated Nyström"] = run(
            matrix, similarity, budget, seed, "nystrom", threshold=1e-2
        ).to_dense()
        results["SiCUR + exact + diagonal"] = patched_sicur(matrix, similarity, budget, seed)
        if n <= 700:
            results["scikit-learn Nystroem"] = scikit_learn(matrix, size, seed)
        # A distance or an edit similarity is 1 on the diagonal by definition: nothing to buy.
        own = {"diagonal": 1.0} if declared else {}
        results["fitted"] = run(matrix, similarity, budget, seed, "fitted", **own).to_dense()
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
    options = arguments(__doc__.splitlines()[0]).parse_args()
    need_data()
    seeds = range(2 if options.quick else 5)
    sizes = SIZES[1:4:2] if options.quick else SIZES
    rows, advantages, worst, losses = [], [], 0.0, []
    headings: list[str] = []
    for title, matrix in all_matrices(quick=options.quick):
        found = Parallel(n_jobs=2)(
            delayed(one_cell)(matrix, share, seeds, declared=title.startswith(DECLARED))
            for share in sizes
        )
        for share, errors in zip(sizes, found, strict=True):
            best = min(PAPER, key=lambda name: np.mean(errors[name]))
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
    if not options.quick:
        text = f"{summary}\n\n{table(headings, rows)}\n"
        (DOCS / "equal-budget-table.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
