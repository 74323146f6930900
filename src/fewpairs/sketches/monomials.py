"""Exact terms: the heaviest monomials of the coordinates on principal axes.

⟨x, y⟩ʲ is a sum over monomials of degree j, and on principal axes few of them carry most of it.
They have no variance, and each costs one multiplication for a row.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from fewpairs.arrays import FloatArray, IntArray

#: Up to this many dimensions, axes come from the whole d × d matrix of moments; for so few rows,
#: from their inner products; otherwise there are at most so many.
_DENSE, _FEW_ROWS, _AXES = 2000, 1000, 200
#: Axes whose mean square is below this share of the largest one's are rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Monomials:
    """Columns √(j!/α!)·xᵅ, ordered by degree; each is an earlier one times a coordinate.

    Parameters
    ----------
    axes : ndarray of shape (d, p)
        Orthonormal.
    parents : ndarray of int64
        The column that is multiplied, -1 for 1.
    coordinates : ndarray of int64
        The axis that it is multiplied by.
    scales : ndarray of float64
        √(j!/α!).
    counts : ndarray of int64
        How many there are of each degree, from 1 on.
    """

    axes: FloatArray
    parents: IntArray
    coordinates: IntArray
    scales: FloatArray
    counts: IntArray

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Return one column for each monomial; float32 stays float32."""
        built = np.empty((len(self.parents), rows.shape[0]), dtype=rows.dtype)
        self.fill(built, rows)
        return built.T

    def fill(self, built: npt.NDArray[Any], rows: Any) -> None:
        """Write each monomial to a row of `built`, so that memory is read in order."""
        turned = np.ascontiguousarray(np.asarray(rows @ self.axes.astype(rows.dtype)).T)
        for k, (parent, axis) in enumerate(zip(self.parents, self.coordinates, strict=True)):
            if parent < 0:
                built[k] = turned[axis]
            else:
                np.multiply(built[parent], turned[axis], out=built[k])
        built *= self.scales.astype(rows.dtype)[:, None]

    @property
    def complete(self) -> list[bool]:
        """Whether all monomials of a degree are there, degree by degree."""
        d, p = self.axes.shape
        everything = np.cumprod([(p + j) / (j + 1) for j in range(len(self.counts))])
        return [d == p and count >= round(whole) for count, whole in zip(
            self.counts, everything, strict=True)]  # fmt: skip


def heaviest(
    rows: list[Any], shares: list[FloatArray], radius: float, sizes: FloatArray, most: int
) -> Monomials:
    """Choose the monomials that carry most of Σ sizes[j]·⟨x, y⟩ʲ.

    The weight of a monomial is taken as if coordinates were independent: its share of the
    multinomial sum, times the mean square of each coordinate that it holds.

    Parameters
    ----------
    rows : list of ndarray or csr_array
        One or two sides.
    shares : list of ndarray
        How much each row matters.
    radius : float
        Rows are taken over its square root.
    sizes : ndarray of shape (degree + 1,)
        Absolute coefficients of the powers.
    most : int
        How many monomials.

    Returns
    -------
    Monomials
    """
    axes, moments = principal_axes(rows, shares, most)
    # A monomial is built from its parent: one whose own degree does not count, as the odd ones of
    # a cosine, is there for its children.
    worth = np.maximum.accumulate(sizes[::-1])[::-1]
    return _ordered(axes, _best_first(moments / radius, worth, most), len(sizes) - 1)


class _Node(NamedTuple):
    """A monomial: its degree, last coordinate and that one's power, parent, j!/α!, mean square."""

    power: int
    axis: int
    again: int
    parent: int
    ways: float
    square: float


def _best_first(moments: FloatArray, worth: FloatArray, most: int) -> list[_Node]:
    """Take the heaviest monomial again and again; coordinates in order, so that each comes once."""
    found: list[_Node] = []
    heap: list[tuple[float, int, _Node]] = []

    def push(parent: int, axis: int) -> None:
        above = found[parent] if parent >= 0 else _Node(0, -1, 0, -1, 1.0, 1.0)
        power = above.power + 1
        if axis >= len(moments) or power >= len(worth):
            return
        again = above.again + 1 if axis == above.axis else 1
        ways, square = above.ways * power / again, above.square * float(moments[axis])
        node = _Node(power, axis, again, parent, ways, square)
        heapq.heappush(heap, (-worth[power] * ways * square, parent, node))

    push(-1, 0)
    while heap and len(found) < most:
        node = heapq.heappop(heap)[2]
        me = len(found)
        found.append(node)
        push(me, node.axis)
        push(me, node.axis + 1)
        if node.again == 1:  # moments fall: the next sister is lighter, and waits for this one
            push(node.parent, node.axis + 1)
    return found


def _ordered(axes: FloatArray, found: list[_Node], degree: int) -> Monomials:
    """Sort by degree, parents renamed."""
    powers, coordinates, parents = (
        np.array([getattr(node, name) for node in found], dtype=np.int64)
        for name in ("power", "axis", "parent")
    )
    order = np.argsort(powers, kind="stable")
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    return Monomials(
        axes,
        place[parents[order]],
        coordinates[order],
        np.sqrt(np.array([found[k].ways for k in order])),
        np.bincount(powers, minlength=degree + 1)[1:],
    )


def principal_axes(
    rows: list[Any], shares: list[FloatArray], most: int
) -> tuple[FloatArray, FloatArray]:
    """Return at most so many orthonormal axes, and the mean square along each.

    Parameters
    ----------
    rows : list of ndarray or csr_array of shape (n, d)
    shares : list of ndarray of shape (n,)
    most : int

    Returns
    -------
    axes : ndarray of shape (d, p)
    moments : ndarray of shape (p,)
        Largest first.
    """
    parts = []
    for side, share in zip(rows, shares, strict=True):
        weights = share / max(float(share.sum()), 1e-300) / len(rows)
        parts.append(sp.diags_array(np.sqrt(weights)) @ side)
    d = rows[0].shape[1]
    together: Any = sp.vstack(parts).tocsr() if sp.issparse(parts[0]) else np.vstack(parts)
    if d <= _DENSE:
        moments = together.T @ together
        moments = moments.toarray() if sp.issparse(moments) else moments
        values, vectors = la.eigh(moments, subset_by_index=[max(0, d - most), d - 1])
        return upright(vectors[:, ::-1]), np.maximum(values[::-1], 0)
    empty = (together.nnz if sp.issparse(together) else np.count_nonzero(together)) == 0
    if empty:
        return np.eye(d, 1), np.zeros(1)
    if together.shape[0] <= _FEW_ROWS:
        inner = together @ together.T
        inner = inner.toarray() if sp.issparse(inner) else inner
        values, vectors = la.eigh(inner)
        kept = np.flatnonzero(values > _ROUNDING * values[-1])[::-1][:most]
        axes = (together.T @ vectors[:, kept]) / np.sqrt(values[kept])
        return upright(np.asarray(axes)), np.asarray(values[kept])
    start = np.ones(min(together.shape))  # the same axes each time
    wanted = min(most, _AXES)
    _, lengths, axes = svds(together, wanted, v0=start, return_singular_vectors="vh")
    order = np.argsort(-lengths)
    return upright(axes[order].T), np.asarray(lengths[order] ** 2)


def upright(directions: FloatArray) -> FloatArray:
    """Make the largest number of each column positive: the sign of an eigenvector is anybody's."""
    largest = np.abs(directions).argmax(axis=0)
    return directions * np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
