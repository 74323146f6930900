"""Metrics of vectors: a table from a name to a function of a dot product or of a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import parts, row_squares

#: Below this share of ‖x‖² + ‖y‖² a squared distance has lost 20 of its 53 bits to rounding, and
#: the pair is compared directly.
_CANCELLED = 2.0**-20
#: Where more pairs of a block than this are lost, the expansion itself is mended.
_MANY_LOST = 1 / 16


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
    value_range : (float, float) or None
        Between which values all lie, whatever the vectors; None where there are no such.
    """

    quantity: Quantity
    value: Callable[[FloatArray, Constants], npt.ArrayLike]
    parameters: tuple[str, ...] = ()
    unit: bool = False
    value_range: tuple[float, float] | None = None


def _dots(left: Any, right: Any) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        dots = _plain_dots(left, right)
        if np.isfinite(dots).all():
            return dots
        # Products on the way overflowed. Of rows that lie within 1 they cannot.
        here, there = row_exponents(left), row_exponents(right)
        small = _plain_dots(times_powers(left, -here), times_powers(right, -there))
        return np.asarray(np.ldexp(small, here[:, None] + there))


def _plain_dots(left: Any, right: Any) -> FloatArray:
    dots = left @ right.T
    return dots.toarray() if sp.issparse(dots) else np.asarray(dots)


def _aligned_dots(left: Any, right: Any) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        dots = _plain_aligned_dots(left, right)
        if np.isfinite(dots).all():
            return dots
        here, there = row_exponents(left), row_exponents(right)
        small = _plain_aligned_dots(times_powers(left, -here), times_powers(right, -there))
        return np.asarray(np.ldexp(small, here + there))


def _plain_aligned_dots(left: Any, right: Any) -> FloatArray:
    products = left.multiply(right) if sp.issparse(left) else left * right
    return np.asarray(products.sum(axis=1)).ravel()


def _squared_distances(left: Any, right: Any) -> FloatArray:
    """Return ‖x−y‖² by ‖x‖² + ‖y‖² − 2x·y, or directly where that loses its digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        here, there = row_squares(left), row_squares(right)
        distances = _expanded(left, right, here, there)
        # NaN, from squares that overflowed, is not larger than anything.
        if distances.min(initial=np.inf) > _CANCELLED * (
            here.max(initial=0) + there.max(initial=0)
        ):
            return distances
        sound = distances > _CANCELLED * (here[:, None] + there)
        enough = (1 - _MANY_LOST) * sound.size
        if np.count_nonzero(sound) < enough and not sp.issparse(left):
            # All lie far from the origin, perhaps: their differences are the same from anywhere.
            centre = right.mean(axis=0)
            here, there = row_squares(left - centre), row_squares(right - centre)
            distances = _expanded(left - centre, right - centre, here, there)
            sound = distances > _CANCELLED * (here[:, None] + there)
            if np.count_nonzero(sound) < enough:
                return np.asarray(cdist(left, right, "sqeuclidean"))
        i, j = np.nonzero(~sound)
        for part in parts(len(i)):
            pairs = i[part], j[part]
            distances[pairs] = _aligned_squared_distances(left[pairs[0]], right[pairs[1]])
        return distances


def _expanded(left: Any, right: Any, here: FloatArray, there: FloatArray) -> FloatArray:
    distances = _plain_dots(left, right)
    distances *= -2
    distances += here[:, None] + there
    return distances


def _aligned_squared_distances(left: Any, right: Any) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        difference = left - right
        squares = difference.multiply(difference) if sp.issparse(difference) else difference**2
        return np.asarray(squares.sum(axis=1)).ravel()


def _aligned_city_blocks(left: Any, right: Any) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(left - right).sum(axis=1))


def row_exponents(rows: Any) -> IntArray:
    """Return for each row the e with 2^(e-1) <= its largest magnitude < 2^e; 0 for zeros."""
    sizes = abs(rows).max(axis=1)
    sizes = sizes.toarray() if sp.issparse(sizes) else sizes
    return np.asarray(np.frexp(sizes)[1], dtype=np.int64).ravel()


def times_powers(rows: Any, powers: IntArray) -> Any:
    """Multiply each row by a power of two, which changes no digit."""
    if not sp.issparse(rows):
        return np.ldexp(rows, powers[:, None])
    scaled = sp.csr_array(rows, copy=True)
    scaled.data = np.ldexp(scaled.data, np.repeat(powers, np.diff(scaled.indptr)))
    return scaled


DOT = Quantity(_dots, _aligned_dots)
SQUARED_DISTANCE = Quantity(_squared_distances, _aligned_squared_distances)
CITY_BLOCK = Quantity(
    lambda left, right: np.asarray(cdist(left, right, "cityblock")),
    _aligned_city_blocks,
    takes_sparse=False,
)

#: Every metric that has a name. A new one is one more row, also from outside of fewpairs.
METRICS: dict[str, Metric] = {
    "cosine": Metric(DOT, lambda t, _: t, unit=True, value_range=(-1.0, 1.0)),
    "dot": Metric(DOT, lambda t, _: t),
    "rbf": Metric(
        SQUARED_DISTANCE, lambda d, c: np.exp(-c.gamma * d), ("gamma",), value_range=(0.0, 1.0)
    ),
    "laplacian": Metric(
        CITY_BLOCK, lambda d, c: np.exp(-c.gamma * d), ("gamma",), value_range=(0.0, 1.0)
    ),
    "sigmoid": Metric(
        DOT,
        lambda t, c: np.tanh(c.gamma * t + c.coef0),
        ("gamma", "coef0"),
        value_range=(-1.0, 1.0),
    ),
    "polynomial": Metric(
        DOT, lambda t, c: (c.gamma * t + c.coef0) ** c.degree, ("gamma", "coef0", "degree")
    ),
}
