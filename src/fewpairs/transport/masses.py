"""What may be moved: masses that are finite, not negative, and equal in sum on both sides."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, unmasked
from fewpairs.errors import InputError

#: Sums that differ by a larger share are a mistake; by a smaller one, rounding of weights that were
#: divided by their sum, in single precision as well.
_SAME_MASS = 1e-6
#: Kinds of dtypes that hold real numbers; objects, if they can be converted.
_REAL = "fiubO"
#: Powers of two between plus and minus this are floats with all digits.
_POWERS = 1000


def read_numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return what was passed as an array of float64; refuse what is no array of real numbers."""
    plain = unmasked(values, name)
    try:
        array = np.asarray(plain)
        real = array.dtype.kind in _REAL
        with np.errstate(over="ignore"):  # of longer floats; infinity is refused by the caller
            numbers = array.astype(np.float64, copy=False) if real else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        raise InputError(
            f"{name} is a {type(values).__name__} that cannot be read as real numbers.",
            "What is moved, and what it costs, are numbers.",
            "Pass a list or an array of floats, all rows of one length.",
        )
    return numbers


def times_power(values: FloatArray, exponent: int) -> FloatArray:
    """Return values times ``2**exponent``: as `numpy.ldexp` does, and five times faster."""
    if abs(exponent) > _POWERS:
        return np.ldexp(values, exponent)
    return values * 2.0**exponent


def read_masses(masses: npt.ArrayLike, name: str) -> FloatArray:
    """Return masses as an array; refuse what is no mass, by the argument's name and the place."""
    array = read_numbers(masses, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} has the shape {array.shape}.",
            "There is one mass for each place.",
            "Pass a list of masses.",
        )
    bad = np.flatnonzero(~(array >= 0) | ~np.isfinite(array))
    if len(bad):
        raise InputError(
            f"{name}[{bad[0]}] is {array[bad[0]]}, which is no mass.",
            "A mass is a finite number, 0 or more.",
            "Remove or repair it.",
        )
    return array


def common_unit(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Return masses in a unit in which their sum is from 1 to 2; refuse unequal sums.

    Parameters
    ----------
    a, b : ndarray

    Returns
    -------
    a, b : ndarray
        In units of ``2**exponent``, which changes no digit. All zeros stay as they are.
    exponent : int
    """
    largest = max(a.max(initial=0.0), b.max(initial=0.0))
    first = math.frexp(largest)[1]
    a, b = times_power(a, -first), times_power(b, -first)  # so that no sum overflows
    sums = float(a.sum()), float(b.sum())
    if abs(sums[0] - sums[1]) > _SAME_MASS * max(sums):
        unit = 2.0 ** min(first, 1000)  # to print them; beyond, they are told in that unit
        raise InputError(
            f"a sums to {sums[0] * unit:.9g} and b to {sums[1] * unit:.9g}.",
            "All that leaves must arrive.",
            "Divide each by its sum.",
        )
    second = math.frexp(sums[0])[1] - 1
    return times_power(a, -second), times_power(b, -second), first + second


def balanced(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return `b` scaled to the sum of `a`; their sums must agree but for rounding."""
    sums = float(a.sum()), float(b.sum())
    return b if sums[0] == sums[1] else b * (sums[0] / sums[1])
