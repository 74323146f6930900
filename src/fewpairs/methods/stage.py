"""What the default method knows at one number of landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.methods.base import Factors
from fewpairs.methods.cores import Cores, gap_of
from fewpairs.methods.lookalikes import look_alikes
from fewpairs.methods.pairs import Drawn, Scores, draw, profiles, random_pairs
from fewpairs.methods.plain import WholeLoss, one_nugget
from fewpairs.methods.weights import (
    Folds,
    Normal,
    SanityCheck,
    Tuning,
    landmark_folds,
    largest_mean_square,
    weigh,
)
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.requests import Planner

#: Below this many landmarks there are no folds and no profiles worth the name.
FEW = 10
#: Landmark folds count as much as this many tuning pairs.
_FOLD_PAIRS = 300
_SANITY_PAIRS = 4000


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

    def with_pairs(self, more: Drawn, values: FloatArray) -> Sample:
        """Tune on further drawn pairs too; weights have a mean of about 1 in every draw."""
        mine = self.drawn
        drawn = Drawn(
            np.concatenate([mine.rows, more.rows]),
            np.concatenate([mine.columns, more.columns]),
            np.concatenate([mine.weights, more.weights]),
        )
        return Sample(drawn, np.concatenate([self.values, values]), self.near)


class Stage:
    """Both factors, the grid of cores between them, and the folds.

    Parameters
    ----------
    oracle : Oracle
    landmarks : ndarray
        Items whose columns are read; of a square matrix that is not symmetric, their rows too.
        A rectangular one has as many landmarks among its rows, the known ones first.
    rng : numpy.random.Generator
    """

    def __init__(self, oracle: Oracle, landmarks: IntArray, rng: np.random.Generator) -> None:
        self.oracle, self.landmarks, self.rng = oracle, landmarks, rng
        self.row_landmarks = landmarks
        if not oracle.square:
            held = oracle.memory.rows.landmarks
            others = np.setdiff1d(np.arange(oracle.shape[0]), held)
            self.row_landmarks = np.concatenate([held, rng.permutation(others)])[: len(landmarks)]
        self.left = oracle.columns(landmarks)
        self.right = self.left if oracle.symmetric else oracle.rows(self.row_landmarks).T
        self.crossing = self.left[self.row_landmarks]
        self.rows = np.setdiff1d(np.arange(oracle.shape[0]), self.row_landmarks)
        self.columns = self.rows
        if not oracle.square:
            self.columns = np.setdiff1d(np.arange(oracle.shape[1]), landmarks)
        self.gap = gap_of(self.crossing) if oracle.square else 0.0
        self.cores = Cores.of(self.crossing, self.gap, symmetric=oracle.symmetric)

    @property
    def finished(self) -> bool:
        """Whether every entry lies in a landmark's row or column."""
        return not len(self.rows) or not len(self.columns)

    @property
    def unseen(self) -> int:
        """Number of pairs of items that are no landmarks."""
        n, m = len(self.rows), len(self.columns)
        if not self.oracle.square:
            return n * m
        return n * (n - 1) // 2 if self.oracle.symmetric else n * (n - 1)

    @property
    def diagonal_known(self) -> bool:
        """Whether self-similarities were declared or evaluated."""
        some = self.rows[:1]
        return not np.isnan(self.oracle.memory.find(some, some)).any()

    @cached_property
    def folds(self) -> Folds | None:
        """What landmarks say of each other's columns; None where there are too few."""
        if len(self.landmarks) < FEW or self.finished:
            return None
        return landmark_folds(
            self.left,
            self.crossing,
            self.rows,
            self.gap,
            self.rng,
            symmetric=self.oracle.symmetric,
            square=self.oracle.square,
        )

    # ------------------------------------------------------------------ which pairs

    def draw_tuning(self, count: int, near: IntArray) -> Sample:
        """Draw and evaluate the pairs that the core is tuned on."""
        scores = None
        if self.folds is not None:
            scores = self._scores(self.cores.combined(self.folds.unseen.non_negative()))
        drawn = draw(
            self.rows,
            self.columns,
            count,
            self.rng,
            symmetric=self.oracle.symmetric,
            square=self.oracle.square,
            known=self.oracle.memory.single_keys(),
            width=self.oracle.shape[1],
            scores=scores,
        )
        return Sample(drawn, self.oracle.entries(drawn.rows, drawn.columns), near)

    @cached_property
    def profiles(self) -> SingleArray | None:
        """Profiles of the items that are no landmarks, from their columns (and rows)."""
        if not self.oracle.square:
            return None
        both = self.left if self.right is self.left else np.hstack([self.left, self.right])
        return profiles(both, self.rows)

    def drop_profiles(self) -> None:
        """Free what only the choice of pairs needed."""
        self.__dict__.pop("profiles", None)

    def _scores(self, core: FloatArray) -> Scores:
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

    def near_pairs(self, per_item: int) -> tuple[IntArray, IntArray]:
        """Unknown pairs of items with similar profiles, most similar first."""
        if self.profiles is None:
            return self.rows[:0], self.rows[:0]
        i, j = look_alikes(self.profiles, per_item, self.rng)
        i, j = self.rows[i], self.rows[j]
        if not self.oracle.symmetric:  # both orders
            i, j = np.stack([i, j], axis=1).ravel(), np.stack([j, i], axis=1).ravel()
        memory = self.oracle.memory
        fresh = ~np.isin(memory.keys(i, j), memory.single_keys())
        return i[fresh], j[fresh]

    def preliminary(self, sample: Sample) -> tuple[FloatArray, float]:
        """Return a first core, and an estimate of its squared error over all unseen pairs."""
        assert self.folds is not None  # noqa: S101 - the caller looked
        drawn, values = sample.drawn, sample.values
        guessed = self.cores.predictions(self.left[drawn.rows], self.right[drawn.columns])
        own, free = Normal.of(guessed, values, drawn.weights), self.folds.unseen
        weights = Normal(own.gram + 0.3 * free.gram, own.target + 0.3 * free.target).non_negative()
        total = max(float(drawn.weights.sum()), np.finfo(float).tiny)
        mean = float(drawn.weights @ (guessed @ weights - values) ** 2) / total
        return self.cores.combined(weights), mean * len(self.rows) * len(self.columns)

    def with_more_landmarks(self, room: int) -> Stage:
        """Spend what is left on further uniform landmarks."""
        planner = self.oracle.planner
        held = len(self.landmarks)
        # A diagonal that was evaluated one by one is not asked for again.
        saves = self.diagonal_known and not planner.diagonal_known and planner.by_pairs_only
        saves = saves and self.oracle.square

        def cost(count: int) -> int:
            price = lines_price(planner, held + count) - lines_price(planner, held)
            return price - (count if saves else 0)

        count = _most(cost, min(len(self.rows), len(self.columns)), room)
        if count == 0:
            return self
        more = self.rng.permutation(self.columns)[:count]
        return Stage(self.oracle, np.concatenate([self.landmarks, more]), self.rng)

    # ------------------------------------------------------------------ which core

    def weights(self, sample: Sample, *, plain: bool) -> FloatArray:
        """Return the weights of the candidates, from the tuning pairs that are still unseen."""
        if self.finished:  # nothing is left to predict: any core will do
            return np.asarray(np.eye(1, self.cores.count)[0])
        memory = self.oracle.memory
        drawn, values, near = sample.drawn, sample.values, sample.near
        inside = (memory.rows.position(drawn.rows) >= 0) | (
            memory.columns.position(drawn.columns) >= 0
        )
        taken = ~inside & ~np.isin(memory.keys(drawn.rows, drawn.columns), near)
        if not taken.any() and not plain:
            free = self.folds
            return np.zeros(self.cores.count) if free is None else free.unseen.non_negative()
        i, j = drawn.rows[taken], drawn.columns[taken]
        count = int(taken.sum())
        tuning = Tuning(
            self.cores.predictions(self.left[i], self.right[j]),
            values[taken],
            drawn.weights[taken],
            None if self.folds is None else self.folds.unseen,
            count / (count + _FOLD_PAIRS),
        )
        sane = self._sanity(tuning)
        if not plain:
            return weigh(self.cores, tuning, sane, self.rng)
        own = None if self.folds is None else self.folds.own
        whole = WholeLoss(self.left, self.crossing, self.rows, own)
        return one_nugget(self.cores, tuning, sane, whole)

    def _sanity(self, tuning: Tuning) -> SanityCheck:
        a, b = random_pairs(
            self.rows,
            self.columns,
            _SANITY_PAIRS,
            self.rng,
            symmetric=self.oracle.symmetric,
            square=self.oracle.square,
        )
        i, j = self.rows[a], self.columns[b]
        largest = largest_mean_square(tuning.values, tuning.weights)
        checks = [(self.cores.predictions(self.left[i], self.right[j]), largest)]
        if self.oracle.square and not self.diagonal_known:
            some = self.rng.permutation(self.rows)[:_SANITY_PAIRS]
            own = self.cores.predictions(self.left[some], self.right[some])
            diagonal = np.diag(self.crossing)
            checks.append((own, largest_mean_square(diagonal, np.ones(len(diagonal)))))
        return SanityCheck(checks)

    def factors(self, weights: FloatArray, *, plain: bool) -> Factors:
        """Return the factors of the weighted core."""
        core = self.cores.combined(weights)
        if self.oracle.symmetric:
            core = (core + core.T) / 2
        left, right = self.left, None if self.right is self.left else self.right
        nugget = self.cores.nugget(weights)
        if plain and nugget:
            left = _less_own(left, self.landmarks, nugget)
            right = None if right is None else _less_own(right, self.landmarks, nugget)
            nugget = 0.0
        return Factors(left, core, right, self.landmarks, self.row_landmarks, nugget)


def lines_price(planner: Planner, landmarks: int) -> int:
    """Count, in entries, the columns of landmarks, and their rows if those differ."""
    if planner.symmetric:
        return planner.price_of_columns(landmarks) // planner.per_entry
    return planner.price_of_cross(landmarks, landmarks, landmarks) // planner.per_entry


def affordable_lines(planner: Planner, entries: int) -> int:
    """Return the most landmarks whose lines cost no more than so many entries."""
    return _most(lambda count: lines_price(planner, count), min(planner.n, planner.m), entries)


def _most(price: Callable[[int], int], highest: int, room: int) -> int:
    """Return the largest count with a price within `room`; prices grow with the count."""
    low, high = 0, highest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if price(middle) <= room else (low, middle - 1)
    return low


def _less_own(tall: FloatArray, landmarks: IntArray, nugget: float) -> FloatArray:
    result = tall.copy()
    result[landmarks, np.arange(len(landmarks))] -= nugget
    return result
