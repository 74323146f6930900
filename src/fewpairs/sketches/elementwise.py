"""f(UVᵀ), entry by entry, as a factored matrix in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, RandomState, generator, is_whole
from fewpairs.error.estimate import ErrorEstimate, check_target
from fewpairs.errors import InputError, TargetMissedWarning, warn
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.parallel import count_jobs, require_memory
from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.families import Families, best_map
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.functions import Function, Scaled, scaled_to_one
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.products import balance
from fewpairs.sketches.rows import check_dimensions, check_rows
from fewpairs.sketches.size import Choice, Proposals, choose_columns, choose_family
from fewpairs.sketches.span_terms import SpanTerms

#: Columns that are tried for a wanted error unless the caller says otherwise: finding the leading
#: directions of more takes minutes.
_MOST_COLUMNS = 2000
#: Leading directions are found on so many rows, or twice as many as there are columns, whose terms
#: are decomposed: they are held about so many times at once.
_SAMPLED_ROWS, _COPIES = 2000, 3


class ElementwiseMatrix(FactoredMatrix):
    """A factored f(UVᵀ) that knows its polynomial.

    Parameters
    ----------
    left, core, right :
        As for `FactoredMatrix`.
    polynomial : Polynomial or None
    **facts
        Other parameters of `FactoredMatrix`.

    Attributes
    ----------
    polynomial : Polynomial or None
        None where none takes part, because f is too steep or all rows are landmarks. Its `radius`
        is the range on which it was fitted, `worst` the largest error on it.
    """

    def __init__(
        self,
        left: FloatArray,
        core: FloatArray,
        right: FloatArray | None = None,
        *,
        polynomial: Polynomial | None,
        **facts: Any,
    ) -> None:
        super().__init__(left, core, right, **facts)
        self.polynomial = polynomial


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
    """Factor f(UVᵀ) from few of its entries, by landmarks and monomials or by Poly-TensorSketch.

    Parameters
    ----------
    f : callable of an array
        Applied to every entry, such as ``numpy.exp``.
    U, V : array or sparse matrix of shape (n, d) and (m, d)
        Without V, it is U, and the result is symmetric.
    degree, sketch_size : int, default=10
        Degree of the polynomial that stands for f, and columns for each of its powers: the result
        has at most ``degree * sketch_size + 1`` columns.
    coefficients : {"tuned", "coreset", "ridge", "chebyshev", "taylor"}, default="tuned"
        "tuned" is our map: leading directions of landmark columns and exact monomials, or of a
        sketch whose coefficients are fitted to it as it was drawn, whichever is better. The others
        are the paper's sketch, with coefficients by ridge regression on a coreset or on all
        entries, or of a series.
    n_centers : int, default=10
        Centres of the coreset.
    exact_terms : bool, default=True
        Keep the linear term (in at most half of the columns), and for "tuned" the heaviest
        monomials, exact on principal axes. False sketches everything, as the paper does, and takes
        no landmarks.
    oversampling : int, default=4
        Terms for each column, for "tuned"; the leading directions of all terms are kept.
    columns : int, optional
        How many columns the result may have. Where degrees of a sketch are tried, the paper's
        Lemma 4 proposes them, and unseen entries decide.
    target_error : float, optional
        Relative error that the upper end of the stated interval must be below. The number of
        columns is then chosen, up to `columns`. `K.curve` holds the attempts, and
        `K.stopped_because` says why they ended; a target that is missed is warned of.
    error_pairs : int, default=5000
        Entries that the stated error rests on, at least: whole rows are compared, and all of them
        where the matrix has no more than a million entries. 0 for no estimate, unless the size is
        chosen by it.
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
    left = check_rows(U, "U")
    right = left if V is None else check_rows(V, "V")
    check_dimensions(left, right)
    options = SketchOptions(degree, sketch_size, coefficients, n_centers, exact_terms, oversampling)
    _check_counts(columns, error_pairs)
    if columns is not None and coefficients == "tuned" and exact_terms:
        columns = min(columns, left.shape[0], right.shape[0])  # with so many nothing is left
    sides = balanced(left, right)
    return sketch_matrix(
        Exact(scaled_to_one(f, *sides), *sides), options, columns=columns,
        target_error=target_error, error_pairs=error_pairs, random_state=random_state,
        n_jobs=n_jobs,
    )  # fmt: skip


