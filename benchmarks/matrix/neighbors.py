"""Each item's ten nearest: recall@10 of every method at equal evaluations, and of new queries.

Two tables. Of all items: neighbours are read from the factored matrix, without any further
evaluation. Of 60 new queries: each may spend 30, 60 or 120 evaluations, all of them on landmarks,
or partly on candidates as `nearest(item=…, budget=…)` decides. Writes docs/tables/neighbors.md.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.neighbors [--quick]
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import PUBLISHED, cost_of_columns, run
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import ONE_ON_THE_DIAGONAL, all_matrices
from benchmarks.shared.tables import publish, table

SHOWN = (
    "STS-B cross-encoder",
    "STS-B cross-attention",
    "MRPC probabilities",
    "RTE logits",
    "WMD γ = 0.2",
    "Levenshtein, words",
)
K = 10


def recall(guess: np.ndarray, exact: np.ndarray) -> float:
    """Share of each row's ten nearest that are among the guessed ten."""
    guess, exact = guess.copy(), exact.copy()
    np.fill_diagonal(guess, -np.inf)
    np.fill_diagonal(exact, -np.inf)
    hits = [
        len(np.intersect1d(np.argpartition(-a, K)[:K], np.argpartition(-b, K)[:K]))
        for a, b in zip(guess, exact, strict=True)
    ]
    return float(np.mean(hits)) / K


def within(matrix: np.ndarray, share: float, seeds: range, *, declared: bool) -> dict[str, float]:
    """Mean recall@10 over all items, by method."""
    n = len(matrix)
    budget = cost_of_columns(n, round(share * n))
    own = {"diagonal": 1.0} if declared else {}
    found: dict[str, list[float]] = {}
    for seed in seeds:
        for name, (method, options) in {**PUBLISHED, "fitted": ("fitted", own)}.items():
            guess = run(matrix, budget, seed, method, **options).to_dense()
            found.setdefault(name, []).append(recall((guess + guess.T) / 2, matrix))
    return {name: float(np.mean(values)) for name, values in found.items()}


def of_queries(matrix: np.ndarray, evaluations: int, seeds: range) -> tuple[float, float]:
    """Recall@10 of new queries: all evaluations on landmarks, and as the library divides them."""
    fixed, ruled = [], []
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(matrix))
        queries, items = order[:60], order[60:]
        sim = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=True)
        landmarks = np.arange(min(300, len(items) // 2))
        whole = fp.approximate(items, sim, landmarks=landmarks, error_pairs=0, random_state=0)
        few = fp.approximate(
            items, sim, landmarks=landmarks[:evaluations], error_pairs=0, random_state=0
        )
        for q in queries:
            exact = set(np.argsort(-matrix[q, items])[:K].tolist())
            fixed.append(len(exact & set(few.nearest(item=q, k=K).indices.tolist())) / K)
            best = whole.nearest(item=q, k=K, budget=evaluations).indices.tolist()
            ruled.append(len(exact & set(best)) / K)
    return float(np.mean(fixed)), float(np.mean(ruled))


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(1 if options.quick else 3)
    rows, query_rows = [], []
    for title, matrix in all_matrices(quick=True):
        if title not in SHOWN:
            continue
        for share in (0.1, 0.2):
            found = within(matrix, share, seeds, declared=title.startswith(ONE_ON_THE_DIAGONAL))
            best = max(PUBLISHED, key=found.__getitem__)
            rows.append([title, share, f"{found[best]:.2f} ({best})", f"{found['fitted']:.2f}"])
            print(*rows[-1], sep=" | ", flush=True)
        cells = [of_queries(matrix, count, seeds) for count in (30, 60, 120)]
        query_rows.append([title, *(f"{a:.2f} → {b:.2f}" for a, b in cells)])
        print(*query_rows[-1], sep=" | ", flush=True)
    text = (
        "Recall@10 of all items, at equal evaluations:\n\n"
        + table(["matrix", "s/n", "best of paper", "fitted"], rows)
        + "\n\nRecall@10 of new queries: that many evaluations for each, all on landmarks → "
        "`nearest(item=…, budget=…)`:\n\n" + table(["matrix", "30", "60", "120"], query_rows) + "\n"
    )
    print("\n" + text)
    publish("neighbors", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
