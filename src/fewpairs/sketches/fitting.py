"""Fitting a feature map to rows and a function.

The paper's map is (1, T⁽¹⁾x, …, T⁽ʳ⁾x), scaled by the square roots of a polynomial's coefficients.
Ours differs in three things, at equal width: the heaviest monomials are exact, and degrees of which
some are missing are sketched beside; the coefficients are fitted to the terms as they were drawn,
on sampled entries; and there are a few times as many terms as columns, which are then turned onto
the leading directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError
from fewpairs.sketches.entries import Sampler
from fewpairs.sketches.feature_map import FeatureMap, Terms
from fewpairs.sketches.monomials import Monomials, heaviest, upright
from fewpairs.sketches.polynomial import Polynomial, fit_polynomial
from fewpairs.sketches.products import Function
from fewpairs.sketches.tensor_sketch import TensorSketch
from fewpairs.sketches.tuning import tuned_coefficients

#: The polynomial of terms that are mostly exact is fitted as for sketches of this size: their
#: variance hardly matters.
_FINE = 10**6
#: Above this many terms, finding directions would cost more than more columns do.
_MOST_TERMS = 2000
#: Of the terms, this share are monomials, the rest sketches.
_EXACT = 0.75
#: Rows on which leading directions are found, for each term and at least.
_ROWS_PER_TERM, _FEWEST_ROWS = 2, 2000
#: Rows that axes are found from.
_AXES_ROWS = 20_000
#: Directions smaller than this, relative to the largest, are rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class SketchOptions:
    """How large a map is, and how it is made.

    Parameters
    ----------
    degree, sketch_size : int
        At most degree·sketch_size + 1 features come out.
    coefficients : str
        As for `fit_polynomial`: the paper's map; or "tuned": ours.
    n_centers : int
    exact_terms : bool
        The linear term, and for "tuned" the heaviest monomials, instead of sketching everything.
    oversampling : int
        Terms for each feature, for "tuned".
    columns : int, optional
        At most so many features instead, for "tuned".
    """

    degree: int = 10
    sketch_size: int = 10
    coefficients: str = "tuned"
    n_centers: int = 10
    exact_terms: bool = True
    oversampling: int = 4
    columns: int | None = None

    def __post_init__(self) -> None:
        counts = (self.sketch_size, self.n_centers, self.oversampling)
        whole = all(is_whole(count) for count in (self.degree, *counts))
        if not whole or self.degree < 0 or min(counts) < 1:
            raise InputError(
                f"degree is {self.degree!r}, sketch_size {self.sketch_size!r}, n_centers "
                f"{self.n_centers!r} and oversampling {self.oversampling!r}.",
                "A polynomial has a degree of 0 or more; of the others there is at least one.",
                "Pass whole numbers that are large enough.",
            )


def make_map(
    function: Function,
    left: Any,
    right: Any,
    options: SketchOptions,
    *,
    rng: np.random.Generator,
    nonnegative: bool = False,
    heights: tuple[FloatArray, FloatArray] | None = None,
    sampler: Sampler | None = None,
) -> FeatureMap:
    """Fit the polynomial, draw the sketch, and choose directions.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
    options : SketchOptions
    rng : numpy Generator
    nonnegative : bool, default=False
    heights : pair of ndarray, optional
        Factors of rows and columns, by which their entries matter, for "tuned".
    sampler : Sampler, optional
        Of entries of that matrix, where one is at hand.

    Returns
    -------
    FeatureMap
    """
    tune = options.coefficients == "tuned"
    degree, size = options.degree, options.sketch_size
    columns, d = options.columns or degree * size + 1, left.shape[1]
    sides = [left] if right is left else [left, right]
    if heights is None:
        heights = np.ones(left.shape[0]), np.ones(right.shape[0])
    sampler = sampler or Sampler(function, left, right, heights, rng)
    linear = 0
    if options.exact_terms and degree and not tune:
        # At most half of the columns, and at least one is left for every other power.
        linear = min(d, max(size, degree * size // 2), degree * (size - 1) + 1)
        size = max(1, (degree * size - linear) // max(1, degree - 1))
    polynomial = fit_polynomial(
        function, left, right, degree, _FINE if tune else size,
        choice="coreset" if tune else options.coefficients, n_centers=options.n_centers,
        nonnegative=nonnegative,
        exact=int(linear > 0), rng=rng,
    )  # fmt: skip
    sizes = np.abs(polynomial.coefficients)
    if not tune:
        exact = _monomials(polynomial.radius, sides, heights, sampler, sizes[:2], linear, rng)
        sketch = TensorSketch(d, size, degree, rng)
        terms = Terms(polynomial.radius, exact, sketch, 2 if linear else 1)
        return _scaled(polynomial, terms, polynomial.coefficients)
    count = max(columns, min(columns * options.oversampling, _MOST_TERMS)) - 1
    most = int(_EXACT * count) * options.exact_terms
    exact = _monomials(polynomial.radius, sides, heights, sampler, sizes, most, rng)
    terms = _with_sketch(polynomial, exact, d, count, rng)
    found = tuned_coefficients(terms, sampler, rng, nonnegative=nonnegative)
    if sum(terms.widths) <= columns:
        return _scaled(polynomial, terms, found)
    return _turned(polynomial, terms, found, sides, heights, sampler, columns, rng)


def _scaled(polynomial: Polynomial, terms: Terms, coefficients: FloatArray) -> FeatureMap:
    """Keep all terms: square roots of coefficients on both sides, their signs between."""
    each = np.repeat(coefficients, terms.widths)
    scales = np.sqrt(np.abs(each))
    return FeatureMap(polynomial, terms, scales, scales, np.where(each < 0, -1.0, 1.0))


def _monomials(
    radius: float,
    sides: list[Any],
    heights: tuple[FloatArray, FloatArray],
    sampler: Sampler,
    sizes: FloatArray,
    most: int,
    rng: np.random.Generator,
) -> Monomials | None:
    if most == 0 or len(sizes) == 1:
        return None
    rows, shares = [], []
    for k, side in enumerate(sides):
        some, weights = sampler.some_rows(k, _AXES_ROWS, rng)
        rows.append(side if len(some) == side.shape[0] else side[some])
        shares.append(weights * heights[k][some] ** 2)
    return heaviest(rows, shares, radius, sizes, most)


def _with_sketch(
    polynomial: Polynomial, exact: Monomials | None, d: int, count: int, rng: np.random.Generator
) -> Terms:
    """Sketch the degrees that are not there as a whole, in the terms that are left."""
    degree, first = polynomial.degree, 1
    if exact is not None:
        count -= len(exact.parents)
        # On all axes, what is missing of the linear term is small; on some of them it need not be.
        least = 2 if exact.axes.shape[1] == d else 1
        first = max(least, 1 + [*exact.complete, False].index(False))
    size = max(1, count // max(1, degree - first + 1))
    return Terms(polynomial.radius, exact, TensorSketch(d, size, degree, rng), first)


def _turned(
    polynomial: Polynomial,
    terms: Terms,
    coefficients: FloatArray,
    sides: list[Any],
    heights: tuple[FloatArray, FloatArray],
    sampler: Sampler,
    columns: int,
    rng: np.random.Generator,
) -> FeatureMap:
    """Keep the leading directions of the matrix that all terms together stand for.

    On a sample of rows the terms are Q·R; the matrix is Q·(R·diag(c)·Rᵀ)·Qᵀ, and its leading
    eigenvectors (singular vectors for two sides) are those of the small matrix in the middle.
    """
    roots, backs = [], []
    wanted = max(_FEWEST_ROWS, _ROWS_PER_TERM * sum(terms.widths))
    for k, side in enumerate(sides):
        some, weights = sampler.some_rows(k, wanted, rng)
        factors = heights[k][some] * np.sqrt(weights)
        sample = terms(side[some]).astype(np.float64) * factors[:, None]
        _, lengths, directions = la.svd(sample, full_matrices=False)
        kept = lengths > _ROUNDING * max(lengths[0], 1e-300)
        roots.append(lengths[kept, None] * directions[kept])
        backs.append(directions[kept].T / lengths[kept])
    middle = (roots[0] * np.repeat(coefficients, terms.widths)) @ roots[-1].T
    if len(sides) == 1:
        values, vectors = la.eigh(middle)
        order = np.argsort(-np.abs(values), kind="stable")[:columns]
        scales = np.sqrt(np.abs(values[order]))
        left = right = upright(backs[0] @ vectors[:, order]) * scales
        signs = np.where(values[order] < 0, -1.0, 1.0)
    else:
        u, values, v = la.svd(middle, full_matrices=False)
        scales = np.sqrt(values[:columns])
        left = backs[0] @ (u[:, :columns] * scales)
        right = backs[1] @ (v[:columns].T * scales)
        signs = np.ones(len(scales))
    return FeatureMap(polynomial, terms, left, right, signs)
