"""One run: search, draw blind pairs, search on until they are reached, state the recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.recall import Recall, blind_pairs, state_recall
from fewpairs.guides.guides import Guide
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.all_pairs import all_matches, better_all
from fewpairs.tasks.matching.blind import Tails
from fewpairs.tasks.matching.drawing import Drawing
from fewpairs.tasks.matching.earlier import Earlier
from fewpairs.tasks.matching.search import Search
from fewpairs.tasks.matching.steering import LANDMARKS, Steering
from fewpairs.tasks.matching.symmetry import check_symmetry, pairs_to_check
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Evaluations by purpose.
Spent: TypeAlias = dict[str, int]
_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Where a statement needs half of all pairs, and they are many, as many are drawn as were
#: evaluated, or this many for each item.
_FOR_EACH = 10


class Run:
    """Carries a search out, and states its recall.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    threshold : Threshold
    allowed : int
        Pairs that may be evaluated; more than there are where nobody limits them.
    recall : float
        That is to be stated.
    rng : numpy.random.Generator
    unasked : bool, default=True
        Whether nobody has said how much may be spent.
    earlier : Earlier, optional
        What is stated already, of pairs outside of this universe.

    Attributes
    ----------
    spent : dict
        Evaluations by purpose.
    """

    def __init__(
        self,
        oracle: Oracle,
        universe: Universe,
        threshold: Threshold,
        allowed: int,
        recall: float,
        rng: np.random.Generator,
        *,
        unasked: bool = True,
        earlier: Earlier | None = None,
    ) -> None:
        self._unasked, self._earlier = unasked, earlier
        self._oracle, self._universe, self._threshold = oracle, universe, threshold
        self._recall, self._allowed = recall, min(allowed, universe.size)
        # What may be asked for beside all pairs: other orders, landmarks with themselves.
        self._room, self._spare = allowed, allowed - universe.size
        # Blind pairs are drawn from a source of their own: the order of the search must not depend
        # on how many numbers were drawn for them.
        self._rng, apart = (np.random.default_rng(rng.integers(2**63, size=4)) for _ in range(2))
        tails = Tails() if earlier is None else earlier.tails
        self._drawing = Drawing(oracle, universe, threshold, tails, apart)
        self.spent: Spent = {"ranked": 0, "landmarks": 0, "blind": 0, "symmetry": 0}
        self._ranked_at_draw = 0
        #: Pairs ranked, and blind matches missed, after each step since the draw.
        self._trail: list[tuple[int, int]] = []
        self._price_of_lines = self._own_entries = 0

    def carry_out(self, guides: list[Guide]) -> tuple[Recall, IntArray]:
        """Return what is stated, and the keys of all matches that were found."""
        universe = self._universe
        drawn = self._pairs_to_check()
        # What does not fit into memory is refused here, before anything is bought.
        search = Search(self._oracle, universe, self._threshold, guides, self._rng)
        self._check_symmetry(drawn)
        if self._earlier is not None:
            search.note(self._earlier.left, self._earlier.right)
        count = min(LANDMARKS, *map(len, universe.whole_lines))
        planner, limited = self._oracle.planner, self._allowed < universe.size
        steering = Steering(
            n_items=min(i.stop - i.start for block in universe.blocks for i in block),
            all_pairs=universe.size,
            allowed=self._allowed - (self.spent["symmetry"] // planner.per_entry if limited else 0),
            recall=self._recall,
            guided=search.guided,
            price_of_landmarks=planner.price_of_lines(count, count, count) // planner.per_entry,
            tail=self._drawing.tails.low,
        )
        while search.left and not self._is_settled(search, steering):
            self._expect(steering)
            if self._affords(search, steering, count) and steering.wants_landmarks(
                drawn=self._drawing.done
            ):
                self._buy(search, steering, count)
            elif not self._drawing.done and steering.is_time_to_draw:
                self._draw(search, steering.price, steering.may_miss)
                self._ranked_at_draw = steering.ranked
            elif (room := self._left_to_reach(search)) > 0:
                size, matches = self._charged("ranked", search.step, min(steering.batch, room))
                steering.ranked_batch(size, matches)
            else:
                break
        return self._stated(search)

    def evaluate_all(self) -> tuple[Recall, IntArray]:
        """Evaluate every pair instead, and return the same."""
        self._check_symmetry(self._pairs_to_check())
        self.spent["all_pairs"] = 0
        keys = self._charged(
            "all_pairs", all_matches, self._oracle, self._universe, self._threshold
        )
        size = self._universe.size
        stated = state_recall(
            len(keys), rest=0, drawn=0, missed=0, left=0, pairs=size, met=0, target=self._recall
        )
        return self._joined(stated), keys

    def blind_values(self) -> FloatArray:
        """Return similarities that stand for those of all pairs, for a histogram."""
        values = self._drawing.values(everything="all_pairs" in self.spent)
        return values[~np.isnan(values)]  # a skipped pair has none

    # ------------------------------------------------------------------ steps

    def _pairs_to_check(self) -> IntArray:
        return pairs_to_check(self._oracle, self._universe, self._room, self._rng)

    def _check_symmetry(self, keys: IntArray) -> None:
        self.spent["symmetry"] += check_symmetry(self._oracle, self._universe, keys)

    def _affords(self, search: Search, steering: Steering, landmarks: int) -> bool:
        """Whether landmarks fit beside what was drawn; with themselves, where all may be asked."""
        if self._spare < 0:
            return steering.price_of_landmarks <= self._left_to_reach(search)
        beside = self.spent["symmetry"] // 2 + self._own_entries + landmarks
        return self._oracle.planner.diagonal_known or beside <= self._spare

    def _buy(self, search: Search, steering: Steering, count: int) -> None:
        reached, found = len(search.labels), search.labels.found
        self._charged("landmarks", search.buy_landmarks, count)
        self._own_entries += count
        # What they cost alone: what was really paid depends on where blind pairs lie.
        self._price_of_lines += steering.price_of_landmarks * self._oracle.planner.per_entry
        pairs = len(search.labels) - reached
        steering.bought_landmarks(pairs, search.labels.found - found)
        if self._allowed < self._universe.size:
            # Landmarks compared with themselves are no pairs, and are paid for all the same.
            steering.allowed -= max(steering.price_of_landmarks - pairs, 0)

    def _draw(self, search: Search, count: int, may_miss: int = 0) -> None:
        left = search.left
        if 2 * count >= left and self._unasked:
            known, items = len(search.labels), self._universe.n + self._universe.m
            count = left if better_all(count, left, known) else max(known, _FOR_EACH * items)
        if self._allowed >= self._universe.size:
            # Few matches take more blind pairs than were expected: the bar must not stand at its
            # end while most of them are evaluated.
            ahead = min(count, left) * self._oracle.planner.per_entry
            self._oracle.replan(self._oracle.spent + ahead)
        self._charged("blind", self._drawing.draw, search.labels, count, may_miss)

    def _is_settled(self, search: Search, steering: Steering) -> bool:
        """Whether the recall can be stated; if it could be by more blind pairs, draw them."""
        if not self._drawing.done:
            return False
        first = self._drawing.first
        if self._allowed >= self._universe.size:
            first.allow_for(self._recall, search.labels.found)
        if len(first.missed) <= first.may_miss:
            # Within a budget that is too small for a statement, at least more can be found.
            return self._allowed >= self._universe.size or self._stated(search)[0].reached
        self._trail.append((steering.ranked, len(first.missed)))
        dug = steering.ranked - self._ranked_at_draw
        worth_digging = max(len(first.keys), self._ranked_at_draw)
        if self._allowed < self._universe.size or dug < worth_digging:
            return False
        further = first.further(self._recall, search.labels.found + len(first.missed))
        going_on = min(self._going_on(), search.left)
        evaluated = len(search.labels) + len(first.keys)
        if further is None or further > min(going_on, evaluated):
            return False  # the search itself is the cheaper way, as yet
        self._draw(search, further)
        return True

    def _going_on(self) -> float:
        """Return how many pairs it will take to reach enough blind matches, as it looks now.

        As if each pair brought the same share of those that are missed, as in the latter half of
        what was ranked since the draw. Ever fewer do, so this is the least; a second draw is paid
        for at once.
        """
        ranked, missed = self._trail[-1]
        half = (self._ranked_at_draw + ranked) / 2
        then, before = next(step for step in self._trail if step[0] >= half)
        if before == missed:
            return np.inf
        share = np.log(before / missed) / (ranked - then)
        return float(np.log(missed / (self._drawing.first.may_miss + 0.5)) / share)

    def _expect(self, steering: Steering) -> None:
        """Say what the run will take, as it looks now; at first, with a match for each item."""
        if self._allowed < self._universe.size:
            return
        rest = self._universe.size - steering.reached
        matches = max(steering.found, steering.n_items)
        ahead = 0 if self._drawing.done else blind_pairs(self._recall, matches, rest)
        further = min(ahead + steering.batch, rest) * self._oracle.planner.per_entry
        self._oracle.replan(self._oracle.spent + further)

    def _left_to_reach(self, search: Search) -> int:
        """Return how many pairs may still be reached, as if none of them was drawn blindly.

        Otherwise the end of the search would depend on where blind pairs lie.
        """
        if self._allowed >= self._universe.size:
            return search.left
        beside = self.spent["symmetry"] + self._price_of_lines
        # Not what the blind pairs have cost: some may have been asked for before, in both orders.
        drawn = self._drawing.count
        return self._allowed - search.ranked - drawn - beside // self._oracle.planner.per_entry

    def _charged(
        self, purpose: str, action: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs
    ) -> _R:
        """Do something, and note what it has cost."""
        before = self._oracle.spent
        result = action(*args, **kwargs)
        self.spent[purpose] += self._oracle.spent - before
        return result

    # ------------------------------------------------------------------ the statement

    def _joined(self, stated: Recall) -> Recall:
        return stated if self._earlier is None else self._earlier.joined(stated)

    def _stated(self, search: Search) -> tuple[Recall, IntArray]:
        stated, keys = self._drawing.stated(search.labels, self._recall)
        return self._joined(stated), keys


def added(spent: Spent, more: Spent) -> Spent:
    """Return what both have cost, purpose by purpose."""
    return {purpose: spent.get(purpose, 0) + more.get(purpose, 0) for purpose in spent | more}
