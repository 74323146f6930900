"""f(UVᵀ), entry by entry, as a factored matrix in linear time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, RandomState, generator, is_whole
from fewpairs.error.estimate import ErrorEstimate, check_target
from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.parallel import count_jobs
from fewpairs.sketches.choosing import Chosen, Proposals, choose_columns, choose_degree
from fewpairs.sketches.entries import Sampler
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.judging import judged
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.products import Function, balanced, evaluated, radius_of

#: Entries that attempts are judged by, at least; columns that are tried for a target, at most.
_FEWEST_PAIRS, _MOST_COLUMNS = 500, 2000
#: Points at which f is looked at before anything else.
_RANGE = 1001


class ElementwiseMatrix(FactoredMatrix):
    """A factored f(UVᵀ) that knows its polynomial.

    Attributes
    ----------
    polynomial : Polynomial
        Its `radius` is the fitted range, `worst` the largest error on it. Tuned coefficients start
        from it, and belong to the terms as they were drawn.
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
    exact_terms: bool = True,
    oversampling: int = 4,
    columns: int | None = None,
    target_error: float | None = None,
    error_pairs: int = 5000,
    random_state: RandomState = None,
    n_jobs: int = 1,
) -> ElementwiseMatrix:
    """Factor f(UVᵀ) from few of its entries, by Poly-TensorSketch.

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
        Our way: exact monomials, coefficients fitted to the sketch as drawn, leading directions.
        Or the paper's: ridge regression on a coreset or on all entries, or a series.
    n_centers : int, default=10
        Centres of the coreset.
    exact_terms : bool, default=True
        Keep the linear term (on at most half of the columns), and for "tuned" the heaviest
        monomials, exact on principal axes; False sketches everything, as the paper does.
    oversampling : int, default=4
        Terms for each column, of which the leading directions are kept, for "tuned".
    columns : int, optional
        How many columns the result may have; degree and sketch size are then chosen: the paper's
        Lemma 4 proposes three degrees, sampled entries decide.
    target_error : float, optional
        Relative error that the upper end of the stated interval must be below; columns, degree and
        sketch size are then chosen, up to `columns`. `K.curve` holds the attempts,
        `K.stopped_because` why they ended.
    error_pairs : int, default=5000
        Entries that the stated error is estimated from, at least 500; 0 for no estimate.
    random_state : int, Generator, RandomState or None
    n_jobs : int, default=1
        Threads that sketch; -1 takes all cores.

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
    left = checked_rows(U, "U")
    right = left if V is None else checked_rows(V, "V")
    options = SketchOptions(degree, sketch_size, coefficients, n_centers, exact_terms, oversampling)
    return factor(
        f, left, right, options, columns=columns, target_error=target_error,
        error_pairs=error_pairs, random_state=random_state, n_jobs=n_jobs,
    )  # fmt: skip


def factor(
    f: Function,
    left: Any,
    right: Any,
    options: SketchOptions,
    heights: tuple[FloatArray, FloatArray] | None = None,
    *,
    columns: int | None = None,
    target_error: float | None = None,
    error_pairs: int = 5000,
    random_state: RandomState = None,
    n_jobs: int = 1,
) -> ElementwiseMatrix:
    """Factor diag(z)·f(UVᵀ)·diag(w) for checked rows; the rest as for `elementwise`."""
    check_lengths(left, right)
    _check_counts(columns, error_pairs)
    target = None if target_error is None else check_target(target_error)
    if right is not left and sp.issparse(left) != sp.issparse(right):
        left, right = sp.csr_array(left), sp.csr_array(right)
    left, right, _ = balanced(left, right)
    radius = radius_of(left, right)
    evaluated(f, np.linspace(-radius, radius, _RANGE))  # or an error that names the range
    rng = generator(random_state)
    threads = count_jobs(n_jobs)
    sampler = Sampler(f, left, right, heights, rng)

    def draw(degree: int, size: int, columns: int | None = None) -> FeatureMap:
        chosen = replace(options, degree=degree, sketch_size=size, columns=columns)
        return make_map(f, left, right, chosen, rng=rng, heights=heights, sampler=sampler)

    def judge(made: FeatureMap, least: int = _FEWEST_PAIRS) -> ErrorEstimate:
        return judged(made, sampler, max(error_pairs, least), rng)

    if columns is None and target is None:
        made = draw(options.degree, options.sketch_size)
        chosen = Chosen(made, None if error_pairs == 0 else judge(made), [], "")
    else:
        proposals = Proposals(f, left, right, options, target, rng)
        if target is None:
            chosen = choose_degree(columns or 1, proposals, draw, judge)
        else:
            most = columns or min(left.shape[0], right.shape[0], _MOST_COLUMNS)
            chosen = choose_columns(target, most, proposals, draw, judge)
    made = chosen.made
    z, w = heights or (None, None)
    result = ElementwiseMatrix(
        _features(made, left, "left", z, threads),
        np.diag(made.signs),
        None if right is left else _features(made, right, "right", w, threads),
        error=chosen.error,
        method=f"Poly-TensorSketch, degree {made.polynomial.degree}, {options.coefficients}",
    )
    result.polynomial = made.polynomial
    result.curve, result.stopped_because = list(chosen.curve), chosen.stopped_because
    return result


def _features(
    made: FeatureMap, rows: Any, side: str, heights: FloatArray | None, threads: int
) -> FloatArray:
    features = made(rows, side=side, n_jobs=threads).astype(np.float64, copy=False)
    if heights is not None:
        features *= heights[:, None]
    return features


def checked_rows(rows: Any, name: str) -> Any:
    """Return rows as a finite float array or csr_array."""
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
        row = bad // array.shape[1]
        if sp.issparse(array):
            row = np.searchsorted(array.indptr, bad, side="right") - 1
        raise InputError(
            f"{name} is not finite, first in row {row}.",
            "Every entry of that row would be lost.",
            "Remove or repair it.",
        )
    return array


def check_lengths(left: Any, right: Any) -> None:
    """Check that inner products can be taken."""
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"the rows have {left.shape[1]} dimensions on one side and {right.shape[1]} on the "
            "other.",
            "Inner products need vectors of one length.",
            "Pass two arrays with as many columns.",
        )


def _check_counts(columns: int | None, error_pairs: int) -> None:
    if columns is not None and not (is_whole(columns) and columns >= 1):
        raise InputError(
            f"columns is {columns!r}.",
            "A factor has at least one column.",
            "Pass a positive integer.",
        )
    if not is_whole(error_pairs) or error_pairs < 0:
        raise InputError(
            f"error_pairs is {error_pairs!r}.",
            "The stated error rests on so many entries.",
            "Pass a positive integer, or 0 for no estimate.",
        )
