"""Metrics of vectors: a table from a name to a function of a dot product or of a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from fewpairs.arrays import FloatArray
from fewpairs.numerics import row_squares


class Quantity(NamedTuple):
    """A number for two vectors, such as their dot product, on which a metric is built.

    Attributes
    ----------
    block : callable
        ``block(left, right)``: for every row on the left with every row on the right.
    aligned : callable
        ``aligned(left, right)``: for row k on the left with row k on the right.
    takes_sparse : bool
        Whether rows may be sparse; if not, they are made dense first.
    """

    block: Callable[[Any, Any], FloatArray]
    aligned: Callable[[Any, Any], FloatArray]
    takes_sparse: bool = True


class Constants(NamedTuple):
    """What a metric may depend on, besides the vectors."""

    gamma: float
    coef0: float
    degree: int


class Metric(NamedTuple):
    """One row of the table `METRICS`: a similarity as a function of a quantity.

    Attributes
    ----------
    quantity : Quantity
        `DOT`, `SQUARED_DISTANCE` or `CITY_BLOCK`.
    value : callable
        ``value(array of quantities, constants)`` returns the similarities, entry by entry.
    parameters : tuple of str
        Which of the constants it depends on; files keep these.
    unit : bool
        Whether vectors are scaled to length one first; a zero vector stays zero.
    """

    quantity: Quantity
    value: Callable[[FloatArray, Constants], npt.ArrayLike]
    parameters: tuple[str, ...] = ()
    unit: bool = False


def _dots(left: Any, right: Any) -> FloatArray:
    dots = left @ right.T
    return dots.toarray() if sp.issparse(dots) else np.asarray(dots)


def _aligned_dots(left: Any, right: Any) -> FloatArray:
    products = left.multiply(right) if sp.issparse(left) else left * right
    return np.asarray(products.sum(axis=1)).ravel()


def _squared_distances(left: Any, right: Any) -> FloatArray:
    squares = row_squares(left)[:, None] + row_squares(right)
    # Rounding can push the square of a tiny distance below zero.
    return np.maximum(squares - 2 * _dots(left, right), 0)


def _aligned_squared_distances(left: Any, right: Any) -> FloatArray:
    difference = left - right
    squares = difference.multiply(difference) if sp.issparse(difference) else difference**2
    return np.asarray(squares.sum(axis=1)).ravel()


DOT = Quantity(_dots, _aligned_dots)
SQUARED_DISTANCE = Quantity(_squared_distances, _aligned_squared_distances)
CITY_BLOCK = Quantity(
    lambda left, right: np.asarray(cdist(left, right, "cityblock")),
    lambda left, right: np.asarray(np.abs(left - right).sum(axis=1)),
    takes_sparse=False,
)

#: Every metric that has a name. A new one is one more row, also from outside of fewpairs.
METRICS: dict[str, Metric] = {
    "cosine": Metric(DOT, lambda t, _: t, unit=True),
    "dot": Metric(DOT, lambda t, _: t),
    "rbf": Metric(SQUARED_DISTANCE, lambda d, c: np.exp(-c.gamma * d), ("gamma",)),
    "laplacian": Metric(CITY_BLOCK, lambda d, c: np.exp(-c.gamma * d), ("gamma",)),
    "sigmoid": Metric(DOT, lambda t, c: np.tanh(c.gamma * t + c.coef0), ("gamma", "coef0")),
    "polynomial": Metric(
        DOT, lambda t, c: (c.gamma * t + c.coef0) ** c.degree, ("gamma", "coef0", "degree")
    ),
}
