"""Blind pairs: drawn uniformly, whatever anyone predicts, and kept from the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.recall import (
    HIGH_TAIL,
    LOW_TAIL,
    SECOND_TAIL,
    Recall,
    blind_pairs,
    state_recall,
)
from fewpairs.numerics import distinct, parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: With more misses allowed, blind pairs cost more than they could state.
_MOST_MISSED = 40
#: Pairs that are asked for at a time: some megabytes of temporary arrays.
_AT_A_TIME = 2**20


class Blind:
    """Blind pairs among all that a search has not reached.

    The search does not know which pairs these are, and reaches them in their turn. It stops when
    it has reached all their matches, or for reasons of its own. Either way, of the matches that it
    has not reached each is among the blind pairs with the same chance, and as many are there as a
    draw of that size has of them, or fewer with the chance that the statement allows for.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    threshold : Threshold
    labels : Labels
        Of the search.
    count : int
    rng : numpy.random.Generator
    may_miss : int, default=0
        How many of their matches the search need not reach.
    taken : ndarray, optional
        Keys of blind pairs that were drawn before, and led to this draw: it states with so much
        more care that both statements together fail as often as one may.
    """

    def __init__(
        self,
        oracle: Oracle,
        universe: Universe,
        threshold: Threshold,
        labels: Labels,
        count: int,
        rng: np.random.Generator,
        *,
        taken: IntArray | None = None,
        may_miss: int = 0,
    ) -> None:
        known = labels.keys if taken is None else distinct(labels.keys, taken)
        self.rest = universe.size - len(known)
        self.keys = universe.draw(count, known, rng)
        chunks = [self.keys[part] for part in parts(len(self.keys), _AT_A_TIME)]
        holds = [threshold.holds(oracle.entries(*universe.places(keys))) for keys in chunks]
        self.matches: IntArray = self.keys[np.concatenate([np.empty(0, dtype=bool), *holds])]
        self._labels, self._universe = labels, universe
        self._tails = (LOW_TAIL, HIGH_TAIL) if taken is None else (SECOND_TAIL, 0.0)
        self._may_miss, self._reached_at_draw = may_miss, len(labels)
        #: Matches that are known although the search has not reached them.
        self._elsewhere = np.empty(0, dtype=np.int64) if taken is None else taken

    def further(self, recall: float, found: int) -> int | None:
        """Return how many more blind pairs would state a recall, as it looks now.

        As many of their matches are missed as of the first ones, give or take the square root.
        None where too many are.
        """
        rest = self.rest - len(self.keys)
        rate = len(self.missed) / max(len(self.keys), 1)
        for missed in range(_MOST_MISSED):
            count = blind_pairs(recall, found, rest, missed=missed, tail=SECOND_TAIL)
            expected = rate * count
            if missed >= expected + expected**0.5:
                return count
        return None

    @property
    def missed(self) -> IntArray:
        """Keys of the matches that the search has not reached."""
        return self.matches[~self._labels.hold(self.matches)]

    def found(self, others: IntArray) -> IntArray:
        """Return the keys of all matches that are known, with those of other blind pairs."""
        return distinct(self._labels.matches(), self.matches, others)

    def state(self, target: float | None, others: IntArray) -> Recall:
        """State the recall of everything that was found."""
        known = distinct(self.keys, self._elsewhere)
        left = self._universe.size - len(self._labels) - int((~self._labels.hold(known)).sum())
        return state_recall(
            len(self.found(others)),
            rest=self.rest,
            drawn=len(self.keys),
            missed=len(self.missed),
            left=left,
            pairs=self._universe.size,
            met=len(self.matches),
            may_miss=self._may_miss if len(self._labels) > self._reached_at_draw else 0,
            target=target,
            tails=self._tails,
        )

    def state_of_candidates(self, target: float | None) -> Recall:
        """State the recall of what was reached alone, without what blind pairs have added."""
        missed = len(self.missed)
        stated = self.state(target, np.empty(0, dtype=np.int64))
        shares = [
            share * (stated.found - missed) / stated.found if stated.found else share
            for share in (stated.value, stated.low, stated.high)
        ]
        value, low, high = shares
        return replace(stated, value=value, low=low, high=high, found=stated.found - missed)
