"""What the default method knows at one number of landmarks, and which pairs it buys there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.error.profiles import paired_profiles, profiles
from fewpairs.error.sampling import FEWEST_COLUMNS, Beliefs, Drawn, draw
from fewpairs.factored.factors import factored_entries
from fewpairs.methods.fitted.cores import Cores, gap_of, least_ridge, nuggets_for
from fewpairs.methods.fitted.folds import Folds, landmark_folds
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.near_duplicates import near_between, near_duplicates
from fewpairs.methods.fitted.weights import Normal
from fewpairs.numerics import double, most_affordable
from fewpairs.oracle.oracle import Oracle

#: Below this many landmarks a fold would hold out a single one, and similar columns say little.
FEW = FEWEST_COLUMNS
#: What the folds' equations count beside the tuning pairs' in a first core, which only decides when
#: near-duplicates stop. From 0.03 to 3 nearly the same pairs are bought (docs/tables/constants.md).
_FOLDS_BESIDE_PAIRS = 0.3


@dataclass(frozen=True, eq=False)
class Sample:
    """Single pairs that were evaluated: drawn ones to tune on, and keys of near-duplicates.

    `idle_since` is the number of landmarks at which near-duplicates were last worth less than
    columns; 0 if they were worth it. `lost` of the drawn pairs have no value, and are left out.
    `near_like` says which of the (first) drawn pairs bought near-duplicates stand for, `hinted`
    that a guide had a say in which pairs were drawn.
    """

    drawn: Drawn
    values: FloatArray
    near_keys: IntArray
    idle_since: int = 0
    lost: int = 0
    near_like: BoolArray | None = None
    hinted: bool = False

    @property
    def stands_for_near(self) -> BoolArray:
        """Which drawn pairs are like near-duplicates that were bought."""
        like = np.zeros(len(self.values), dtype=bool)
        if self.near_like is not None:
            like[: len(self.near_like)] = self.near_like
        return like

    @property
    def bought(self) -> int:
        """Number of single pairs that were asked for."""
        return len(self.values) + self.lost + len(self.near_keys)

    @classmethod
    def none(cls) -> Sample:
        """No pairs."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(Drawn(nothing, nothing, np.empty(0)), np.empty(0), nothing)

    def with_pairs(self, more: Drawn, values: FloatArray) -> Sample:
        """Tune on further drawn pairs too; weights have a mean of about 1 in every draw."""
        mine, usable = self.drawn, ~np.isnan(values)
        more, values = more.only(usable), values[usable]
        drawn = Drawn(
            np.concatenate([mine.rows, more.rows]),
            np.concatenate([mine.columns, more.columns]),
            np.concatenate([mine.weights, more.weights]),
        )
        return replace(self, drawn=drawn, values=np.concatenate([self.values, values]))


