"""Near-duplicates: rows of both sides that are almost equal.

For a narrow kernel, the entries between near-duplicates are the largest, few as they are: a uniform
sample would hardly ever draw one. They are therefore searched for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import parts
from fewpairs.sketches.products import dense

#: Two rows are near-duplicates if their squared distance is at most this share of the shorter one's
#: squared length: about 13° apart. A tenth of it, or four times as much, hardly changes the
#: intervals that are stated.
_NEAR = 0.05
#: Of the near-duplicates of one row, at most this many are kept. More would crowd out all other
#: entries where rows form tight clusters.
_MOST_OF_A_ROW = 2
#: Inner products that a search may take: about 0.1 s at 50 dimensions. Where the other side has
#: more rows, fewer rows are searched for.
_MOST_PRODUCTS = 10**7
#: Inner products that are held at a time: 2 MB, which stay in the cache.
_HELD_PRODUCTS = 2**18


class NearDuplicates:
    """Recognises near-duplicates, and finds some of them.

    Parameters
    ----------
    left, right : ndarray or csr_array
        One and the same object for a symmetric matrix.
    squares : pair of ndarray
        Squared lengths of their rows.
    """

    def __init__(self, left: Any, right: Any, squares: list[FloatArray]) -> None:
        self._left, self._right, self._squares = left, right, squares
        self._symmetric = right is left

    def recognise(self, i: IntArray, j: IntArray, products: FloatArray) -> npt.NDArray[np.bool_]:
        """Say of each entry (i, j), given its inner product, whether its rows are near-duplicates.

        On the diagonal of a symmetric matrix a row meets itself: that counts as well.
        """
        a, b = self._squares[0][i], self._squares[1][j]
        near = a + b - 2 * products <= _NEAR * np.minimum(a, b)
        return near | (i == j) if self._symmetric else near

    def draw(
        self, count: int, chances: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Draw rows of the left side, and find near-duplicates of each on the right side.

        Parameters
        ----------
        count : int
            How many rows are drawn, if the search is not too long.
        chances : ndarray of shape (n,)
            How likely each row is to be drawn.
        rng : numpy Generator

        Returns
        -------
        i, j : ndarray of int64
            Rows and their near-duplicates; the diagonal of a symmetric matrix is left out.
        weights : ndarray of float64
            How many entries between near-duplicates each of these stands for.
        """
        n, m = self._left.shape[0], self._right.shape[0]
        drawn = rng.choice(n, max(1, min(count, _MOST_PRODUCTS // m)), p=chances)
        k, j = self._search(drawn)
        found = np.bincount(k, minlength=len(drawn))  # near-duplicates of each drawn row
        # In random order within each drawn row, keep the first few.
        order = rng.permutation(len(k))
        order = order[np.argsort(k[order], kind="stable")]
        rank = np.arange(len(k)) - np.repeat(np.cumsum(found) - found, found)
        order = order[rank < _MOST_OF_A_ROW]
        k, j = k[order], j[order]
        kept = np.minimum(found, _MOST_OF_A_ROW)
        return drawn[k], j, found[k] / kept[k] / (len(drawn) * chances[drawn[k]])

    def _search(self, drawn: IntArray) -> tuple[IntArray, IntArray]:
        """Return k and j wherever row drawn[k] and row j of the right are near-duplicates."""
        mine = self._left[drawn].T
        found = []
        for part in parts(self._right.shape[0], max(1, _HELD_PRODUCTS // len(drawn))):
            products = dense(self._right[part] @ mine)
            others = np.arange(part.start, part.stop)[:, None]
            near = self.recognise(drawn, others, products)
            if self._symmetric:
                near &= drawn != others
            j, k = np.nonzero(near)
            found.append(np.stack([k, j + part.start]))
        k, j = np.concatenate(found, axis=1)
        return k, j
