"""Nearly equal rows of both sides: entries between them can hold a matrix, as its diagonal can."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray

#: Inner products that a search may take, and that are held at a time.
_PRODUCTS, _HELD = 10**7, 2**18
#: Rows are nearly equal when their squared distance is below this share of the shorter one's
#: square; of those of a row, so many are taken.
_NEARLY, _MOST_NEAR = 0.05, 2


class Matches:
    """Tells nearly equal rows, and finds some.

    Parameters
    ----------
    left, right : ndarray or csr_array
        One and the same object for a symmetric matrix.
    squares : pair of ndarray
        Squared lengths of their rows.
    """

    def __init__(self, left: Any, right: Any, squares: list[FloatArray]) -> None:
        self._sides, self._same, self._squares = (left, right), right is left, squares

    def near(self, i: IntArray, j: IntArray, products: FloatArray) -> npt.NDArray[np.bool_]:
        """Say which entries are between nearly equal rows, or on the diagonal."""
        a, b = self._squares[0][i], self._squares[1][j]
        near = a + b - 2 * products <= _NEARLY * np.minimum(a, b)
        return near | (i == j) if self._same else near

    def pairs(
        self, count: int, chances: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Draw rows and find the nearly equal ones of the other side; the diagonal is left out."""
        left, right = self._sides
        m = right.shape[0]
        chosen = rng.choice(left.shape[0], max(1, min(count, _PRODUCTS // m)), p=chances)
        mine, strip = left[chosen].T, max(1, _HELD // len(chosen))
        found = []
        for start in range(0, m, strip):
            products = right[start : start + strip] @ mine
            products = products.toarray() if sp.issparse(products) else products
            others = np.arange(start, start + len(products))
            near = self.near(chosen, others[:, None], products)
            if self._same:
                near &= chosen != others[:, None]
            other, k = np.nonzero(near)
            found.append(np.stack([k, other + start]))
        k, j = np.concatenate(found, axis=1)
        # In random order, the first few of each row.
        order = rng.permutation(len(k))
        order = order[np.argsort(k[order], kind="stable")]
        counts = np.bincount(k, minlength=len(chosen))
        rank = np.arange(len(k)) - np.repeat(np.cumsum(counts) - counts, counts)
        order = order[rank < _MOST_NEAR]
        k, j = k[order], j[order]
        taken = np.minimum(counts, _MOST_NEAR)
        return chosen[k], j, counts[k] / taken[k] / (len(chosen) * chances[chosen[k]])
