"""The stated error of a feature map: entries are drawn where its errors are."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import relative_error
from fewpairs.numerics import row_squares
from fewpairs.sketches.feature_map import FeatureMap, feature_products
from fewpairs.sketches.products import apply, dense
from fewpairs.sketches.sampling import Entries, Sampler

#: Rows whose errors are computed, roughly, before entries are drawn; of more rows a sample. It
#: bounds the time: features of these rows are computed for this alone.
_INSPECTED_ROWS = 8000


def estimate_error(
    feature_map: FeatureMap, sampler: Sampler, count: int, rng: np.random.Generator
) -> ErrorEstimate:
    """Estimate the relative Frobenius error of a feature map.

    A row unlike all others may hold most of the error and little of the matrix. So rows with large
    errors are found first, and entries are drawn from them more often.

    Parameters
    ----------
    feature_map : FeatureMap
    sampler : Sampler
        Of entries of the exact matrix.
    count : int
        Entries that the estimate rests on.
    rng : numpy Generator

    Returns
    -------
    ErrorEstimate
    """
    errors = [_row_errors(feature_map, sampler, 0, rng)]
    errors.append(errors[0] if sampler.symmetric else _row_errors(feature_map, sampler, 1, rng))
    entries = sampler.draw(count, rng, errors)
    guess = np.empty(len(entries.rows))
    maps = feature_map, lambda rows: feature_map(rows, side="right")
    for part, products in feature_products(entries, sampler.sides, *maps):
        guess[part] = products @ feature_map.signs
    return state_error(entries, guess)


def state_error(entries: Entries, guess: FloatArray) -> ErrorEstimate:
    """State the relative Frobenius error, given a guess of each entry, in the letters of error.md.

    No warning is issued where few of the drawn entries carry the variance. Entries that are certain
    often hold nearly all of the error; the interval is then narrow, and rightly so.
    """
    # Sums of squares are taken in units of the largest entry, so that none over- or underflows.
    unit = float(np.abs(entries.exact).max(initial=0)) or 1.0
    residuals = entries.weights * ((guess - entries.exact) / unit) ** 2
    squares = entries.weights * (entries.exact / unit) ** 2
    A, B = float(residuals.sum()), float(squares.sum())
    zeta = np.zeros(0)
    if A > 0 and B > 0:
        zeta = (residuals / A - squares / B)[entries.certain :]
    return relative_error(A, B, zeta, len(guess)).estimate


def _row_errors(
    feature_map: FeatureMap, sampler: Sampler, side: int, rng: np.random.Generator
) -> FloatArray:
    """Return the error of each row with a few of the other side, and with itself.

    Rows that are not inspected get the mean of the others.
    """
    sides, names = sampler.sides, ("left", "right")
    rows = sampler.distinct_rows(side, _INSPECTED_ROWS, rng)
    others = sampler.reference_rows(1 - side, rng)
    mine = feature_map(sides[side][rows], side=names[side])
    theirs = feature_map(sides[1 - side][others], side=names[1 - side])
    guess = mine @ (theirs * feature_map.signs).T
    residuals = _residuals(sampler, side, rows, others, guess)
    if sampler.symmetric:
        own = _diagonal_residuals(sampler, rows, mine**2 @ feature_map.signs)
        residuals = np.column_stack([residuals, own])
    inspected = np.linalg.norm(residuals, axis=1)
    errors = np.full(sides[side].shape[0], inspected.mean())
    errors[rows] = inspected
    return errors


def _residuals(
    sampler: Sampler, side: int, rows: IntArray, others: IntArray, guess: FloatArray
) -> FloatArray:
    """Return the residuals of all entries between rows of a side and others of the other side."""
    mine, theirs = sampler.sides[side][rows], dense(sampler.sides[1 - side][others])
    exact = apply(sampler.function, np.asarray(mine @ theirs.T, dtype=np.float64))
    z, w = sampler.scaling[side][rows], sampler.scaling[1 - side][others]
    return (guess - exact) * z[:, None] * w


def _diagonal_residuals(sampler: Sampler, rows: IntArray, guess: FloatArray) -> FloatArray:
    exact = apply(sampler.function, row_squares(sampler.sides[0][rows]))
    return (guess - exact) * sampler.scaling[0][rows] ** 2
