"""The most similar items: by the factors, or re-evaluated exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import InputError
from fewpairs.factored.source import one_item
from fewpairs.numerics import largest, ridge_inverse

if TYPE_CHECKING:
    from fewpairs.factored.matrix import FactoredMatrix

#: Re-ranking is worth half of a new item's evaluations from this many landmarks on; with fewer the
#: candidates are so poor that further landmarks gain more (docs/tables/neighbors.md).
_FEWEST_ANCHORS = 30
#: δ of the ridge: a few anchors determine the large directions only, and the small ones would
#: otherwise be divided by nearly nothing.
_RIDGE = 1e-2


class Neighbors(NamedTuple):
    """The most similar items, best first."""

    indices: IntArray
    similarities: FloatArray


def nearest(
    matrix: FactoredMatrix,
    index: int | None,
    k: int,
    *,
    item: Any,
    rerank: int,
    budget: int | None = None,
) -> tuple[Neighbors, int]:
    """Find the neighbours of one item of the matrix, or of a new one; see `FactoredMatrix`.

    Returns
    -------
    neighbors : Neighbors
    spent : int
        Evaluations that it took.
    """
    _check(index, k, item=item, rerank=rerank, budget=budget)
    if budget is not None:
        return _nearest_within(matrix, item, k, budget)
    spent = 0
    if index is None:
        scores, spent = _scores_of_new(matrix, item)
    else:
        scores = matrix[index]
        if matrix.source.square:
            scores[index] = -np.inf
    best = _largest(scores, max(k, rerank))
    values = scores[best]
    if rerank and len(best):
        query = one_item(item) if index is None else matrix.source.at(index)
        values, more = matrix.source.evaluate_exactly(query, best)
        spent += more
        return _sorted(best, values, k), spent
    return Neighbors(best[:k], values[:k]), spent


def _sorted(found: IntArray, values: FloatArray, k: int) -> Neighbors:
    order = np.lexsort((found, -values))[:k]
    return Neighbors(found[order], values[order])


def _check(index: int | None, k: Any, *, item: Any, rerank: Any, budget: Any) -> None:
    if (index is None) == (item is None):
        raise InputError(
            "nearest takes either an index or item=….",
            "An integer is always an index, so that a number can be an item too.",
            "Call K.nearest(3) or K.nearest(item=new_item).",
        )
    if not is_whole(k) or not is_whole(rerank) or k < 1 or rerank < 0:
        raise InputError(
            f"k is {k} and rerank is {rerank}.",
            "They are numbers of neighbours and of exact evaluations.",
            "Pass k >= 1 and rerank >= 0.",
        )
    if budget is None:
        return
    if index is not None or rerank or not is_whole(budget) or budget < 1:
        raise InputError(
            f"budget is {budget!r}, beside an index or rerank, or it is no positive integer.",
            "It is what a new item may cost, and decides by itself how much is re-ranked.",
            "Call K.nearest(item=new_item, k=10, budget=60).",
        )


def _nearest_within(
    matrix: FactoredMatrix, item: Any, k: int, budget: int
) -> tuple[Neighbors, int]:
    """Spend half on landmarks and half on exact scores of the best candidates.

    With fewer than thirty landmarks the candidates would be poor: then all goes to landmarks.
    """
    landmarks = matrix.source.left_landmarks
    count = budget // 2 if budget // 2 >= _FEWEST_ANCHORS else budget
    count = min(count, 0 if landmarks is None else len(landmarks))
    scores, spent = _scores_by_anchors(matrix, item, count)
    if landmarks is None or budget == count:
        best = _largest(scores, k)
        return Neighbors(best, scores[best]), spent
    anchors = landmarks[:count]
    hidden = scores.copy()
    hidden[anchors] = -np.inf  # these are exact already
    best = _largest(hidden, budget - count)
    exact, more = matrix.source.evaluate_exactly(one_item(item), best)
    found = np.concatenate([anchors, best])
    return _sorted(found, np.concatenate([scores[anchors], exact]), k), spent + more


def _scores_by_anchors(matrix: FactoredMatrix, item: Any, count: int) -> tuple[FloatArray, int]:
    """Predict a new row from its first few landmarks alone.

    The row is taken as a combination yᵀR of the landmarks' rows R that agrees with what was
    evaluated: with R's columns at the anchors UΣVᵀ, y = U·diag(σ/(σ² + δ²))·Vᵀc.
    """
    source = matrix.source
    if source.left_landmarks is None or source.right_landmarks is None or count == 0:
        return _scores_of_new(matrix, item)  # says what is missing
    anchors = source.left_landmarks[:count]
    exact, spent = source.evaluate_exactly(one_item(item), anchors)
    crossing = matrix.left[source.right_landmarks][:, :count]
    u, sizes, vt = scipy.linalg.svd(crossing, full_matrices=False)
    scores = matrix.right @ (u @ (ridge_inverse(sizes, _RIDGE) * (vt @ exact)))
    scores[anchors] = exact
    return scores, spent


def _largest(scores: FloatArray, count: int) -> IntArray:
    """Return the best places, without those that are out of the question (-∞)."""
    return largest(scores, min(count, int(np.isfinite(scores).sum())))


def _scores_of_new(matrix: FactoredMatrix, item: Any) -> tuple[FloatArray, int]:
    grown = matrix.source.compare(one_item(item))
    scores = (grown.left @ matrix.core @ matrix.right.T).ravel()
    columns = grown.columns(matrix.known.columns)
    scores[columns.index] = columns.values[-1]
    return scores, grown.evaluations
