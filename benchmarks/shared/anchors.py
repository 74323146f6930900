"""Searches by anchors, as published, on a matrix that stands for the model."""

from __future__ import annotations

import numpy as np

import fewpairs as fp


def combination(rows: np.ndarray, places: np.ndarray, ridge: float) -> np.ndarray:
    """What turns evaluated entries of a row into how it is made of known rows."""
    u, sizes, vt = np.linalg.svd(rows[:, places], full_matrices=False)
    if ridge:
        damped = sizes / (sizes**2 + (ridge * sizes[0]) ** 2)
    else:
        damped = np.where(sizes > 1e-10 * sizes[0], 1 / np.maximum(sizes, 1e-300), 0)
    return (u * damped) @ vt


def _expected(rows: np.ndarray, places: np.ndarray, values: np.ndarray, ridge: float) -> np.ndarray:
    """A new row as the combination of known rows that agrees with what was evaluated of it."""
    return (combination(rows, places, ridge) @ values) @ rows


def fixed(
    row: np.ndarray, rows: np.ndarray, order: np.ndarray, budget: int, *, ridge: float = 0.0
) -> np.ndarray:
    """ANNCUR: half of the evaluations on fixed anchors, half on the best by these."""
    anchors = order[: max(1, budget // 2)]
    scores = _expected(rows, anchors, row[anchors], ridge)
    scores[anchors] = -np.inf
    return np.r_[anchors, np.argsort(-scores)[: budget - len(anchors)]]


def adaptive(
    row: np.ndarray,
    rows: np.ndarray,
    first: np.ndarray,
    budget: int,
    *,
    ridge: float = 0.0,
    rounds: int = 5,
) -> np.ndarray:
    """ADACUR: some rounds, each on the best by what was evaluated before."""
    steps = [len(part) for part in np.array_split(np.arange(budget), min(rounds, budget))]
    taken = first[: steps[0]]
    for step in steps[1:]:
        scores = _expected(rows, taken, row[taken], ridge)
        scores[taken] = -np.inf
        taken = np.r_[taken, np.argsort(-scores)[:step]]
    return taken


class Evaluated:
    """Entries of a symmetric matrix that were asked for, and their number."""

    def __init__(self, whole: np.ndarray) -> None:
        self.whole = whole
        self.known = np.full(whole.shape, np.nan)
        self.spent = 0  # different pairs, each counted once
        self.similarity = fp.similarity(self._pairs, kind="pairs", symmetric=True)

    def _pairs(self, pairs) -> np.ndarray:
        i, j = np.array(pairs, dtype=np.int64).T
        self.add(i, j)
        return self.whole[i, j]

    def add(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Ask for entries."""
        n = len(self.whole)
        new = np.isnan(self.known[rows, columns]) & (rows != columns)
        low, high = np.minimum(rows, columns)[new], np.maximum(rows, columns)[new]
        self.spent += len(np.unique(low * n + high))
        self.known[rows, columns] = self.known[columns, rows] = self.whole[rows, columns]
        np.fill_diagonal(self.known, np.nan)

    def by_anchors(self, i: int, rows: np.ndarray, *, ridge: float) -> np.ndarray:
        """What the known entries of row i say of the others."""
        places = np.flatnonzero(np.isfinite(self.known[i]))
        return _expected(rows, places, self.known[i, places], ridge)


def by_lists(scores: np.ndarray, evaluated: Evaluated, total: int) -> Evaluated:
    """Evaluate what comes first for an item, best places first, until so many pairs are known."""
    n = len(scores)
    open_scores = np.where(np.isfinite(evaluated.known), -np.inf, scores)
    np.fill_diagonal(open_scores, -np.inf)
    place = np.empty((n, n), dtype=np.int64)
    np.put_along_axis(place, np.argsort(-open_scores, axis=1), np.arange(n)[None], axis=1)
    i, j = np.triu_indices(n, 1)
    fresh = np.isnan(evaluated.known[i, j])
    i, j = i[fresh], j[fresh]
    best = np.lexsort((-scores[i, j], np.minimum(place[i, j], place[j, i])))
    best = best[: max(total - evaluated.spent, 0)]
    evaluated.add(i[best], j[best])
    return evaluated
