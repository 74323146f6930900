"""What is known exactly of a matrix: handed out by the oracle, put back into results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.files.contents import are_numbers, are_positions, require


@dataclass(frozen=True, eq=False)
class Lines:
    """Whole columns (or, of the transpose, whole rows) that are known.

    Parameters
    ----------
    index : ndarray of int
        Which columns.
    values : ndarray of shape (height, len(index))
    place : ndarray of shape (width,)
        For each column of the matrix its place in `values`, or -1.
    """

    index: IntArray
    values: FloatArray
    place: IntArray

    @classmethod
    def of(cls, index: IntArray, values: FloatArray, width: int) -> Lines:
        """Make lines of a matrix with `width` columns."""
        place = np.full(width, -1, dtype=np.int64)
        place[index] = np.arange(len(index))
        return cls(index, values, place)

    @classmethod
    def none(cls, height: int, width: int) -> Lines:
        """No known lines."""
        return cls.of(np.empty(0, dtype=np.int64), np.empty((height, 0)), width)

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return len(self.place)

    def hold(self, columns: IntArray) -> BoolArray:
        """Say which of `columns` are known."""
        return np.asarray(self.place[columns] >= 0)

    @property
    def others(self) -> IntArray:
        """The columns that are not known."""
        return np.flatnonzero(self.place < 0)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of an n × m matrix: whole columns, whole rows, diagonal, single entries.

    Parameters
    ----------
    columns, rows : Lines
        `rows` holds columns of the transpose. One object in both roles says that the matrix is
        symmetric: each single entry is then kept once, and stands for both orders.
    diagonal : ndarray or None
        All of it, or None.
    keys, values : ndarray
        Single entries: ``row * m + column`` in increasing order, row ≤ column if symmetric.
    """

    columns: Lines
    rows: Lines
    diagonal: FloatArray | None = None
    keys: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def nothing(cls, n: int, m: int) -> Known:
        """Nothing is known."""
        return cls(Lines.none(n, m), Lines.none(m, n))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.rows.width, self.columns.width

    @property
    def symmetric(self) -> bool:
        """Whether one order of a pair stands for both."""
        return self.rows is self.columns

    @property
    def empty(self) -> bool:
        """Whether nothing is known, so that the factors alone decide."""
        none = not len(self.columns.index) and not len(self.rows.index)
        return none and self.diagonal is None and not len(self.keys)

    # ------------------------------------------------------------------ looking up

    def keys_of(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return one integer for each entry, the same for both orders if symmetric."""
        return keys_of(rows, columns, self.shape[1], symmetric=self.symmetric)

    def places_of(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows and columns of keys."""
        return keys // self.shape[1], keys % self.shape[1]

    def find(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Look entries up; NaN where they are not known."""
        found = look_up(self.keys_of(rows, columns), self.keys, self.values)
        return self.complete(found, rows, columns)

    def complete(self, found: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """Add what the diagonal and whole lines hold to what was found among single entries."""
        if self.diagonal is not None:
            same = rows == columns
            found[same] = self.diagonal[rows[same]]
        for lines, along, across in ((self.columns, columns, rows), (self.rows, rows, columns)):
            place = lines.place[along]
            held = place >= 0
            found[held] = lines.values[across[held], place[held]]
        return found

    def override(self, rows: IntArray, columns: IntArray, guess: FloatArray) -> FloatArray:
        """Replace guesses of single entries by what is known."""
        if self.empty:
            return guess
        found = self.find(rows, columns)
        return np.where(np.isnan(found), guess, found)

    def in_lines(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which entries lie in a known column or row."""
        return self.columns.hold(columns) | self.rows.hold(rows)

    def covers(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which entries lie in a known column or row, or on a known diagonal."""
        covered = self.in_lines(rows, columns)
        return covered if self.diagonal is None else covered | (rows == columns)

    def outside_lines(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the known entries that lie in no known line, the diagonal among them.

        Of a symmetric matrix each pair is there once.
        """
        rows, columns = self.places_of(self.keys)
        values = self.values
        if self.diagonal is not None:
            everyone = np.arange(len(self.diagonal))
            apart = rows != columns
            rows = np.concatenate([rows[apart], everyone])
            columns = np.concatenate([columns[apart], everyone])
            values = np.concatenate([values[apart], self.diagonal])
        free = ~self.in_lines(rows, columns)
        return rows[free], columns[free], values[free]

    # ------------------------------------------------------------------ other matrices

    def with_entries(self, rows: IntArray, columns: IntArray, values: FloatArray) -> Known:
        """Return what is known together with single entries; the first of equal places counts."""
        keys, first = np.unique(self.keys_of(rows, columns), return_index=True)
        return Known(self.columns, self.rows, self.diagonal, keys, values[first])

    def in_both_orders(self) -> Known:
        """Return the same, with columns and rows as separate lines, as if it were not symmetric."""
        if not self.symmetric:
            return self
        lines = self.columns
        rows, columns = self.places_of(self.keys)
        plain = Known(lines, Lines(lines.index, lines.values, lines.place), self.diagonal)
        both = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        return plain.with_entries(*both, np.concatenate([self.values, self.values]))

    def scaled(self, rows: FloatArray, columns: FloatArray) -> Known:
        """Return what is known of diag(rows)·K·diag(columns)."""
        if self.symmetric and rows is not columns:
            return self.in_both_orders().scaled(rows, columns)
        i, j = self.places_of(self.keys)
        across, along = self.columns, self.rows
        scaled = replace(across, values=rows[:, None] * across.values * columns[across.index])
        return Known(
            scaled,
            scaled
            if self.symmetric
            else replace(along, values=columns[:, None] * along.values * rows[along.index]),
            None if self.diagonal is None else rows * self.diagonal * columns,
            self.keys,
            self.values * rows[i] * columns[j],
        )

    def mapped(self, change: Callable[[FloatArray], FloatArray]) -> Known:
        """Return what is known, with every value changed."""
        columns = replace(self.columns, values=change(self.columns.values))
        return Known(
            columns,
            columns if self.symmetric else replace(self.rows, values=change(self.rows.values)),
            None if self.diagonal is None else change(self.diagonal),
            self.keys,
            change(self.values),
        )

    def transposed(self) -> Known:
        """Return what is known of the transpose."""
        if self.symmetric:
            return self
        rows, columns = self.places_of(self.keys)
        return Known(self.rows, self.columns, self.diagonal).with_entries(
            columns, rows, self.values
        )


def checked_lines(index: IntArray, values: FloatArray, height: int, width: int) -> Lines:
    """Return whole columns that a file holds of a height × width matrix, or raise ValueError."""
    places = are_positions(index, width) and len(np.unique(index)) == len(index)
    fits = places and are_numbers(values, (height, len(index)))
    require(fits, "its known columns or rows do not fit")
    return Lines.of(index, values, width)


def keys_of(rows: IntArray, columns: IntArray, width: int, *, symmetric: bool) -> IntArray:
    """Return ``row * width + column``, with the smaller position as the row if symmetric."""
    if symmetric:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    return rows * width + columns


def look_up(wanted: IntArray, keys: IntArray, values: FloatArray) -> FloatArray:
    """Return the values of the wanted keys, NaN where there are none; `keys` are in order."""
    found = np.full(len(wanted), np.nan)
    if len(keys):
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        hit = keys[place] == wanted
        found[hit] = values[place[hit]]
    return found
