"""Exact terms: the heaviest monomials of the coordinates on principal axes.

⟨x, y⟩ʲ = Σ (j!/α!)·xᵅ·yᵅ over all monomials xᵅ = x₁^α₁ … x_p^α_p of degree j. On principal axes,
few of them carry most of the sum. Unlike a sketch they have no variance, and each costs one
multiplication for a row.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.sketches.principal_axes import principal_axes


@dataclass(frozen=True, eq=False)
class Monomials:
    """Columns √(j!/α!)·xᵅ, ordered by degree j; each is an earlier one, its parent, times xₖ.

    Parameters
    ----------
    axes : ndarray of shape (d, p)
        Orthonormal axes, on which the coordinates are taken.
    parents : ndarray of int64
        For each monomial, the column of its parent; -1 where the parent is the constant 1.
    coordinates : ndarray of int64
        For each monomial, the axis k by which its parent is multiplied.
    scales : ndarray of float64
        √(j!/α!).
    counts : ndarray of int64
        How many monomials there are of each degree, from 1 on.
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
        """Write each monomial to a row of `built`: memory is read and written in order then."""
        coordinates = np.ascontiguousarray(np.asarray(rows @ self.axes.astype(rows.dtype)).T)
        for k, (parent, axis) in enumerate(zip(self.parents, self.coordinates, strict=True)):
            if parent < 0:
                built[k] = coordinates[axis]
            else:
                np.multiply(built[parent], coordinates[axis], out=built[k])
        built *= self.scales.astype(rows.dtype)[:, None]

    @property
    def complete(self) -> list[bool]:
        """Whether all monomials of a degree are there, degree by degree."""
        d, p = self.axes.shape
        # On p axes there are (p + j − 1)! / (p − 1)! / j! monomials of degree j.
        possible = np.cumprod([(p + j) / (j + 1) for j in range(len(self.counts))])
        counts = zip(self.counts, possible, strict=True)
        return [d == p and count >= round(whole) for count, whole in counts]


def heaviest(
    rows: list[Any], weights: list[FloatArray], radius: float, sizes: FloatArray, most: int
) -> Monomials:
    """Choose the monomials that carry most of Σ sizes[j]·⟨x, y⟩ʲ.

    The weight of a monomial is sizes[j]·j!/α! times the mean square of each coordinate that it
    holds, as if coordinates were independent.

    Parameters
    ----------
    rows : list of ndarray or csr_array
        One or two sides.
    weights : list of ndarray
        How much each row counts.
    radius : float
        Rows are divided by its square root.
    sizes : ndarray of shape (degree + 1,)
        Absolute coefficients of the powers.
    most : int
        How many monomials.

    Returns
    -------
    Monomials
    """
    axes, moments = principal_axes(rows, weights, most)
    # A monomial is built from its parent. So a degree is worth at least as much as any higher one,
    # even if its own coefficient is zero, like those of the odd powers of a cosine.
    worth = np.maximum.accumulate(sizes[::-1])[::-1]
    return _ordered(axes, _best_first(moments / radius, worth, most), len(sizes) - 1)


class _Node(NamedTuple):
    """A monomial in the search.

    Attributes
    ----------
    power : int
        Its degree j.
    axis : int
        Its last coordinate, the one that its parent was multiplied by.
    repeats : int
        The power of that coordinate.
    parent : int
        Where its parent is in the list of monomials found; -1 for the constant 1.
    ways : float
        j!/α!.
    square : float
        Mean square of the monomial, if coordinates are independent.
    """

    power: int
    axis: int
    repeats: int
    parent: int
    ways: float
    square: float


def _best_first(moments: FloatArray, worth: FloatArray, most: int) -> list[_Node]:
    """Take the heaviest monomial again and again.

    A monomial is only multiplied by its last coordinate or later ones, so that each is met once.
    """
    found: list[_Node] = []
    heap: list[tuple[float, int, _Node]] = []

    def push(parent: int, axis: int) -> None:
        above = found[parent] if parent >= 0 else _Node(0, -1, 0, -1, 1.0, 1.0)
        power = above.power + 1
        if axis >= len(moments) or power >= len(worth):
            return
        repeats = above.repeats + 1 if axis == above.axis else 1
        ways, square = above.ways * power / repeats, above.square * float(moments[axis])
        node = _Node(power, axis, repeats, parent, ways, square)
        heapq.heappush(heap, (-worth[power] * ways * square, parent, node))

    push(-1, 0)
    while heap and len(found) < most:
        node = heapq.heappop(heap)[2]
        position = len(found)
        found.append(node)
        push(position, node.axis)
        push(position, node.axis + 1)
        # Moments fall from axis to axis: the parent times the next coordinate is lighter than this
        # monomial, so that it need not be in the heap before. (Where the coordinate repeats, the
        # parent itself has pushed the next one.)
        if node.repeats == 1:
            push(node.parent, node.axis + 1)
    return found


def _ordered(axes: FloatArray, found: list[_Node], degree: int) -> Monomials:
    """Sort monomials by degree; the positions of parents change with them."""
    powers, coordinates, parents = (
        np.array([getattr(node, name) for node in found], dtype=np.int64)
        for name in ("power", "axis", "parent")
    )
    order = np.argsort(powers, kind="stable")
    position = np.empty(len(order) + 1, dtype=np.int64)
    position[order], position[-1] = np.arange(len(order)), -1  # a parent of -1 stays -1
    return Monomials(
        axes,
        position[parents[order]],
        coordinates[order],
        np.sqrt(np.array([found[k].ways for k in order])),
        np.bincount(powers, minlength=degree + 1)[1:],
    )
