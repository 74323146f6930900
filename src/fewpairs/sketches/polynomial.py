"""The polynomial that stands for f: f(x) ≈ Σ cⱼ·xʲ on the inner products of the rows.

Everything happens in y = x / a with a = max‖u‖·max‖v‖, so that powers neither overflow nor vanish.
Here are the paper's coefficients and the two series that it compares them with; `tuning` has ours.

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
from fewpairs.sketches.coreset import coreset
from fewpairs.sketches.products import Function, apply, radius_of
from fewpairs.sketches.regression import Regression, to_powers, variances

PAPERS_COEFFICIENTS = ("coreset", "ridge", "chebyshev", "taylor")
#: Points of the range, dense at its ends, at which the polynomial is compared with f.
_COMPARED_POINTS = 2001
#: A Taylor series is computed on a circle around 0, and again on one of half the size. If f is
#: analytic within the larger one, both give the same, here to this share of the largest
#: coefficient; otherwise there is a pole within it, and the next smaller circle is tried. Radii are
#: in units of the range, or of 1 where that is smaller.
_CIRCLES, _AGREEMENT = (1.0, 0.5, 0.25, 0.125), 1e-7


@dataclass(frozen=True, eq=False)
class Polynomial:
    """Coefficients of powers of y = x / radius, and how well they fit.

    Parameters
    ----------
    coefficients : ndarray
        Lowest degree first.
    radius : float
        Inner products lie in [−radius, radius].
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
    """Choose the coefficients of a polynomial.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array of shape (n, d), (m, d)
    degree : int
    size : int
        Of the sketch of each power.
    choice : {"coreset", "ridge", "chebyshev", "taylor"}
        Ridge regression on the inner products of a few centres with all rows, or on all inner
        products; or a series, which takes no account of the sketch.
    n_centers : int, default=10
        Centres of the coreset.
    nonnegative : bool, default=False
        Allow no coefficient below 0: features of one side alone have no place for signs.
    exact : int, default=0
        Powers up to this one are not sketched, and carry no penalty.
    rng : numpy Generator
        For the first centre.

    Returns
    -------
    Polynomial
    """
    if choice not in PAPERS_COEFFICIENTS:
        raise UnknownNameError("coefficients", choice, PAPERS_COEFFICIENTS)
    radius = radius_of(left, right)
    grid = radius * np.cos(np.linspace(0, np.pi, _COMPARED_POINTS))
    values = apply(function, grid)
    if choice in ("chebyshev", "taylor"):
        series = _chebyshev_series if choice == "chebyshev" else _taylor_series
        fitted = series(function, degree, radius)
        if nonnegative:
            fitted = np.maximum(fitted, 0)
    else:
        rows, weights, others = left, np.ones(left.shape[0]), right
        if choice == "coreset":
            rows, weights, others = coreset(left, right, n_centers, rng)
        penalty = variances(left, right, degree, size)
        penalty[: exact + 1] = 0.0
        regression = Regression.of(function, rows, weights, others, radius, degree)
        fitted = regression.solve(penalty, nonnegative=nonnegative)
    residuals = np.polynomial.polynomial.polyval(grid / radius, fitted) - values
    return Polynomial(fitted, radius, float(np.abs(residuals).max()))


def _chebyshev_series(function: Function, degree: int, radius: float) -> FloatArray:
    terms = chebyshev.chebinterpolate(lambda y: function(radius * y), degree)
    return np.asarray(to_powers(degree) @ terms)


def _taylor_series(function: Function, degree: int, radius: float) -> FloatArray:
    powers = np.arange(degree + 1)
    for share in _CIRCLES:
        r = share * min(1.0, radius)
        wide, narrow = _on_circle(function, degree, r), _on_circle(function, degree, r / 2)
        if np.abs(wide / 2.0**powers - narrow).max() <= _AGREEMENT * np.abs(wide).max():
            return np.asarray(wide * (radius / r) ** powers)
    raise InputError(
        f"the function is not analytic, or not finite, within {r:.6g} of 0.",
        "A Taylor series is for functions that are.",
        'Pass coefficients="coreset".',
    )


def _on_circle(function: Function, degree: int, r: float) -> FloatArray:
    """Return the Taylor coefficients of (x / r)ʲ: Cauchy's integral over the circle |x| = r.

    By the trapezoidal rule this is a Fourier transform of f on the circle, and far more accurate
    than differences.
    """
    # A rule with N points adds the coefficients of j + N, j + 2N, … to that of j: some 30 powers
    # beyond the highest they no longer count.
    points = r * np.exp(2j * np.pi * np.linspace(0, 1, 4 * degree + 32, endpoint=False))
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(points))
            return np.asarray(np.fft.fft(values)[: degree + 1].real / len(points))
    except (TypeError, ValueError) as error:
        raise InputError(
            "the function takes no complex numbers.",
            "A Taylor series is for analytic functions.",
            'Pass coefficients="coreset".',
        ) from error
