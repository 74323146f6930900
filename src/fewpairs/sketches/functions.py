"""A scalar function of many inner products, at any scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, unmasked
from fewpairs.errors import InputError
from fewpairs.numerics import exponent, largest, row_squares
from fewpairs.sketches.products import dense, radius_of

Function = Callable[[FloatArray], Any]

#: The squares of larger values overflow in sums over many entries.
_LARGEST_VALUE = 1e150
#: Points of the range at which f is tried before anything else. This finds a part of the range on
#: which f is not defined; a pole between two points is not found.
TRIED_POINTS = 1001
#: f is measured between so many of the longest rows of each side, and as many others.
_MEASURED_ROWS = 16
#: Whatever its values there, on the whole range f stays below 2 to this power: a polynomial is
#: fitted to all of it. Below 2^±1000, scaling changes no digit.
_LARGEST_POWER, _FURTHEST = 398, 1000


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


@dataclass(frozen=True)
class Scaled:
    """f divided by a power of two, which changes no digit.

    Parameters
    ----------
    function : callable of an array
    power : int
        Within ±1000.
    """

    function: Function
    power: int

    def __call__(self, x: FloatArray) -> Any:
        """Return the values over 2^power."""
        return _answer(self.function, x) * 2.0**-self.power


def scaled_to_one(function: Function, left: Any, right: Any) -> Scaled:
    """Return f over the power of two that brings entries of f(UVᵀ) close to 1.

    So squares can be summed whatever the size of f, and the result for 2ᵏ·f is 2ᵏ times that for f.

    Parameters
    ----------
    function : callable of an array
        f.
    left, right : ndarray or csr_array
        U and V; one and the same object for a symmetric matrix.

    Returns
    -------
    Scaled
    """
    with np.errstate(all="ignore"):  # rows that are too long are refused later
        products = dense(_some_rows(left) @ _some_rows(right).T)
    entries = _magnitude(function, np.asarray(products, dtype=np.float64))
    anywhere = _magnitude(function, _whole_range(radius_of(left, right)))
    power = entries if entries is not None else anywhere or 0
    if anywhere is not None:
        power = max(power, anywhere - _LARGEST_POWER)
    return Scaled(function, max(-_FURTHEST, min(power, _FURTHEST)))


def _some_rows(side: Any) -> Any:
    """Return the longest rows, and others from all over; no draw is spent on them."""
    spread = np.linspace(0, side.shape[0] - 1, _MEASURED_ROWS).astype(np.int64)
    return side[np.union1d(largest(row_squares(side), _MEASURED_ROWS), spread)]


def _magnitude(function: Function, x: FloatArray) -> int | None:
    """Return e where the largest finite |f(x)| is just below 2^e; None where all are zero."""
    values = evaluate(function, x)
    found = values[np.isfinite(values)]
    return exponent(found) if found.any() else None


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


def _whole_range(radius: float) -> FloatArray:
    return np.asarray(radius * np.linspace(-1, 1, TRIED_POINTS))


def largest_on(function: Function, radius: float) -> float:
    """Return the largest |f| on [−radius, radius] as far as a few points tell; NaN if any is."""
    with np.errstate(all="ignore"):
        values = np.abs(np.asarray(function(_whole_range(radius))))
    return float(np.max(values, initial=0.0))


def check_range(function: Function, radius: float) -> None:
    """Refuse an f that is not defined somewhere on [−radius, radius], and say so of all of it."""
    apply(function, _whole_range(radius))


def apply(function: Function, x: FloatArray) -> FloatArray:
    """Return f(x) for an array of inner products, or an error that says where f is not defined."""
    values = evaluate(function, x)
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(np.abs(values) < _LARGEST_VALUE))
    if len(bad):
        value = values.flat[bad[0]]
        with np.errstate(over="ignore"):
            value = value * 2.0**function.power if isinstance(function, Scaled) else value
        raise InputError(
            f"the function is {value} at {x.flat[bad[0]]:.6g}; inner products of the rows can lie "
            f"anywhere from {x.min():.6g} to {x.max():.6g}.",
            "A polynomial is fitted on the whole range.",
            "Scale or shift the vectors, or pass a function that is finite on the whole range, and "
            "nowhere 1e150 times as large as elsewhere.",
        )
    return values


def evaluate(function: Function, x: FloatArray) -> FloatArray:
    """Return f(x), finite or not, or an error if f is no function of an array."""
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
    return values
