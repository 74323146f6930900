"""Some rows of a matrix in some columns, and what they say of the whole.

Rows and columns that were drawn stand for others, so that weighted sums over a band are unbiased
estimates of sums over the matrix. The diagonal of a symmetric matrix is a stratum of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import relative_error
from fewpairs.numerics import largest
from fewpairs.sketches.exact import Exact, squared_shares

#: The longest rows, and those with the largest errors, are not left to chance: so many of each.
CERTAIN = 16


class Lines(NamedTuple):
    """Some rows, or some columns, of a matrix.

    Attributes
    ----------
    places : ndarray of int64
    weights : ndarray of float64
        How many each stands for.
    certain : int
        The first `certain` were not left to chance, and stand for themselves alone.
    """

    places: IntArray
    weights: FloatArray
    certain: int

    @classmethod
    def all(cls, count: int) -> Lines:
        """Return all lines of a side."""
        return cls(np.arange(count), np.ones(count), count)

    @property
    def complete(self) -> bool:
        """Whether nothing was left to chance."""
        return self.certain == len(self.places)

    def influence(self, moves: FloatArray) -> FloatArray:
        """Return by how much each that chance has drawn differs from the mean of these."""
        drawn = (self.weights * moves)[self.certain :]
        if len(drawn) < 2:  # noqa: PLR2004 - one alone may be off by its own size
            return drawn
        return np.asarray((drawn - drawn.mean()) * np.sqrt(len(drawn) / (len(drawn) - 1)))


def draw_lines(
    exact: Exact,
    side: int,
    count: int,
    rng: np.random.Generator,
    errors: FloatArray | None = None,
) -> Lines:
    """Draw rows of a side: half uniformly, others by what they hold and by their errors.

    Parameters
    ----------
    exact : Exact
    side : int
        0 for rows of the matrix, 1 for columns.
    count : int
        How many; all where there are no more.
    rng : numpy Generator
    errors : ndarray, optional
        Rough errors of each.

    Returns
    -------
    Lines
    """
    n = exact.shape[side]
    if n <= count:
        return Lines.all(n)
    certain = exact.longest[side][:CERTAIN]
    chances = exact.chances(side, rng)
    shares = None if errors is None else squared_shares(errors)
    if errors is not None and shares is not None:
        certain = np.union1d(certain, largest(errors, CERTAIN))
        chances = 0.5 * chances + 0.25 * shares + 0.25 / n
    chances[certain] = 0.0
    chances /= chances.sum()
    drawn = rng.choice(n, count, p=chances)
    weights = np.concatenate([np.ones(len(certain)), 1 / (count * chances[drawn])])
    return Lines(np.concatenate([certain, drawn]), weights, len(certain))


class Band(NamedTuple):
    """Some rows of the matrix in some columns, or all of it.

    Attributes
    ----------
    rows, columns : Lines
    values : ndarray
        The entries; not used on the diagonal of a symmetric matrix.
    own : Lines
        Where the diagonal of a symmetric matrix is known; it is a stratum of its own.
    own_values : ndarray
        The diagonal there; empty for other matrices.
    """

    rows: Lines
    columns: Lines
    values: FloatArray
    own: Lines
    own_values: FloatArray

    @classmethod
    def of(cls, exact: Exact, rows: Lines, columns: Lines, own: Lines) -> Band:
        """Compute the entries."""
        values = exact.between(exact.left[rows.places], exact.right[columns.places])
        diagonal = exact.own(own.places) if exact.symmetric else np.zeros(0)
        return cls(rows, columns, values, own, diagonal)

    @property
    def unit(self) -> float:
        """The largest value: sums of squares in this unit neither over- nor underflow."""
        return max(float(np.abs(x).max(initial=0)) for x in (self.values, self.own_values)) or 1.0

    def total(self, values: FloatArray, own_values: FloatArray) -> float:
        """Return the sum over the whole matrix, as far as this band can tell."""
        off = float(self.rows.weights @ self.off_diagonal(values) @ self.columns.weights)
        return off + float(self.own.weights[: len(own_values)] @ own_values)

    def off_diagonal(self, values: FloatArray) -> FloatArray:
        """Set the diagonal of a symmetric matrix to zero, in place."""
        if len(self.own_values):
            values[self.rows.places[:, None] == self.columns.places] = 0.0
        return values

    def guess(
        self, features: tuple[FloatArray, FloatArray], signs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what features of all rows say of the values and of the diagonal."""
        left, right = features
        values = left[self.rows.places] @ (right[self.columns.places] * signs).T
        if not len(self.own_values):
            return values, self.own_values
        own = left[self.own.places]
        return values, (own * own) @ signs

    def compare(self, guess: FloatArray, own_guess: FloatArray) -> ErrorEstimate:
        """State the error of a guess of the values and of the diagonal."""
        unit = self.unit
        residuals = self.off_diagonal(((guess - self.values) / unit) ** 2)
        squares = self.off_diagonal((self.values / unit) ** 2)
        own_residuals = ((own_guess - self.own_values) / unit) ** 2
        A = self.total(residuals, own_residuals)
        B = self.total(squares, (self.own_values / unit) ** 2)
        if self.rows.complete and self.columns.complete:
            return relative_error(A, B, np.zeros(0), 0).estimate
        zeta = np.zeros(0)
        if A > 0 and B > 0:
            moves = residuals / A - squares / B
            of_rows = self.rows.influence(moves @ self.columns.weights)
            of_columns = self.columns.influence(self.rows.weights @ moves)
            zeta = np.concatenate([of_rows, of_columns])
        return relative_error(A, B, zeta, residuals.size).estimate
