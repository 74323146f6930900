"""What was evaluated: whole columns, and single entries. NaN marks what is not known yet."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.oracle.requests import Rectangle, Request, Scattered


class ColumnStore:
    """Whole columns of a matrix, side by side in one array.

    Parameters
    ----------
    height, width : int
        Shape of the matrix.
    """

    def __init__(self, height: int, width: int) -> None:
        self.landmarks: IntArray = np.empty(0, dtype=np.int64)
        self._buffer: FloatArray = np.empty((height, 0))
        self._expected = 0
        self._position = np.full(width, -1, dtype=np.int64)

    @property
    def values(self) -> FloatArray:
        """The columns kept so far, as a view."""
        return self._buffer[:, : len(self.landmarks)]

    def position(self, columns: IntArray) -> IntArray:
        """Where each column is kept; -1 if it is not."""
        return self._position[columns]

    def missing(self, columns: IntArray) -> IntArray:
        """Return those of `columns` that have no place yet."""
        return columns[self._position[columns] < 0]

    def expect(self, count: int) -> None:
        """Make room for so many columns in all when the next one comes, to copy nothing later."""
        self._expected = count

    def add(self, columns: IntArray) -> None:
        """Make room for new columns, all unknown."""
        kept = len(self.landmarks)
        needed = kept + len(columns)
        if needed > self._buffer.shape[1]:
            # Columns that come one by one must not be copied once for each of them.
            spare = kept // 2 if len(columns) < kept // 16 else 0
            width = max(needed + spare, self._expected)
            buffer = np.empty((len(self._buffer), width))
            buffer[:, :kept] = self._buffer[:, :kept]
            self._buffer = buffer
        self._buffer[:, kept:needed] = np.nan
        self._position[columns] = np.arange(kept, kept + len(columns))
        self.landmarks = np.concatenate([self.landmarks, columns])

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
        """Write a block whose columns all have a place."""
        place = self._position[columns]
        if _consecutive(place):
            self.values[rows, place[0] : place[-1] + 1] = block
        else:
            self.values[np.ix_(rows, place)] = block


def _consecutive(place: IntArray) -> bool:
    return len(place) > 0 and bool(np.all(np.diff(place) == 1))


class EntryStore:
    """Single entries, found by binary search."""

    def __init__(self) -> None:
        self._keys: IntArray = np.empty(0, dtype=np.int64)
        self._values: FloatArray = np.empty(0)
        self._added: list[tuple[IntArray, FloatArray]] = []

    def add(self, keys: IntArray, values: FloatArray) -> None:
        """Keep entries; merged on the next look-up."""
        self._added.append((keys, values))

    def all(self) -> tuple[IntArray, FloatArray]:
        """Return all keys in order, with their values."""
        if self._added:
            keys = np.concatenate([self._keys, *(k for k, _ in self._added)])
            values = np.concatenate([self._values, *(v for _, v in self._added)])
            self._keys, first = np.unique(keys, return_index=True)
            self._values = values[first]
            self._added = []
        return self._keys, self._values

    def find(self, keys: IntArray) -> FloatArray:
        """Return the values of `keys`, NaN where unknown."""
        known, values = self.all()
        result = np.full(len(keys), np.nan)
        if len(known):
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            hit = known[place] == keys
            result[hit] = values[place[hit]]
        return result


class Memory:
    """Everything evaluated so far of one matrix.

    Parameters
    ----------
    height, width : int
        Shape of the matrix.
    symmetric : bool
        Whether entry (j, i) is entry (i, j).
    diagonal : ndarray or None
        The diagonal, where it is declared.
    """

    def __init__(
        self, height: int, width: int, *, symmetric: bool, diagonal: FloatArray | None
    ) -> None:
        self.symmetric = symmetric
        self.diagonal = diagonal
        self.columns = ColumnStore(height, width)
        # Row r of the matrix is column r of its transpose.
        self.rows = self.columns if symmetric else ColumnStore(width, height)
        self.entries = EntryStore()
        # Evaluated to judge a result: no method sees them, until a whole column holds them.
        self.aside = EntryStore()
        self._height, self._width = height, width

    def keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return one integer for each entry, the same for both orders if symmetric."""
        if self.symmetric:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        return rows * self._width + columns

    def unkey(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows and columns of keys."""
        return keys // self._width, keys % self._width

    def find(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Look entries up; NaN where they are not known."""
        found = self.entries.find(self.keys(rows, columns))
        if self.diagonal is not None:
            found = np.where(rows == columns, self.diagonal[rows], found)
        for store, along, across in (
            (self.columns, columns, rows),
            (self.rows, rows, columns),
        ):
            place = store.position(along)
            held = np.flatnonzero((place >= 0) & np.isnan(found))
            found[held] = store.values[across[held], place[held]]
        return found

    def find_block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Look a block up; NaN where it is not known."""
        whole = Rectangle(rows, columns)
        return self.find(*whole.pairs()).reshape(len(rows), len(columns))

    def reserve_columns(self, columns: IntArray) -> None:
        """Make room for whole columns, filled in with what is known of them already."""
        self._reserve(self.columns, self.rows, columns, transposed=False)

    def reserve_rows(self, rows: IntArray) -> None:
        """Make room for whole rows, filled in with what is known of them already."""
        self._reserve(self.rows, self.columns, rows, transposed=True)

    def _reserve(
        self, store: ColumnStore, crossing: ColumnStore, new: IntArray, *, transposed: bool
    ) -> None:
        old = crossing.landmarks.copy()
        store.add(new)
        if len(old):  # entry (old, new) lies in a column or row that is already there
            store.put(old, new, crossing.values[new][:, crossing.position(old)].T)
        place = store.position(new)
        if self.diagonal is not None:
            store.values[new, place] = self.diagonal[new]
        for keys, values in (self.entries.all(), self.aside.all()):
            rows, columns = self.unkey(keys)
            along, across = (rows, columns) if transposed else (columns, rows)
            sides = [(along, across), (across, along)] if self.symmetric else [(along, across)]
            for here, there in sides:
                held = store.position(here)
                inside = held >= 0
                store.values[there[inside], held[inside]] = values[inside]

    def reveal(self) -> None:
        """Let methods and results use what was set aside."""
        self.entries.add(*self.aside.all())
        self.aside = EntryStore()

    def single_keys(self) -> IntArray:
        """Return the keys of all entries evaluated one by one, set aside or not."""
        return np.union1d(self.entries.all()[0], self.aside.all()[0])

    def store(self, request: Request, values: FloatArray) -> None:
        """Remember an answer; entries that came back as NaN stay unknown."""
        rows, columns = request.rows, request.columns
        held_rows = self.rows.position(rows) >= 0
        held_columns = self.columns.position(columns) >= 0
        if isinstance(request, Scattered) or not (held_rows.all() or held_columns.all()):
            self._store_entries(*request.pairs(), values.ravel())
            return
        # An entry may lie in a kept column and in a kept row, and must be found in both.
        if held_columns.any():
            self.columns.put(rows, columns[held_columns], values[:, held_columns])
        if held_rows.any():
            self.rows.put(columns, rows[held_rows], values[held_rows].T)

    def _store_entries(self, rows: IntArray, columns: IntArray, values: FloatArray) -> None:
        known = ~np.isnan(values)
        rows, columns, values = rows[known], columns[known], values[known]
        outside = np.ones(len(rows), dtype=bool)
        for store, along, across in ((self.columns, columns, rows), (self.rows, rows, columns)):
            place = store.position(along)
            held = place >= 0
            store.values[across[held], place[held]] = values[held]
            outside &= ~held
        self.entries.add(self.keys(rows[outside], columns[outside]), values[outside])

    def scattered(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the known entries that lie in no whole column or row."""
        keys, values = self.entries.all()
        rows, columns = self.unkey(keys)
        inside = (self.columns.position(columns) >= 0) | (self.rows.position(rows) >= 0)
        if self.symmetric:
            inside |= self.columns.position(rows) >= 0
        return rows[~inside], columns[~inside], values[~inside]
