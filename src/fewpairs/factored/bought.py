"""What was evaluated for a matrix after it was made: kept beside it, never paid for twice."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.oracle.known import keys_of
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.stores import EntryStore


class Bought:
    """Single entries, row by row. The matrix itself stays as it is: a result never changes.

    Parameters
    ----------
    width : int
        Columns of the matrix.
    symmetric : bool
        Whether entry (j, i) is entry (i, j).
    """

    def __init__(self, width: int, *, symmetric: bool) -> None:
        self._width, self._symmetric = width, symmetric
        self._entries = EntryStore()

    def find(self, row: int, columns: IntArray) -> FloatArray:
        """Look entries of a row up; NaN where they were not evaluated."""
        return self._entries.find(self._keys(row, columns))

    def keep(self, row: int, columns: IntArray, values: FloatArray) -> None:
        """Keep entries of a row."""
        self._entries.add(self._keys(row, columns), values)

    def _keys(self, row: int, columns: IntArray) -> IntArray:
        rows = np.full(len(columns), row, dtype=np.int64)
        return keys_of(rows, columns, self._width, symmetric=self._symmetric)


class Tally:
    """Evaluations of one call, also of one that ends in a fault. Its oracles follow each other."""

    def __init__(self) -> None:
        self._before = 0
        self._last: Oracle | None = None

    def follow(self, oracle: Oracle) -> None:
        """Count what an oracle evaluates from now on."""
        self._before, self._last = self.evaluations, oracle

    @property
    def evaluations(self) -> int:
        """What all of them have evaluated so far."""
        return self._before + (0 if self._last is None else self._last.evaluations)
