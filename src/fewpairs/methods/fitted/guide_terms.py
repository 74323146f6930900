"""What guides say of entries: inner products of their vectors, and the squares of these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.guides.guides import Guide
from fewpairs.numerics import parts


@dataclass(frozen=True, eq=False)
class GuideTerms:
    """For each guide two terms: p = x·y, and p².

    Parameters
    ----------
    guides : list of Guide
    places : tuple of int, optional
        Which of the user's guides these are, where they are not all.
    """

    guides: list[Guide]
    places: tuple[int, ...] | None = None

    @property
    def which(self) -> tuple[int, ...]:
        """Which of the user's guides these are."""
        return tuple(range(len(self.guides))) if self.places is None else self.places

    @cached_property
    def left(self) -> SingleArray:
        """Vectors of the rows' items, of all guides side by side."""
        return np.hstack([guide.left for guide in self.guides])

    @cached_property
    def right(self) -> SingleArray:
        """Vectors of the columns' items."""
        if all(guide.right is guide.left for guide in self.guides):
            return self.left
        return np.hstack([guide.right for guide in self.guides])

    @cached_property
    def slices(self) -> list[slice]:
        """Which columns of `left` and `right` belong to each guide."""
        ends = np.cumsum([guide.left.shape[1] for guide in self.guides]).tolist()
        return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]

    def at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the terms of single entries, one in each column."""
        products = np.empty((len(rows), len(self.guides)))
        for part in parts(len(rows), 1024):
            for k, guide in enumerate(self.guides):
                x, y = guide.left[rows[part]], guide.right[columns[part]]
                products[part, k] = np.einsum("kp,kp->k", x, y, dtype=np.float64)
        return _with_squares(products)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the terms of a block, of shape (terms, rows, columns)."""
        products = np.stack(
            [
                guide.left[rows].astype(np.float64) @ guide.right[columns].astype(np.float64).T
                for guide in self.guides
            ]
        )
        return np.concatenate([products, products**2])

    def combined(self, weights: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weighted sum of the terms of a block."""
        total = np.zeros((len(rows), len(columns)))
        for k, guide in enumerate(self.guides):
            first, second = weights[k], weights[len(self.guides) + k]
            if not (first or second):
                continue
            x = guide.left[rows].astype(np.float64)
            products = x @ guide.right[columns].astype(np.float64).T
            total += (first + second * products) * products
        return total


def _with_squares(products: FloatArray) -> FloatArray:
    return np.hstack([products, products**2])
