"""Each item's ten nearest: recall@10 of every method at equal evaluations, and of new queries.

Three tables. Of all items: neighbours are read from the factored matrix, without any further
evaluation. Of 100 items: with candidates ranked exactly, none, half of the default, the default,
and twice as many, by `nearest(index, rerank=…)`. Of 60 new queries: each may spend 30, 60 or 120
evaluations, all of them on landmarks, or in rounds on the most promising, as `nearest(item=…,
budget=…)` does. Writes docs/tables/neighbors.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.neighbors [--quick]
"""

from __future__ import annotations

import copy

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import PUBLISHED, cost_of_columns, run
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import (
    ONE_ON_THE_DIAGONAL,
    all_matrices,
    catalogues,
    product_names,
    stored_matrix,
    strings,
)
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
#: Candidates that are ranked exactly; None is the default.
CANDIDATES = (0, 50, None, 200)


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


def ranked_exactly(
    matrix: np.ndarray, budget: float, seeds: range, *, square: bool
) -> tuple[list[float], float]:
    """Recall@10 of 100 items by candidates, and what the default takes for each item."""
    sim = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=square)
    others = {} if square else {"others": range(matrix.shape[1])}
    hits: dict[int | None, list[float]] = {}
    prices = []
    for seed in seeds:
        made = fp.approximate(
            range(len(matrix)), sim, budget=budget, error_pairs=0, random_state=seed, **others
        )
        # Another seed than the run's, which would draw the landmarks again: their rows are exact.
        rows = np.random.default_rng(seed + 1000).permutation(len(matrix))[:100]
        for count in CANDIDATES:
            found = copy.copy(made)  # which keeps what it buys to itself
            for i in rows:
                exact = matrix[i].copy()
                if square:
                    exact[i] = -np.inf
                near = found.nearest(i, k=K, rerank=count)
                last = np.partition(exact, -K)[-K]
                hits.setdefault(count, []).append(float(np.mean(exact[near.indices] >= last)))
                if count is None:
                    prices.append(near.evaluations)
    return [float(np.mean(hits[count])) for count in CANDIDATES], float(np.mean(prices))


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
            fixed.append(len(exact & set(few.nearest(item=q, k=K, rerank=0).indices.tolist())) / K)
            best = whole.nearest(item=q, k=K, budget=evaluations).indices.tolist()
            ruled.append(len(exact & set(best)) / K)
    return float(np.mean(fixed)), float(np.mean(ruled))


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(1 if options.quick else 5)
    rows, query_rows, exact_rows = [], [], []

    def with_candidates(title: str, matrix: np.ndarray, *, square: bool = True) -> None:
        for share in (0.05, 0.1, 0.2):
            recalls, price = ranked_exactly(matrix, share, seeds, square=square)
            exact_rows.append([title, share, *(f"{r:.2f}" for r in recalls), round(price)])
            print(*exact_rows[-1], sep=" | ", flush=True)

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
        with_candidates(title, matrix)
    with_candidates("STS-B large", stored_matrix("STS-B large"))
    with_candidates("Jaro–Winkler, product names", strings(product_names("a"), "jaro_winkler"))
    with_candidates("Jaro–Winkler, two catalogues", catalogues(), square=False)
    text = (
        "Recall@10 of all items, at equal evaluations:\n\n"
        + table(["matrix", "s/n", "best of paper", "fitted"], rows)
        + "\n\nRecall@10 of `nearest(index)`, by the budget's share of all pairs and the "
        "candidates that are ranked exactly; the default is 100, and takes as many evaluations "
        "as the last column says:\n\n"
        + table(["matrix", "budget", "none", "50", "100", "200", "evaluations"], exact_rows)
        + "\n\nRecall@10 of new queries: that many evaluations for each, all on landmarks → "
        "`nearest(item=…, budget=…)`:\n\n" + table(["matrix", "30", "60", "120"], query_rows) + "\n"
    )
    print("\n" + text)
    publish("neighbors", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
