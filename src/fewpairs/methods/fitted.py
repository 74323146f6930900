"""The default: columns, a fitted stack of regularised cores, and the pairs that matter most.

The recipe, with its mathematics and what each part is worth, is in docs/fitted.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.factored.products import factored_entries
from fewpairs.methods.base import Factors
from fewpairs.methods.cores import Cores, gap_of
from fewpairs.methods.lookalikes import look_alikes
from fewpairs.methods.pairs import Drawn, Scores, draw, profiles, random_pairs
from fewpairs.methods.weights import Normal, SanityCheck, Tuning, landmark_folds, weigh
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.requests import Planner

#: Below this many landmarks there are no folds and no profiles worth the name.
_FEW = 10
#: Landmark folds count as much as this many tuning pairs.
_FOLD_PAIRS = 300
_FEWEST_TUNING, _MOST_TUNING = 500, 6000
_SANITY_PAIRS = 4000


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
        Share of the evaluations that tunes the core.
    diagonal : {"evaluate", None} or float, default="evaluate"
        Evaluate self-similarities (free where the similarity declares them); or a number that
        every item has; or None, which leaves them to the core.
    """

    near: float = 0.25
    neighbors: int = 12
    tuning: float = 0.03
    diagonal: DiagonalOption = "evaluate"
    needs_symmetric: ClassVar[bool] = False
    uses_allowance: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Return the most that a run with this many starting landmarks spends."""
        base = self._base(planner, landmarks)
        total = base
        for _ in range(8):  # tuning pairs are a share of the total: a fixed point
            total = int((base + self._tuning_pairs(total)) / (1 - self._near(landmarks)))
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
        state = _State(oracle, landmarks, rng)
        if self.diagonal == "evaluate" and oracle.square:
            oracle.diagonal()
        if not len(state.rows):
            return Step(state.factors(state.cores_alone()), Sample.none())
        pairs = min(self._tuning_pairs(most), state.unseen // 4)
        sample = Sample.none() if last is None else last.sample
        if pairs > 2 * len(sample.values) or len(sample.values) == 0:
            sample = state.draw_tuning(pairs, sample.near)
        if self._near(len(landmarks)) and state.folds is not None:
            room = most - base - len(sample.values)
            if last is not None:
                room = int(self.near * most) - len(sample.near)
            sample = self._near_pairs(state, sample, room)
        if allowance is not None:
            left = most - base - len(sample.values) - len(sample.near)
            state = state.with_more_landmarks(left)
        if not len(state.rows):
            return Step(state.factors(state.cores_alone()), sample)
        return Step(state.factors(state.tuned(sample)), sample)

    def _near_pairs(self, state: _State, sample: Sample, room: int) -> Sample:
        """Evaluate look-alikes, best first, until a further column would pay more."""
        n, s = state.oracle.shape[0], len(state.landmarks)
        core, left_over = state.preliminary(sample)
        i, j = state.look_alikes(self.neighbors)
        fresh = ~np.isin(state.oracle.memory.keys(i, j), state.known_keys())
        i, j = i[fresh], j[fresh]
        batch = max(20, n // 2)
        done = 0
        while done + batch <= min(len(i), room):
            part = slice(done, done + batch)
            exact = state.oracle.entries(i[part], j[part])
            guess = factored_entries(state.left, core, state.right, i[part], j[part])
            gain = 2 * float(((exact - guess) ** 2).sum())
            done += batch
            if gain * n / batch < (1.5 / s + 2.0 / n) * left_over:
                break
            left_over = max(left_over - gain, np.finfo(float).tiny)
        keys = state.oracle.memory.keys(i[:done], j[:done])
        return replace(sample, near=np.concatenate([sample.near, keys]))

    def _near(self, landmarks: int) -> float:
        return self.near if landmarks >= _FEW else 0.0

    def _tuning_pairs(self, total: int) -> int:
        wanted = int(np.clip(self.tuning * total, _FEWEST_TUNING, _MOST_TUNING))
        return min(wanted, total // 10)

    def _base(self, planner: Planner, landmarks: int) -> int:
        """Columns (rows too, if asymmetric) and the diagonal, in entries."""
        columns = lines_price(planner, landmarks)
        diagonal = 0 if planner.diagonal_known else planner.n - landmarks
        return columns + (diagonal if self.diagonal == "evaluate" else 0)


def lines_price(planner: Planner, landmarks: int) -> int:
    """Count, in entries, the columns of landmarks, and their rows if those differ."""
    if planner.symmetric:
        return planner.price_of_columns(landmarks) // planner.per_entry
    return planner.price_of_cross(landmarks, landmarks, landmarks) // planner.per_entry


@dataclass(frozen=True, eq=False)
class Sample:
    """Single pairs that were evaluated: drawn ones to tune on, and keys of near ones."""

    drawn: Drawn
    values: FloatArray
    near: IntArray

    @classmethod
    def none(cls) -> Sample:
        """No pairs."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(Drawn(nothing, nothing, np.empty(0)), np.empty(0), nothing)


