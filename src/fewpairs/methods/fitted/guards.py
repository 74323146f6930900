"""Guards: a result that is larger than the data, where nothing was evaluated, is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import Cores
from fewpairs.numerics import double, parts

_ALLOWED = 1.5

#: Candidates in use and their weights, to the mean square of what they predict together.
MeanSquare: TypeAlias = Callable[[IntArray, FloatArray], float]


@dataclass(frozen=True, eq=False)
class SanityCheck:
    """On pairs that nobody evaluated, the result must not be larger than the data are.

    A few tuning pairs can be fitted by a core that is wild elsewhere; on matrices of noughts and
    ones errors reached 10⁵ without this check (docs/tables/ablation.md).

    Parameters
    ----------
    checks : list of (mean square, the largest allowed)
    """

    checks: list[tuple[MeanSquare, float]]

    def passes(self, chosen: IntArray, weights: FloatArray) -> bool:
        """Whether mean(K̃²) is within bounds on every set of pairs."""
        return all(found <= largest for found, largest in self._mean_squares(chosen, weights))

    def _mean_squares(self, chosen: IntArray, weights: FloatArray) -> Iterator[tuple[float, float]]:
        for mean_square, largest in self.checks:
            yield mean_square(chosen, weights), largest

    def shrunk(self, chosen: IntArray, weights: FloatArray) -> FloatArray:
        """Return the weights, made as small as it takes to pass."""
        shares = [
            largest / mean_square
            for mean_square, largest in self._mean_squares(chosen, weights)
            if mean_square > largest
        ]
        return np.asarray(weights * np.sqrt(min(shares, default=1.0)))


def of_pairs(predictions: FloatArray) -> MeanSquare:
    """Return the mean square over some pairs, given what every candidate predicts of them."""

    def mean_square(chosen: IntArray, weights: FloatArray) -> float:
        if not len(predictions):
            return 0.0
        return float(((predictions[:, chosen] @ weights) ** 2).mean())

    return mean_square


@dataclass(frozen=True, eq=False)
class OfAllPairs:
    """The mean square over all pairs of two different items that are no landmarks.

    With G = LᵀL and H = RᵀR of both factors, the sum of (LURᵀ)² is Σ (GU) ∘ (UH), and no prediction
    is written down. A few items whose lines are unlike all others can blow up, and a sample of
    pairs would hardly have two of them.

    Parameters
    ----------
    cores : Cores
    left, right : ndarray
        Columns and (transposed) rows of the landmarks.
    rows, columns : ndarray
        Items that are no landmarks.
    own : ndarray
        Where rows and columns are the same items: some of them, whose predicted self-similarities
        are taken off; empty where they are not.
    """

    cores: Cores
    left: FloatArray
    right: FloatArray
    rows: IntArray
    columns: IntArray
    own: IntArray

    @cached_property
    def _grams(self) -> tuple[FloatArray, FloatArray]:
        one = _gram(self.left, self.rows)
        same = self.left is self.right and self.rows is self.columns
        return one, one if same else _gram(self.right, self.columns)

    def __call__(self, chosen: IntArray, weights: FloatArray) -> float:
        """Return it for a weighted sum of candidates."""
        every = np.zeros(self.cores.count)
        every[chosen] = weights
        core = self.cores.combined(every)
        of_left, of_right = self._grams
        # What no number can hold is refused as it is: NaN is not within bounds.
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.einsum("ij,ij->", of_left @ core, core @ of_right))
            count = len(self.rows) * len(self.columns)
            if len(self.own):
                guessed = np.einsum("kp,kp->k", self.left[self.own] @ core, self.right[self.own])
                total -= len(self.rows) * float((guessed**2).mean())
                count -= len(self.rows)
        return np.maximum(total, 0.0) / count if count > 0 else 0.0


def _gram(tall: FloatArray, rows: IntArray) -> FloatArray:
    total = np.zeros((tall.shape[1], tall.shape[1]))
    for part in parts(len(rows)):
        block = double(tall[rows[part]])
        total += block.T @ block
    return total


def largest_mean_square(values: FloatArray, weights: FloatArray) -> float:
    """Return what a mean square may be: 1.5 times that of a sample and two standard errors.

    Half as much again leaves room for what the sample has missed, and is far below a blow-up.
    """
    share = weights / max(float(weights.sum()), np.finfo(float).tiny)
    squares = values**2
    mean = float(share @ squares)
    error = float(np.sqrt(share**2 @ (squares - mean) ** 2))
    return _ALLOWED * max(mean + 2 * error, np.finfo(float).tiny)
