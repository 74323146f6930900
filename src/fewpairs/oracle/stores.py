"""Where values are kept: whole columns side by side, single entries in order of their keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.files.scratch import SinglePrecision, is_on_disk, tall_array
from fewpairs.numerics import parts
from fewpairs.oracle.known import Lines, look_up


class ColumnStore:
    """Whole columns of a matrix, side by side in one array, some of them still being read.

    Parameters
    ----------
    height, width : int
        Shape of the matrix.
    """

    def __init__(self, height: int, width: int) -> None:
        self.index: IntArray = np.empty(0, dtype=np.int64)
        self._buffer: FloatArray = np.empty((height, 0))
        self._expected = 0
        self._position = np.full(width, -1, dtype=np.int64)
        self._complete = np.zeros(width, dtype=bool)
        self._single: SinglePrecision | None = None

    @property
    def values(self) -> FloatArray:
        """The columns kept so far, as a view."""
        return self._buffer[:, : len(self.index)]

    @property
    def complete(self) -> IntArray:
        """The columns that hold no NaN, in the order in which they were asked for."""
        return self.index[self._complete[self.index]]

    def is_complete(self, columns: IntArray) -> BoolArray:
        """Say which columns have been read to the end."""
        return self._complete[columns]

    def finish(self, columns: IntArray) -> None:
        """Note that every entry of these columns is there."""
        if self._single is not None:
            self._single.done()
        self._complete[columns] = True

    def position(self, columns: IntArray) -> IntArray:
        """Where each column is kept; -1 if it is not."""
        return self._position[columns]

    def missing(self, columns: IntArray) -> IntArray:
        """Return those of `columns` that have no place yet."""
        return columns[self._position[columns] < 0]

    @property
    def bytes_on_disk(self) -> int:
        """How long the file is in which the columns are kept; 0 where they are in memory."""
        return self._buffer.nbytes if is_on_disk(self._buffer) else 0

    def expect(self, count: int) -> None:
        """Allocate `count` columns at the next `add`, so that later ones need no copy."""
        self._expected = count

    def add(self, columns: IntArray) -> None:
        """Make room for new columns, all unknown."""
        kept = len(self.index)
        needed = kept + len(columns)
        if needed > self._buffer.shape[1]:
            # Columns that come one by one must not be copied once for each of them. A few more at
            # the end of many are taken to be the last, and get no spare room.
            spare = kept // 2 if len(columns) < kept // 16 else 0
            width = max(needed + spare, self._expected)
            what = f"{width:,} columns of {len(self._buffer):,} items"
            buffer = tall_array(len(self._buffer), width, what, "Read fewer columns")
            for part in parts(len(buffer)):
                buffer[part, :kept] = self._buffer[part, :kept]
            self._buffer = buffer
        for part in parts(len(self._buffer)):
            self._buffer[part, kept:needed] = np.nan
        self._position[columns] = np.arange(kept, needed)
        self.index = np.concatenate([self.index, columns])

    def get(self, columns: IntArray) -> FloatArray:
        """Return the columns, as a view without copying wherever they lie side by side."""
        place = self._position[columns]
        if _consecutive(place):
            view = self.values[:, place[0] : place[-1] + 1]
        else:
            view = self.values[:, place]
        view.flags.writeable = False
        return view

    def put(self, rows: IntArray, columns: IntArray, block: FloatArray) -> None:
        """Write a block whose columns all have a place, where nothing is known yet.

        What is known is never written again: results hold views of it, and must not change.
        """
        self.look_at(block)
        place = self._position[columns]
        where: Any = np.ix_(rows, place)
        if _consecutive(place):
            where = rows, slice(place[0], place[-1] + 1)
        there = self.values[where]
        unknown = np.isnan(there)
        self.values[where] = block if unknown.all() else np.where(unknown, block, there)

    def look_at(self, values: FloatArray) -> None:
        """Refuse values that would be lost on disk; to be called before they are written."""
        if self._buffer.dtype == np.float32:
            self._single = self._single or SinglePrecision()
            self._single.look_at(values)

    def forget(self, columns: IntArray) -> None:
        """Forget the entry of each column with itself; they are then no longer complete.

        In a copy, because results hold views of the columns.
        """
        self.forget_entries(columns, columns)

    def forget_entries(self, rows: IntArray, columns: IntArray) -> None:
        """Forget single entries, in a copy; their columns are then no longer complete."""
        place = self._position[columns]
        held = place >= 0
        if held.any():
            self._buffer = self.values.copy()
            self._buffer[rows[held], place[held]] = np.nan
            self._complete[columns[held]] = False

    def lines(self) -> Lines:
        """Return the complete columns, read-only."""
        complete = self.complete
        return Lines.of(complete, self.get(complete), len(self._position))

    def all_lines(self) -> Lines:
        """Return all columns without copying; those that are not complete hold NaN."""
        return Lines(self.index, self.values, self._position)


def _consecutive(place: IntArray) -> bool:
    return len(place) > 0 and bool(np.all(np.diff(place) == 1))


#: Runs of this length are merged no more: it would take several times their memory for a while.
_LONGEST_RUN = 2**22
#: Entries of a piece: some megabytes.
_AT_A_TIME = 2**18


class EntryStore:
    """Single entries, found by binary search.

    They are kept in runs, each in the order of its keys, that are merged when they are of like
    size: millions of entries that come a few thousand at a time are sorted some twenty times, not
    once for each arrival.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[IntArray, FloatArray]] = []

    @property
    def empty(self) -> bool:
        """Whether there are none."""
        return not self._runs

    def add(self, keys: IntArray, values: FloatArray) -> None:
        """Keep entries; of equal keys the first that ever came counts."""
        if not len(keys):
            return
        self._runs.append(_in_order(keys, values))
        while len(self._runs) > 1 and self._like_sizes(*self._runs[-2:]):
            self._merge(2)

    @staticmethod
    def _like_sizes(older: tuple[IntArray, FloatArray], newer: tuple[IntArray, FloatArray]) -> bool:
        return len(older[0]) < min(2 * len(newer[0]), _LONGEST_RUN)

    def _merge(self, count: int) -> None:
        """Make one run of the last few, the older ones first."""
        last = self._runs[-count:]
        keys, values = (np.concatenate([run[side] for run in last]) for side in (0, 1))
        # Pairs that are drawn blindly come in order, millions of them: there is nothing to sort.
        apart = all(older[0][-1] < newer[0][0] for older, newer in pairwise(last))
        self._runs[-count:] = [(keys, values) if apart else _in_order(keys, values)]

    def all(self) -> tuple[IntArray, FloatArray]:
        """Return all keys in order, with their values."""
        if not self._runs:
            return np.empty(0, dtype=np.int64), np.empty(0)
        if len(self._runs) > 1:
            self._merge(len(self._runs))
        return self._runs[0]

    def pieces(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield keys and values, some at a time, the oldest last: it has the last word.

        Merging all of them would take several times their memory for a while.
        """
        for keys, values in reversed(self._runs):
            for part in parts(len(keys), _AT_A_TIME):
                yield keys[part], values[part]

    def find(self, keys: IntArray) -> FloatArray:
        """Return the values of `keys`, NaN where unknown."""
        found = np.full(len(keys), np.nan)
        if not len(keys):
            return found
        low, high = keys.min(), keys.max()
        for run in reversed(self._runs):  # so that the oldest has the last word
            if low <= run[0][-1] and run[0][0] <= high:
                values = look_up(keys, *run)
                np.copyto(found, values, where=~np.isnan(values))
        return found


def _in_order(keys: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    order, first = np.unique(keys, return_index=True)
    return order, values[first]
