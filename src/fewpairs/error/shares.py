"""A mean of shares between 0 and 1, from few of them: ends that hold for any spread.

Rows of a matrix are good or bad as a whole, so that twenty rows of ten neighbours are twenty
numbers, not two hundred. If the truth is μ, the mean of q draws is x or more (or, below μ, x or
less) with a chance of exp(−q·kl(x, μ)) at most, where kl(x, μ) = x·log(x/μ) + (1 − x)·log((1 −
x)/(1 − μ)) (Hoeffding, 1963, Theorem 1). Little more can be said where shares may be 0 or 1.

`find_nearest` looks until this states the recall that was asked for, so it must hold whatever the
rows are like. `K.check`, which claims nothing, has a narrower interval that usually holds: rows.py.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import rel_entr

from fewpairs.arrays import FloatArray

#: Halvings of the interval in which an end is looked for: more than single precision has.
_HALVINGS = 30


def least_mean(shares: FloatArray, chance: float) -> float:
    """Return what the mean is at least, but for a chance.

    Parameters
    ----------
    shares : ndarray
        Independent draws, each between 0 and 1.
    chance : float
        That the truth is lower.

    Returns
    -------
    float
    """
    if not len(shares):
        return 0.0
    mean, enough = float(np.mean(shares)), -math.log(chance) / len(shares)
    low, high = 0.0, mean
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = rel_entr(mean, middle) + rel_entr(1 - mean, 1 - middle) >= enough
        low, high = (middle, high) if refuted else (low, middle)
    return low


def most_mean(shares: FloatArray, chance: float) -> float:
    """Return what the mean is at most, but for a chance; see `least_mean`."""
    return 1.0 - least_mean(1.0 - np.asarray(shares, dtype=np.float64), chance)


def mean_of_others(
    shares: FloatArray, others: int, chances: tuple[float, float]
) -> tuple[float, float]:
    """Return what the mean of those that were not drawn is at least, and at most.

    The bounds above are of everyone, drawn ones included. What the drawn ones hold is known; where
    they were lucky, there is less of it for the others than for everyone.

    Parameters
    ----------
    shares : ndarray
        Drawn without replacement.
    others : int
        How many were not drawn.
    chances : (float, float)
        That the truth is lower, and that it is higher.

    Returns
    -------
    (float, float)
    """
    if not len(shares) or not others:
        return 0.0, 1.0
    everyone, known = len(shares) + others, float(np.sum(shares))
    least, most = (
        (everyone * bound(shares, chance) - known) / others
        for bound, chance in zip((least_mean, most_mean), chances, strict=True)
    )
    return max(least, 0.0), min(most, 1.0)


def rows_for(mean: float, least: float, chance: float) -> int:
    """Return how many draws with some mean state that the truth is at least so much."""
    distance = float(rel_entr(mean, least) + rel_entr(1 - mean, 1 - least))
    return math.ceil(-math.log(chance) / distance)
