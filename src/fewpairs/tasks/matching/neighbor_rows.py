"""Rows of similarities: who is an item's neighbour, in whole rows and among single pairs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.all_pairs import pair_by_pair

#: Items, their neighbours, and how similar they are.
Chosen: TypeAlias = tuple[IntArray, IntArray, FloatArray]


class NeighborRows:
    """Tells the k nearest from others.

    Parameters
    ----------
    oracle : Oracle
    k : int
    small_is_near : bool
        Whether small values are near.
    """

    def __init__(self, oracle: Oracle, k: int, *, small_is_near: bool) -> None:
        self._oracle, self.k = oracle, k
        self._sign = -1.0 if small_is_near else 1.0

    def read(self, rows: IntArray) -> FloatArray:
        """Return whole rows, evaluated as far as they are not known."""
        return self.apart(rows, pair_by_pair(self._oracle, rows))

    def apart(self, rows: IntArray, values: FloatArray) -> FloatArray:
        """Return whole rows in which an item is farther from itself than from anything.

        So are skipped ones, which are nobody's neighbours.
        """
        apart = self.far_if_skipped(values)
        if self._oracle.square:
            apart[np.arange(len(rows)), rows] = -np.inf * self._sign
        return apart

    def far_if_skipped(self, values: FloatArray) -> FloatArray:
        """Return values of which those that were skipped are farther than anything."""
        return np.where(np.isnan(values), -np.inf * self._sign, values)

    def near(self, values: FloatArray) -> BoolArray:
        """Say which entries of whole rows are at least as near as the k-th nearest."""
        signed = self._sign * values
        return np.asarray((signed >= self._last(signed)) & np.isfinite(signed))

    def nearer(self, values: FloatArray) -> BoolArray:
        """Say which are nearer than the k-th: no other can take their place, equal ones can."""
        signed = self._sign * values
        return np.asarray((signed > self._last(signed)) & np.isfinite(signed))

    def _last(self, signed: FloatArray) -> FloatArray:
        return np.asarray(np.partition(signed, -self.k, axis=1)[:, -self.k, None])

    def best_of_rows(self, rows: IntArray, values: FloatArray) -> Chosen:
        """Return the neighbours in whole rows, row by row, the best first."""
        i, j = np.nonzero(self.near(values))  # k of each row, and what equals the last of them
        return self.best_of_pairs(rows[i], j, values[i, j])

    def best_of_pairs(self, rows: IntArray, columns: IntArray, values: FloatArray) -> Chosen:
        """Return the k best of each row among single pairs, all of them different."""
        order = np.lexsort((columns, -self._sign * values, rows))
        order = order[np.isfinite(values[order])]  # all, unless an item has few with a value
        of = rows[order]
        order = order[np.arange(len(of)) - np.searchsorted(of, of) < self.k]
        return rows[order], columns[order], values[order]


def joined(chosen: list[Chosen]) -> Chosen:
    """Return several answers as one, in the order of their rows."""
    rows, columns, values = (np.concatenate(part) for part in zip(*chosen, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], columns[order], values[order]
