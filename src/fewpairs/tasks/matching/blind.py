"""Blind pairs: drawn uniformly, whatever anyone predicts, and kept from the search.

They are evaluated when they are drawn, and the search reaches them later, in its own order, or does
not. Those of their matches that it has not reached tell how many matches it has not reached at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.recall import (
    HIGH_TAIL,
    LOW_TAIL,
    SECOND_TAIL,
    Recall,
    blind_pairs,
    leave_to_miss,
    state_recall,
)
from fewpairs.numerics import PAIRS_AT_A_TIME, contains, distinct, parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import require_memory
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Misses up to which a second draw is thought of. One that allows for forty costs three to ten
#: times what one without a miss does (by the quantiles of Beta(41, L + 1) and Beta(1, L + 1) for
#: 20 to 1,000 matches that may be missing), and a run makes none that is larger than all that it
#: has evaluated.
_MOST_MISSED = 40
#: Bytes of a blind pair for as long as the run lasts: its key here, and with its value what the
#: oracle remembers; whether it matches, while that is found out.
_PER_PAIR = 8 + 16 + 1


class Tails(NamedTuple):
    """Chances that the truth lies below or above, and below what a second draw states."""

    low: float = LOW_TAIL
    high: float = HIGH_TAIL
    second: float = SECOND_TAIL


class Blind:
    """Blind pairs among all that a search has not reached.

    The search does not know which pairs these are, so that every match comes in the same place of
    its order whether it was drawn or not. It stops when it has reached all of their matches but
    `may_miss`, or for reasons that have nothing to do with them. Either way the last L matches of
    that order are a fixed set, each drawn with the same chance: if few of them were, L is small, or
    the draw was an unlikely one. How unlikely it may have been is the chance that a statement has
    of being false. docs/finding.md has the formula.

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
        How many of their matches the search need not reach; see `allow_for`.
    taken : ndarray, optional
        Keys of blind pairs that were drawn before, and led to this draw: it states with so much
        more care that both statements together fail as often as one may.
    tails : Tails
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
        tails: Tails = Tails(),  # noqa: B008 - it never changes
    ) -> None:
        known = labels.keys if taken is None else distinct(labels.keys, taken)
        self.rest = universe.size - len(known)
        kept = min(count, self.rest)
        require_memory(
            _PER_PAIR * kept,
            f"{kept:,} pairs that are drawn blindly and kept",
            "Pass a budget (a smaller one, if there is one), or a smaller recall",
        )
        self.keys = universe.draw(count, known, rng)
        chunks = [self.keys[part] for part in parts(len(self.keys), PAIRS_AT_A_TIME)]
        holds = [threshold.holds(oracle.entries(*universe.places(keys))) for keys in chunks]
        self.matches: IntArray = self.keys[np.concatenate([np.empty(0, dtype=bool), *holds])]
        self._labels, self._universe = labels, universe
        self._second = tails.second
        self._tails = (tails.low, tails.high) if taken is None else (tails.second, 0.0)
        self.may_miss, self._reached_at_draw = may_miss, len(labels)
        #: Matches that are known although the search has not reached them.
        self._elsewhere = np.empty(0, dtype=np.int64) if taken is None else taken

    def allow_for(self, recall: float, found: int) -> None:
        """Give leave to miss more, where the search itself has found more than at the draw."""
        self.may_miss = leave_to_miss(
            recall,
            found,
            rest=self.rest,
            drawn=len(self.keys),
            before=self.may_miss,
            most=_MOST_MISSED,
            tail=self._tails[0],
        )

    def further(self, recall: float, found: int) -> int | None:
        """Return how many more blind pairs would state a recall, as it looks now.

        As many of their matches will be missed as of the first ones, and the square root more, so
        that five draws of six (of a Poisson number) state it. None where too many are.
        """
        rest = self.rest - len(self.keys)
        rate = len(self.missed) / max(len(self.keys), 1)
        for missed in range(_MOST_MISSED):
            count = blind_pairs(recall, found, rest, missed=missed, tail=self._second)
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
        known = self.keys
        if len(self._elsewhere):
            known = distinct(known, self._elsewhere)
        twice = int(contains(known, self._labels.keys).sum())
        left = self._universe.size - len(self._labels) - len(known) + twice
        return state_recall(
            len(self.found(others)),
            rest=self.rest,
            drawn=len(self.keys),
            missed=len(self.missed),
            left=left,
            pairs=self._universe.size,
            met=len(self.matches),
            may_miss=self.may_miss if len(self._labels) > self._reached_at_draw else 0,
            target=target,
            tails=self._tails,
        )
