"""Inner products of rows, dense or sparse, and a scalar function of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError

Function = Callable[[FloatArray], Any]


#: Larger values have no squares.
_LARGEST = 1e150


def longest_of(rows: Any) -> float:
    """Return the length of the longest row."""
    return float(np.sqrt(squares(rows).max(initial=0)))


def radius_of(left: Any, right: Any) -> float:
    """Return max‖u‖·max‖v‖, within which all inner products lie; 1 if all are zero."""
    largest = longest_of(left) * longest_of(right)
    return largest if largest > 0 else 1.0


def balanced(left: Any, right: Any) -> tuple[Any, Any, float]:
    """Return s·U and V/s, so that the longest rows of both are as long, and s."""
    lengths = longest_of(left), longest_of(right)
    if right is left or min(lengths) == 0:
        return left, right, 1.0
    s = float(np.sqrt(lengths[1] / lengths[0]))
    return left * left.dtype.type(s), right * right.dtype.type(1 / s), s


def squares(rows: Any) -> FloatArray:
    """Return the squared length of each row, dense or sparse."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))


def row_products(left: Any, right: Any) -> FloatArray:
    """Return the inner product of row k with row k."""
    if sp.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right, dtype=np.float64))


def evaluated(function: Function, x: FloatArray) -> FloatArray:
    """Return f(x), or say where it is not defined."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(x.copy()), dtype=np.float64)  # it may write to it
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the function failed on an array of numbers: {error}.",
            "It is applied to many entries at a time.",
            "Pass a function of an array, such as numpy.exp; numpy.vectorize makes one.",
        ) from error
    if values.shape != x.shape:
        raise InputError(
            f"the function gave the shape {values.shape} for {x.shape}.",
            "It is applied to every entry.",
            "Pass a function of an array, such as numpy.exp; numpy.vectorize makes one.",
        )
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(np.abs(values) < _LARGEST))
    if len(bad):
        raise InputError(
            f"the function is {values.flat[bad[0]]} at {x.flat[bad[0]]:.6g}; inner products of the "
            f"rows can lie anywhere from {x.min():.6g} to {x.max():.6g}.",
            "A polynomial is fitted on the whole range.",
            "Scale or shift the vectors, or pass a function that is below 1e150 there.",
        )
    return values