def balanced(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both sides as equally long rows of one kind, dense or sparse."""
    if right is not left and sp.issparse(left) != sp.issparse(right):
        left, right = sp.csr_array(left), sp.csr_array(right)
    return balance(left, right)[:2]


def sketch_matrix(
    exact: Exact,
    options: SketchOptions,
    *,
    columns: int | None = None,
    target_error: float | None = None,
    error_pairs: int = 5000,
    random_state: RandomState = None,
    n_jobs: int = 1,
) -> ElementwiseMatrix:
    """Factor a matrix whose entries can be computed; one of a scaled function is scaled back.

    Other parameters are those of `elementwise`.
    """
    _check_counts(columns, error_pairs)
    target = None if target_error is None else check_target(target_error)
    _require_columns(exact.shape, columns or options.degree * options.sketch_size + 1)
    rng = generator(random_state)
    threads = count_jobs(n_jobs)
    features: tuple[FloatArray, FloatArray] | None = None

    def state(feature_map: FeatureMap) -> ErrorEstimate:
        nonlocal features
        features = feature_map.of_both(exact, threads)
        return estimate_error(features, feature_map, exact, rng, error_pairs)

    # What over- or underflows is compared with the matrix, and dropped.
    with np.errstate(all="ignore"):
        if columns is None and target is None:
            found = best_map(exact, options, rng).feature_map
            choice = Choice(found, state(found) if error_pairs else None, [], "")
        else:
            families = Families(exact, options, rng)
            proposals = Proposals(exact.function, *exact.sides, options, target, rng)
            most = columns or min(*exact.shape, _MOST_COLUMNS)
            if target is None:
                choice = choose_family(most, families, proposals)
                choice = choice._replace(error=state(choice.feature_map))
            else:
                choice = choose_columns(target, most, families, proposals, state)
                _warn_if_missed(target, choice)
        feature_map = choice.feature_map
        left, right = features or feature_map.of_both(exact, threads)
    # Half of the power for each side; where it is odd, the core has one more.
    power = exact.function.power if isinstance(exact.function, Scaled) else 0
    for side in (left,) if exact.symmetric else (left, right):
        np.ldexp(side, power // 2, out=side)
    polynomial = feature_map.polynomial
    return ElementwiseMatrix(
        left,
        np.diag(np.ldexp(feature_map.signs, power % 2)),
        None if exact.symmetric else right,
        error=choice.error,
        method=_title(feature_map, options),
        polynomial=None if polynomial is None else polynomial.times(power),
        curve=choice.curve,
        stopped_because=choice.stopped_because,
    )


def _title(feature_map: FeatureMap, options: SketchOptions) -> str:
    polynomial = feature_map.polynomial
    if isinstance(feature_map.terms, SpanTerms):
        landmarks = f"{feature_map.terms.landmarks.shape[0]} landmarks"
        if polynomial is None:
            return landmarks
        return f"{landmarks} and monomials up to degree {polynomial.degree}"
    degree = 0 if polynomial is None else polynomial.degree
    return f"Poly-TensorSketch, degree {degree}, {options.coefficients}"


def _warn_if_missed(target: float, choice: Choice) -> None:
    if choice.error is not None and choice.error.high > target:
        warn(
            TargetMissedWarning(
                f"the target error {target:g} was not reached: {choice.error}, because "
                f"{choice.stopped_because}. Allow more with columns=…, or a larger error."
            )
        )


def _require_columns(shape: tuple[int, int], columns: int) -> None:
    """Refuse more columns than fit: factors of both sides, and the terms of a sample of rows."""
    sampled = min(max(shape), max(_SAMPLED_ROWS, 2 * columns))
    require_memory(
        8 * columns * (sum(shape) + _COPIES * sampled),
        f"{columns:,} columns for a {shape[0]:,} × {shape[1]:,} matrix",
        f"Ask for fewer; {min(shape):,} are enough for any function of so many rows",
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
            "It is the number of entries that the stated error rests on.",
            "Pass a positive integer, or 0 for no estimate.",
        )
