"""Inner products of rows, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.numerics import row_squares

#: Squares of numbers up to this, and of its inverse, neither over- nor underflow.
_SAFE = 1e70


def longest_length(rows: Any) -> float:
    """Return the length of the longest row; its square may over- or underflow."""
    values = rows.data if sp.issparse(rows) else rows
    top = float(np.abs(values).max(initial=0))
    if 1 / _SAFE < top < _SAFE or top == 0:
        return float(np.sqrt(row_squares(rows).max(initial=0)))
    return top * float(np.sqrt(row_squares(rows / top).max(initial=0)))


def radius_of(left: Any, right: Any) -> float:
    """Return a = max‖u‖·max‖v‖: every inner product lies in [−a, a]. It is 1 if all are zero."""
    radius = longest_length(left) * longest_length(right)
    return radius if radius > 0 else 1.0


def balance(left: Any, right: Any) -> tuple[Any, Any, float]:
    """Return s·U, V/s and s, where s makes the longest rows of both sides about equally long.

    Inner products stay as they are, to the last bit. Without this, a side with very long rows would
    be all that sums over both sides, such as those for principal axes, can see.
    """
    lengths = longest_length(left), longest_length(right)
    if right is left or min(lengths) == 0:
        return left, right, 1.0
    # Rounded to a power of two, it changes no digit: an inner product of 0 stays 0, where f may be
    # as steep as the cube root.
    s = 2.0 ** round(float(np.log2(lengths[1]) - np.log2(lengths[0])) / 2)
    if 1 / _SAFE < s < _SAFE:
        return left * left.dtype.type(s), right * right.dtype.type(1 / s), s
    return (left.astype(np.float64) * s), (right.astype(np.float64) / s), s


def dense(rows: Any) -> Any:
    """Return a few rows as an array."""
    return rows.toarray() if sp.issparse(rows) else rows


def row_products(left: Any, right: Any) -> FloatArray:
    """Return the inner product of row k of the left with row k of the right, for every k."""
    if sp.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right, dtype=np.float64))
