"""Large values that a sample of pairs has missed, and that the evaluated columns tell of.

A few hundred drawn pairs say little of pairs that are rarer than one in a hundred, and a few such
pairs can hold most of the error. But every evaluated column holds n more pairs with a random item:
how many large *values* there are is known much better than how well they are *predicted*. So if the
columns show more mass in the tail than the drawn pairs do, the difference D may all be error, or
none of it. And values as large as the largest that was ever seen, such as a diagonal of ones, may
occur elsewhere although no column shows them. docs/error.md has the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE, ErrorEstimate
from fewpairs.error.interval import Verdict
from fewpairs.error.unseen import Unseen
from fewpairs.oracle.known import Known

#: The tail begins where at most ten of the drawn pairs are larger, and at most a quarter of them:
#: what is rarer than that, the sample cannot vouch for.
_DRAWN_IN_TAIL, _SHARE_IN_TAIL = 10, 1 / 4
#: A sum that fewer lumps than this carry, or a sample that holds fewer, says nothing of the rest.
_FEWEST_LUMPS = 5
#: None of s random items has a partner of some kind: then at most about 3.7/s of all items have
#: one (0.975 = 1 − exp(−3.7)).
_RULE_OF_THREE = -float(np.log((1 - CONFIDENCE) / 2))
#: Values above half of the largest count as being as large.
_AS_LARGE = 0.5


class Missed(NamedTuple):
    """Mass of large values that were not drawn: squared distances from the middle.

    Attributes
    ----------
    mass : float
        What the columns show, where nothing of it was drawn.
    high : float
        What it may be at most, with 97.5 % confidence.
    squares : float
        Squared values, as a multiple of the mass.
    """

    mass: float
    high: float
    squares: float


NOTHING = Missed(0.0, 0.0, 1.0)


def missed_mass(known: Known, unseen: Unseen, values: FloatArray, weights: FloatArray) -> Missed:
    """Compare the tail of the evaluated columns with that of the drawn pairs.

    Parameters
    ----------
    known : Known
        What the run has evaluated, its columns being those of random items.
    unseen : Unseen
    values, weights : ndarray
        Of the pairs of different items that were drawn, and are still unseen to the method.

    Returns
    -------
    Missed
        In both orders where one stands for both.
    """
    s = len(known.columns.index)
    if s == 0 or not len(unseen.rows) or not len(unseen.columns):
        return NOTHING
    # Entries of the evaluated columns in the other rows: of the same kind as what is unseen.
    block = known.columns.values[unseen.rows]
    middle = float(np.median(block))
    far, drawn = np.abs(block - middle), np.abs(values - middle)
    threshold = _threshold(drawn)
    orders = 2 if known.symmetric else 1
    mass = np.where(far > threshold, far**2, 0.0)
    total = float(mass.sum())
    missing = high = 0.0
    squares = 1.0
    if total > 0:
        squares = float(block[far > threshold] @ block[far > threshold]) / total
        low_factor, high_factor, lumps = _spread(mass, s / known.shape[1])
        everywhere = total * len(unseen.columns) / s
        sampled = orders * _sampled(drawn, weights, threshold, unseen.population + len(values))
        accounted = sampled + orders * _bought(known, middle, threshold)
        inside = int((drawn > threshold).sum())
        # Too few were drawn to tell, or more is missing than chance explains.
        if inside < _FEWEST_LUMPS or low_factor * everywhere > accounted:
            # Where some of it was drawn, the sample is right on average, if seldom.
            missing = 0.0 if inside else max(0.0, everywhere - accounted)
            high = max(0.0, high_factor * everywhere - accounted)
            if lumps < _FEWEST_LUMPS:
                high = np.inf
    largest = max(_largest(known, middle), float(drawn.max(initial=0.0)))
    if not (far >= _AS_LARGE * largest).any():
        high += _RULE_OF_THREE * len(unseen.columns) / s * largest**2
    return Missed(missing, high, squares)


def widened(verdict: Verdict, B: float, missed: Missed) -> Verdict:
    """Let the interval hold whatever the missed mass may be: all error, or none.

    With ε² = A/B, a mass D of which all is error leads to (A + D)/(B + κD), and none to A/(B + κD).
    """
    estimate = verdict.estimate
    if missed.high <= 0 or B <= 0:
        return verdict
    # Relative to B, so that nothing overflows.
    mass, high, squares = missed.mass / B, missed.high / B, missed.squares

    def with_error(error: float, more: float) -> float:
        if not np.isfinite(more):
            return float(1 / np.sqrt(max(squares, np.finfo(float).tiny)))
        return float(np.sqrt((error**2 + more) / (1 + squares * more)))

    value = with_error(estimate.value, mass)
    top = max(estimate.high, value)
    if np.isfinite(estimate.high):
        top = max(top, with_error(estimate.high, high))
    bottom = estimate.low / np.sqrt(1 + squares * high) if np.isfinite(high) else 0.0
    stated = ErrorEstimate(value, min(float(bottom), value), top, estimate.n_pairs)
    return Verdict(stated, verdict.carrying)


def _threshold(drawn: FloatArray) -> float:
    allowed = min(_DRAWN_IN_TAIL, int(_SHARE_IN_TAIL * len(drawn)))
    if allowed >= len(drawn):
        return -1.0
    # Equal values must lie on the same side, rounding or not.
    return float(np.sort(drawn)[::-1][allowed]) * (1 + 1e-9)


def _spread(mass: FloatArray, share: float) -> tuple[float, float, float]:
    """Return factors of a sum over some columns that hold the one over all, and its lumps.

    The mass comes in lumps, as many as carry it, and their number is Poisson. `share` is that of
    the columns that were evaluated: with all of them nothing is left to chance.
    """
    of_columns = mass.sum(axis=0)
    total = float(of_columns.sum())
    lumps = min(total**2 / float(of_columns @ of_columns), total**2 / float((mass**2).sum()))
    low = float(scipy.special.gammaincinv(lumps, (1 - CONFIDENCE) / 2)) / lumps
    high = float(scipy.special.gammaincinv(lumps + 1, (1 + CONFIDENCE) / 2)) / lumps
    left = np.sqrt(max(0.0, 1 - share))
    return 1 - (1 - low) * left, 1 + (high - 1) * left, lumps


def _sampled(drawn: FloatArray, weights: FloatArray, threshold: float, population: int) -> float:
    """Estimate the mass of the tail from the drawn pairs."""
    inside = drawn > threshold
    if not inside.any():
        return 0.0
    return population * float(weights[inside] @ drawn[inside] ** 2) / float(weights.sum())


def _bought(known: Known, middle: float, threshold: float) -> float:
    """Return the mass of the tail that single evaluated pairs hold."""
    i, j, values = known.outside_lines()
    far = np.abs(values - middle)
    inside = (far > threshold) & (i != j)
    return float(far[inside] @ far[inside])


def _largest(known: Known, middle: float) -> float:
    """Return the largest distance from the middle of anything that was evaluated or declared."""
    every = [known.columns.values, known.rows.values, known.values]
    if known.diagonal is not None:
        every.append(known.diagonal)
    return max((float(np.abs(v - middle).max()) for v in every if v.size), default=0.0)
