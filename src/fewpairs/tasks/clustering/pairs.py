"""Pairs of items and their exact similarities: bought, counted, and never bought twice."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.numerics import contains, distinct, parts
from fewpairs.oracle.known import Known
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.clustering.decisions import Noise

#: Pairs that are asked for at a time.
_AT_A_TIME = 2**18
#: What was bought between two clusters stands for the rest of their pairs if these are no more.
_MOST_CORRECTED = 512


class Pairs:
    """What is known of all pairs: a matrix that was approximated, and what was bought since.

    Parameters
    ----------
    oracle : Oracle
    matrix : FactoredMatrix
        Symmetric, with what was evaluated for it.
    sign : int
        -1 where small values are near: everything that is returned is then large if near.

    Attributes
    ----------
    rows, columns, groups : ndarray of int
        What was bought: both items, and a number for those that were bought for one decision.
    values, predicted : ndarray
        What it is, and what it had been predicted to be.
    """

    def __init__(self, oracle: Oracle, matrix: FactoredMatrix, sign: int) -> None:
        self._oracle, self._matrix, self.sign = oracle, matrix, sign
        self.known: Known = matrix.known
        none = np.empty(0, dtype=np.int64)
        self.rows, self.columns, self.groups = none, none, none
        #: Keys of pairs that were asked for in vain; in a whole line something stands in for them.
        self.skipped: IntArray = self.keys_of(matrix.skipped)
        self.values, self.predicted = np.empty(0), np.empty(0)
        self._certain = np.arange(matrix.shape[0])

    @property
    def each(self) -> int:
        """Evaluations that one pair takes."""
        return self._oracle.planner.per_entry

    def keys_of(self, pairs: IntArray) -> IntArray:
        """Return the different keys, in order, of rows of two positions; of different items."""
        i, j = pairs[pairs[:, 0] != pairs[:, 1]].T
        return distinct(self.known.keys_of(i, j))

    def exact(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Evaluate pairs; NaN for those that have no value."""
        return self.sign * mean_of_orders(self._oracle, rows, columns)

    def is_known(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which pairs were evaluated, or were asked for in vain."""
        known = ~np.isnan(self.known.find(rows, columns))
        if len(self.skipped):
            known |= contains(self.skipped, self.known.keys_of(rows, columns))
        return known

    def buy(self, rows: IntArray, columns: IntArray, groups: IntArray, certain: IntArray) -> None:
        """Evaluate pairs that are not known, and keep them.

        Parameters
        ----------
        rows, columns : ndarray of int
        groups : ndarray of int
            Equal for pairs of the same decision.
        certain : ndarray of int
            For every item its cluster, of those that nobody doubts.
        """
        predicted = self.sign * self._matrix.entries(rows, columns)
        values = self.exact(rows, columns)
        there = ~np.isnan(values)
        lost = self.known.keys_of(rows[~there], columns[~there])
        self.skipped = distinct(self.skipped, lost)
        groups = groups + int(self.groups.max(initial=-1)) + 1
        self.rows = np.concatenate([self.rows, rows[there]])
        self.columns = np.concatenate([self.columns, columns[there]])
        self.groups = np.concatenate([self.groups, groups[there]])
        self.values = np.concatenate([self.values, values[there]])
        self.predicted = np.concatenate([self.predicted, predicted[there]])
        self.known = self._knowing(self.rows, self.columns, self.values)
        self._certain = certain

    def matrix(self, noise: Noise) -> FactoredMatrix:
        """Return the matrix with everything that was bought.

        What was bought between two clusters stands for the rest of their pairs, as far as their
        noise has something in common.
        """
        if not len(self.rows):
            return self._matrix
        rows, columns, values = self._corrected(noise)
        return self._matrix.knowing(
            self._knowing(
                np.concatenate([self.rows, rows]),
                np.concatenate([self.columns, columns]),
                np.concatenate([self.values, values]),
            )
        )

    def _knowing(self, rows: IntArray, columns: IntArray, values: FloatArray) -> Known:
        """Return what is known with single entries beside it; of equal places the first counts."""
        old = self._matrix.known
        i, j = old.places_of(old.keys)
        return old.with_entries(
            np.concatenate([i, rows]),
            np.concatenate([j, columns]),
            np.concatenate([old.values, self.sign * values]),
        )

    def _corrected(self, noise: Noise) -> tuple[IntArray, IntArray, FloatArray]:
        """Return pairs that were not evaluated, with better predictions."""
        n, certain = len(self._certain), self._certain
        a, b = certain[self.rows], certain[self.columns]
        keys, which, counts = np.unique(
            np.minimum(a, b) * n + np.maximum(a, b), return_inverse=True, return_counts=True
        )
        off = np.bincount(which, self.values - self.predicted) / counts
        # The best guess of what they have in common, where each also has something of its own.
        common = off * counts * noise.common / (1 + (counts - 1) * noise.common)
        sizes = np.bincount(certain)
        left, right = keys // n, keys % n
        size = sizes[left] * sizes[right]
        few = (left != right) & (size > counts) & (size <= _MOST_CORRECTED)
        if not few.any():
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        order = np.argsort(certain, kind="stable")
        starts = np.cumsum(sizes) - sizes
        left, right, size, common = left[few], right[few], size[few], common[few]
        block = np.repeat(np.arange(len(size)), size)
        within = np.arange(len(block)) - np.repeat(np.cumsum(size) - size, size)
        across = sizes[right][block]
        i = order[starts[left][block] + within // across]
        j = order[starts[right][block] + within % across]
        new = np.isnan(self.known.find(i, j))
        i, j = i[new], j[new]
        return i, j, self.sign * self._matrix.entries(i, j) + common[block[new]]


def mean_of_orders(oracle: Oracle, rows: IntArray, columns: IntArray) -> FloatArray:
    """Evaluate pairs, those of an asymmetric similarity in both orders; NaN without a value."""
    result = np.empty(len(rows))
    for part in parts(len(rows), _AT_A_TIME):
        i, j = rows[part], columns[part]
        result[part] = oracle.entries(i, j)
        if not oracle.symmetric:
            result[part] = (result[part] + oracle.entries(j, i)) / 2
    return result
