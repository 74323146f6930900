"""Squared inner products of vectors, entry by entry: a part of a matrix that has no low rank.

It stays as cheap as the vectors are: with V = Σⱼ vⱼ·yⱼyⱼᵀ, which is d × d, the product of
the squares with v is xᵢᵀ·V·xᵢ in row i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.numerics import parts

#: Items that stand for all others where vectors of few coordinates are wanted, as for embeddings.
ANCHORS = 500
#: Eigenvalues below this share of the largest are rounding of single-precision vectors.
_RANK_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class Squares:
    """weight · diag(rows) · (left · rightᵀ)² · diag(columns), squared entry by entry.

    Parameters
    ----------
    weight : float
    left, right : ndarray of shape (n, d) and (m, d), float32
        One array in both roles where rows and columns are the same items.
    rows, columns : ndarray of shape (n,) and (m,), or None
        None stands for ones.
    """

    weight: float
    left: SingleArray
    right: SingleArray
    rows: FloatArray | None = None
    columns: FloatArray | None = None

    @property
    def symmetric(self) -> bool:
        """Whether it is its own transpose."""
        return self.left is self.right and self.rows is self.columns

    @property
    def T(self) -> Squares:  # noqa: N802 - NumPy's name
        """The transpose."""
        return Squares(self.weight, self.right, self.left, self.columns, self.rows)

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the entries ``rows[k], columns[k]``."""
        result = np.empty(len(rows))
        for part in parts(len(rows), 1024):
            x, y = self.left[rows[part]], self.right[columns[part]]
            products = np.einsum("kp,kp->k", x, y, dtype=np.float64)
            result[part] = self.weight * products**2
        if self.rows is not None:
            result *= self.rows[rows]
        return result if self.columns is None else result * self.columns[columns]

    def block(self, rows: Any, columns: Any) -> FloatArray:
        """Return the entries of all these rows and columns."""
        products = self.left[rows].astype(np.float64) @ self.right[columns].astype(np.float64).T
        result = self.weight * products**2
        if self.rows is not None:
            result *= self.rows[rows][:, None]
        return result if self.columns is None else np.asarray(result * self.columns[columns])

    def __matmul__(self, x: FloatArray) -> FloatArray:
        """Multiply by a vector or a matrix, exactly."""
        many = x[:, None] if x.ndim == 1 else x
        if self.columns is not None:
            many = many * self.columns[:, None]
        n, d = self.left.shape
        m, k = many.shape
        through_vectors = k * (n + m) * d * d
        result = np.zeros((n, k))
        if through_vectors < n * m * (d + k):
            for column in range(k):
                middle = np.zeros((d, d))
                for part in parts(m):
                    y = self.right[part].astype(np.float64)
                    middle += (y * many[part, column, None]).T @ y
                for part in parts(n):
                    left = self.left[part].astype(np.float64)
                    result[part, column] = np.einsum("ij,ij->i", left @ middle, left)
        else:
            right = self.right.astype(np.float64)
            for part in parts(n, 256):
                result[part] = (self.left[part].astype(np.float64) @ right.T) ** 2 @ many
        result *= self.weight
        if self.rows is not None:
            result *= self.rows[:, None]
        return result[:, 0] if x.ndim == 1 else result

    def scaled(self, rows: FloatArray, columns: FloatArray) -> Squares:
        """Return diag(rows) · this · diag(columns)."""
        left = rows if self.rows is None else rows * self.rows
        if rows is columns and self.rows is self.columns:
            return replace(self, rows=left, columns=left)
        right = columns if self.columns is None else columns * self.columns
        return replace(self, rows=left, columns=right)

    def times(self, factor: float) -> Squares:
        """Return a multiple."""
        return replace(self, weight=self.weight * factor)

    def extended(self, left: SingleArray, right: SingleArray | None) -> Squares:
        """Return it with further rows and, unless `right` is None, columns."""
        taller = np.vstack([self.left, left])
        if right is None:
            return Squares(self.weight, taller, self.right)
        wider = taller if self.left is self.right else np.vstack([self.right, right])
        return Squares(self.weight, taller, wider)

    def anchors(self, count: int) -> tuple[IntArray, IntArray]:
        """Return as many rows as columns that stand for all others."""
        count = min(count, len(self.left), len(self.right))
        down, across = (
            np.linspace(0, len(side) - 1, count).astype(np.int64)
            for side in (self.left, self.right)
        )
        return down, across

    def anchored(self, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return left, core and right factors through `count` anchors of each side.

        Squared products with anchors stand for all others (Nyström); with as many anchors as items
        nothing is lost. An anchor is every so-many-th item.
        """
        down, across = self.anchors(count)
        left = self.block(slice(None), across)
        right = left if self.symmetric else self.block(down, slice(None)).T
        # The weight is in both tall factors, and so in the crossing that the core inverts.
        u, sizes, vt = np.linalg.svd(self.block(down, across))
        keep = sizes > _RANK_TOLERANCE * max(float(sizes.max(initial=0)), np.finfo(float).tiny)
        core = (vt[keep].T / sizes[keep]) @ u[:, keep].T
        return left, (core + core.T) / 2 if self.symmetric else core, right
