"""Coefficients that are fitted to the terms as they were drawn.

The paper chooses coefficients by a bound on the variance of a sketch. Once a sketch is drawn, its
values can be computed: coefficients are fitted to them, by least squares on sampled entries.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.sketches.feature_map import Terms, feature_products
from fewpairs.sketches.regression import least_squares
from fewpairs.sketches.sampling import Sampler

#: Sampled entries for each coefficient. With a tenth the errors of maps are 3 % larger, with twice
#: as many 0.3 % smaller (data of benchmarks/sketches/elementwise.py).
_ENTRIES_PER_COEFFICIENT = 500
#: Rows that are searched for the largest terms; of more rows a sample. With a tenth of it errors
#: are hardly larger; its price is the terms of as many rows.
_SEARCHED_ROWS = 2000


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
        Allow no coefficient below 0.

    Returns
    -------
    ndarray, one for each of `terms.widths`
    """
    starts = np.cumsum([0, *terms.widths[:-1]])
    shares = [_largest_shares(terms, sampler, 0, starts, rng)]
    shares.append(
        shares[0] if sampler.symmetric else _largest_shares(terms, sampler, 1, starts, rng)
    )
    # Where a row's share is large, a wrong coefficient does most harm: as if its errors were.
    entries = sampler.draw(_ENTRIES_PER_COEFFICIENT * len(starts), rng, row_errors=shares)
    design = np.empty((len(entries.rows), len(starts)))
    for part, products in feature_products(entries, sampler.sides, terms, terms):
        design[part] = np.add.reduceat(products, starts, axis=1)
    weights = np.sqrt(entries.weights)
    return least_squares(
        design * weights[:, None], entries.exact * weights, nonnegative=nonnegative
    )


def _largest_shares(
    terms: Terms, sampler: Sampler, side: int, starts: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Return, for each row, its share of the block of terms in which that share is largest.

    A single row can hold nearly all of a high power. A sample of entries without this row would
    leave the coefficient of that power free to be anything, and the row's entries with it. Shares
    are of lengths, not of squares. Rows that are not searched get the mean of the others.
    """
    rows, searched = sampler.sides[side], sampler.distinct_rows(side, _SEARCHED_ROWS, rng)
    squares = np.add.reduceat(terms(rows[searched]) ** 2, starts, axis=1)
    found = np.sqrt((squares / np.maximum(squares.sum(axis=0), 1e-300)).max(axis=1))
    shares = np.full(rows.shape[0], found.mean(), dtype=np.float64)
    shares[searched] = found
    return shares
