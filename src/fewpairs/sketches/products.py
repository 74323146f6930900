"""Inner products of rows, dense or sparse, and a scalar function of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError

Function = Callable[[FloatArray], Any]


def radius_of(left: Any, right: Any) -> float:
    """Return max‖u‖·max‖v‖, within which all inner products lie; 1 if all are zero."""
    largest = float(np.sqrt(squares(left).max(initial=0) * squares(right).max(initial=0)))
    return largest if largest > 0 else 1.0


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
    with np.errstate(all="ignore"):
        values = np.asarray(function(x), dtype=np.float64)
    if values.shape != x.shape:
        raise InputError(
            f"the function gave the shape {values.shape} for {x.shape}.",
            "It is applied to every entry.",
            "Pass a function of an array, such as numpy.exp; numpy.vectorize makes one.",
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"the function is {values.flat[bad[0]]} at {x.flat[bad[0]]:.6g}; inner products of the "
            f"rows can lie anywhere from {x.min():.6g} to {x.max():.6g}.",
            "A polynomial is fitted on the whole range.",
            "Scale or shift the vectors, or pass a function that is finite there.",
        )
    return values
