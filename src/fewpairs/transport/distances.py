"""Distances between word vectors: tables for many documents, one by one for single pairs."""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray
from fewpairs.transport.reductions import FINITE_ONLY, INFINITE, smaller

#: Sums may be reordered where only a rounding depends on it, so that they vectorise.
REORDERED = FINITE_ONLY | {"fastmath": True}
#: Where |x|² + |y|² − 2x·y is below this share of |x|² + |y|², it is computed anew from x − y. At
#: the limit its rounding, 2e-16 of the sum, is 2e-10 of the result, and 1e-10 of the distance.
_CANCELLED = 1e-6
#: Squares of distances below this may have lost digits, or all of them; then differences are
#: enlarged before they are squared.
VANISHING = 1e-140
_ENLARGED = 2.0**600


def distance_table(left: FloatArray, right: FloatArray, *, cosine: bool) -> FloatArray:
    """Return all distances between two sets of vectors, by one matrix product.

    Parameters
    ----------
    left, right : ndarray of shape (n, d), (m, d)
        Of length one if `cosine`, or zero.
    cosine : bool
        1 − x·y instead of |x − y|. A zero vector has no direction: it is at 1 from all that have
        one, and at 0 from other zero vectors.

    Returns
    -------
    ndarray of shape (n, m)
    """
    table = left @ right.T
    if cosine:
        np.subtract(1.0, table, out=table)
        np.maximum(table, 0.0, out=table)
        without = ~right.any(axis=1)
        if without.any():
            table[np.ix_(~left.any(axis=1), without)] = 0.0
        return table
    _to_distances(table, left, right)
    return table


@njit(**REORDERED)
def _to_distances(table: FloatArray, left: FloatArray, right: FloatArray) -> None:
    """Turn dot products into distances; nearly equal vectors are compared directly."""
    n, m = table.shape
    right_squares = np.empty(m)
    for j in range(m):
        right_squares[j] = _squared_length(right[j])
    for i in range(n):
        mine = _squared_length(left[i])
        row = table[i]
        lowest = INFINITE
        for j in range(m):
            both = mine + right_squares[j]
            square = both - 2.0 * row[j]
            lowest = smaller(square - _CANCELLED * both, lowest)
            row[j] = np.sqrt(max(square, 0.0))
        if lowest < VANISHING * VANISHING:  # seldom: some vector is nearly this one
            for j in range(m):
                if row[j] * row[j] < _CANCELLED * (mine + right_squares[j]) or row[j] < VANISHING:
                    row[j] = distance(left[i], right[j])
                    if row[j] < VANISHING:
                        row[j] = tiny_distance(left[i], right[j])


@njit(**REORDERED)
def _squared_length(x: FloatArray) -> float:
    """Return |x|²."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * x[k]
    return total


@njit(**REORDERED)
def distance(x: FloatArray, y: FloatArray) -> float:
    """Return |x − y|; where it is below `VANISHING`, see `tiny_distance`."""
    total = 0.0
    for k in range(len(x)):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return float(np.sqrt(total))


@njit(**REORDERED)
def tiny_distance(x: FloatArray, y: FloatArray) -> float:
    """Return |x − y| where its square may have vanished."""
    total = 0.0
    for k in range(len(x)):
        enlarged = _ENLARGED * (x[k] - y[k])
        total += enlarged * enlarged
    return float(np.sqrt(total) / _ENLARGED)


@njit(**REORDERED)
def cosine_distance(x: FloatArray, y: FloatArray) -> float:
    """Return 1 − x·y of two vectors of length one; rounding below 0 is cut off."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return max(1.0 - total, 0.0)


@njit(**REORDERED)
def both_zero(x: FloatArray, y: FloatArray) -> bool:
    """Say whether both are zero vectors, which are in one place even if they have no direction."""
    return bool(_squared_length(x) + _squared_length(y) == 0.0)
