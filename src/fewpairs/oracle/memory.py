"""What one run has evaluated: whole columns and rows, and single entries. NaN marks the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.oracle.holes import stand_ins
from fewpairs.oracle.known import Known, keys_of
from fewpairs.oracle.requests import Ordered, Rectangle, Request, Scattered
from fewpairs.oracle.stores import ColumnStore, EntryStore


class Memory:
    """Everything that one run has evaluated of a matrix.

    Parameters
    ----------
    height, width : int
        Shape of the matrix.
    square : bool
        Whether rows and columns are the same items.
    symmetric : bool
        Whether entry (j, i) is entry (i, j).
    diagonal : ndarray or None
        The diagonal, where it is declared.
    assumed : bool, default=False
        Whether it is declared for one run alone.
    """

    def __init__(
        self,
        height: int,
        width: int,
        *,
        square: bool,
        symmetric: bool,
        diagonal: FloatArray | None,
        assumed: bool = False,
    ) -> None:
        self.symmetric = symmetric
        self.diagonal = diagonal
        #: Whether the diagonal was declared for this run alone, and is nothing to remember.
        self.assumed = assumed
        self.columns = ColumnStore(height, width)
        # Row r of the matrix is column r of its transpose.
        self.rows = self.columns if symmetric else ColumnStore(width, height)
        self.entries = EntryStore()
        # Pairs of a symmetric matrix whose order is on record, to see that it does not matter.
        self.ordered = EntryStore()
        #: Keys of the entries that judge results: methods must not see their values.
        self.reserved: IntArray = np.empty(0, dtype=np.int64)
        #: Keys of entries that were asked for and have no value; in lines, something stands in.
        self.holes: IntArray = np.empty(0, dtype=np.int64)
        self._height, self._width, self._square = height, width, square

    @property
    def empty(self) -> bool:
        """Whether nothing was ever stored."""
        lines = len(self.columns.index) + len(self.rows.index)
        return not lines and self.entries.empty and self.ordered.empty

    # ------------------------------------------------------------------ looking up

    @property
    def _lines(self) -> Known:
        """All lines, half-read ones with their NaN, and the diagonal; no single entries."""
        columns = self.columns.all_lines()
        rows = columns if self.symmetric else self.rows.all_lines()
        return Known(columns, rows, self.diagonal)

    @property
    def _everything(self) -> Known:
        """All that is there, half-read lines with their NaN and reserved entries included."""
        keys, values = self.entries.all()
        return replace(self._lines, keys=keys, values=values)

    def find(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Look entries up, reserved ones too; NaN where they are not known."""
        found = self.entries.find(self.keys(rows, columns))
        return self._lines.complete(found, rows, columns)

    def answer(self, request: Request) -> FloatArray:
        """Return what is known of a request, in its shape; NaN where nothing is."""
        rows, columns = request.rows, request.columns
        if isinstance(request, Ordered):
            return self.ordered.find(rows * self._width + columns)
        if isinstance(request, Scattered):
            return self.find(rows, columns)
        if np.all(self.columns.position(columns) >= 0):
            return self.columns.get(columns)[rows]
        if np.all(self.rows.position(rows) >= 0):
            return self.rows.get(rows)[columns].T
        return self.find(*request.pairs()).reshape(request.shape)

    def unknown(self, request: Request) -> BoolArray:
        """Say what of a request was not asked for yet, in its shape."""
        lacking = np.isnan(self.answer(request))
        if len(self.holes) and not isinstance(request, Ordered):
            lacking &= ~self.is_hole(*request.pairs()).reshape(lacking.shape)
        return lacking

    def known(self, *, reserved: bool = False) -> Known:
        """Hand out what is complete: nothing half-read, and nothing reserved unless asked for."""
        everything = self._everything
        keys, values = everything.keys, everything.values
        if not reserved:
            shown = ~np.isin(keys, self.reserved)
            keys, values = keys[shown], values[shown]
        i, j = everything.places_of(keys)
        for store in {id(s): s for s in (self.columns, self.rows)}.values():
            # Of a run that was stopped: what was read of a line that is not complete.
            half = store.index[~store.is_complete(store.index)]
            across, along = np.nonzero(~np.isnan(store.get(half)))
            a, b = (across, half[along]) if store is self.columns else (half[along], across)
            i, j = np.concatenate([i, a]), np.concatenate([j, b])
            values = np.concatenate([values, store.get(half)[across, along]])
        columns = self.columns.lines()
        rows = columns if self.symmetric else self.rows.lines()
        plain = Known(columns, rows, self._whole_diagonal())
        outside = ~plain.covers(i, j)
        return plain.with_entries(i[outside], j[outside], values[outside])

    def _whole_diagonal(self) -> FloatArray | None:
        if not self._square:
            return None
        everyone = np.arange(self._height)
        diagonal = self.find(everyone, everyone)
        return None if np.isnan(diagonal).any() else diagonal

    # ------------------------------------------------------------------ entries that judge

    def reserve(self, rows: IntArray, columns: IntArray) -> None:
        """Hide single entries, until a whole line holds them or `reveal` is called."""
        self.reserved = np.union1d(self.reserved, self.keys(rows, columns))

    def reveal(self, rows: IntArray, columns: IntArray) -> None:
        """Let methods and results use what was hidden."""
        self.reserved = np.setdiff1d(self.reserved, self.keys(rows, columns))

    # ------------------------------------------------------------------ entries without a value

    def is_hole(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which entries were asked for and have no value."""
        if not len(self.holes):
            return np.zeros(len(rows), dtype=bool)
        return np.isin(self.keys(rows, columns), self.holes)

    def note_holes(self, request: Request, values: FloatArray) -> None:
        """Note which entries of an answer have no value."""
        keys = self.keys(*request.pairs())
        self.holes = np.union1d(self.holes, keys[np.isnan(values.ravel())])

    def share_holes(self, first: Request, twins: Request) -> None:
        """Note that entries have no value because others of the same content have none."""
        if len(self.holes):
            rows, columns = twins.pairs()
            gaps = self.is_hole(*first.pairs())
            self.holes = np.union1d(self.holes, self.keys(rows[gaps], columns[gaps]))

    def stand_in(self, store: ColumnStore, lines: IntArray) -> None:
        """Fill what has no value in whole columns, or in whole rows of the transpose."""
        values = store.get(lines)
        across, along = np.nonzero(np.isnan(values))
        if len(across):
            predicted = stand_ins(values)
            filled, rows, columns = predicted[across, along], across, lines[along]
            if self.symmetric:  # where two of the lines cross, the mean of both predictions
                place = np.full(self._height, -1)
                place[lines] = np.arange(len(lines))
                twice = place[rows] >= 0
                other = predicted[columns[twice], place[rows[twice]]]
                filled[twice] = filled[twice] / 2 + other / 2
            if store is not self.columns:
                rows, columns = columns, rows
            self._store_entries(rows, columns, filled)

    def _forget_holes(self) -> None:
        """Forget what stands in for values: it was not evaluated."""
        rows, columns = self.holes // self._width, self.holes % self._width
        for store, along, across in ((self.columns, columns, rows), (self.rows, rows, columns)):
            store.forget_entries(across, along)
        self.holes = self.holes[:0]

    # ------------------------------------------------------------------ keeping

    def add_columns(self, columns: IntArray) -> None:
        """Make room for whole columns, filled in with what is known of them already."""
        self._add(self.columns, self.rows, columns, transposed=False)

    def add_rows(self, rows: IntArray) -> None:
        """Make room for whole rows, filled in with what is known of them already."""
        self._add(self.rows, self.columns, rows, transposed=True)

    def _add(
        self, store: ColumnStore, crossing: ColumnStore, new: IntArray, *, transposed: bool
    ) -> None:
        old = crossing.index.copy()
        store.add(new)
        if len(old):  # entry (old, new) lies in a column or row that is already there
            store.put(old, new, crossing.values[new][:, crossing.position(old)].T)
        place = store.position(new)
        if self.diagonal is not None:
            store.values[new, place] = self.diagonal[new]
        for keys, values in self.entries.pieces():
            rows, columns = np.divmod(keys, self._width)
            along, across = (rows, columns) if transposed else (columns, rows)
            sides = [(along, across), (across, along)] if self.symmetric else [(along, across)]
            for here, there in sides:
                held = store.position(here)
                inside = held >= 0
                store.values[there[inside], held[inside]] = values[inside]

    def store(self, request: Request, values: FloatArray) -> None:
        """Remember an answer; entries that came back as NaN stay unknown."""
        rows, columns = request.rows, request.columns
        if isinstance(request, Ordered):
            good = ~np.isnan(values)
            self.store_order(request, values)
            good &= np.isnan(self.find(rows, columns))  # the first order stands for both
            self._store_entries(rows[good], columns[good], values[good])
            return
        held_rows = self.rows.position(rows) >= 0
        held_columns = self.columns.position(columns) >= 0
        along_lines = held_rows.all() or held_columns.all()
        if isinstance(request, Scattered) or not along_lines or np.isnan(values).any():
            self._store_entries(*request.pairs(), values.ravel())
            return
        # An entry may lie in a kept column and in a kept row, and must be found in both.
        if held_columns.any():
            self.columns.put(rows, columns[held_columns], values[:, held_columns])
        if held_rows.any():
            self.rows.put(columns, rows[held_rows], values[held_rows].T)

    def store_order(self, request: Ordered, values: FloatArray) -> None:
        """Remember pairs in their order, and not as entries of the matrix."""
        good = ~np.isnan(values)
        self.ordered.add((request.rows * self._width + request.columns)[good], values[good])

    def _store_entries(self, rows: IntArray, columns: IntArray, values: FloatArray) -> None:
        good = ~np.isnan(values)
        rows, columns, values = rows[good], columns[good], values[good]
        outside = np.ones(len(rows), dtype=bool)
        for store, along, across in ((self.columns, columns, rows), (self.rows, rows, columns)):
            place = store.position(along)
            outside &= place < 0
            held = np.flatnonzero(place >= 0)
            held = held[np.isnan(store.values[across[held], place[held]])]
            store.look_at(values[held])
            store.values[across[held], place[held]] = values[held]
        self.entries.add(self.keys(rows[outside], columns[outside]), values[outside])

    def keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return one number for each pair, the same for both orders if symmetric."""
        return keys_of(rows, columns, self._width, symmetric=self.symmetric)

    def forget_assumed(self) -> None:
        """Forget what was never evaluated: stand-ins, and a diagonal declared for one run."""
        if len(self.holes):
            self._forget_holes()
        if not self.assumed:
            return
        self.diagonal, self.assumed = None, False
        for store in (self.columns, self.rows):
            store.forget(store.index)

    def absorb(self, other: Memory) -> None:
        """Take over everything that another memory of the same matrix holds."""
        self.take(other.known(reserved=True), other.ordered.all())

    def take(self, known: Known, ordered: tuple[IntArray, FloatArray]) -> None:
        """Take over what is known, and pairs whose order is on record."""
        columns, rows = known.columns.index, known.rows.index
        if len(columns):
            self.add_columns(self.columns.missing(columns))
            self.store(Rectangle(np.arange(self._height), columns), known.columns.values)
            self.columns.finish(columns)
        if len(rows) and not self.symmetric:
            self.add_rows(self.rows.missing(rows))
            self.store(Rectangle(rows, np.arange(self._width)), known.rows.values.T)
            self.rows.finish(rows)
        self._store_entries(*known.outside_lines())
        self.ordered.add(*ordered)
