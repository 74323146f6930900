"""The stated error of a feature map: whole rows of the matrix are compared with it.

Any entry can be computed, for the price of one inner product. Where there are few, all are; else
whole rows are drawn, and the diagonal of a symmetric matrix is always complete. A row meets every
other: what is rare among entries, such as pairs of near-duplicates, is not rare among rows.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE, ErrorEstimate
from fewpairs.sketches.bands import CERTAIN, Band, Lines, draw_lines
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.feature_map import FeatureMap

#: Up to this many entries all of them are compared: this takes some hundredths of a second.
_ALL_ENTRIES = 2**20
#: Of larger matrices so many entries are compared, in at least so many rows, and in at most so many
#: columns.
_ENTRIES, _FEWEST_ROWS, _MOST_COLUMNS = 2**19, 160, 2**13
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
        rows = np.union1d(some, exact.longest[side][:CERTAIN])
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
