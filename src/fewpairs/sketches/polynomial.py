"""The polynomial that stands for f: f(x) ≈ Σ cⱼ·xʲ on the inner products of the rows.

Everything happens in y = x / a with a = max‖u‖·max‖v‖, so that powers neither overflow nor vanish.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.sketches.coefficients import OWN_RULES, RULES, Wanted
from fewpairs.sketches.functions import Scaled, apply

#: Points of the range, dense at its ends, at which the polynomial is compared with f.
_COMPARED_POINTS = 2001


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

    def times(self, power: int) -> Polynomial:
        """Return the polynomial times 2^power."""
        return Polynomial(
            np.ldexp(self.coefficients, power), self.radius, float(np.ldexp(self.worst, power))
        )

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return p(x)."""
        y = np.asarray(x) / self.radius
        return np.asarray(np.polynomial.polynomial.polyval(y, self.coefficients))

    @property
    def degree(self) -> int:
        """The highest power."""
        return len(self.coefficients) - 1


def fit_polynomial(wanted: Wanted, rule: str = "coreset") -> Polynomial:
    """Choose the coefficients of a polynomial, by a rule of the table `RULES`."""
    grid = wanted.radius * np.cos(np.linspace(0, np.pi, _COMPARED_POINTS))
    values = apply(wanted.function, grid)
    found = np.asarray(_asked(rule, wanted))
    real = found.dtype.kind in "fiu" and bool(np.isfinite(found).all())
    coefficients = found.astype(np.float64) if real else np.empty(0)
    if coefficients.shape != (wanted.degree + 1,):
        raise InputError(
            f'the rule "{rule}" returned {found.dtype} of the shape {found.shape}, or something '
            "that is not finite.",
            f"A polynomial of degree {wanted.degree} has {wanted.degree + 1} of them.",
            "Return one for each power of x / wanted.radius, lowest first; 0 for those not used.",
        )
    if wanted.nonnegative:
        coefficients = np.maximum(coefficients, 0)
    residuals = np.polynomial.polynomial.polyval(grid / wanted.radius, coefficients) - values
    return Polynomial(coefficients, wanted.radius, float(np.abs(residuals).max()))


def _asked(rule: str, wanted: Wanted) -> FloatArray:
    """Ask a rule; one from outside is asked about f itself, not about f over a power of two.

    Such a rule may know the coefficients of f without ever calling it.
    """
    function = wanted.function
    if rule in OWN_RULES or not isinstance(function, Scaled):
        return RULES[rule](wanted)
    return (
        np.asarray(RULES[rule](replace(wanted, function=function.function))) * 2.0**-function.power
    )
