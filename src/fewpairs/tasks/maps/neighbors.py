"""The nearest of every item, for a page: by the factored scores, beside what is known exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.factors import Factors
from fewpairs.numerics import parts
from fewpairs.oracle.known import Known

#: Neighbours of an item on a page.
PER_ITEM = 10
#: Entries that are read at a time: 32 MB.
_HELD = 2**22


class Neighbors(NamedTuple):
    """The nearest of each item, best first; -1 and NaN where there are fewer.

    Attributes
    ----------
    places : ndarray of shape (n, k)
    approximate : ndarray of shape (n, k)
        What the factors say alone.
    exact : ndarray of shape (n, k)
        What was evaluated; NaN elsewhere.
    """

    places: IntArray
    approximate: FloatArray
    exact: FloatArray

    @property
    def scores(self) -> FloatArray:
        """The best that is known of each: exact where it was evaluated."""
        return np.where(np.isnan(self.exact), self.approximate, self.exact)


def nearest_of_all(
    matrix: Factors, rows: IntArray, columns: IntArray, *, square: bool, per_item: int = PER_ITEM
) -> Neighbors:
    """Find the nearest of some rows among some columns; nothing is evaluated.

    Parameters
    ----------
    matrix : FactoredMatrix
    rows, columns : ndarray of int
        Places in the answer are those in `columns`.
    square : bool
        Whether both are the same items, so that none is its own neighbour.
    per_item : int

    Returns
    -------
    Neighbors
    """
    count = max(0, min(per_item, len(columns) - 1 if square else len(columns)))
    places = np.empty((len(rows), count), dtype=np.int64)
    known = matrix.known.in_both_orders()
    for part in parts(len(rows), max(1, _HELD // max(1, matrix.shape[1]))):
        scores = _rows(matrix, known, rows[part])[:, columns]
        if square:
            scores[np.arange(len(scores)), np.arange(part.start, part.stop)] = -np.inf
        places[part] = _best(scores, count)
    i, j = np.repeat(rows, count), columns[places.ravel()]
    approximate = matrix.from_factors(i, j).reshape(places.shape)
    return Neighbors(places, approximate, matrix.known.find(i, j).reshape(places.shape))


def _rows(matrix: Factors, known: Known, rows: IntArray) -> FloatArray:
    """Return whole rows, as ``matrix[rows]`` does, by lines instead of entry by entry.

    `known` holds both orders, so that single entries of a row lie side by side.
    """
    scores = matrix.predicted(rows, slice(None))
    width = matrix.shape[1]
    ends = np.searchsorted(known.keys, np.stack([rows, rows + 1]) * width)
    counts = ends[1] - ends[0]
    first = np.cumsum(counts) - counts
    at = np.repeat(ends[0] - first, counts) + np.arange(int(counts.sum()))
    scores[np.repeat(np.arange(len(rows)), counts), known.keys[at] % width] = known.values[at]
    if known.diagonal is not None:
        scores[np.arange(len(rows)), rows] = known.diagonal[rows]
    scores[:, known.columns.index] = known.columns.values[rows]
    whole = known.rows.hold(rows)
    scores[whole] = known.rows.values[:, known.rows.place[rows[whole]]].T
    return scores


def _best(scores: FloatArray, count: int) -> IntArray:
    """Return the places of the largest of each row, best first."""
    if count == 0:
        return np.empty((len(scores), 0), dtype=np.int64)
    some = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(some, order, axis=1), dtype=np.int64)
