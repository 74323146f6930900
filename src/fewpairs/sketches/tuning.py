"""Coefficients fitted to the terms as they were drawn.

Least squares on sampled entries: a score of unknowns, hundreds of entries for each. Bounds on
variances are not needed when the values themselves are at hand.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.sketches.entries import Sampler
from fewpairs.sketches.feature_map import Terms
from fewpairs.sketches.regression import solved
from fewpairs.sketches.tensor_sketch import parts

#: Sampled entries for each coefficient, and rows that are searched for large terms.
_ENTRIES, _SEARCHED = 500, 2000


def tuned_coefficients(
    terms: Terms, sampler: Sampler, rng: np.random.Generator, *, nonnegative: bool
) -> FloatArray:
    """Choose one coefficient for each block of terms.

    Parameters
    ----------
    terms : Terms
    sampler : Sampler
        Of entries of the matrix.
    rng : numpy Generator
    nonnegative : bool

    Returns
    -------
    ndarray, one for each of `terms.widths`
    """
    starts = np.cumsum([0, *terms.widths[:-1]])
    large = [_leverage(terms, sampler, 0, starts, rng)]
    large.append(large[0] if sampler.same else _leverage(terms, sampler, 1, starts, rng))
    sampled = sampler.draw(_ENTRIES * len(starts), rng, large)
    design = np.empty((len(sampled.rows), len(starts)))
    # Many entries share rows: each row's terms are worked out once.
    rows, row = np.unique(sampled.rows, return_inverse=True)
    columns, column = np.unique(sampled.columns, return_inverse=True)
    of_rows, of_columns = (terms(x[k]) for x, k in zip(sampler.sides, (rows, columns), strict=True))
    for part in parts(len(design)):
        products = of_rows[row[part]] * of_columns[column[part]]
        design[part] = np.add.reduceat(products, starts, axis=1)
    weights = np.sqrt(sampled.weights)
    return solved(design * weights[:, None], sampled.exact * weights, nonnegative=nonnegative)


def _leverage(
    terms: Terms, sampler: Sampler, side: int, starts: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Return for each row the root of its share of the block of terms in which it is largest.

    A high power can be a single row's, which a sample of entries would hardly hold: its coefficient
    would be free to be anything, and that row's entries with it.
    """
    rows, some = sampler.sides[side], sampler.tried_rows(side, _SEARCHED, rng)
    squares = np.add.reduceat(terms(rows[some]) ** 2, starts, axis=1)
    shares = np.sqrt((squares / np.maximum(squares.sum(axis=0), 1e-300)).max(axis=1))
    result = np.full(rows.shape[0], shares.mean(), dtype=np.float64)
    result[some] = shares
    return result