class Stage:
    """Both factors, the grid of cores between them, and the folds.

    Parameters
    ----------
    oracle : Oracle
    landmarks : ndarray
        Items whose columns are read; of a square matrix that is not symmetric, their rows too.
        A rectangular one has as many landmarks among its rows, those that were read before first.
    rng : numpy.random.Generator

    Attributes
    ----------
    left, right : ndarray
        Columns and (transposed) rows of the landmarks.
    crossing : ndarray
        W, where rows and columns of the landmarks meet.
    rows, columns : ndarray
        Items that are no landmarks: what is to be predicted lies between them.
    gap : float
        Mean of W's diagonal less the mean of its other entries; 0 where there is no diagonal.
    cores : Cores
        Candidates.
    """

    def __init__(self, oracle: Oracle, landmarks: IntArray, rng: np.random.Generator) -> None:
        self.oracle, self.landmarks, self.rng = oracle, landmarks, rng
        self.row_landmarks = landmarks
        if not oracle.square:
            read = oracle.known().rows.index
            others = np.setdiff1d(np.arange(oracle.shape[0]), read)
            self.row_landmarks = np.concatenate([read, rng.permutation(others)])[: len(landmarks)]
        self.left = oracle.columns(landmarks)
        self.right = self.left if oracle.symmetric else oracle.rows(self.row_landmarks).T
        self.crossing = double(self.left[self.row_landmarks])
        self.rows = np.setdiff1d(np.arange(oracle.shape[0]), self.row_landmarks)
        self.columns = self.rows
        if not oracle.square:
            self.columns = np.setdiff1d(np.arange(oracle.shape[1]), landmarks)
        self.gap = max(gap_of(self.crossing), 0.0) if oracle.square else 0.0
        # Where nothing is left to predict, one candidate is enough.
        gap = 0.0 if self.finished else self.gap
        self.cores = Cores.of(
            self.crossing,
            gap,
            symmetric=oracle.symmetric,
            least_ridge=least_ridge(self.left),
            nuggets=nuggets_for(len(landmarks), symmetric=oracle.symmetric),
        )
        self._predicted: tuple[Drawn, FloatArray] | None = None

    @property
    def finished(self) -> bool:
        """Whether every entry lies in a landmark's row or column."""
        return not len(self.rows) or not len(self.columns)

    @property
    def free_pairs(self) -> int:
        """Number of pairs of items that are no landmarks."""
        n, m = len(self.rows), len(self.columns)
        if not self.oracle.square:
            return n * m
        return n * (n - 1) // 2 if self.oracle.symmetric else n * (n - 1)

    @property
    def diagonal_known(self) -> bool:
        """Whether self-similarities were declared or evaluated."""
        return self.oracle.known().diagonal is not None

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

    @cached_property
    def profiles(self) -> SingleArray | None:
        """Profiles of the items that are no landmarks, from their columns (and rows)."""
        if not self.oracle.square:
            return None
        others = None if self.right is self.left else self.right
        return profiles(self.left, self.rows, others)

    def drop_profiles(self) -> SingleArray | None:
        """Give the profiles away if they were worked out; they take half as much as the columns."""
        given: SingleArray | None = self.__dict__.pop("profiles", None)
        return given

    # ------------------------------------------------------------------ which pairs

    def draw_tuning(self, count: int, last: Sample, terms: GuideTerms | None = None) -> Sample:
        """Draw and evaluate the pairs that the core is tuned on, in place of the last ones.

        Where landmarks are too few, a guide has a say in which pairs are drawn: uniform ones
        would hardly have the few large entries that it could be recognised by.
        """
        beliefs, hinted = None, False
        if self.folds is not None:
            beliefs = self._beliefs(self.cores.combined(self.folds.pairs.non_negative()))
        elif terms is not None:
            beliefs, hinted = self._hints(terms), True
        drawn = draw(
            self.rows,
            self.columns,
            count,
            self.rng,
            symmetric=self.oracle.symmetric,
            square=self.oracle.square,
            # Those set aside to judge by included.
            excluded=np.union1d(self.oracle.known().keys, self.oracle.reserved),
            width=self.oracle.shape[1],
            beliefs=beliefs,
        )
        values = self.oracle.entries(drawn.rows, drawn.columns)
        usable = ~np.isnan(values)
        lost = int((~usable).sum())
        return replace(
            last,
            drawn=drawn.only(usable),
            values=values[usable],
            lost=lost,
            near_like=None,
            hinted=hinted,
        )

    def _beliefs(self, core: FloatArray) -> Beliefs:
        return Beliefs(
            lambda i, j: factored_entries(self.left, core, self.right, i, j),
            self.rows,
            self.columns,
            self.profiles,
            self.profiles,
            float(self.left.min()),
            float(self.left.max()),
        )

    def _hints(self, terms: GuideTerms) -> Beliefs:
        """Return what guides say of pairs."""
        count = len(terms.guides)
        root = np.float32(np.sqrt(count))
        return Beliefs(
            lambda i, j: terms.at(i, j)[:, :count].mean(axis=1),
            self.rows,
            self.columns,
            terms.left[self.rows] / root,
            terms.right[self.columns] / root,
            -np.inf,
            np.inf,
        )

    def near_vectors(self) -> tuple[SingleArray, SingleArray]:
        """Return unit vectors by which rows and columns that are no landmarks are compared."""
        if self.profiles is not None:
            return self.profiles, self.profiles
        return paired_profiles(self.left, self.rows, self.right, self.columns, self.crossing)

    def near_pairs(
        self, vectors: tuple[SingleArray, SingleArray], per_item: int
    ) -> tuple[IntArray, IntArray]:
        """Return pairs of items with similar vectors, most similar first, not yet known."""
        left, right = vectors
        if not self.oracle.square:
            i, j = near_between(left, right, per_item, self.rng)
            i, j = self.rows[i], self.columns[j]
        else:
            i, j = near_duplicates(left, per_item, self.rng)
            i, j = self.rows[i], self.rows[j]
            if not self.oracle.symmetric:  # both orders
                i, j = np.stack([i, j], axis=1).ravel(), np.stack([j, i], axis=1).ravel()
        known = self.oracle.known()
        fresh = ~np.isin(known.keys_of(i, j), known.keys)
        return i[fresh], j[fresh]

    def preliminary(self, sample: Sample) -> tuple[FloatArray, float]:
        """Return a first core, and an estimate of its squared error over all pairs off the lines.

        The estimate is made on the pairs that the core is fitted to, so that it is a little low.
        """
        assert self.folds is not None  # noqa: S101 - the caller looked
        drawn, values = sample.drawn, sample.values
        guessed = self.predictions(drawn)
        own, free = Normal.of(guessed, values, drawn.weights), self.folds.pairs
        weights = own.plus_share_of(free, _FOLDS_BESIDE_PAIRS).non_negative()
        total = max(float(drawn.weights.sum()), np.finfo(float).tiny)
        mean = float(drawn.weights @ (guessed @ weights - values) ** 2) / total
        return self.cores.combined(weights), mean * len(self.rows) * len(self.columns)

    def predictions(self, drawn: Drawn) -> FloatArray:
        """Return what every candidate says of drawn pairs; kept, for they are asked for twice."""
        if self._predicted is None or self._predicted[0] is not drawn:
            made = self.cores.pair_predictions(self.left, self.right, drawn.rows, drawn.columns)
            self._predicted = drawn, made
        return self._predicted[1]

    def with_more_landmarks(self, room: int) -> Stage:
        """Spend `room` entries on further uniform landmarks."""
        planner = self.oracle.planner
        held = len(self.landmarks)
        # A diagonal that was evaluated one by one is not asked for again.
        saves = self.oracle.square and planner.by_pairs_only and not planner.diagonal_known
        saves = saves and self.diagonal_known

        def lines(count: int) -> int:
            return planner.price_of_lines(count, count, count) // planner.per_entry

        def cost(more: int) -> int:
            return lines(held + more) - lines(held) - (more if saves else 0)

        count = most_affordable(cost, min(len(self.rows), len(self.columns)), room)
        if count == 0:
            return self
        more = self.rng.permutation(self.columns)[:count]
        return Stage(self.oracle, np.concatenate([self.landmarks, more]), self.rng)
