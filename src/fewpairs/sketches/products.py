"""Inner products of rows, dense or sparse, and a scalar function of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, unmasked
from fewpairs.errors import InputError
from fewpairs.numerics import row_squares

Function = Callable[[FloatArray], Any]

#: The squares of larger values overflow in sums over many entries.
_LARGEST_VALUE = 1e150
#: Squares of numbers up to this, and of its inverse, neither over- nor underflow.
_SAFE = 1e70
#: Points of the range at which f is tried before anything else. This finds a part of the range on
#: which f is not defined; a pole between two points is not found.
TRIED_POINTS = 1001


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
    """Return s·U, V/s and s, where s makes the longest rows of both sides equally long.

    Inner products stay as they are. Without this, a side with very long rows would be all that
    sums over both sides, such as those for principal axes, can see.
    """
    lengths = longest_length(left), longest_length(right)
    if right is left or min(lengths) == 0:
        return left, right, 1.0
    s = float(np.sqrt(lengths[1]) / np.sqrt(lengths[0]))
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


@dataclass(frozen=True)
class Capped:
    """A function whose values are cut off at a limit, so that features of it stay finite.

    Parameters
    ----------
    function : callable of an array
    limit : float
    """

    function: Function
    limit: float

    def __call__(self, x: FloatArray) -> Any:
        """Return the values; what is not a number stays so, and is refused later."""
        return np.clip(_answer(self.function, x), -self.limit, self.limit)


def _answer(function: Function, x: FloatArray) -> Any:
    """Return f(x) as an array; refuse what would lose its mask or its imaginary part."""
    answer = np.asarray(unmasked(function(x), "what the function returned"))
    # For a Taylor series, f is asked on a circle of complex numbers, and answers with such.
    if np.iscomplexobj(answer) and not np.iscomplexobj(x):
        raise InputError(
            "the function returned complex numbers.",
            "Similarities are real numbers, and the imaginary part would be lost.",
            "Pass a function with real values, for example lambda x: numpy.cos(x).",
        )
    return answer


def largest_on(function: Function, radius: float) -> float:
    """Return the largest |f| on [−radius, radius] as far as a few points tell; NaN if any is."""
    with np.errstate(all="ignore"):
        values = np.abs(np.asarray(function(radius * np.linspace(-1, 1, TRIED_POINTS))))
    return float(np.max(values, initial=0.0))


def apply(function: Function, x: FloatArray) -> FloatArray:
    """Return f(x) for an array of inner products, or an error that says where f is not defined."""
    try:
        with np.errstate(all="ignore"):
            # A copy, because a function may write to its argument.
            values = np.asarray(_answer(function, x.copy()), dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the function failed on an array of numbers: {error}.",
            "It is applied to many entries at a time.",
            "Pass a function of an array, such as numpy.exp; numpy.vectorize makes one.",
        ) from error
    if values.shape != x.shape:
        raise InputError(
            f"the function returned the shape {values.shape} for an array of shape {x.shape}.",
            "It is applied to every entry.",
            "Pass a function of an array, such as numpy.exp; numpy.vectorize makes one.",
        )
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(np.abs(values) < _LARGEST_VALUE))
    if len(bad):
        raise InputError(
            f"the function is {values.flat[bad[0]]} at {x.flat[bad[0]]:.6g}; inner products of the "
            f"rows can lie anywhere from {x.min():.6g} to {x.max():.6g}.",
            "A polynomial is fitted on the whole range.",
            "Scale or shift the vectors, or pass a function that is below 1e150 there.",
        )
    return values
