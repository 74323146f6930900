"""Guards: a result that is larger than the data, where nothing was evaluated, is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray

_ALLOWED = 1.5


@dataclass(frozen=True, eq=False)
class SanityCheck:
    """On pairs that nobody evaluated, the result must not be larger than the data are.

    A few tuning pairs can be fitted by a core that is wild elsewhere; on matrices of noughts and
    ones errors reached 10⁵ without this check (docs/tables/ablation.md).

    Parameters
    ----------
    checks : list of (predictions, largest mean square)
        For each set of pairs what every candidate predicts, and what their mean square may be.
    """

    checks: list[tuple[FloatArray, float]]

    def passes(self, chosen: IntArray, weights: FloatArray) -> bool:
        """Whether mean(K̃²) is within bounds on every set of pairs."""
        return all(found <= largest for found, largest in self._mean_squares(chosen, weights))

    def _mean_squares(self, chosen: IntArray, weights: FloatArray) -> Iterator[tuple[float, float]]:
        for predictions, largest in self.checks:
            if len(predictions):
                yield float(((predictions[:, chosen] @ weights) ** 2).mean()), largest

    def shrunk(self, chosen: IntArray, weights: FloatArray) -> FloatArray:
        """Return the weights, made as small as it takes to pass."""
        shares = [
            largest / mean_square
            for mean_square, largest in self._mean_squares(chosen, weights)
            if mean_square > largest
        ]
        return np.asarray(weights * np.sqrt(min(shares, default=1.0)))


def largest_mean_square(values: FloatArray, weights: FloatArray) -> float:
    """Return what a mean square may be: 1.5 times that of a sample and two standard errors.

    Half as much again leaves room for what the sample has missed, and is far below a blow-up.
    """
    share = weights / max(float(weights.sum()), np.finfo(float).tiny)
    squares = values**2
    mean = float(share @ squares)
    error = float(np.sqrt(share**2 @ (squares - mean) ** 2))
    return _ALLOWED * max(mean + 2 * error, np.finfo(float).tiny)
