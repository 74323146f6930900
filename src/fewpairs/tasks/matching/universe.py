"""All pairs that may match: their number, their keys, and blind draws among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import BoolArray, IntArray
from fewpairs.numerics import contains, distinct, parts
from fewpairs.parallel import require_memory

#: Pairs that are drawn at a time: some ten megabytes of temporary arrays.
_AT_A_TIME = 2**21
#: Bytes: of a place where all of them are listed, and of a pair where some are drawn.
_PER_CELL, _PER_DRAWN = 26, 17


@dataclass(frozen=True)
class Universe:
    """The pairs of n items, or of n items with m others.

    A pair has a key, ``row * m + column``. Of a symmetric similarity of one set each pair is there
    once, as row < column; of an asymmetric one in both orders; nothing is paired with itself.

    Parameters
    ----------
    n, m : int
    square : bool
        Whether rows and columns are the same items.
    symmetric : bool
    old : (int, int), default=(0, 0)
        So many rows and columns at the beginning are old: pairs of two old ones do not count.
    """

    n: int
    m: int
    square: bool
    symmetric: bool
    old: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """Number of pairs."""
        return self._count(self.n, self.m) - self._count(*self.old)

    def _count(self, n: int, m: int) -> int:
        return n * m if not self.square else n * (n - 1) // (2 if self.symmetric else 1)

    @property
    def blocks(self) -> list[tuple[slice, slice]]:
        """Rows and columns of the blocks that hold all pairs, none of them twice.

        Of a symmetric similarity of one set the last block has both orders.
        """
        (old_rows, old_columns), new = self.old, slice(self.old[1], self.m)
        if self.square and self.symmetric:
            both = [(slice(0, old_rows), new), (new, new)]
        else:
            both = [(slice(0, self.n), new), (slice(old_rows, self.n), slice(0, old_columns))]
        return [(i, j) for i, j in both if i.start < i.stop and j.start < j.stop]

    @property
    def whole_lines(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of which every pair counts."""
        if any(self.old) and not self.square:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        return np.arange(self.old[0], self.n), np.arange(self.old[1], self.m)

    def keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return one integer for each pair."""
        if self.symmetric:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        return rows * self.m + columns

    def places(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Return rows and columns of keys."""
        return keys // self.m, keys % self.m

    def everything(self) -> IntArray:
        """Return all keys in order; only where there are few."""
        _require(_PER_CELL * self._cells, self.size)
        keys = self._keys_at(np.arange(self._cells, dtype=np.int64))
        return np.sort(keys[self.holds(*self.places(keys))])

    def lines(self, items: IntArray, others: IntArray) -> IntArray:
        """Return the keys of everything in some rows and in some columns, in order."""
        # Line by line: places of all of them at once would take several times their keys.
        along, down = (np.arange(length, dtype=np.int64) for length in (self.m, self.n))
        rows = [self._line(np.full_like(along, i), along) for i in items]
        columns = [self._line(down, np.full_like(down, j)) for j in others]
        return distinct(np.empty(0, dtype=np.int64), *rows, *columns)

    def _line(self, rows: IntArray, columns: IntArray) -> IntArray:
        keys = self.keys(rows, columns)
        return keys[rows != columns] if self.square else keys

    def draw(self, count: int, taken: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw different pairs uniformly among those that are not taken.

        Parameters
        ----------
        count : int
            At most as many as there are.
        taken : ndarray
            Keys in order.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray
            Keys in order.
        """
        count = min(count, self.size - len(taken))
        if self._cells <= 4 * (count + len(taken)):
            free = np.setdiff1d(self.everything(), taken, assume_unique=True)
            return np.sort(rng.choice(free, count, replace=False, shuffle=False))
        # Millions of keys are sorted where they lie: copies of them would take most of the memory.
        _require(_PER_DRAWN * count, count)
        at_a_time = min(2 * count, _AT_A_TIME) + 100
        drawn, held = np.empty(count + at_a_time, dtype=np.int64), 0
        while held < count:
            # Few come twice, so that one sort at the end is enough, or two.
            while (lacking := count - held) > 0:
                # Half of them, or more, are taken or in the other order.
                more = rng.integers(0, self._cells, min(2 * lacking, _AT_A_TIME) + 100)
                more = self._keys_at(more)
                more = more[self.holds(*self.places(more))]
                more = more[~contains(taken, more)]
                drawn[held : held + len(more)] = more
                held += len(more)
            held = _without_repeats(drawn[:held])
        surplus = rng.choice(held, held - count, replace=False, shuffle=False)
        return np.delete(drawn[:held], surplus)

    @property
    def _cells(self) -> int:
        """Number of places, of which at least about half hold a pair."""
        across = self.n * (self.m - self.old[1])
        below = (self.n - self.old[0]) * self.old[1]
        return across if self.square and self.symmetric else across + below

    def _keys_at(self, cells: IntArray) -> IntArray:
        """Return the keys of places: first the new columns, then what is left of the new rows."""
        old_rows, old_columns = self.old
        if not old_columns:
            return cells
        new = self.m - old_columns
        below = cells - self.n * new
        first = cells // max(new, 1) * self.m + old_columns + cells % max(new, 1)
        return np.where(
            below < 0, first, (old_rows + below // old_columns) * self.m + below % old_columns
        )

    def holds(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which places are those of a pair: none with itself, none in the other order."""
        if not self.square:
            return np.ones(len(rows), dtype=bool)
        return np.asarray(rows < columns if self.symmetric else rows != columns)


def _require(size: int, count: int) -> None:
    require_memory(size, f"{count:,} pairs that are drawn", "Pass a smaller budget")


def _without_repeats(keys: IntArray) -> int:
    """Sort keys in place, each once, at the beginning; return how many there are."""
    keys.sort()
    held = 0
    for part in parts(len(keys), _AT_A_TIME):
        some = keys[part]
        last = keys[held - 1] if held else some[0] - 1
        fresh = some[np.diff(some, prepend=last) > 0]
        keys[held : held + len(fresh)] = fresh
        held += len(fresh)
    return held
