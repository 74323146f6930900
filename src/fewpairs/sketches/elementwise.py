"""f(UVᵀ), entry by entry, as a factored matrix in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, RandomState, generator
from fewpairs.errors import InputError
from fewpairs.factored.error import ErrorEstimate
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.sketches.feature_map import FeatureMap, make_map, row_products
from fewpairs.sketches.polynomial import Function, Polynomial, evaluated


class ElementwiseMatrix(FactoredMatrix):
    """A factored f(UVᵀ) that knows its polynomial.

    Attributes
    ----------
    polynomial : Polynomial
        Its `radius` is the fitted range, `worst` the largest error on it.
    """

    polynomial: Polynomial


def elementwise(
    f: Function,
    U: Any,
    V: Any = None,
    *,
    degree: int = 10,
    sketch_size: int = 10,
    coefficients: str = "tuned",
    n_centers: int = 10,
    exact_linear: bool = True,
    error_pairs: int = 2000,
    random_state: RandomState = None,
) -> ElementwiseMatrix:
    """Factor f(UVᵀ) without touching its entries, by Poly-TensorSketch.

    Parameters
    ----------
    f : callable of an array
        Applied to every entry, such as ``numpy.exp``.
    U : array or sparse matrix of shape (n, d)
    V : array or sparse matrix of shape (m, d), optional
        By default U, and the result is symmetric.
    degree : int, default=10
        Of the polynomial that stands for f.
    sketch_size : int, default=10
        Columns for each power; the result has at most ``degree * sketch_size + 1`` columns.
    coefficients : {"tuned", "coreset", "ridge", "chebyshev", "taylor"}
        Fitted to the sketch on sampled entries; or the paper's ridge regression, on a coreset or
        on all entries; or a series.
    n_centers : int, default=10
        Centres of the coreset.
    exact_linear : bool, default=True
        Keep the linear term on principal axes; False sketches it, as the paper does.
    error_pairs : int, default=2000
        Entries that the stated error is estimated from.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ElementwiseMatrix

    Examples
    --------
    >>> U = np.random.default_rng(0).normal(size=(500, 8)) / 4
    >>> K = elementwise(np.exp, U, random_state=0)
    >>> K.shape, K.left.shape[1] <= 101, K.error.value < 0.05
    ((500, 500), True, True)
    """
    left = _rows(U, "U")
    right = left if V is None else _rows(V, "V")
    _check(left, right, degree, sketch_size)
    rng = generator(random_state)
    made = make_map(
        f, left, right, degree=degree, size=sketch_size, choice=coefficients, n_centers=n_centers,
        exact_linear=exact_linear, nonnegative=False, rng=rng,
    )  # fmt: skip
    factors = made(left)
    other = factors if right is left else made(right)
    result = ElementwiseMatrix(
        factors.astype(np.float64, copy=False),
        np.diag(made.signs),
        None if right is left else other.astype(np.float64, copy=False),
        error=None if error_pairs == 0 else _error(f, made, left, right, error_pairs, rng),
        method=f"Poly-TensorSketch, degree {degree}, {coefficients}",
    )
    result.polynomial = made.polynomial
    return result


def _error(
    f: Function, made: FeatureMap, left: Any, right: Any, count: int, rng: np.random.Generator
) -> ErrorEstimate:
    """Relative Frobenius error on uniformly drawn entries, with a 95 % interval on a log scale."""
    i, j = rng.integers(0, left.shape[0], count), rng.integers(0, right.shape[0], count)
    rows, columns = left[i], right[j]
    exact = evaluated(f, row_products(rows, columns))
    guess = (made(rows) * made(columns)) @ made.signs
    off, size = (guess - exact) ** 2, exact**2
    value = float(np.sqrt(off.sum() / max(size.sum(), 1e-300)))
    # The ratio of two means, linearised.
    ratio = off - value**2 * size
    spread = np.sqrt((ratio**2).sum()) / max(off.sum(), 1e-300)
    factor = float(np.exp(0.98 * spread))  # half of 1.96: an error is a square root
    return ErrorEstimate(value, value / factor, value * factor, count)


def _rows(rows: Any, name: str) -> Any:
    if sp.issparse(rows):
        array = sp.csr_array(rows)
        values: FloatArray = array.data
    else:
        array = values = np.asarray(rows)
    if array.ndim != 2 or 0 in array.shape or values.dtype.kind not in "fiub":  # noqa: PLR2004
        raise InputError(
            f"{name} has the shape {array.shape} and the dtype {values.dtype}.",
            "Its rows are vectors whose inner products f is applied to.",
            "Pass an array of numbers of shape (rows, dimensions).",
        )
    if values.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if not np.isfinite(values).all():
        bad = np.flatnonzero(~np.isfinite(values))[0]
        row = bad // array.shape[1] if not sp.issparse(array) else bad
        raise InputError(
            f"{name} is not finite, first in row {row}.",
            "Every entry of that row would be lost.",
            "Remove or repair it.",
        )
    return array


def _check(left: Any, right: Any, degree: int, sketch_size: int) -> None:
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"U has {left.shape[1]} dimensions and V {right.shape[1]}.",
            "Inner products need vectors of one length.",
            "Pass U and V with as many columns.",
        )
    if degree < 0 or sketch_size < 1:
        raise InputError(
            f"degree is {degree} and sketch_size {sketch_size}.",
            "A polynomial has a degree of 0 or more, a sketch at least one column.",
            "Pass larger ones.",
        )
