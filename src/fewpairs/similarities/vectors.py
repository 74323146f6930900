"""Similarities of vectors: the usual kernels, and any function of a dot product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, check_gamma
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.items import Items
from fewpairs.numerics import row_squares
from fewpairs.similarities.metrics import (
    DOT,
    METRICS,
    Constants,
    Metric,
    row_exponents,
    times_powers,
)
from fewpairs.similarities.protocol import Pair, Similarity

#: Squares of shorter vectors lose digits, those of longer ones overflow.
_SHORTEST, _LONGEST = 1e-140, 1e150


class VectorSimilarity(Similarity):
    """A named kernel of vectors, or any function of their dot product.

    Parameters
    ----------
    metric : {"cosine", "dot", "rbf", "laplacian", "sigmoid", "polynomial"} or callable
        With t = x·y: cosine t/(‖x‖‖y‖) (0 for a zero vector), dot t, rbf exp(−γ‖x−y‖²),
        laplacian exp(−γ‖x−y‖₁), sigmoid tanh(γt + coef0), polynomial (γt + coef0)^degree.
        A callable is applied to arrays of t, entry by entry.
    gamma : float, optional
        γ; by default 1 / number of features, as in scikit-learn.
    coef0 : float, default=1.0
    degree : int, default=3
    name : str, optional
        For a callable, what files call it.
    version : str, optional
        For a callable, to be changed whenever its values change: a journal needs both.

    Examples
    --------
    >>> rbf = VectorSimilarity("rbf", gamma=0.5)
    >>> rbf.block(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135]])
    """

    symmetric = True
    takes_vectors = True
    #: Large enough that Python's share of a call vanishes, small enough for the processor's cache:
    #: the fastest from 2**16 to 2**18; 2**12 and 2**22 take twice as long.
    block_size = 2**18
    symmetry_proven = True
    cheap = True

    def __init__(
        self,
        metric: str | Callable[[FloatArray], npt.ArrayLike] = "cosine",
        *,
        gamma: float | None = None,
        coef0: float = 1.0,
        degree: int = 3,
        name: str | None = None,
        version: str | None = None,
    ) -> None:
        if not callable(metric) and metric not in METRICS:
            raise UnknownNameError("vector metric", metric, METRICS)
        if gamma is not None and (callable(metric) or "gamma" not in METRICS[metric].parameters):
            raise InputError(
                f"gamma was given with the metric {getattr(metric, '__name__', metric)}.",
                "It has none, and would ignore it.",
                "Leave gamma out.",
            )
        self.metric, self.coef0, self.degree = metric, coef0, degree
        self.gamma = None if gamma is None else check_gamma(gamma)
        self.name = name or str(getattr(metric, "__name__", metric))
        self._identified = not callable(metric) or bool(name and version)
        if callable(metric):
            self.version = "" if version is None else str(version)

    @property
    def parameters(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What the values depend on, as it is now: attributes may be set by hand."""
        if callable(self.metric):
            return {"of": "dot"}
        return {name: getattr(self, name) for name in METRICS[self.metric].parameters}

    @property
    def value_range(self) -> tuple[float, float] | None:  # type: ignore[override]
        """Between which values all lie; None where that depends on the vectors."""
        own = type(self)
        if own.block is not VectorSimilarity.block or own.aligned is not VectorSimilarity.aligned:
            return None  # who computes something else may have another range
        return self._metric.value_range

    @property
    def identity(self) -> str | None:
        """The fingerprint; a function of one's own needs a name and a version."""
        return self.fingerprint if self._identified else None

    @property
    def _metric(self) -> Metric:
        # Looked up, not kept: the table's functions have no names by which pickle could find them.
        metric = self.metric
        return Metric(DOT, lambda t, _: metric(t)) if callable(metric) else METRICS[metric]

    def prepare(self, items: Items) -> Items:
        """Check that the items are finite vectors; scale them to length one for cosine."""
        vectors: Any = items.values if sp.issparse(items.values) else _dense(items.values)
        if not np.isfinite(vectors.data if sp.issparse(vectors) else vectors).all():
            raise InputError(
                "some vectors hold NaN or infinity.",
                "One such entry spreads to every similarity of its item.",
                "Drop or fill those rows before the run.",
            )
        if sp.issparse(vectors) and not self._metric.quantity.takes_sparse:
            vectors = vectors.toarray()
        if self._metric.unit:
            vectors = _scaled_to_unit(vectors)
        return Items(sp.csr_array(vectors) if sp.issparse(vectors) else vectors)

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return the diagonal of metrics of a distance, and of those of unit vectors."""
        vectors = items.values
        if self._metric.unit:
            # Exactly 1 for a unit vector, and 0 for a zero vector.
            own = (row_squares(vectors) > 0).astype(float)
        elif self._metric.quantity is not DOT:
            own = np.zeros(len(items))
        else:
            return None
        return self._values(own, vectors)

    def block(self, left: Any, right: Any) -> FloatArray:
        """Compare every vector on the left with every one on the right."""
        return self._values(self._metric.quantity.block(left, right), left)

    def aligned(self, left: Any, right: Any) -> FloatArray:
        """Compare vector k on the left with vector k on the right."""
        return self._values(self._metric.quantity.aligned(left, right), left)

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Compare single pairs of vectors."""
        left, right = (_stacked([pair[side] for pair in pairs]) for side in (0, 1))
        return self.aligned(left, right)

    def _values(self, quantities: FloatArray, vectors: Any) -> FloatArray:
        gamma = 1.0 / vectors.shape[1] if self.gamma is None else self.gamma
        constants = Constants(gamma, self.coef0, self.degree)
        # What overflows is refused by the oracle, with its pair.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self._metric.value(quantities, constants))


def _stacked(vectors: list[Any]) -> Any:
    if not sp.issparse(vectors[0]):
        return np.array(vectors)
    return sp.vstack([vector.reshape(1, -1) for vector in vectors], format="csr")


def _scaled_to_unit(vectors: Any) -> Any:
    with np.errstate(over="ignore"):
        lengths = np.sqrt(row_squares(vectors))
    if not np.all((lengths > _SHORTEST) & (lengths < _LONGEST)):
        # Squares of such rows over- or underflow.
        vectors = times_powers(vectors, -row_exponents(vectors))
        lengths = np.sqrt(row_squares(vectors))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sp.diags_array(scale) @ vectors if sp.issparse(vectors) else vectors * scale[:, None]


def _dense(vectors: Any) -> FloatArray:
    try:
        array = np.asarray(vectors)
        if array.dtype.kind not in "biuf":
            raise TypeError  # noqa: TRY301 - the same fault as one that cannot be converted
        with np.errstate(over="ignore"):  # infinities are refused below
            array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            "the items are not vectors of numbers of one length.",
            "A vector similarity multiplies them.",
            "Pass a 2-D array, or another similarity for these items.",
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:  # noqa: PLR2004
        raise InputError(
            f"the items have the shape {array.shape}.",
            "One item is one row of at least one number.",
            "Pass an array of shape (items, features).",
        )
    return array
