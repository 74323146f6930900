"""Rules for the coefficients of the polynomial that stands for f.

The paper has two: ridge regression on all inner products, or on those of a few centres with all
rows. It compares them with two series, which take no account of the sketch. A rule more is a
function in the table `RULES`. Coefficients that are tuned to a sketch as it was drawn are not
among them: see `tuning`.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, equations
3.5, 3.7 and 3.9, Algorithms 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.sketches.coreset import coreset
from fewpairs.sketches.functions import Function
from fewpairs.sketches.products import radius_of
from fewpairs.sketches.regression import Regression, to_powers, variances

#: A Taylor series is computed on a circle around 0, and again on one of half the size. If f is
#: analytic within the larger one, both agree, here to this share of the largest coefficient.
#: Otherwise there is a pole, and the next smaller circle is tried. Radii are in units of the range,
#: or of 1 where that is smaller. Poles nearer than an eighth of it are not worth a series.
_CIRCLES, _AGREEMENT = (1.0, 0.5, 0.25, 0.125), 1e-7


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a polynomial is wanted for: a function, rows, and the sketch that they will get.

    Parameters
    ----------
    function : callable of an array
        f.
    left, right : ndarray or csr_array of shape (n, d), (m, d)
        U and V, whose inner products f is applied to.
    degree, size : int
        Of the sketch: the highest power, and the columns for each power.
    rng : numpy Generator
    n_centers : int, default=10
        Centres of a coreset.
    nonnegative : bool, default=False
        Whether coefficients below 0 will be set to 0, because features of one side alone have no
        place for signs. A rule may find better ones.
    exact : int, default=0
        Powers up to this one are not sketched, and carry no penalty.
    """

    function: Function
    left: Any
    right: Any
    degree: int
    size: int
    rng: np.random.Generator
    n_centers: int = 10
    nonnegative: bool = False
    exact: int = 0

    @cached_property
    def radius(self) -> float:
        """Half of the range: inner products x lie in [−radius, radius]."""
        return radius_of(self.left, self.right)


#: A rule returns the coefficients of powers of y = x / radius, lowest first.
Rule = Callable[[Wanted], FloatArray]


def by_ridge(wanted: Wanted) -> FloatArray:
    """Minimise the bound of Lemma 4 on all inner products."""
    weights = np.ones(wanted.left.shape[0])
    return _by_regression(wanted, wanted.left, weights, wanted.right)


def by_coreset(wanted: Wanted) -> FloatArray:
    """Minimise the bound of Lemma 4 on the inner products of a few centres with all rows."""
    return _by_regression(wanted, *coreset(wanted.left, wanted.right, wanted.n_centers, wanted.rng))


def _by_regression(wanted: Wanted, rows: Any, weights: FloatArray, others: Any) -> FloatArray:
    penalty = variances(wanted.left, wanted.right, wanted.degree, wanted.size)
    penalty[: wanted.exact + 1] = 0.0
    sums = Regression.of(wanted.function, rows, weights, others, wanted.radius, wanted.degree)
    return sums.solve(penalty, nonnegative=wanted.nonnegative)


def by_chebyshev(wanted: Wanted) -> FloatArray:
    """Interpolate f at the Chebyshev points of the range."""
    terms = chebyshev.chebinterpolate(lambda y: wanted.function(wanted.radius * y), wanted.degree)
    return np.asarray(to_powers(wanted.degree) @ terms)


def by_taylor(wanted: Wanted) -> FloatArray:
    """Expand f around 0."""
    powers = np.arange(wanted.degree + 1)
    for share in _CIRCLES:
        r = share * min(1.0, wanted.radius)
        wide, narrow = (_on_circle(wanted.function, wanted.degree, x) for x in (r, r / 2))
        if np.abs(wide / 2.0**powers - narrow).max() <= _AGREEMENT * np.abs(wide).max():
            return np.asarray(wide * (wanted.radius / r) ** powers)
    raise InputError(
        f"the function is not analytic, or not finite, within {r:.6g} of 0.",
        "A Taylor series is for functions that are.",
        'Pass coefficients="coreset".',
    )


def _on_circle(function: Function, degree: int, r: float) -> FloatArray:
    """Return the Taylor coefficients of (x / r)ʲ, by Cauchy's integral over the circle |x| = r.

    With the trapezoidal rule the integral is a Fourier transform of f on the circle. It is far more
    accurate than differences.
    """
    # A rule with N points adds the coefficients of the powers j + N, j + 2N, … to that of j. At
    # least 32 powers beyond the highest, these are tiny.
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


RULES: dict[str, Rule] = {
    "coreset": by_coreset,
    "ridge": by_ridge,
    "chebyshev": by_chebyshev,
    "taylor": by_taylor,
}
#: The rules of fewpairs: they ask the function that they are given, and know nothing else.
OWN_RULES = frozenset(RULES)
