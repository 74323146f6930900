"""The stated error of a factored matrix."""

from __future__ import annotations

from typing import NamedTuple


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
        if self.n_pairs == 0:
            return f"relative error {self.value:.3g} (exact: every pair was evaluated)"
        return (
            f"relative error {self.value:.3g} (95 % interval {self.low:.3g} to {self.high:.3g}, "
            f"from {self.n_pairs:,} unseen pairs)"
        )
