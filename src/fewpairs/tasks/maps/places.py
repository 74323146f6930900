"""The map of a matrix: every item beside those that the matrix has as its nearest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.tasks.maps.layout import neighbor_map
from fewpairs.tasks.maps.neighbors import Neighbors, nearest_of_all


class Mapped(NamedTuple):
    """Items with their neighbours and places; of two sets, those of the rows first.

    Attributes
    ----------
    sides : list of Neighbors
        Of the rows among the columns; of two sets also of the columns among the rows.
    table : ndarray of shape (n, k)
        Neighbours of all, as places among all; -1 for none.
    places : ndarray of shape (n, 2)
    """

    sides: list[Neighbors]
    table: IntArray
    places: FloatArray


def map_of(
    matrix: FactoredMatrix,
    rows: IntArray | None = None,
    columns: IntArray | None = None,
    *,
    random_state: int = 0,
) -> Mapped:
    """Lay out the items of a matrix, or some of them; nothing is evaluated.

    Parameters
    ----------
    matrix : FactoredMatrix
    rows, columns : ndarray of int, optional
        Of one set both are the same.
    random_state : int, default=0

    Returns
    -------
    Mapped
    """
    rows = np.arange(matrix.shape[0]) if rows is None else rows
    columns = np.arange(matrix.shape[1]) if columns is None else columns
    square = is_one_set(matrix)
    sides = [nearest_of_all(matrix, rows, columns, square=square)]
    if not square:
        sides.append(nearest_of_all(matrix.T, columns, rows, square=False))
    table = _table(sides, len(rows))
    start = _start(matrix, rows, columns, square=square)
    return Mapped(sides, table, neighbor_map(table, start, random_state=random_state))


def is_one_set(matrix: FactoredMatrix) -> bool:
    """Say whether rows and columns are the same items; of given factors, if there are as many."""
    return matrix.source.square and matrix.shape[0] == matrix.shape[1]


def _table(sides: list[Neighbors], second: int) -> IntArray:
    if len(sides) == 1:
        return sides[0].places
    height = max(side.places.shape[1] for side in sides)
    moved = (sides[0].places + second, sides[1].places)
    padded = [np.pad(t, ((0, 0), (0, height - t.shape[1])), constant_values=-1) for t in moved]
    return np.vstack(padded)


def _start(
    matrix: FactoredMatrix, rows: IntArray, columns: IntArray, *, square: bool
) -> FloatArray:
    """Return two leading directions after the first, which usually says what all share."""
    if square:
        return _two(matrix.embedding(psd=True)[rows])
    # Both factors through one core, so that near rows and columns lie near each other.
    w, sizes, vt = np.linalg.svd(matrix.core, full_matrices=False)
    root = np.sqrt(sizes)
    both = [matrix.left[rows] @ (w * root), matrix.right[columns] @ (vt.T * root)]
    return _two(np.vstack(both))


def _two(vectors: FloatArray) -> FloatArray:
    order = np.argsort(-np.einsum("ik,ik->k", vectors, vectors), kind="stable")
    chosen = vectors[:, order[1:3]]
    return np.hstack([chosen, np.zeros((len(vectors), 2 - chosen.shape[1]))])
