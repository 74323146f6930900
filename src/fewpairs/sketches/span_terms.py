"""Terms whose span comes near a matrix: columns of it at landmarks, and monomials.

A polynomial has to cover the whole range of inner products, and a narrow kernel or a function with
a corner needs a high degree for it. Columns f(U·lⱼ) of the matrix itself, at a few rows lⱼ, have no
such difficulty; but for a wide kernel few monomials do what many columns do. So the terms are
columns of landmarks and the heaviest monomials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.sketches.coefficients import Wanted
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.fitting import FINE_SKETCH, ROWS_FOR_AXES
from fewpairs.sketches.monomials import Monomials, heaviest
from fewpairs.sketches.polynomial import Polynomial, fit_polynomial
from fewpairs.sketches.products import row_products

#: Monomials take part if the error of the polynomial itself is at most this, on so many random
#: entries. Of a narrow kernel it is not, and then a few rows far out would be all that they see.
_USELESS, _TRIED_ENTRIES = 0.3, 500
#: Roots of coefficients are at least this share of the largest one.
_SMALLEST_ROOT = 1e-3


@dataclass(frozen=True, eq=False)
class SpanTerms:
    """The columns of the matrix at some landmarks, and monomials, for any rows.

    Parameters
    ----------
    exact : Exact
    landmarks : ndarray or csr_array
        Rows of the other side.
    monomials : WeightedMonomials, optional
    """

    exact: Exact
    landmarks: Any
    monomials: WeightedMonomials | None = None

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Return one column for each landmark, and one for each monomial."""
        columns = self.exact.between(rows, self.landmarks)
        if self.monomials is None:
            return columns
        others = self.monomials(rows)
        scale = self.exact.scale(rows)
        if scale is not None:
            others = others * scale[:, None]
        return np.hstack([columns, others])


@dataclass(frozen=True, eq=False)
class WeightedMonomials:
    """The constant 1 and monomials, times the root of their coefficients in a polynomial.

    Parameters
    ----------
    polynomial : Polynomial
        That says which monomials are heavy.
    monomials : Monomials
    """

    polynomial: Polynomial
    monomials: Monomials

    @classmethod
    def heaviest(
        cls, exact: Exact, degree: int, count: int, rng: np.random.Generator
    ) -> WeightedMonomials | None:
        """Choose those that carry most of f; None where no polynomial comes near it."""
        polynomial = fit_polynomial(Wanted(exact.function, *exact.sides, degree, FINE_SKETCH, rng))
        if _polynomial_error(exact, polynomial, rng) > _USELESS:
            return None
        rows, weights = [], []
        scaling = exact.scaling()
        for k in range(1 if exact.symmetric else 2):
            side = exact.sides[k]
            some = np.arange(side.shape[0])
            if len(some) > ROWS_FOR_AXES:
                some = np.sort(rng.choice(len(some), ROWS_FOR_AXES, replace=False))
                side = side[some]
            rows.append(side)
            weights.append(np.ones(len(some)) if scaling is None else scaling[k][some] ** 2)
        sizes = np.abs(polynomial.coefficients)
        return cls(polynomial, heaviest(rows, weights, polynomial.radius, sizes, max(1, count - 1)))

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Return one column for each."""
        radius, counts = self.polynomial.radius, self.monomials.counts
        columns = self.monomials(rows * (1 / np.sqrt(radius)).astype(rows.dtype))
        roots = np.sqrt(np.abs(self.polynomial.coefficients))
        result = np.empty((rows.shape[0], 1 + columns.shape[1]))
        result[:, 0] = roots[0]
        # A degree without a coefficient may be what a core other than the diagonal needs.
        roots = np.maximum(roots, _SMALLEST_ROOT * roots.max(initial=0))
        np.multiply(columns, np.repeat(roots[1:], counts), out=result[:, 1:])
        return result


def _polynomial_error(exact: Exact, polynomial: Polynomial, rng: np.random.Generator) -> float:
    """Return the relative error of a polynomial on random entries, and on the diagonal."""
    i, j = (rng.integers(0, count, _TRIED_ENTRIES) for count in exact.shape)
    found = [0.0]
    for left, right in ((i, j), (i, i))[: 2 if exact.symmetric else 1]:
        u, v = exact.left[left], exact.right[right]
        values = exact.pairs(u, v)
        guess = polynomial(row_products(u, v))
        z, w = exact.scale(u), exact.scale(v)
        if z is not None and w is not None:
            guess = guess * z * w
        unit = float(np.abs(values).max(initial=0)) or 1.0
        length = float(np.linalg.norm(values / unit)) or 1.0
        found.append(float(np.linalg.norm((guess - values) / unit)) / length)
    return max(found)
