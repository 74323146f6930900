"""Search with a cross-encoder: recall@10 and @100 of what a share of the evaluations finds.

Stored matrices of sentence-pair models are the exact scores, MiniLM embeddings the bi-encoder that
users have beside them. Two settings, every method with the same number of evaluations:

- *Queries.* A sixth of the sentences are new. An index of the others was made before, from a
  twentieth of their columns; each query may then evaluate 1, 2, 5 or 10 % of the items.
- *The whole job.* All items' neighbours for 1, 2, 5 or 10 % of all pairs, everything included.

Rivals: the bi-encoder's best, scored (retrieve and re-rank); ANNCUR, fixed anchor items, half of
what is spent, then re-ranking (Yadav et al. 2022), as published and with a ridge; ADACUR, anchor
items in rounds by the scores so far (Yadav et al. 2023): five, with a random first one and the
pseudo-inverse, and as it does best here: two, the bi-encoder's first, and a ridge. Writes
docs/tables/search.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.cross_encoders.search [--quick]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.matrix.guide import embeddings
from benchmarks.shared.anchors import Evaluated, adaptive, by_lists, combination, fixed
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import stored_matrix
from benchmarks.shared.tables import publish, table

TITLES = ("MRPC logits", "RTE logits", "STS-B large")
SHARES = (0.01, 0.02, 0.05, 0.1)
INDEX = 0.05
DEPTHS = (10, 100)
#: Of the whole job, what goes to the matrix; the rest to single pairs.
FOR_MATRIX = 0.25
MOST_QUERIES = 100


def recalls(found: np.ndarray, exact: np.ndarray) -> dict[int, float]:
    """Share of each row's best that are among the evaluated: `found` is NaN elsewhere."""
    result = {}
    for k in DEPTHS:
        if np.isfinite(found).sum(axis=1).mean() < k:
            continue  # impossible: fewer are evaluated
        last = np.partition(exact, -k, axis=1)[:, -k]
        hits = np.minimum((found >= last[:, None]).sum(axis=1), k)
        result[k] = float(hits.mean()) / k
    return result


