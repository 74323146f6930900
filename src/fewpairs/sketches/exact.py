"""Exact entries of the matrix that is factored: f of inner products, or a Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError
from fewpairs.numerics import largest, parts, row_squares
from fewpairs.sketches.functions import Function, apply, check_range, largest_on
from fewpairs.sketches.products import dense, radius_of, row_products

#: To guess how large a row's entries are, it is compared with this many of the longest rows of the
#: other side, and with as many at random. With 2, intervals of the maps of
#: benchmarks/sketches/sketch_intervals.py are 15 % wider; with 32, no narrower.
_COMPARED = 8
#: The longest rows that are remembered: enough for the certain block of 160,000 sampled entries.
_LONGEST = 200
#: Rows that are compared at a time, so that temporary arrays take about 1 MB.
_STRIP_ROWS = 2**13
#: Sums and squares of larger inner products overflow.
_LARGEST_RADIUS = 1e150
#: Squared distances of longer rows are lost to rounding if they are taken from inner products: with
#: this squared length they are off by 1e-6.
_LONG = 1e10
#: A polynomial is fitted to exp up to here: beyond, squares of its values would overflow.
_WIDEST = 340.0


@dataclass(frozen=True, eq=False)
class Exact:
    """Entries of f(UVᵀ).

    Parameters
    ----------
    function : callable of an array
        f.
    left, right : ndarray or csr_array
        U and V; one and the same object for a symmetric matrix.
    """

    function: Function
    left: Any
    right: Any

    def __post_init__(self) -> None:
        # An f that is not defined everywhere is refused here, with the whole range in the message.
        radius = radius_of(self.left, self.right)
        if not radius < _LARGEST_RADIUS:
            raise InputError(
                f"inner products of the rows are as large as {radius:.3g}.",
                "Their sums overflow.",
                "Scale the vectors, and the function's argument back.",
            )
        check_range(self.function, radius)

    @property
    def sides(self) -> tuple[Any, Any]:
        """U and V."""
        return self.left, self.right

    @property
    def symmetric(self) -> bool:
        """Whether U and V are one and the same."""
        return self.right is self.left

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of U and of V."""
        return self.left.shape[0], self.right.shape[0]

    @property
    def has_polynomial(self) -> bool:
        """Whether f is finite on the whole range of inner products."""
        return True

    @property
    def is_zero(self) -> bool:
        """Whether f vanishes on the whole range of inner products."""
        return largest_on(self.function, radius_of(self.left, self.right)) == 0

    def between(self, rows: Any, others: Any) -> FloatArray:
        """Return the entries between any rows of the left and any of the right, as an array."""
        return apply(self.function, _products(rows, others))

    def pairs(self, rows: Any, others: Any) -> FloatArray:
        """Return the entry between row k of the one and row k of the other, for every k."""
        return apply(self.function, row_products(rows, others))

    def own(self, index: IntArray) -> FloatArray:
        """Return entries of the diagonal of a symmetric matrix."""
        some = self.left[index]
        return self.pairs(some, some)

    def scale(self, rows: Any) -> FloatArray | None:
        """Return z, by which features of f(⟨u, v⟩) are multiplied; None for 1."""
        del rows
        return None

    def scaling(self) -> tuple[FloatArray, FloatArray] | None:
        """Return z and w of both sides."""
        z, w = self.scale(self.left), self.scale(self.right)
        return None if z is None or w is None else (z, w)

    @cached_property
    def longest(self) -> tuple[IntArray, IntArray]:
        """The longest rows of each side, longest first."""
        left = largest(row_squares(self.left), _LONGEST)
        return left, left if self.symmetric else largest(row_squares(self.right), _LONGEST)

    def references(self, side: int, rng: np.random.Generator) -> IntArray:
        """Return a few rows of a side, long ones and others, to compare the other side with."""
        few = rng.integers(0, self.shape[side], _COMPARED)
        return np.concatenate([self.longest[side][:_COMPARED], few])

    def chances(self, side: int, rng: np.random.Generator) -> FloatArray:
        """Return how likely each row should be drawn: half at random, half by what it holds.

        A share that is guessed from a few entries may be far too small. Half of the draws do not
        depend on it, so that no row gets a weight of more than twice that of a uniform draw.
        """
        rows = self.sides[side]
        others = self.sides[1 - side][self.references(1 - side, rng)]
        sizes = np.empty(rows.shape[0])
        for part in parts(len(sizes), _STRIP_ROWS):
            values = self.between(rows[part], others)
            unit = float(np.abs(values).max(initial=0)) or 1.0
            sizes[part] = np.linalg.norm(values / unit, axis=1) * unit
        uniform, shares = np.full(len(sizes), 1 / len(sizes)), squared_shares(sizes)
        return uniform if shares is None else 0.5 * shares + 0.5 * uniform


class GaussianKernel(Exact):
    """Entries exp(−|u − v|²/2) = z·exp(⟨u, v⟩)·w of a Gaussian kernel, whatever its width.

    Parameters
    ----------
    left, right : ndarray or csr_array
        Rows in units in which the kernel is this one.
    """

    def __init__(self, left: Any, right: Any) -> None:
        # A frozen dataclass sets its fields in its own __init__ only; exp is never out of range.
        for name, value in (("function", np.exp), ("left", left), ("right", right)):
            object.__setattr__(self, name, value)

    @property
    def has_polynomial(self) -> bool:
        """Whether exp is finite on the whole range of inner products."""
        return radius_of(self.left, self.right) < _WIDEST

    def between(self, rows: Any, others: Any) -> FloatArray:
        """Return the kernel between any rows of the left and any of the right."""
        a, b = row_squares(rows), row_squares(others)
        if max(float(a.max(initial=0)), float(b.max(initial=0))) > _LONG:
            squares = cdist(dense(rows), dense(others), "sqeuclidean")
            return np.asarray(np.exp(-squares / 2))
        exponents = _products(rows, others)
        exponents -= a[:, None] / 2
        exponents -= b / 2
        return np.asarray(np.exp(np.minimum(exponents, 0, out=exponents), out=exponents))

    def pairs(self, rows: Any, others: Any) -> FloatArray:
        """Return the kernel between row k of the one and row k of the other, for every k."""
        return np.asarray(np.exp(-row_squares(rows - others) / 2))

    def scale(self, rows: Any) -> FloatArray:
        """Return z = exp(−|u|²/2)."""
        return np.asarray(np.exp(-row_squares(rows) / 2))


def squared_shares(sizes: FloatArray) -> FloatArray | None:
    """Return the share of each square in the sum of squares; None if all are zero."""
    unit = float(sizes.max(initial=0))
    if unit == 0:
        return None
    squares = (sizes / unit) ** 2
    return np.asarray(squares / squares.sum())


def _products(rows: Any, others: Any) -> FloatArray:
    return np.asarray(dense(rows @ others.T), dtype=np.float64)
