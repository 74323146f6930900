"""Gaussian-process means of the entries between items, from their lines and their guides' vectors.

Row items i and column items j have lines l_i and r_j (entries with the landmarks), W is where the
landmarks' lines cross. Two row items are alike by k(i, i') = l_i·l_i' / mean|l|² + β·x_i·x_i' + 1,
and a_i = k(i, S)·(k(S, S) + λ·k₀·I)⁻¹ says how i is made of landmarks; b_j likewise, of columns.
Then l_i·b_j predicts entry (i, j) by columns, and a_i·r_j by rows. Their mean is one predictor;
their sum less a_i·W·b_j, the mean of a Gaussian process of the whole matrix, is another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import exponent, parts


class Lines(NamedTuple):
    """Entries of some row items and some column items with the landmarks, of one matrix."""

    left: FloatArray  # row items × landmarks of the columns
    right: FloatArray  # column items × landmarks of the rows
    crossing: FloatArray  # landmarks of the rows × landmarks of the columns


class Items(NamedTuple):
    """Row items and column items in the eigenvectors of the kernels."""

    left: FloatArray
    right: FloatArray


class Pairs(NamedTuple):
    """Places of pairs among the row items and the column items."""

    rows: IntArray
    columns: IntArray


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike items are by their lines, whatever their vectors say: the same for all kernels.

    Attributes
    ----------
    to_lines : ndarray
        Lines of the landmarks, over the mean squared length of all items' lines.
    landmarks : ndarray
        Landmarks with each other.
    items : ndarray
        Items with the landmarks.
    """

    to_lines: FloatArray
    landmarks: FloatArray
    items: FloatArray

    @classmethod
    def of(cls, lines: FloatArray, items: FloatArray) -> Likeness:
        """Compare lines of the landmarks, and of items with them."""
        # Landmarks may have entries, as on a diagonal, where all other items have none.
        scale = max(mean_square(items), np.finfo(float).eps * mean_square(lines))
        to_lines = lines / scale
        return cls(to_lines, lines @ to_lines.T, items @ to_lines.T)


@dataclass(frozen=True, eq=False)
class Kernel:
    """How items are made of the landmarks of one side: k(S, S) by its eigenvectors.

    Attributes
    ----------
    lines : Likeness
    basis : ndarray
        Eigenvectors.
    damped : ndarray of shape (ridges, s)
        1 / (κ + λκ₀) of the eigenvalues κ.
    """

    lines: Likeness
    basis: FloatArray
    damped: FloatArray

    @classmethod
    def of(cls, lines: Likeness, alike: FloatArray, ridges: FloatArray) -> Kernel:
        """Decompose k(S, S).

        Parameters
        ----------
        lines : Likeness
        alike : ndarray
            β·x·x' of the landmarks with each other.
        ridges : ndarray
            λ, as shares of the largest eigenvalue.
        """
        values, basis = np.linalg.eigh(lines.landmarks + alike + 1.0)
        top = max(float(values[-1]), np.finfo(float).tiny)
        damped = 1.0 / (np.maximum(values, 0) + ridges[:, None] * top)
        return cls(lines, basis, damped)

    def items(self, alike: FloatArray) -> FloatArray:
        """Return items in the eigenvectors, given β·x·x' with the landmarks."""
        return np.asarray((self.lines.items + (alike + 1.0)) @ self.basis)


