"""The most similar items: by the factors, or re-evaluated exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError
from fewpairs.factored.source import one_item

if TYPE_CHECKING:
    from fewpairs.factored.matrix import FactoredMatrix


class Neighbors(NamedTuple):
    """The most similar items, best first."""

    indices: IntArray
    similarities: FloatArray


def nearest(
    matrix: FactoredMatrix, index: int | None, k: int, *, item: Any, rerank: int
) -> tuple[Neighbors, int]:
    """Find the neighbours of one item of the matrix, or of a new one; see `FactoredMatrix`.

    Returns
    -------
    neighbors : Neighbors
    spent : int
        Evaluations that it took.
    """
    if (index is None) == (item is None):
        raise InputError(
            "nearest takes either an index or item=….",
            "An integer is always an index, so that a number can be an item too.",
            "Call K.nearest(3) or K.nearest(item=new_item).",
        )
    whole = all(isinstance(v, (int, np.integer)) for v in (k, rerank))
    if not whole or k < 1 or rerank < 0:
        raise InputError(
            f"k is {k} and rerank is {rerank}.",
            "They are numbers of neighbours and of exact evaluations.",
            "Pass k >= 1 and rerank >= 0.",
        )
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
        order = np.lexsort((best, -values))
        best, values = best[order], values[order]
    return Neighbors(best[:k], values[:k]), spent


def _largest(scores: FloatArray, count: int) -> IntArray:
    count = min(count, int(np.isfinite(scores).sum()))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    best = np.argpartition(-scores, count - 1)[:count]
    return np.asarray(best[np.lexsort((best, -scores[best]))])


def _scores_of_new(matrix: FactoredMatrix, item: Any) -> tuple[FloatArray, int]:
    grown = matrix.source.compare(one_item(item))
    scores = (grown.left @ matrix.core @ matrix.right.T).ravel()
    columns = grown.columns(matrix.known.columns)
    scores[columns.index] = columns.values[-1]
    return scores, grown.evaluations
