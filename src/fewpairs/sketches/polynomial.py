"""The polynomial that a sketch should stand for.

f(x) ≈ Σ cⱼ·xʲ on the entries of UVᵀ, with an eye on what sketching each power will cost: the
variance of TensorSketch grows like 3ʲ, so coefficients must fall. Everything happens in y = x / a
with a = max‖u‖·max‖v‖, so that powers neither overflow nor vanish.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, equations
3.5, 3.7 and 3.9, Algorithms 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.sketches.products import Function, evaluated, radius_of
from fewpairs.sketches.regression import Regression, coreset, to_powers, variances

CHOICES = ("coreset", "ridge", "chebyshev", "taylor")
#: Points at which the polynomial is compared with the function.
_GRID = 2001
#: Circles that a Taylor series is tried on, in units of the range, and how well two must agree.
_CIRCLES, _AGREE = (1.0, 0.5, 0.25, 0.125), 1e-7


@dataclass(frozen=True, eq=False)
class Polynomial:
    """Coefficients of powers of y = x / radius, and how well they fit.

    Parameters
    ----------
    coefficients : ndarray
        Lowest degree first.
    radius : float
        Entries of UVᵀ lie between its negative and it.
    worst : float
        Largest |p(x) − f(x)| on that range.
    """

    coefficients: FloatArray
    radius: float
    worst: float

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return p(x)."""
        y = np.asarray(x) / self.radius
        return np.asarray(np.polynomial.polynomial.polyval(y, self.coefficients))

    @property
    def degree(self) -> int:
        """The highest power."""
        return len(self.coefficients) - 1


def fit_polynomial(
    function: Function,
    left: Any,
    right: Any,
    degree: int,
    size: int,
    *,
    choice: str = "coreset",
    n_centers: int = 10,
    nonnegative: bool = False,
    exact: int = 0,
    rng: np.random.Generator,
) -> Polynomial:
    """Choose the coefficients.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array of shape (n, d), (m, d)
    degree : int
    size : int
        Of the sketch of each power.
    choice : {"coreset", "ridge", "chebyshev", "taylor"}
        Ridge regression on k × n entries, or on all of them; or a series, blind to the sketch.
    n_centers : int, default=10
        k.
    nonnegative : bool, default=False
        Coefficients at least 0, as a feature map needs.
    exact : int, default=0
        Powers up to this one are not sketched, and carry no penalty.
    rng : numpy Generator
        For the first centre.

    Returns
    -------
    Polynomial
    """
    if choice not in CHOICES:
        raise UnknownNameError("coefficients", choice, CHOICES)
    radius = radius_of(left, right)
    grid = radius * np.cos(np.linspace(0, np.pi, _GRID))
    values = evaluated(function, grid)  # or an error that names the range
    if choice in ("chebyshev", "taylor"):
        fitted = _series(function, degree, radius, choice)
        if nonnegative:
            fitted = np.maximum(fitted, 0)
    else:
        side = (left, np.ones(left.shape[0]), right)
        if choice == "coreset":
            side = coreset(left, right, n_centers, rng)
        penalty = variances(left, right, degree, size)
        penalty[: exact + 1] = 0.0
        entries = Regression.of(function, *side, radius, degree)
        fitted = entries.solve(penalty, nonnegative=nonnegative)
    off = np.polynomial.polynomial.polyval(grid / radius, fitted) - values
    return Polynomial(fitted, radius, float(np.abs(off).max()))


def _series(function: Function, degree: int, radius: float, choice: str) -> FloatArray:
    if choice == "chebyshev":
        terms = chebyshev.chebinterpolate(lambda y: function(radius * y), degree)
        return np.asarray(to_powers(degree) @ terms)
    powers = np.arange(degree + 1)
    for shrink in _CIRCLES:
        r = shrink * min(1.0, radius)
        wide, narrow = _taylor(function, degree, r), _taylor(function, degree, r / 2)
        # Where f is analytic within the circle, a smaller one gives the same.
        if np.abs(wide / 2.0**powers - narrow).max() <= _AGREE * np.abs(wide).max():
            return np.asarray(wide * (radius / r) ** powers)
    raise InputError(
        f"the function is not analytic, or not finite, within {r:.6g} of 0.",
        "A Taylor series is for functions that are.",
        'Pass coefficients="coreset".',
    )


def _taylor(function: Function, degree: int, r: float) -> FloatArray:
    """Return the coefficients of (x / r)ʲ by Cauchy's integral: derivatives without differences."""
    points = r * np.exp(2j * np.pi * np.linspace(0, 1, 4 * degree + 32, endpoint=False))
    try:
        with np.errstate(all="ignore"):
            around = np.asarray(function(points))
            ahead = np.fft.fft(around)[: degree + 1].real / len(points)
    except (TypeError, ValueError) as error:
        raise InputError(
            "the function takes no complex numbers.",
            "A Taylor series is for analytic functions.",
            'Pass coefficients="coreset".',
        ) from error
    return np.asarray(ahead)
