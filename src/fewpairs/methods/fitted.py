"""The default: columns, a fitted stack of regularised cores, and the pairs that matter most.

The recipe, with its mathematics and what each part is worth, is in docs/fitted.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.factored.products import factored_entries
from fewpairs.methods.base import Factors, KnownOption
from fewpairs.methods.pairs import Drawn
from fewpairs.methods.stage import FEW, Sample, Stage, affordable_lines, lines_price
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.requests import Planner

_FEWEST_TUNING, _MOST_TUNING = 500, 6000
#: A plain result has no diagonal and no near pairs to lean on: columns are worth more to it.
_PLAIN_TUNING, _FEWEST_PLAIN = 1 / 3, 200

DiagonalOption: TypeAlias = Literal["evaluate"] | float | None


@dataclass(frozen=True)
class Fitted:
    """Uniform columns, cores weighted on importance-drawn pairs, near pairs evaluated.

    Parameters
    ----------
    near : float, default=0.25
        Share of the evaluations that may go to pairs with similar columns; what they do not
        need goes to further landmarks.
    neighbors : int, default=12
        Similar items considered for each item.
    tuning : float, default=0.03
        Share of the evaluations that tunes the core; a third of it for a plain result.
    diagonal : {"evaluate", None} or float, default="evaluate"
        Evaluate self-similarities (free where the similarity declares them); or a number that
        every item has; or None, which leaves them to the core.
    known : {"exact", None}, default="exact"
        Put evaluated entries back; None gives a plain matrix of rank s, for which neither the
        diagonal nor near pairs are evaluated.
    """

    near: float = 0.25
    neighbors: int = 12
    tuning: float = 0.03
    diagonal: DiagonalOption = "evaluate"
    known: KnownOption = "exact"
    needs_symmetric: ClassVar[bool] = False
    needs_square: ClassVar[bool] = False
    uses_allowance: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Return the most that a run with this many starting landmarks spends."""
        base = self._base(planner, landmarks)
        total = base
        for _ in range(8):  # tuning pairs are a share of the total: a fixed point
            near = self._near(landmarks) if planner.square else 0.0
            total = int((base + self._tuning_pairs(total)) / (1 - near))
        entries = min(total, planner.price_of_everything // planner.per_entry)
        return max(entries, base) * planner.per_entry

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,
    ) -> Factors:
        """Read columns, tune the core, evaluate near pairs; with an allowance, spend the rest.

        Parameters
        ----------
        oracle : Oracle
        landmarks : ndarray
            Where to start.
        rng : numpy.random.Generator
        allowance : int, optional
            Evaluations that may be spent in all; None stays with the given landmarks.

        Returns
        -------
        Factors
        """
        return self.grow(oracle, landmarks, rng, allowance).factors

    def grow(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,
        last: Step | None = None,
    ) -> Step:
        """Do as `fit`, taking over what an earlier step with fewer landmarks has evaluated."""
        planner = oracle.planner
        # In entries, and as if nothing were remembered: what an earlier call has paid for, such
        # as a selector, counts all the same.
        most = (allowance or self.price(planner, len(landmarks))) // planner.per_entry
        base = self._base(planner, len(landmarks))
        if allowance is not None and len(landmarks) >= FEW:
            oracle.memory.columns.expect(affordable_lines(planner, most))
        stage = Stage(oracle, landmarks, rng)
        if self._evaluates_diagonal and oracle.square:
            oracle.diagonal()
        sample = Sample.none() if last is None else last.sample
        if not stage.finished:
            pairs = min(self._tuning_pairs(most), stage.unseen // 4)
            if pairs > 2 * len(sample.values) or len(sample.values) == 0:
                sample = stage.draw_tuning(pairs, sample.near)
            if self._near(len(landmarks)) and stage.folds is not None:
                room = most - base - len(sample.values)
                if last is not None:
                    room = int(self.near * most) - len(sample.near)
                sample = self._near_pairs(stage, sample, room)
            stage.drop_profiles()
            if allowance is not None:
                left = most - base - len(sample.values) - len(sample.near)
                stage = stage.with_more_landmarks(left)
        return self._step(stage, sample)

    def tuned_further(self, step: Step, more: Drawn) -> Step:
        """Tune again, on further pairs that have been evaluated."""
        values = step.stage.oracle.entries(more.rows, more.columns)
        return self._step(step.stage, step.sample.with_pairs(more, values))

    def _step(self, stage: Stage, sample: Sample) -> Step:
        plain = self.known is None
        weights = stage.weights(sample, plain=plain)
        return Step(stage.factors(weights, plain=plain), sample, stage)

    def _near_pairs(self, stage: Stage, sample: Sample, room: int) -> Sample:
        """Evaluate look-alikes, best first, until a further column would pay more."""
        n, s = stage.oracle.shape[0], len(stage.landmarks)
        core, left_over = stage.preliminary(sample)
        i, j = stage.near_pairs(self.neighbors)
        batch = max(20, n // 2)
        done = 0
        while done + batch <= min(len(i), room):
            part = slice(done, done + batch)
            exact = stage.oracle.entries(i[part], j[part])
            guess = factored_entries(stage.left, core, stage.right, i[part], j[part])
            gain = 2 * float(((exact - guess) ** 2).sum())
            done += batch
            if gain * n / batch < gain_of_a_column(s, n) * left_over:
                break
            left_over = max(left_over - gain, np.finfo(float).tiny)
        keys = stage.oracle.memory.keys(i[:done], j[:done])
        return replace(sample, near=np.concatenate([sample.near, keys]))

    def _near(self, landmarks: int) -> float:
        return self.near if landmarks >= FEW and self.known is not None else 0.0

    @property
    def _evaluates_diagonal(self) -> bool:
        return self.diagonal == "evaluate" and self.known is not None

    def _tuning_pairs(self, total: int) -> int:
        share, fewest = self.tuning, _FEWEST_TUNING
        if self.known is None:
            share, fewest = share * _PLAIN_TUNING, _FEWEST_PLAIN
        return min(int(np.clip(share * total, fewest, _MOST_TUNING)), total // 10)

    def _base(self, planner: Planner, landmarks: int) -> int:
        """Columns (rows too, if asymmetric) and the diagonal, in entries."""
        columns = lines_price(planner, landmarks)
        free = planner.diagonal_known or not planner.square or not self._evaluates_diagonal
        return columns + (0 if free else planner.n - landmarks)


def gain_of_a_column(s: int, n: int) -> float:
    """Return the share of the squared error that one more column takes away.

    The error outside the columns is taken to fall like s^-1.5; the column itself becomes exact.
    """
    return 1.5 / s + 2.0 / n


@dataclass(frozen=True, eq=False)
class Step:
    """The factors at one number of landmarks, and the pairs that a next step can use."""

    factors: Factors
    sample: Sample
    stage: Stage
