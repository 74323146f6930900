"""The stated error of a factored matrix, and the steps that led to it."""

from __future__ import annotations

from typing import NamedTuple

from fewpairs.arrays import is_number
from fewpairs.errors import InputError
from fewpairs.notebook import svg
from fewpairs.notebook.card import card

#: Of every stated interval.
CONFIDENCE = 0.95


class ErrorEstimate(NamedTuple):
    """Estimated relative Frobenius error ‖K − K̃‖ / ‖K‖ of a whole matrix.

    Attributes
    ----------
    value : float
    low, high : float
        Ends of the 95 % confidence interval.
    n_pairs : int
        Unseen pairs that it rests on; 0 where every pair was evaluated and it is exact.
    """

    value: float
    low: float
    high: float
    n_pairs: int

    def __str__(self) -> str:
        if self.n_pairs == 0 and self.low == self.high:
            return f"relative error {self.value:.3g} (exact: every pair was evaluated)"
        return (
            f"relative error {self.value:.3g} ({100 * CONFIDENCE:.0f} % interval {self.low:.3g} to "
            f"{self.high:.3g}, "
            f"from {self.n_pairs:,} unseen pairs)"
        )

    def _repr_html_(self) -> str:
        picture = svg.interval(*self[:3], most=None)
        return card(f"relative error {self.value:.3g}", [], picture, str(self))


class CurvePoint(NamedTuple):
    """One step of a run with a target error: what had been spent, and the error then."""

    evaluations: int
    landmarks: int
    error: ErrorEstimate


class SketchPoint(NamedTuple):
    """One attempt at a sketch: the columns that it was allowed, its degree and size, its error."""

    columns: int
    degree: int
    sketch_size: int
    error: ErrorEstimate


def check_target(target: object) -> float:
    """Check a wanted error: a number between 0 and 1."""
    if not is_number(target) or not 0 < target < 1:
        raise InputError(
            f"target_error is {target!r}.",
            "It is a relative error: 0 would need the whole matrix, 1 nothing.",
            "Pass a number between 0 and 1, for example 0.1.",
        )
    return float(target)
