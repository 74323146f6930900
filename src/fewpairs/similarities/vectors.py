"""Similarities of vectors: cheap enough to try things out, and real kernels all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.items import Items
from fewpairs.similarities.base import Pair, Similarity

METRICS = ("cosine", "dot", "rbf", "laplacian", "sigmoid", "polynomial")


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

    Examples
    --------
    >>> rbf = VectorSimilarity("rbf", gamma=0.5)
    >>> rbf.block(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135]])
    """

    symmetric = True
    takes_vectors = True
    block_size = 2**18
    symmetry_proven = True

    def __init__(
        self,
        metric: str | Callable[[FloatArray], npt.ArrayLike] = "cosine",
        *,
        gamma: float | None = None,
        coef0: float = 1.0,
        degree: int = 3,
        name: str | None = None,
    ) -> None:
        if not callable(metric) and metric not in METRICS:
            raise UnknownNameError("vector metric", metric, METRICS)
        if gamma is not None and not (np.isfinite(gamma) and gamma > 0):
            raise InputError(
                f"gamma is {gamma}.",
                "It scales distances or dot products, so it must be positive and finite.",
                "Pass for example gamma=1.0, or None for 1 / number of features.",
            )
        self.metric, self.gamma, self.coef0, self.degree = metric, gamma, coef0, degree
        self.name = name or str(getattr(metric, "__name__", metric))
        relevant = {
            "rbf": {"gamma": gamma},
            "laplacian": {"gamma": gamma},
            "sigmoid": {"gamma": gamma, "coef0": coef0},
            "polynomial": {"gamma": gamma, "coef0": coef0, "degree": degree},
        }
        self.parameters = relevant.get(metric, {}) if isinstance(metric, str) else {"of": "dot"}

    def prepare(self, items: Items) -> Items:
        """Check that the items are finite vectors; scale them to unit length for cosine."""
        vectors = items.values
        if not sp.issparse(vectors):
            vectors = _dense(vectors)
        data = vectors.data if sp.issparse(vectors) else vectors
        if not np.isfinite(data).all():
            raise InputError(
                "some vectors hold NaN or infinity.",
                "One such entry spreads to every similarity of its item.",
                "Drop or fill those rows before the run.",
            )
        if self.metric == "laplacian" and sp.issparse(vectors):
            vectors = vectors.toarray()
        if self.metric == "cosine":
            lengths = np.sqrt(_squared_lengths(vectors))
            scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            vectors = (
                sp.diags_array(scale) @ vectors
                if sp.issparse(vectors)
                else (vectors * scale[:, None])
            )
        return Items(sp.csr_array(vectors) if sp.issparse(vectors) else vectors)

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return 1 for the metrics that are 1 on the diagonal (0 for the cosine of 0)."""
        if self.metric in ("rbf", "laplacian"):
            return np.ones(len(items))
        if self.metric == "cosine":
            return (_squared_lengths(items.values) > 0).astype(float)
        return None

    def block(self, left: Any, right: Any) -> npt.NDArray[Any]:
        """Evaluate a block by one matrix product (or city-block distances)."""
        if self.metric == "laplacian":
            return np.asarray(np.exp(-self._gamma(left) * cdist(left, right, "cityblock")))
        dot = left @ right.T
        dots = dot.toarray() if sp.issparse(dot) else np.asarray(dot)
        if self.metric == "rbf":
            squares = _squared_lengths(left)[:, None] + _squared_lengths(right)
            return np.asarray(np.exp(-self._gamma(left) * np.maximum(squares - 2 * dots, 0)))
        return self._of_dot(dots, left)

    def pairs(self, pairs: list[Pair]) -> npt.NDArray[Any]:
        """Evaluate scattered pairs row by row."""
        if pairs and sp.issparse(pairs[0][0]):
            left = np.vstack([a.toarray().ravel() for a, _ in pairs])
            right = np.vstack([b.toarray().ravel() for _, b in pairs])
        else:
            left, right = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
        if self.metric == "laplacian":
            return np.asarray(np.exp(-self._gamma(left) * np.abs(left - right).sum(axis=1)))
        if self.metric == "rbf":
            return np.asarray(np.exp(-self._gamma(left) * ((left - right) ** 2).sum(axis=1)))
        return self._of_dot((left * right).sum(axis=1), left)

    def _of_dot(self, dots: FloatArray, left: Any) -> npt.NDArray[Any]:
        if callable(self.metric):
            return np.asarray(self.metric(dots))
        if self.metric == "sigmoid":
            return np.tanh(self._gamma(left) * dots + self.coef0)
        if self.metric == "polynomial":
            return (self._gamma(left) * dots + self.coef0) ** self.degree
        return dots

    def _gamma(self, left: Any) -> float:
        return 1.0 / left.shape[1] if self.gamma is None else self.gamma


def _dense(vectors: Any) -> FloatArray:
    try:
        array = np.asarray(vectors)
        if array.dtype.kind not in "biuf":
            raise TypeError  # noqa: TRY301 - the same fault as one that cannot be converted
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


def _squared_lengths(vectors: Any) -> FloatArray:
    if sp.issparse(vectors):
        return np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
