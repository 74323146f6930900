"""How far a feature map is off: entries are looked at where its errors are."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.sketches.entries import Sampler
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.tensor_sketch import parts

#: Rows whose errors are looked at before entries are drawn.
_LOOKED_AT = 8000


def judged(
    made: FeatureMap, sampler: Sampler, count: int, rng: np.random.Generator
) -> ErrorEstimate:
    """Estimate a map's error from so many entries.

    A row that lies unlike all others may have most of the error and little of the matrix: sizes
    alone would not lead there.

    Parameters
    ----------
    made : FeatureMap
    sampler : Sampler
        Of entries of the exact matrix.
    count : int
    rng : numpy Generator

    Returns
    -------
    ErrorEstimate
    """
    off = [_row_errors(made, sampler, 0, rng)]
    off.append(off[0] if sampler.same else _row_errors(made, sampler, 1, rng))
    sampled = sampler.draw(count, rng, off)
    # Many entries share rows, whose features are worked out once.
    rows, row = np.unique(sampled.rows, return_inverse=True)
    others, other = np.unique(sampled.columns, return_inverse=True)
    u, v = made(sampler.sides[0][rows]), made(sampler.sides[1][others], side="right")
    guess = np.empty(len(row))
    for part in parts(len(row)):
        guess[part] = (u[row[part]] * v[other[part]]) @ made.signs
    return sampled.error(guess)


def _row_errors(
    made: FeatureMap, sampler: Sampler, side: int, rng: np.random.Generator
) -> FloatArray:
    """Return errors of each row with a few of the other side; their mean where unseen."""
    sides, names = sampler.sides, ("left", "right")
    some, few = sampler.tried_rows(side, _LOOKED_AT, rng), sampler.compared(1 - side, rng)
    mine = made(sides[side][some], side=names[side])
    others = made(sides[1 - side][few], side=names[1 - side])
    misses = sampler.misses(side, some, few, mine @ (others * made.signs).T)
    if sampler.same:
        misses = np.column_stack([misses, sampler.own_misses(some, mine**2 @ made.signs)])
    sizes = np.linalg.norm(misses, axis=1)
    result = np.full(sides[side].shape[0], sizes.mean())
    result[some] = sizes
    return result
