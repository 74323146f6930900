"""The recipe: columns, a weighted sum of regularised cores, and the pairs that matter most.

docs/fitted.md has its mathematics, and what each part is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, is_number
from fewpairs.error.sampling import Drawn
from fewpairs.guides.guides import Guide
from fewpairs.methods.base import Fit, KnownOption, Method
from fewpairs.methods.fitted.choice import choose_core
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.near_duplicates import memory_of_search
from fewpairs.methods.fitted.near_pairs import buy_near_pairs
from fewpairs.methods.fitted.stage import FEW, Sample, Stage
from fewpairs.methods.options import COUNT, KNOWN, SHARE, Check, option
from fewpairs.numerics import most_affordable
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner

#: Fewer than 500 pairs weigh seventy candidates badly; beyond 6,000 columns are worth more.
_FEWEST_TUNING, _MOST_TUNING = 500, 6000
#: A plain result has no diagonal and no near-duplicates to lean on: columns are worth more to it.
_PLAIN_TUNING, _FEWEST_PLAIN = 1 / 3, 200
#: Tuning pairs are at most a tenth of what is spent, and a quarter of the pairs that are left.
_MOST_OF_SPENT, _MOST_OF_LEFT = 1 / 10, 1 / 4
#: Profiles of two sets with fewer lines than this hardly find near-duplicates: of 2,000 items with
#: 11 lines half of them rank behind 4 % of all pairs, with 40 lines behind 0.1 %.
_FEW_ACROSS = 20

DiagonalOption: TypeAlias = Literal["evaluate"] | float | None
_DIAGONAL = Check(
    lambda value: value is None or value == "evaluate" or (is_number(value) and value >= 0),
    '"evaluate", the number that every item has, or None',
)


#: Where a step has bought a batch of near-duplicates that was not worth it, a next step looks for
#: them again when it has this many times as many landmarks: profiles have become better by then.
_SEARCH_AGAIN = 1.5


class State(NamedTuple):
    """What a next step, or further pairs, go on from."""

    stage: Stage
    sample: Sample


@dataclass(frozen=True)
class Fitted(Method):
    """Uniform columns, cores weighted on importance-drawn pairs, near-duplicates evaluated.

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
        diagonal nor near-duplicates are evaluated.
    guides : tuple of Guide
        No option: `guided_by` sets it.
    """

    near: float = option(0.25, SHARE)
    neighbors: int = option(12, COUNT)
    tuning: float = option(0.03, SHARE)
    diagonal: DiagonalOption = option("evaluate", _DIAGONAL)
    known: KnownOption = option("exact", KNOWN)
    guides: tuple[Guide, ...] = field(default=(), compare=False, repr=False)
    needs_square: ClassVar[bool] = False
    grows: ClassVar[bool] = True
    # Single pairs are bought where they are worth it, which is known only later.
    price_is_most: ClassVar[bool] = True
    spends_allowance: ClassVar[bool] = True
    streams: ClassVar[bool] = True
    puts_back: ClassVar[bool] = True

    def guided_by(self, guides: Sequence[Guide]) -> Fitted:
        """Return the same method, which follows guides as far as they are worth it."""
        return replace(self, guides=tuple(guides))

    @cached_property
    def terms(self) -> GuideTerms | None:
        """What the guides say of entries; None where there are none."""
        return GuideTerms(list(self.guides)) if self.guides else None

    @property
    def follows_guides(self) -> bool:
        """Whether there are guides, whose vectors the values are compared with."""
        return bool(self.guides)

    @property
    def declared_diagonal(self) -> float | None:
        """The number that every item has with itself, where the user has given one."""
        return float(self.diagonal) if is_number(self.diagonal) else None

    def price(self, planner: Planner, landmarks: int) -> int:
        """Return the most that a run with this many starting landmarks spends."""
        base = self._base(planner, landmarks)
        near = self._near_share(landmarks, square=planner.square)
        total = base
        # Tuning pairs are a share of the total: a fixed point, reached to within a pair in a few
        # rounds, because each takes a thirtieth of the change before it.
        for _ in range(8):
            total = int((base + self._tuning_pairs(total)) / (1 - near))
        entries = min(total, planner.price_of_everything // planner.per_entry)
        return max(entries, base) * planner.per_entry

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,
        last: Fit | None = None,
    ) -> Fit:
        """Read columns, tune the core, evaluate near-duplicates; spend what an allowance leaves.

        Parameters
        ----------
        oracle : Oracle
        landmarks : ndarray
            Where to start.
        rng : numpy.random.Generator
        allowance : int, optional
            Evaluations that may be spent in all; None stays with the given landmarks. With `last`,
            the most that this step may spend.
        last : Fit, optional
            Of fewer of these landmarks: its single pairs are used again.

        Returns
        -------
        Fit
        """
        planner = oracle.planner
        # In entries, and as if nothing were remembered: what was paid for already, as by a
        # selector, counts all the same.
        whole = None if last is not None else allowance
        most = (whole or self.price(planner, len(landmarks))) // planner.per_entry
        before = oracle.spent
        base = self._base(planner, len(landmarks))
        if whole is not None and len(landmarks) >= FEW:
            oracle.expect_columns(_affordable_lines(planner, most))
        stage = Stage(oracle, landmarks, rng)
        if self._evaluates_diagonal and oracle.square:
            oracle.diagonal()
        sample = Sample.none() if last is None else last.state.sample
        if not stage.finished:
            pairs = min(self._tuning_pairs(most), int(stage.free_pairs * _MOST_OF_LEFT))
            if _redrawn(sample, pairs):
                sample = stage.draw_tuning(pairs, sample, self.terms)
            due = len(landmarks) >= _SEARCH_AGAIN * sample.idle_since
            share = self._near_share(len(landmarks), square=oracle.square)
            if due and share and stage.folds is not None:
                room = most - base - len(sample.values) - sample.lost
                if last is not None:
                    room = int(self.near * most) - len(sample.near_keys)
                    if allowance is not None:
                        spent = oracle.spent - before
                        room = min(room, (allowance - spent) // planner.per_entry)
                sample = buy_near_pairs(stage, sample, self.neighbors, room, self.terms)
            if whole is not None:
                stage.drop_profiles()
                left = most - base - sample.bought
                stage = stage.with_more_landmarks(left)
        return self._fitted(stage, sample)

    def price_of_step(self, planner: Planner, last: Fit, held: int, landmarks: int) -> int:
        """Count the new lines, and tuning pairs where they are drawn anew."""
        lines = planner.price_of_lines(landmarks, landmarks, landmarks)
        lines -= planner.price_of_lines(held, held, held)
        pairs = self._tuning_pairs(self.price(planner, landmarks) // planner.per_entry)
        return lines + (pairs * planner.per_entry if _redrawn(last.state.sample, pairs) else 0)

    def memory(self, planner: Planner, landmarks: int) -> int:
        """Count the lines; with guides their vectors too, and lines less what they say."""
        lines = super().memory(planner, landmarks)
        if self.terms is None:
            return lines
        sides = 1 if planner.symmetric and planner.square else 2
        width = int(self.terms.left.shape[1]) + 1
        return 2 * lines + sides * (8 + 4) * max(planner.n, planner.m) * width

    def working_memory(self, planner: Planner, landmarks: int) -> int:
        """Count profiles in single precision, and the search for near-duplicates among them."""
        profiles = 4 * planner.sides * landmarks
        if not self._near_share(landmarks, square=planner.square):
            return profiles
        return profiles + memory_of_search(max(planner.n, planner.m), self.neighbors, landmarks)

    def memory_beside_disk(self, planner: Planner, landmarks: int) -> int:
        """Count the search for near-duplicates, whose profiles are on disk."""
        if not self._near_share(landmarks, square=planner.square):
            return 0
        return memory_of_search(max(planner.n, planner.m), self.neighbors, landmarks, on_disk=True)

    def files_beside(self, planner: Planner, landmarks: int) -> int:
        """Count the profiles, and for a plain result the columns less the landmarks' own share."""
        return (2 if self.known is None else 1) * 4 * planner.sides * landmarks

    def refit(self, fit: Fit, more: Drawn, values: FloatArray) -> Fit:
        """Tune again, on further pairs too."""
        state: State = fit.state
        return self._fitted(state.stage, state.sample.with_pairs(more, values))

    def _fitted(self, stage: Stage, sample: Sample) -> Fit:
        fit = choose_core(stage, sample, self.terms, plain=self.known is None)
        profiles = stage.drop_profiles()
        return replace(fit, profiles=profiles, state=State(stage, sample))

    def _near_share(self, landmarks: int, *, square: bool) -> float:
        enough = landmarks >= (FEW if square else _FEW_ACROSS)
        return self.near if enough and self.known is not None else 0.0

    @property
    def _evaluates_diagonal(self) -> bool:
        return self.diagonal == "evaluate" and self.known is not None

    def _tuning_pairs(self, total: int) -> int:
        share, fewest = self.tuning, _FEWEST_TUNING
        if self.known is None:
            share, fewest = share * _PLAIN_TUNING, _FEWEST_PLAIN
        return min(int(np.clip(share * total, fewest, _MOST_TUNING)), int(total * _MOST_OF_SPENT))

    def _base(self, planner: Planner, landmarks: int) -> int:
        """Count, in entries, columns (rows too, if asymmetric) and the diagonal."""
        lines = planner.price_of_lines(landmarks, landmarks, landmarks) // planner.per_entry
        free = planner.diagonal_known or not planner.square or not self._evaluates_diagonal
        return lines + (0 if free else planner.n - landmarks)


def _redrawn(sample: Sample, pairs: int) -> bool:
    """Whether the tuning pairs have become few beside what is spent, or there are none."""
    return pairs > 2 * len(sample.values) or len(sample.values) == 0


def _affordable_lines(planner: Planner, entries: int) -> int:
    """Return the most landmarks whose lines cost no more than so many entries."""
    most = min(planner.n, planner.m)
    room = entries * planner.per_entry
    return most_affordable(lambda count: planner.price_of_lines(count, count, count), most, room)