@dataclass(frozen=True, eq=False)
class Step:
    """The factors at one number of landmarks, and the pairs that a next step can use."""

    factors: Factors
    sample: Sample


class _State:
    """What is known at one number of landmarks: both factors, the grid of cores, the folds."""

    def __init__(self, oracle: Oracle, landmarks: IntArray, rng: np.random.Generator) -> None:
        self.oracle, self.landmarks, self.rng = oracle, landmarks, rng
        self.left = oracle.columns(landmarks)
        self.right = self.left if oracle.symmetric else oracle.rows(landmarks).T
        self.square = self.left[landmarks]
        everyone = np.arange(oracle.shape[0])
        self.rows = self.columns = np.setdiff1d(everyone, landmarks)
        self.gap = gap_of(self.square)
        self.cores = Cores.of(self.square, self.gap, symmetric=oracle.symmetric)
        self.folds: Normal | None = None
        if len(landmarks) >= _FEW and len(self.rows):
            self.folds = landmark_folds(
                self.left, self.square, self.rows, self.gap, rng, symmetric=oracle.symmetric
            )

    @property
    def unseen(self) -> int:
        """Number of pairs of items that are no landmarks."""
        n = len(self.rows)
        return n * (n - 1) // 2 if self.oracle.symmetric else n * (n - 1)

    def known_keys(self) -> IntArray:
        """Keys of entries evaluated one by one."""
        return self.oracle.memory.single_keys()

    def draw_tuning(self, count: int, near: IntArray) -> Sample:
        """Draw and evaluate the pairs that the core is tuned on."""
        scores = None
        if self.folds is not None:
            core = self.cores.combined(self.folds.non_negative())
            scores = self.scores(core)
        drawn = draw(
            self.rows,
            self.columns,
            count,
            self.rng,
            symmetric=self.oracle.symmetric,
            known=self.known_keys(),
            width=self.oracle.shape[1],
            scores=scores,
        )
        return Sample(drawn, self.oracle.entries(drawn.rows, drawn.columns), near)

    @cached_property
    def profiles(self) -> SingleArray:
        """Profiles of the items that are no landmarks, from their columns (and rows)."""
        both = self.left if self.right is self.left else np.hstack([self.left, self.right])
        return profiles(both, self.rows)

    def scores(self, core: FloatArray) -> Scores:
        """Return what is believed of pairs under a core."""
        return Scores(
            self.left,
            core,
            self.right,
            self.rows,
            self.columns,
            self.profiles,
            self.profiles,
            float(self.left.min()),
            float(self.left.max()),
        )

    def look_alikes(self, per_item: int) -> tuple[IntArray, IntArray]:
        """Pairs of items with similar profiles, both orders of an asymmetric similarity."""
        i, j = look_alikes(self.profiles, per_item, self.rng)
        i, j = self.rows[i], self.rows[j]
        if self.oracle.symmetric:
            return i, j
        return np.stack([i, j], axis=1).ravel(), np.stack([j, i], axis=1).ravel()

    def preliminary(self, sample: Sample) -> tuple[FloatArray, float]:
        """Return a first core, and an estimate of its squared error over all unseen pairs."""
        assert self.folds is not None  # noqa: S101 - the caller looked
        drawn, values = sample.drawn, sample.values
        guessed = self.cores.predictions(self.left[drawn.rows], self.right[drawn.columns])
        own = Normal.of(guessed, values, drawn.weights)
        blend = Normal(own.gram + 0.3 * self.folds.gram, own.target + 0.3 * self.folds.target)
        weights = blend.non_negative()
        mean = float(drawn.weights @ (guessed @ weights - values) ** 2) / max(
            float(drawn.weights.sum()), np.finfo(float).tiny
        )
        return self.cores.combined(weights), mean * len(self.rows) ** 2

    def with_more_landmarks(self, room: int) -> _State:
        """Spend what is left on further uniform landmarks."""
        planner = self.oracle.planner
        held, n = len(self.landmarks), self.oracle.shape[0]
        diagonal_known = not np.isnan(self.oracle.memory.find(self.rows[:1], self.rows[:1])).any()

        def cost(count: int) -> int:
            price = lines_price(planner, held + count) - lines_price(planner, held)
            saved = count if diagonal_known and not planner.diagonal_known else 0
            return price - (saved if planner.by_pairs_only else 0)

        low, high = 0, n - held
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if cost(middle) <= room else (low, middle - 1)
        if low == 0:
            return self
        more = self.rng.permutation(self.rows)[:low]
        return _State(self.oracle, np.concatenate([self.landmarks, more]), self.rng)

    def tuned(self, sample: Sample) -> FloatArray:
        """Return the weights of the candidates, from the pairs that are still unseen."""
        memory = self.oracle.memory
        drawn, values, near = sample.drawn, sample.values, sample.near
        inside = (memory.rows.position(drawn.rows) >= 0) | (
            memory.columns.position(drawn.columns) >= 0
        )
        taken = ~inside & ~np.isin(memory.keys(drawn.rows, drawn.columns), near)
        if not taken.any():
            return np.zeros(self.cores.count) if self.folds is None else self.folds.non_negative()
        i, j = drawn.rows[taken], drawn.columns[taken]
        count = int(taken.sum())
        tuning = Tuning(
            self.cores.predictions(self.left[i], self.right[j]),
            values[taken],
            drawn.weights[taken],
            self.folds,
            count / (count + _FOLD_PAIRS),
        )
        return weigh(self.cores, tuning, self._sanity(tuning), self.rng)

    def _sanity(self, tuning: Tuning) -> SanityCheck:
        a, b = random_pairs(
            self.rows, self.columns, _SANITY_PAIRS, self.rng, symmetric=self.oracle.symmetric
        )
        i, j = self.rows[a], self.columns[b]
        energy = tuning.energy / float(tuning.weights.sum())
        checks = [(self.cores.predictions(self.left[i], self.right[j]), energy)]
        if np.isnan(self.oracle.memory.find(self.rows[:1], self.rows[:1])).any():
            some = self.rng.permutation(self.rows)[:_SANITY_PAIRS]
            own = self.cores.predictions(self.left[some], self.right[some])
            checks.append((own, float((np.diag(self.square) ** 2).mean())))
        return SanityCheck(checks)

    def cores_alone(self) -> FloatArray:
        """Weights where nothing is left to predict: any core will do."""
        weights = np.zeros(self.cores.count)
        weights[0] = 1.0
        return weights

    def factors(self, weights: FloatArray) -> Factors:
        """Return the factors of the weighted core."""
        core = self.cores.combined(weights)
        if self.oracle.symmetric:
            core = (core + core.T) / 2
        right = None if self.right is self.left else self.right
        return Factors(
            self.left,
            core,
            right,
            self.landmarks,
            self.landmarks,
            nugget=self.cores.nugget(weights),
        )
