"""The two parts of a matrix that a result is judged by: what was evaluated, and what was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.error.profiles import profiles
from fewpairs.error.sampling import FEWEST_COLUMNS, Beliefs, Drawn, draw
from fewpairs.numerics import double, parts
from fewpairs.oracle.known import Known, Lines
from fewpairs.oracle.oracle import Oracle

#: Rows that stand for all where squares of a guide cannot be summed otherwise.
_ROWS = 256


class Approximation(Protocol):
    """What is judged: three factors, a guide's squares, and exact entries that override them."""

    left: FloatArray
    core: FloatArray
    right: FloatArray
    known: Known

    @property
    def low_rank(self) -> bool:
        """Whether the factors say everything, or a guide's squares come on top."""
        ...

    def predicted(self, rows: Any, columns: Any) -> FloatArray:
        """Return a block of entries as if nothing were known."""
        ...

    def entries(self, rows: Any, columns: Any) -> FloatArray:
        """Return single entries."""
        ...


# ---------------------------------------------------------------------- what was evaluated


def evaluated_sums(matrix: Approximation, known: Known) -> tuple[float, float]:
    """Return A₀ and B₀: squared residuals and squared values, summed over what is known."""
    columns, rows = known.columns, known.rows
    crossing = columns.values[rows.index]
    squares = _total(columns.values) + _total(rows.values) - _total(crossing)
    residuals = 0.0 if not matrix.known.empty else _line_residuals(matrix, columns, rows)
    i, j, values = known.outside_lines()
    of_pairs = squared_residuals(matrix, i, j, values, both=known.symmetric)
    return residuals + float(of_pairs[0].sum()), squares + float(of_pairs[1].sum())


def squared_residuals(
    matrix: Approximation, i: IntArray, j: IntArray, values: FloatArray, *, both: bool
) -> tuple[FloatArray, FloatArray]:
    """Return r² and y² of pairs, summed over both orders if `both`.

    Of a pair without a value nothing is stated: both are 0.
    """
    gaps = np.isnan(values)
    if gaps.any():
        values = np.where(gaps, matrix.entries(i, j), values)
    residuals = (matrix.entries(i, j) - values) ** 2
    squares = values**2
    if both:
        twice = i != j
        residuals = residuals + np.where(twice, (matrix.entries(j, i) - values) ** 2, 0)
        squares = squares * np.where(twice, 2, 1)
    return np.where(gaps, 0.0, residuals), np.where(gaps, 0.0, squares)


def _line_residuals(matrix: Approximation, columns: Lines, rows: Lines) -> float:
    """Sum r² over evaluated columns and rows; their crossing counts once."""
    total = 0.0
    for part in parts(len(columns.values)):
        total += _total(matrix.predicted(part, columns.index) - columns.values[part])
    for part in parts(len(rows.values)):
        residuals = matrix.predicted(rows.index, part).T - rows.values[part]
        residuals[columns.place[part] >= 0] = 0
        total += _total(residuals)
    return total


def _total(values: FloatArray) -> float:
    """Return the sum of squares, without a copy; in double precision."""
    if values.dtype == np.float64:
        return float(np.einsum("ij,ij->", values, values))
    return sum(_total(double(values[part])) for part in parts(len(values)))


def _gram(tall: FloatArray, rows: IntArray) -> FloatArray:
    """Return the inner products of the columns over some rows; those on disk are read in parts."""
    if tall.dtype == np.float64:
        some = tall[rows]
        return np.asarray(some.T @ some)
    blocks = (double(tall[rows[part]]) for part in parts(len(rows)))
    return sum((block.T @ block for block in blocks), np.zeros((tall.shape[1],) * 2))


# ---------------------------------------------------------------------- what was not


