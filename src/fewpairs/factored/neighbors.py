"""The most similar items: by the factors, or re-evaluated exactly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import InputError
from fewpairs.factored.extension import rows_of_new
from fewpairs.factored.search import predicted, search, search_row
from fewpairs.factored.source import one_item
from fewpairs.numerics import largest

if TYPE_CHECKING:
    from fewpairs.factored.answers import Answers

#: Candidates that are ranked exactly, for each neighbour and at least. From 10 % of the pairs five
#: for each find 0.51 to 0.90 of the ten nearest, ten 0.66 to 0.96, twenty 0.81 to 0.98, on the
#: matrices of docs/tables/neighbors.md.
_CANDIDATES, _FEWEST_CANDIDATES = 10, 50


class Ranking(NamedTuple):
    """The best places, their scores, and what it took beside exact scores that are kept.

    Scores are `predicted` if some were neither evaluated nor known.
    """

    indices: IntArray
    similarities: FloatArray
    spent: int = 0
    predicted: bool = False


def nearest(
    matrix: Answers,
    index: int | None,
    k: int,
    *,
    item: Any,
    rerank: int | None,
    budget: int | str | None = None,
) -> Ranking:
    """Find the neighbours of one item of the matrix, or of a new one; see `FactoredMatrix`."""
    _check(index, k, item=item, rerank=rerank, budget=budget)
    if budget is not None:
        return _nearest_within(matrix, index, item, k, budget)
    count = how_many_candidates(matrix, k, rerank)
    if index is None:
        return _nearest_to_new(matrix, item, k, count)
    scores = scores_of(matrix, index)
    if not count:
        best = _best(scores, k)
        known = matrix.known_in_row(index, best.indices)
        return best._replace(predicted=bool((best.similarities != known).any()))
    everyone = np.arange(len(scores))
    evaluate = partial(matrix.exactly, index)
    return reranked(scores, matrix.paid_in_row(index, everyone), k, count, evaluate)


def how_many_candidates(matrix: Answers, k: int, rerank: int | None) -> int:
    """Return how many candidates are ranked exactly; 0 for none."""
    if rerank is None:
        return max(_FEWEST_CANDIDATES, _CANDIDATES * k) if matrix.source.evaluates else 0
    return max(rerank, k) if rerank else 0


def scores_of(matrix: Answers, index: int) -> FloatArray:
    """Return an item's factored scores; its own is -∞."""
    scores: FloatArray = matrix[index]
    if matrix.source.square:
        scores[index] = -np.inf
    return scores


def reranked(
    scores: FloatArray,
    exact: FloatArray,
    k: int,
    count: int,
    evaluate: Callable[[IntArray], FloatArray],
) -> Ranking:
    """Rank the best candidates, and all that is known, by their exact scores.

    Parameters
    ----------
    scores : ndarray
        Factored ones, -∞ where an item is out of the question.
    exact : ndarray
        Exact ones, NaN where they are not known; filled in.
    k, count : int
        Neighbours, and candidates.
    evaluate : callable
        Gives exact scores of places.

    Returns
    -------
    Ranking
    """
    candidates = _largest(scores, count)
    new = candidates[np.isnan(exact[candidates])]
    if len(new):
        exact[new] = evaluate(new)
    return _best(np.where(np.isnan(exact) | np.isinf(scores), -np.inf, exact), k)


def _best(scores: FloatArray, k: int) -> Ranking:
    best = _largest(scores, k)
    return Ranking(best, scores[best])


def _check(index: int | None, k: Any, *, item: Any, rerank: Any, budget: Any) -> None:
    if (index is None) == (item is None):
        raise InputError(
            "nearest takes either an index or item=….",
            "An integer is always an index, so that a number can be an item too.",
            "Call K.nearest(3) or K.nearest(item=new_item).",
        )
    check_numbers(k, rerank)
    if budget is None:
        return
    if rerank is not None:
        raise InputError(
            f"budget is {budget!r}, beside a rerank of {rerank!r}.",
            "Both say how much is evaluated: a budget in rounds, rerank at once.",
            "Pass one of them.",
        )


def check_numbers(k: Any, rerank: Any) -> None:
    """Refuse what is no number of neighbours or of candidates."""
    if not is_whole(k) or k < 1 or not (rerank is None or (is_whole(rerank) and rerank >= 0)):
        raise InputError(
            f"k is {k} and rerank is {rerank}.",
            "They are numbers of neighbours and of exact evaluations.",
            "Pass k >= 1 and rerank >= 0.",
        )


def _nearest_within(
    matrix: Answers, index: int | None, item: Any, k: int, budget: int | str
) -> Ranking:
    """Spend a budget on the most promising, in rounds."""
    if index is not None:
        return Ranking(*search_row(matrix, index, k, budget))
    indices, similarities, spent, _ = search(matrix, one_item(item), k, budget)
    there = indices[0] >= 0
    return Ranking(indices[0, there], similarities[0, there], spent)


def _nearest_to_new(matrix: Answers, item: Any, k: int, count: int) -> Ranking:
    scores, exact, spent = _scores_of_new(matrix, item)
    if not count:
        best = _best(scores, k)
        predicted_ones = best.similarities != exact[best.indices]
        return best._replace(spent=spent, predicted=bool(predicted_ones.any()))

    def evaluate(places: IntArray) -> FloatArray:
        nonlocal spent
        values, more = matrix.source.evaluate_exactly(one_item(item), places)
        spent += more
        return values

    return reranked(scores, exact, k, count, evaluate)._replace(spent=spent)


def _largest(scores: FloatArray, count: int) -> IntArray:
    """Return the best places, without those that are out of the question (-∞)."""
    return largest(scores, min(count, int(np.isfinite(scores).sum())))


def _scores_of_new(matrix: Answers, item: Any) -> tuple[FloatArray, FloatArray, int]:
    """Return a new item's factored scores, those that are exact (others NaN), and their price."""
    grown = matrix.source.compare(one_item(item))
    scores = predicted(matrix, rows_of_new(matrix, grown))[0]
    columns = grown.columns(matrix.known.columns)
    mine = columns.values[-1]
    scores[columns.index] = np.where(np.isnan(mine), -np.inf, mine)  # nobody's neighbour
    exact = np.full(len(scores), np.nan)
    exact[grown.forth.index] = grown.forth.values[-1]
    return scores, exact, grown.evaluations
