"""What a sample of pairs may have missed widens the interval that it gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import Verdict
from fewpairs.error.tails import NOTHING, DrawnPairs, Missed, Tails
from fewpairs.error.unseen import Unseen
from fewpairs.oracle.known import Known

#: An estimate is not believed beside more than ten times as much that may lie beyond what was
#: drawn. With less, noise in the columns' tail would widen the intervals of ordinary matrices.
_DWARFED = 10.0
#: Fewer drawn pairs than this say nothing of what one pair in twenty may hold, and that can be most
#: of a matrix: then no more is claimed than that something may have been predicted.
_FEWEST_TO_VOUCH = 20


def missed_mass(known: Known, unseen: Unseen, drawn: DrawnPairs, stated: float) -> Missed:
    """Return what the drawn pairs may have missed.

    Parameters
    ----------
    known : Known
        What the run has evaluated, its columns being those of random items.
    unseen : Unseen
    drawn : DrawnPairs
    stated : float
        Upper end of the squared residuals' sum, from the drawn pairs alone.

    Returns
    -------
    Missed
        In both orders where one stands for both.
    """
    s = len(known.columns.index)
    if s == 0 or not len(unseen.rows) or not len(unseen.columns):
        return NOTHING
    tails = Tails.of(known, unseen, drawn)
    missed = tails.beyond_most()
    beyond, telling = tails.beyond_all()
    if beyond.high > missed.high and (telling or beyond.high > _DWARFED * stated):
        missed = missed._replace(high=beyond.high, squares=beyond.squares)
    hidden = max(tails.unlike_lines(), tails.unlike_landmarks(), tails.left_over())
    residuals = tails.residuals_of(missed.squares)
    return missed._replace(high=missed.high + hidden, residuals=residuals)


def vouched(verdict: Verdict, B: float, drawn: int, predicted: Callable[[], float]) -> Verdict:
    """Let the interval reach up to 1, the error of predicting zeros, where few pairs were drawn.

    Or further, where predictions are larger than the matrix: nobody knows what is right of them.

    Parameters
    ----------
    verdict : Verdict
    B : float
        Squared values of the whole matrix, estimated.
    drawn : int
        Pairs that were drawn.
    predicted : callable
        Returns the sum of the squared predictions of what is unseen.

    Returns
    -------
    Verdict
    """
    if drawn >= _FEWEST_TO_VOUCH:
        return verdict
    high = max(verdict.estimate.high, 1.0, float(np.sqrt(predicted() / B)))
    return verdict._replace(estimate=verdict.estimate._replace(high=high))


def widened(verdict: Verdict, B: float, missed: Missed) -> Verdict:
    """Let the interval hold whatever the missed mass may be: all error, or none.

    With ε² = A/B, a mass D of which all is error leads to (A + ρD)/(B + κD), and none to
    A/(B + κD).
    """
    estimate = verdict.estimate
    if missed.high <= 0 or B <= 0:
        return verdict
    # Relative to B, so that nothing overflows.
    mass, high, squares = missed.mass / B, missed.high / B, missed.squares

    def with_error(error: float, more: float) -> float:
        return float(np.sqrt((error * error + missed.residuals * more) / (1 + squares * more)))

    value = with_error(estimate.value, mass)
    top = max(estimate.high, value)
    if np.isfinite(estimate.high):
        top = max(top, with_error(estimate.high, high))
    bottom = 0.0 if missed.unknown else estimate.low / np.sqrt(1 + squares * high)
    stated = ErrorEstimate(value, min(float(bottom), value), top, estimate.n_pairs)
    return Verdict(stated, verdict.carrying)
