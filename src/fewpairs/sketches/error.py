"""The stated error of a feature map: whole rows of the matrix are compared with it.

Any entry can be computed, for the price of one inner product. Where there are few, all are; else
whole rows are drawn, and the diagonal of a symmetric matrix is always complete. A row meets every
other: what is rare among entries, such as pairs of near-duplicates, is not rare among rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import CONFIDENCE, ErrorEstimate
from fewpairs.error.interval import relative_error
from fewpairs.numerics import largest
from fewpairs.sketches.exact import Exact, squared_shares
from fewpairs.sketches.feature_map import FeatureMap

#: Up to this many entries all of them are compared: this takes some hundredths of a second.
_ALL_ENTRIES = 2**20
#: Of larger matrices so many entries are compared, in at least so many rows, and in at most so many
#: columns.
_ENTRIES, _FEWEST_ROWS, _MOST_COLUMNS = 2**19, 160, 2**13
#: The longest rows, and those with the largest errors, are not left to chance: so many of each.
_CERTAIN = 16
#: Rows whose errors are computed, roughly, before some are drawn; of more rows a sample.
_INSPECTED_ROWS = 10**5
#: None of s rows has something: then at most about 3.7/s of all rows have it
#: (0.975 = 1 − exp(−3.7)).
_RULE_OF_THREE = -float(np.log((1 - CONFIDENCE) / 2))
#: Half of the draws are uniform, so that this rule holds with twice 3.7/s. It is doubled once more,
#: because rows that have it may have larger residuals than the mean row that stands for them.
_ROOM = 4
#: Squares of more overflow; an interval that wide says "unknown" just as well.
_HUGE = 1e150


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


def estimate_error(
    features: tuple[FloatArray, FloatArray],
    feature_map: FeatureMap,
    exact: Exact,
    rng: np.random.Generator,
    entries: int = 0,
) -> ErrorEstimate:
    """State the relative Frobenius error of features, in the letters of docs/error.md.

    A row unlike all others may hold most of the error and little of the matrix. So rows with large
    errors are found first; some are certain, others are drawn more often.

    Parameters
    ----------
    features : pair of ndarray
        Of all rows of both sides; one and the same array for a symmetric matrix.
    feature_map : FeatureMap
        That they come from.
    exact : Exact
        The matrix.
    rng : numpy Generator
    entries : int, default=0
        Entries to compare, at least.

    Returns
    -------
    ErrorEstimate
    """
    band = draw_band(features, feature_map.signs, exact, rng, entries)
    rows, columns = band.rows, band.columns
    guess, own = band.guess(features, feature_map.signs)
    estimate = band.compare(guess, own)
    if not np.isfinite(estimate.value):
        return ErrorEstimate(np.inf, 0.0, np.inf, estimate.n_pairs)
    if (rows.complete and columns.complete) or (estimate.value == 0 and exact.is_zero):
        return estimate
    if exact.symmetric:
        doubles = band.own, own - band.own_values, band.own_values
    else:
        some = exact.left[rows.places]
        theirs = feature_map(some, side="right").astype(np.float64, copy=False)
        values = exact.pairs(some, some)
        mine = features[0][rows.places]
        doubles = rows, (mine * theirs) @ feature_map.signs - values, values
    return _widened(estimate, band, *doubles)


def draw_band(
    features: tuple[FloatArray, FloatArray],
    signs: FloatArray,
    exact: Exact,
    rng: np.random.Generator,
    entries: int = 0,
) -> Band:
    """Draw rows and columns in which features are compared with the matrix, or take all of it.

    Parameters are those of `estimate_error`.

    Returns
    -------
    Band
        With the whole diagonal of a symmetric matrix.
    """
    n, m = exact.shape
    n_columns = min(m, _MOST_COLUMNS)
    n_rows = max(_FEWEST_ROWS, max(_ENTRIES, entries) // n_columns)
    if n * m <= max(_ALL_ENTRIES, entries) or (n_rows >= n and n_columns == m):
        return Band.of(exact, Lines.all(n), Lines.all(m), Lines.all(n))
    sides = range(1 if exact.symmetric else 2)
    rough = [_row_errors(features, signs, exact, side, rng) for side in sides]
    rows = draw_lines(exact, 0, n_rows, rng, rough[0])
    columns = draw_lines(exact, 1, n_columns, rng, rough[-1])
    return Band.of(exact, rows, columns, Lines.all(n))


def _widened(
    estimate: ErrorEstimate, band: Band, lines: Lines, residuals: FloatArray, values: FloatArray
) -> ErrorEstimate:
    """Let the interval hold what no drawn row shows: rows that have a double on the other side.

    A double is the entry that stands out most, and its residual is known although it was not seen:
    it is that of the row with itself. If none of s rows has a double, few rows do.
    """
    unit, n_drawn = band.unit, len(band.rows.places) - band.rows.certain
    # A side that is complete has missed nothing.
    share = min(1.0, _ROOM * _RULE_OF_THREE / max(1, n_drawn))
    B = band.total((band.values / unit) ** 2, (band.own_values / unit) ** 2)
    if B == 0 or estimate.value == 0:  # nothing was seen: anything may be where nobody looked
        high = 1.0 if B == 0 else float(np.sqrt(share))
        return ErrorEstimate(estimate.value, 0.0, max(high, estimate.high), estimate.n_pairs)
    wrong, more = (share * float(lines.weights @ (x / unit) ** 2) / B for x in (residuals, values))
    high = float(np.sqrt(estimate.high**2 + wrong)) if estimate.high < _HUGE else estimate.high
    low = float(estimate.low / np.sqrt(1 + more))
    return ErrorEstimate(estimate.value, low, high, estimate.n_pairs)


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
    certain = exact.longest[side][:_CERTAIN]
    chances = exact.chances(side, rng)
    shares = None if errors is None else squared_shares(errors)
    if errors is not None and shares is not None:
        certain = np.union1d(certain, largest(errors, _CERTAIN))
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


def _row_errors(
    features: tuple[FloatArray, FloatArray],
    signs: FloatArray,
    exact: Exact,
    side: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the error of each row with a few of the other side, and with itself.

    Rows that are not inspected get the mean of the others.
    """
    n = exact.shape[side]
    rows = np.arange(n)
    if n > _INSPECTED_ROWS:
        some = rng.choice(n, _INSPECTED_ROWS, replace=False)
        rows = np.union1d(some, exact.longest[side])
    others = exact.references(1 - side, rng)
    mine, theirs = features[side], features[1 - side]
    guess = mine[rows] @ (theirs[others] * signs).T
    residuals = guess - exact.between(exact.sides[side][rows], exact.sides[1 - side][others])
    if exact.symmetric:
        own = (mine[rows] ** 2) @ signs - exact.own(rows)
        residuals = np.column_stack([residuals, own])
    unit = float(np.abs(residuals).max(initial=0)) or 1.0
    inspected = np.linalg.norm(residuals / unit, axis=1)
    errors = np.full(n, inspected.mean())
    errors[rows] = inspected
    return errors