@dataclass(frozen=True, eq=False)
class Unseen:
    """The entries that nothing evaluated covers.

    Attributes
    ----------
    rows, columns : ndarray
        Items whose rows (columns) are not known as a whole; unseen pairs lie between them.
    excluded : ndarray
        Keys of single pairs between them that were evaluated all the same.
    reserved : ndarray
        Keys of entries that were evaluated to judge by, and that no method has seen.
    own : ndarray
        Items whose similarity with themselves was not evaluated.
    population : int
        Number of unseen pairs of two different items.
    """

    rows: IntArray
    columns: IntArray
    excluded: IntArray
    reserved: IntArray
    own: IntArray
    population: int

    @classmethod
    def of(cls, oracle: Oracle, known: Known) -> Unseen:
        """Find them, given what the run knows."""
        rows, columns = known.rows.others, known.columns.others
        i, j = known.places_of(known.keys)
        apart = i != j if oracle.square else np.ones(len(i), dtype=bool)
        single = known.keys[apart]
        both = np.intersect1d(rows, columns) if oracle.square else rows[:0]
        a, b = known.places_of(oracle.reserved)
        hidden = np.isnan(known.find(a, b))
        reserved = oracle.reserved[hidden]
        itself = hidden & (a == b) if oracle.square else np.zeros(len(a), dtype=bool)
        own = np.setdiff1d(both[np.isnan(known.find(both, both))], a[itself])
        pairs = len(rows) * len(columns) - len(both)
        pairs = pairs // 2 if oracle.symmetric else pairs
        population = pairs - len(single) - (len(reserved) - int(itself.sum()))
        return cls(rows, columns, np.union1d(single, reserved), reserved, own, population)

    def draw(
        self,
        oracle: Oracle,
        count: int,
        rng: np.random.Generator,
        beliefs: Beliefs | None,
    ) -> Drawn:
        """Draw unseen pairs of two different items."""
        return draw(
            self.rows,
            self.columns,
            count,
            rng,
            symmetric=oracle.symmetric,
            square=oracle.square,
            excluded=self.excluded,
            width=oracle.shape[1],
            beliefs=beliefs,
        )

    def predicted_squares(self, matrix: Approximation) -> float:
        """Return the sum of the squared predictions between these rows and columns.

        With G = LᵀL and H = RᵀR the sum of (LCRᵀ)² is Σ (GC) ∘ (CH), and none is written down; with
        a guide's squares beside it, some rows stand for all. The few entries between them that are
        known after all are counted with the others.
        """
        if not matrix.low_rank:
            some = self.rows[:: max(1, len(self.rows) // _ROWS)]
            block = matrix.predicted(some, self.columns)
            return _total(block) * len(self.rows) / max(len(some), 1)
        one = _gram(matrix.left, self.rows)
        other = _gram(matrix.right, self.columns)
        total = np.einsum("ij,ij->", one @ matrix.core, matrix.core @ other)
        return max(0.0, float(total))

    def beliefs(
        self, matrix: Approximation, oracle: Oracle, known: Known, ready: SingleArray | None = None
    ) -> Beliefs:
        """Return what the result and the evaluated columns say of unseen pairs.

        `ready` are profiles of the rows, if a method has them already. With few columns there are
        none; but what a result predicts is worth a look however it was made.
        """
        values = known.columns.values
        row_profiles = column_profiles = None
        if oracle.square and values.shape[1] >= FEWEST_COLUMNS:
            others = None if oracle.symmetric else known.rows.values
            width = values.shape[1] + (0 if others is None else others.shape[1])
            usable = ready is not None and ready.shape == (len(self.rows), width)
            row_profiles = ready if usable else profiles(values, self.rows, others)
            same = np.array_equal(self.rows, self.columns)
            column_profiles = row_profiles if same else profiles(values, self.columns, others)
        lowest = float(values.min()) if values.size else -np.inf
        highest = float(values.max()) if values.size else np.inf
        return Beliefs(
            matrix.entries, self.rows, self.columns, row_profiles, column_profiles, lowest, highest
        )