@dataclass(frozen=True, eq=False)
class Predictors:
    """Two predictors for each ridge, of one kernel for rows and one for columns.

    Parameters
    ----------
    left, right : Kernel
        One object in both roles where the matrix is symmetric.
    nugget : float
        What was taken off the landmarks' own entries.
    """

    left: Kernel
    right: Kernel
    nugget: float

    @property
    def count(self) -> int:
        """Number of predictors."""
        return 2 * len(self.left.damped)

    def at(self, items: Items, lines: Lines, pairs: Pairs) -> FloatArray:
        """Return what each predicts of single entries, one predictor in each column.

        In single precision: predictors are weighed by these values, to two digits at best, and
        nothing in a run takes longer.
        """
        # Entries may be of any size within 1e±30; a power of two changes no digit.
        unit = 2.0 ** max(exponent(x) for x in lines)
        by_columns, by_rows, middle = self._in_single_basis(lines, unit)
        left = _single(items.left)
        right = left if items.right is items.left else _single(items.right)
        of_rows, of_columns = _single(self.left.damped), _single(self.right.damped)
        half = len(of_rows)
        result = np.empty((len(pairs.rows), 2 * half))
        crossed = [(left * d) @ middle * e for d, e in zip(of_rows, of_columns, strict=True)]
        for part in parts(len(pairs.rows), 256):
            i, j = pairs.rows[part], pairs.columns[part]
            across = right[j]
            one = (by_columns[i] * across) @ of_columns.T
            one += (left[i] * by_rows[j]) @ of_rows.T
            result[part, :half] = one / 2
            for k, made in enumerate(crossed):
                result[part, half + k] = one[:, k] - np.einsum("kp,kp->k", made[i], across)
        return np.asarray(result * unit)

    def block(self, items: Items, lines: Lines) -> FloatArray:
        """Return what each predicts between all row items and all column items."""
        by_columns, by_rows, middle = self._in_basis(lines)
        half = len(self.left.damped)
        result = np.empty((2 * half, len(lines.left), len(lines.right)))
        for k, (d, e) in enumerate(self._ridges):
            made = items.left * d
            one = (by_columns * e) @ items.right.T + made @ by_rows.T
            result[k] = one / 2
            result[half + k] = one - (made @ middle * e) @ items.right.T
        return result

    @property
    def _ridges(self) -> list[tuple[FloatArray, FloatArray]]:
        return list(zip(self.left.damped, self.right.damped, strict=True))

    def _in_basis(self, lines: Lines) -> tuple[FloatArray, FloatArray, FloatArray]:
        by_columns = lines.left @ self.right.basis
        same = lines.right is lines.left and self.left is self.right
        by_rows = by_columns if same else lines.right @ self.left.basis
        return by_columns, by_rows, self._middle(lines.crossing)

    def _in_single_basis(
        self, lines: Lines, unit: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the same in single precision, over a unit that keeps it in range."""
        of_rows = _single(self.left.basis)
        of_columns = of_rows if self.left is self.right else _single(self.right.basis)
        by_columns = _single(lines.left / unit) @ of_columns
        same = lines.right is lines.left and self.left is self.right
        by_rows = by_columns if same else _single(lines.right / unit) @ of_rows
        crossing = _single(less_nugget(lines.crossing, self.nugget) / unit)
        return by_columns, by_rows, of_rows.T @ crossing @ of_columns

    def _middle(self, crossing: FloatArray) -> FloatArray:
        return np.asarray(self.left.basis.T @ less_nugget(crossing, self.nugget) @ self.right.basis)

    def between(
        self, weights: FloatArray, crossing: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what lies between lines and items in the weighted sum of the predictors.

        With items as the kernels see them, k, that sum is l·P·k + k·Q·r − k·R·k.

        Returns
        -------
        P, Q, R : ndarray of shape (s, s)
        """
        half = len(self.left.damped)
        mean, whole = weights[:half], weights[half:]
        by_rows = (mean / 2 + whole) @ self.left.damped
        by_columns = (mean / 2 + whole) @ self.right.damped
        both = (self.left.damped.T * whole) @ self.right.damped
        first, second = self.left.basis, self.right.basis
        return (
            (second * by_columns) @ second.T,
            (first * by_rows) @ first.T,
            first @ (both * self._middle(crossing)) @ second.T,
        )


def _single(array: FloatArray) -> FloatArray:
    return array.astype(np.float32)


def less_nugget(crossing: FloatArray, nugget: float) -> FloatArray:
    """Take a nugget off the landmarks' own entries."""
    return crossing - nugget * np.eye(*crossing.shape) if nugget else crossing


def mean_square(lines: FloatArray) -> float:
    """Return the mean squared length of lines."""
    return max(float(np.einsum("ij,ij->", lines, lines)) / max(len(lines), 1), np.finfo(float).tiny)
