"""Fitting a feature map to rows and a function.

The paper's map is (1, T⁽¹⁾x, …, T⁽ʳ⁾x), where T⁽ʲ⁾ sketches the power j, and each block is
multiplied by the square root of a polynomial's coefficient. Ours differs in three ways, at equal
width:

- the heaviest monomials are exact, and only degrees of which some are missing are sketched;
- the coefficients are fitted to the terms as they were drawn, on sampled entries;
- there are a few times as many terms as features, and only the leading directions of what the terms
  stand for are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.sketches.coefficients import RULES, Wanted
from fewpairs.sketches.directions import leading_directions
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.feature_map import FeatureMap, Terms
from fewpairs.sketches.functions import Function
from fewpairs.sketches.monomials import Monomials, heaviest
from fewpairs.sketches.polynomial import Polynomial, fit_polynomial
from fewpairs.sketches.sampling import Sampler
from fewpairs.sketches.tensor_sketch import TensorSketch
from fewpairs.sketches.tuning import tuned_coefficients

# Errors below are of the maps of benchmarks/sketches/elementwise.py.
#: The polynomial that tuning starts from is fitted as if for sketches of this size, whose variance
#: does not count: most terms are exact. From 10⁴ on this makes no difference.
FINE_SKETCH = 10**6
#: No more terms than this, unless more columns are asked for. Finding leading directions takes
#: seconds, and grows with the cube. With 1,000 terms the errors of 600 columns are 1.9 times as
#: large; with 4,000 they are 10 % smaller.
MOST_TERMS = 2000
#: The share of the terms that are monomials; the rest are sketches. With 0.5 errors are 10 %
#: larger, with 0.9 or 1 they are 2 and 6 % larger: some degrees are then hardly there.
_MONOMIALS_SHARE = 0.75
#: Axes are found from at most this many rows. With 1,000 of 2,300 rows errors are 1 % larger, with
#: 200 they are 20 % larger.
ROWS_FOR_AXES = 20_000


@dataclass(frozen=True)
class SketchOptions:
    """How large a map is, and how it is made.

    Parameters
    ----------
    degree, sketch_size : int
        At most degree·sketch_size + 1 features come out.
    coefficients : {"tuned", "coreset", "ridge", "chebyshev", "taylor"}
        "tuned" is our map; the others are the paper's, with coefficients by a rule of `RULES`.
    n_centers : int
        Centres of the coreset.
    exact_terms : bool
        Whether the linear term, and for "tuned" the heaviest monomials, are exact; otherwise all
        is sketched.
    oversampling : int
        Terms for each feature, for "tuned".
    columns : int, optional
        At most this many features, whatever degree and sketch size would give, for "tuned".
    """

    degree: int = 10
    sketch_size: int = 10
    coefficients: str = "tuned"
    n_centers: int = 10
    exact_terms: bool = True
    oversampling: int = 4
    columns: int | None = None

    @classmethod
    def of_width(cls, columns: int, degree: int, *how: Any) -> SketchOptions:
        """Return options for at most so many features, of a lower degree where they are few."""
        for name, count, least in (("n_components", columns, 1), ("degree", degree, 0)):
            if not is_whole(count) or count < least:
                raise InputError(
                    f"{name} is {count!r}.",
                    "It is a count.",
                    f"Pass a whole number from {least} on.",
                )
        degree = min(degree, columns - 1)
        size = max(1, (columns - 1) // max(1, degree))
        return replace(cls(degree, size, *how), columns=columns)

    def __post_init__(self) -> None:
        if self.coefficients not in ("tuned", *RULES):
            raise UnknownNameError("coefficients", self.coefficients, ("tuned", *RULES))
        counts = (self.sketch_size, self.n_centers, self.oversampling)
        whole = all(is_whole(count) for count in (self.degree, *counts))
        if not whole or self.degree < 0 or min(counts) < 1:
            raise InputError(
                f"degree is {self.degree!r}, sketch_size {self.sketch_size!r}, n_centers "
                f"{self.n_centers!r} and oversampling {self.oversampling!r}.",
                "They are counts: the degree may be 0, the others are at least 1.",
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
    sampler: Sampler | None = None,
) -> FeatureMap:
    """Fit a map to f(UVᵀ).

    Parameters
    ----------
    function : callable of an array
        f.
    left, right : ndarray or csr_array
        U and V; one and the same object for a symmetric matrix.
    options : SketchOptions
    rng : numpy Generator
    nonnegative : bool, default=False
        Allow no coefficient below 0, so that the features of a symmetric matrix have no signs.
    sampler : Sampler, optional
        Of entries that the map is fitted to, where one is at hand. Those of diag(z)·f(UVᵀ)·diag(w)
        say how much rows and columns count; the features are those of f(UVᵀ) all the same.

    Returns
    -------
    FeatureMap
    """
    sampler = sampler or Sampler(Exact(function, left, right), rng)
    if options.coefficients == "tuned":
        return _tuned_map(sampler, options, rng, nonnegative=nonnegative)
    return _papers_map(sampler, options, rng, nonnegative=nonnegative)


def _papers_map(
    sampler: Sampler, options: SketchOptions, rng: np.random.Generator, *, nonnegative: bool
) -> FeatureMap:
    """Sketch every power but, if wanted, the linear one, with coefficients known beforehand."""
    (left, right), degree, size = sampler.sides, options.degree, options.sketch_size
    linear = 0
    if options.exact_terms and degree:
        # At most half of the columns, and at least one is left for every other power.
        most = max(size, degree * size // 2), degree * (size - 1) + 1
        linear = min(left.shape[1], *most)
        size = max(1, (degree * size - linear) // max(1, degree - 1))
    wanted = Wanted(
        sampler.function, left, right, degree, size, rng,
        n_centers=options.n_centers, nonnegative=nonnegative, exact=int(linear > 0),
    )  # fmt: skip
    polynomial = fit_polynomial(wanted, options.coefficients)
    sizes = np.abs(polynomial.coefficients[:2])
    exact = _heaviest_monomials(sampler, polynomial.radius, sizes, linear, rng)
    sketch = TensorSketch(left.shape[1], size, degree, rng)
    terms = Terms(polynomial.radius, exact, sketch, 2 if linear else 1)
    return _all_terms(polynomial, terms, polynomial.coefficients)


def _tuned_map(
    sampler: Sampler, options: SketchOptions, rng: np.random.Generator, *, nonnegative: bool
) -> FeatureMap:
    """Take exact monomials and sketches, fit their coefficients, keep leading directions."""
    left, right = sampler.sides
    wanted = Wanted(
        sampler.function, left, right, options.degree, FINE_SKETCH, rng,
        n_centers=options.n_centers, nonnegative=nonnegative,
    )  # fmt: skip
    polynomial = fit_polynomial(wanted)
    columns = options.columns or options.degree * options.sketch_size + 1
    # The constant term is not among those that are counted here.
    n_terms = max(columns, min(columns * options.oversampling, MOST_TERMS)) - 1
    n_exact = int(_MONOMIALS_SHARE * n_terms) if options.exact_terms else 0
    sizes = np.abs(polynomial.coefficients)
    exact = _heaviest_monomials(sampler, polynomial.radius, sizes, n_exact, rng)
    terms = _sketch_beside(polynomial, exact, left.shape[1], n_terms, rng)
    coefficients = tuned_coefficients(terms, sampler, rng, nonnegative=nonnegative)
    if sum(terms.widths) <= columns:
        return _all_terms(polynomial, terms, coefficients)
    return leading_directions(polynomial, terms, coefficients, sampler, columns, rng)


def _heaviest_monomials(
    sampler: Sampler, radius: float, sizes: FloatArray, most: int, rng: np.random.Generator
) -> Monomials | None:
    if most == 0 or len(sizes) == 1:
        return None
    rows, weights = [], []
    for k in range(1 if sampler.symmetric else 2):
        chosen, each = sampler.sample_rows(k, ROWS_FOR_AXES, rng)
        side = sampler.sides[k]
        rows.append(side if len(chosen) == side.shape[0] else side[chosen])
        weights.append(each * sampler.scaling[k][chosen] ** 2)
    return heaviest(rows, weights, radius, sizes, most)


def _sketch_beside(
    polynomial: Polynomial, exact: Monomials | None, d: int, n_terms: int, rng: np.random.Generator
) -> Terms:
    """Sketch the degrees of which monomials are missing, in as many terms as are left."""
    degree, first = polynomial.degree, 1
    if exact is not None:
        n_terms -= len(exact.parents)
        # On all axes, what is missing of the linear term is small; on some of them it need not be.
        least = 2 if exact.axes.shape[1] == d else 1
        first = max(least, 1 + [*exact.complete, False].index(False))
    size = max(1, n_terms // max(1, degree - first + 1))
    return Terms(polynomial.radius, exact, TensorSketch(d, size, degree, rng), first)


def _all_terms(polynomial: Polynomial, terms: Terms, coefficients: FloatArray) -> FeatureMap:
    """Make a feature of each term: the square root of its coefficient on both sides, and a sign."""
    each = np.repeat(coefficients, terms.widths)
    scales = np.sqrt(np.abs(each))
    return FeatureMap(polynomial, terms, scales, scales, np.where(each < 0, -1.0, 1.0))
