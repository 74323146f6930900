"""Entries of a factored matrix that are known exactly, and override the factors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Lines:
    """Whole columns (or, of the transpose, whole rows) that are known.

    Parameters
    ----------
    index : ndarray of int
        Which columns.
    values : ndarray of shape (height, len(index))
    width : int
        Number of columns of the matrix.
    """

    index: IntArray
    values: FloatArray
    width: int
    place: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        place = np.full(self.width, -1, dtype=np.int64)
        place[self.index] = np.arange(len(self.index))
        object.__setattr__(self, "place", place)

    @classmethod
    def none(cls, height: int, width: int) -> Lines:
        """No known lines."""
        return cls(np.empty(0, dtype=np.int64), np.empty((height, 0)), width)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of an n × m matrix: whole columns, whole rows, diagonal, single entries.

    Parameters
    ----------
    columns, rows : Lines
        `rows` holds columns of the transpose; the same object as `columns` if symmetric.
    diagonal : ndarray or None
    keys, values : ndarray
        Single entries: ``row * m + column`` in increasing order, both orders if symmetric.
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
    def empty(self) -> bool:
        """Whether nothing is known, so that the factors alone decide."""
        none = not len(self.columns.index) and not len(self.rows.index)
        return none and self.diagonal is None and not len(self.keys)

    def with_entries(
        self, rows: IntArray, columns: IntArray, values: FloatArray, *, both: bool
    ) -> Known:
        """Return a copy that also knows single entries, in both orders if `both`."""
        if both:
            off = rows != columns
            rows, columns, values = (
                np.concatenate([rows, columns[off]]),
                np.concatenate([columns, rows[off]]),
                np.concatenate([values, values[off]]),
            )
        keys, first = np.unique(rows * self.shape[1] + columns, return_index=True)
        return Known(self.columns, self.rows, self.diagonal, keys, values[first])

    def override(self, rows: IntArray, columns: IntArray, guess: FloatArray) -> FloatArray:
        """Replace guesses of single entries by what is known."""
        if self.empty:
            return guess
        result = guess.copy()
        if len(self.keys):
            keys = rows * self.shape[1] + columns
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            hit = self.keys[place] == keys
            result[hit] = self.values[place[hit]]
        if self.diagonal is not None:
            same = rows == columns
            result[same] = self.diagonal[rows[same]]
        for lines, along, across in ((self.columns, columns, rows), (self.rows, rows, columns)):
            held = lines.place[along]
            inside = held >= 0
            result[inside] = lines.values[across[inside], held[inside]]
        return result

    def outside_lines(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the single known entries, diagonal included, that lie in no known line."""
        rows, columns, values = self.keys // self.shape[1], self.keys % self.shape[1], self.values
        if self.diagonal is not None:
            everyone = np.arange(len(self.diagonal))
            off = rows != columns
            rows = np.concatenate([rows[off], everyone])
            columns = np.concatenate([columns[off], everyone])
            values = np.concatenate([values[off], self.diagonal])
        free = (self.columns.place[columns] < 0) & (self.rows.place[rows] < 0)
        return rows[free], columns[free], values[free]

    def scaled(self, rows: FloatArray, columns: FloatArray) -> Known:
        """Return what is known of diag(rows)·K·diag(columns)."""
        m = self.shape[1]
        across = Lines(
            self.columns.index,
            rows[:, None] * self.columns.values * columns[self.columns.index],
            self.columns.width,
        )
        along = Lines(
            self.rows.index,
            columns[:, None] * self.rows.values * rows[self.rows.index],
            self.rows.width,
        )
        return Known(
            across,
            across if self.rows is self.columns and rows is columns else along,
            None if self.diagonal is None else rows * self.diagonal * columns,
            self.keys,
            self.values * rows[self.keys // m] * columns[self.keys % m],
        )

    def transposed(self) -> Known:
        """Return what is known of the transpose."""
        n, m = self.shape
        rows, columns = self.keys // m, self.keys % m
        order = np.argsort(columns * n + rows)
        keys = (columns * n + rows)[order]
        return Known(self.rows, self.columns, self.diagonal, keys, self.values[order])

    def corrections(self, rows: IntArray, columns: IntArray, by: FloatArray) -> sp.csr_array:
        """Return single entries as a sparse matrix to add in products."""
        return sp.csr_array((by, (rows, columns)), shape=self.shape)