def of_queries(whole: np.ndarray, X: np.ndarray, seed: int) -> dict[tuple, dict[str, float]]:
    """Recall by share and depth, then by method."""
    n = len(whole)
    order = np.random.default_rng(seed).permutation(n)
    old, new = order[n // 6 :], order[: n // 6][:MOST_QUERIES]
    exact, cosines = whole[np.ix_(new, old)], X[new] @ X[old].T
    sim = fp.similarity(lambda a, b: whole[np.ix_(a, b)], kind="block", symmetric=True)
    s = round(INDEX * len(old))
    made = {
        name: fp.approximate(
            old,
            sim,
            budget=cost_of_columns(len(old), s),
            guide=guide,
            error_pairs=0,
            random_state=seed,
        )
        for name, guide in (("", None), ("guide", lambda items: X[np.asarray(items)]))
    }
    rows = whole[np.ix_(np.random.default_rng(seed + 1).permutation(old)[:s], old)]
    random = np.random.default_rng(seed + 2).permutation(len(old))
    found: dict[tuple, dict[str, float]] = {}

    def ours(name: str, budget: int, **options) -> np.ndarray:
        near = made[name].search(new, k=budget, budget=budget, **options)
        assert near.evaluations == budget * len(new)  # noqa: S101 - equal evaluations
        result = np.full(exact.shape, np.nan)
        np.put_along_axis(result, near.indices, near.similarities, axis=1)
        return result

    def each(choose: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        result = np.full(exact.shape, np.nan)
        for row, cos, out in zip(exact, cosines, result, strict=True):
            places = choose(row, np.argsort(-cos))
            out[places] = row[places]
        return result

    for share in SHARES:
        budget = round(share * len(old))
        answers = {
            "bi-encoder, re-ranked": each(lambda _, first, b=budget: first[:b]),
            "ANNCUR": each(lambda row, _, b=budget: fixed(row, rows, random, b)),
            "ANNCUR, with a ridge": each(
                lambda row, _, b=budget: fixed(row, rows, random, b, ridge=0.1)
            ),
            "ADACUR": each(lambda row, _, b=budget: adaptive(row, rows, random, b)),
            "ADACUR, at its best": each(
                lambda row, first, b=budget: adaptive(row, rows, first, b, ridge=0.1, rounds=2)
            ),
            "ours, no guide": ours("", budget),
            "ours, one round": ours("guide", budget, rounds=1),
            "ours": ours("guide", budget),
        }
        for name, answer in answers.items():
            for k, recall in recalls(answer, exact).items():
                found.setdefault((share, k), {})[name] = recall
    return found


def of_all(whole: np.ndarray, X: np.ndarray, seed: int) -> dict[tuple, dict[str, float]]:
    """The same of all items, from a share of all pairs."""
    n = len(whole)
    exact = whole.copy()
    np.fill_diagonal(exact, -np.inf)
    found: dict[tuple, dict[str, float]] = {}
    for share in SHARES:
        total = int(share * n * (n - 1) / 2)
        answers = {
            "bi-encoder, re-ranked": by_lists(X @ X.T, Evaluated(whole), total),
            "ANNCUR, with a ridge": _anncur(whole, total, seed),
            "ADACUR, at its best": _adacur(whole, X, total, seed),
            "`find_nearest`": _find_nearest(whole, X, total, seed),
            "matrix, then `nearest`": _by_matrix(whole, X, total, seed),
        }
        for name, answer in answers.items():
            if answer is None:
                continue
            assert answer.spent <= total  # noqa: S101 - equal evaluations
            for k, recall in recalls(answer.known, exact).items():
                found.setdefault((share, k), {})[name] = recall
    return found


def _anncur(whole: np.ndarray, total: int, seed: int) -> Evaluated | None:
    """Half for columns, whose CUR ranks; half for the best of each row."""
    evaluated, anchors = _columns(whole, total // 2, seed)
    if not len(anchors):
        return None
    tall = whole[:, anchors]
    scores = tall @ combination(tall.T, anchors, ridge=0.1).T @ tall.T
    return by_lists((scores + scores.T) / 2, evaluated, total)


def _adacur(whole: np.ndarray, X: np.ndarray, total: int, seed: int) -> Evaluated | None:
    """A quarter for rows of anchors, the rest for each item's anchor items, in five rounds."""
    evaluated, anchors = _columns(whole, int(FOR_MATRIX * total), seed)
    if not len(anchors):
        return None
    rows, scores = whole[anchors], X @ X.T
    for step in range(5):
        room = evaluated.spent + (total - evaluated.spent) // (5 - step)
        by_lists(scores, evaluated, room)
        scores = np.stack([evaluated.by_anchors(i, rows, ridge=0.1) for i in range(len(whole))])
        scores = (scores + scores.T) / 2
    return evaluated


def _columns(whole: np.ndarray, budget: int, seed: int) -> tuple[Evaluated, np.ndarray]:
    """As many columns as a budget pays for; none where that is less than one."""
    n = len(whole)
    count = max(s for s in range(n) if cost_of_columns(n, s) <= budget)
    anchors = np.random.default_rng(seed).permutation(n)[:count]
    evaluated = Evaluated(whole)
    evaluated.add(np.repeat(anchors, n), np.tile(np.arange(n), count))
    return evaluated, anchors


def _find_nearest(whole: np.ndarray, X: np.ndarray, total: int, seed: int) -> Evaluated:
    """Which also states its recall, from rows that it reads whole."""
    evaluated = Evaluated(whole)
    fp.find_nearest(
        range(len(whole)), evaluated.similarity, k=10, budget=total, guide=X, random_state=seed
    )
    return evaluated


def _by_matrix(whole: np.ndarray, X: np.ndarray, total: int, seed: int) -> Evaluated | None:
    """A matrix with the guide, then each item's most promising in rounds; pairs serve both."""
    n, evaluated = len(whole), Evaluated(whole)
    first = next((int(f * total) for f in (FOR_MATRIX, 0.5) if f * total >= 2 * n), 0)
    if not first:
        return None
    K = fp.approximate(
        range(n),
        evaluated.similarity,
        budget=first,
        guide=X,
        diagonal=0.0,
        error_pairs=0,
        random_state=seed,
    )
    for passes in (2, 1):
        for count, i in enumerate(np.random.default_rng(seed).permutation(n)):
            room = (total - evaluated.spent) // (passes * n - count)
            if room:
                K.nearest(int(i), k=1, budget=room)
    return evaluated


def table_of(measure: Callable, titles, seeds: range) -> str:
    lines, heads = [], [f"recall@{k}, {share:.0%}" for k in DEPTHS for share in SHARES]
    for title in titles:
        whole, X = stored_matrix(title), embeddings(title)
        cells = [measure(whole, X, seed) for seed in seeds]
        names = {name: None for cell in cells for found in cell.values() for name in found}
        for name in names:
            row = []
            for k in DEPTHS:
                for share in SHARES:
                    values = [cell.get((share, k), {}).get(name) for cell in cells]
                    row.append("—" if None in values else f"{np.mean(values):.3f}")
            lines.append([f"{title} ({len(whole):,})", name, *row])
            print(*lines[-1], sep=" | ", flush=True)
    return table(["matrix", "method", *heads], lines)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    titles = TITLES[:1] if options.quick else TITLES
    seeds = range(1 if options.quick else 5)
    text = (
        "New queries: a sixth of the sentences (at most 100), each with 1 to 10 % of the other "
        "items evaluated; an index of these was made before from the evaluations of "
        f"{INDEX:.0%} of their columns, by every method but the bi-encoder. Means of five seeds; "
        "— where fewer are evaluated than are asked for:\n\n"
        + table_of(of_queries, titles, seeds)
        + "\n\nThe whole job: all items' neighbours from 1 to 10 % of all pairs, everything "
        "included; a pair serves both of its items:\n\n" + table_of(of_all, titles, seeds) + "\n"
    )
    print("\n" + text)
    publish("search", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
