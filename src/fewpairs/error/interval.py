"""The 95 % interval of a stated error; docs/error.md derives it in the same letters."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE, ErrorEstimate
from fewpairs.errors import ErrorEstimateWarning, MethodError, UnknownNameError, warn

#: With one degree of freedom Student's t is 12.7 and the interval says nothing, whatever was drawn;
#: with two it is 4.3.
_FEWEST_DEGREES = 2
#: exp of more than this overflows; an interval that wide says "unknown" just as well.
_LARGEST_EXPONENT = 700.0
#: A sample of at least 500 pairs that rests on fewer than 5 of them is a surprise worth a warning.
_FEW, _MANY = 5, 500
#: Below this the error is rounding, and whatever carries it is of no interest.
_ROUNDING = 1e-8


class Verdict(NamedTuple):
    """An estimate, and how many of the drawn pairs carry it.

    Attributes
    ----------
    estimate : ErrorEstimate
    carrying : float
        n_eff, the effective number of pairs behind the variance; infinite where there is none.
    """

    estimate: ErrorEstimate
    carrying: float

    def warned(self) -> ErrorEstimate:
        """Return the estimate, with a warning if a large sample rests on very few pairs."""
        value, drawn = self.estimate.value, self.estimate.n_pairs
        if self.carrying < _FEW and drawn >= _MANY and value > _ROUNDING:
            warn(
                ErrorEstimateWarning(
                    f"the error estimate {value:.3g} rests on about {self.carrying:.1f} of {drawn} "
                    "sampled pairs; its interval may be too narrow. Ask for more with "
                    "error_pairs=… of approximate, or a larger budget."
                )
            )
        return self.estimate


class Interval(Protocol):
    """A rule that states an error with its interval; docs/extending.md adds one from outside."""

    def __call__(self, A: float, B: float, zeta: FloatArray, n_pairs: int) -> Verdict:
        """Return the verdict; `relative_error` says what the arguments are."""
        ...


def relative_error(A: float, B: float, zeta: FloatArray, n_pairs: int) -> Verdict:
    """State ε = √(A / B) with its interval.

    Parameters
    ----------
    A, B : float
        Estimated sums of squared residuals and of squared values, over the whole matrix.
    zeta : ndarray
        For each pair that chance has drawn, by how much it moves log ε² = log A − log B: the
        linearised influence of the pair. Pairs that were certain to be drawn are left out.
    n_pairs : int
        Pairs that the estimate rests on.

    Returns
    -------
    Verdict
    """
    if A == 0:
        return Verdict(ErrorEstimate(0.0, 0.0, 0.0, n_pairs), np.inf)
    if B == 0:
        return Verdict(ErrorEstimate(np.inf, np.inf, np.inf, n_pairs), np.inf)
    value = float(np.sqrt(A / B))
    variance = float(zeta @ zeta)
    if variance == 0:
        return Verdict(ErrorEstimate(value, value, value, n_pairs), np.inf)
    shares = zeta**2 / variance
    carrying = 1 / float(shares @ shares)
    degrees = max(carrying - 1, _FEWEST_DEGREES)
    t = float(scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2))
    deviation = min(t * float(np.sqrt(variance)), _LARGEST_EXPONENT)
    # ε is the square root of ε²: half of the deviation on a log scale.
    factor = float(np.exp(deviation / 2))
    low = min(value / factor, _lower_end(value, deviation))
    return Verdict(ErrorEstimate(value, low, value * factor, n_pairs), carrying)


def _lower_end(value: float, deviation: float) -> float:
    """Return the lower end on the scale of ε²/(1 − ε²), for an error below 1.

    Where little is predicted, A is what B holds beyond the evaluated entries, ε² = A/(B₀ + A), and
    it is A that scatters on a log scale: errors near 1 reach further down than up.
    """
    if value >= 1:
        return value
    square = value * value
    if square == 1:  # as near to 1 as numbers go
        return value
    odds = square / (1 - square) * float(np.exp(-min(deviation / (1 - square), _LARGEST_EXPONENT)))
    return float(np.sqrt(odds / (1 + odds)))


INTERVALS: dict[str, Interval] = {"log-t": relative_error}


def as_interval(rule: Any) -> Interval:
    """Look an interval up by name, or take the user's own."""
    if callable(rule):
        return _checked(rule)
    if rule not in INTERVALS:
        raise UnknownNameError("error_interval", rule, INTERVALS)
    return _checked(INTERVALS[rule])


def _checked(rule: Interval) -> Interval:
    """Refuse an answer that is no interval, before anybody believes it."""

    def interval(A: float, B: float, zeta: FloatArray, n_pairs: int) -> Verdict:
        verdict: Any = rule(A, B, zeta, n_pairs)
        if not isinstance(verdict, Verdict) or not 0 <= verdict.estimate.low <= (
            verdict.estimate.value
        ) <= (verdict.estimate.high):
            raise MethodError(
                f"the error interval returned {verdict!r}.",
                "It states what the result is worth.",
                "Return a Verdict with an ErrorEstimate of 0 <= low <= value <= high.",
            )
        return verdict

    return interval
