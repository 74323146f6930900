"""The blind draws of a run, one or two, and what they state."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.recall import Recall, state_recall
from fewpairs.numerics import distinct
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import at_a_time
from fewpairs.tasks.matching.blind import Blind, Tails
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Pairs of which the similarities are kept for a histogram: 16 MB at most.
_SHOWN = 2**21
#: Bytes that a pair takes while it is drawn to be shown, rounded up.
_PER_SHOWN = 60


class Drawing:
    """Draws blind pairs, and states the recall by them.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    threshold : Threshold
    tails : Tails
    rng : numpy.random.Generator
        Of the draws alone.
    """

    def __init__(
        self,
        oracle: Oracle,
        universe: Universe,
        threshold: Threshold,
        tails: Tails,
        rng: np.random.Generator,
    ) -> None:
        self._oracle, self._universe, self._threshold = oracle, universe, threshold
        self.tails, self._rng = tails, rng
        self._draws: list[Blind] = []
        #: Every so-many-th of the pairs that were reached before the first draw.
        self._reached_before: IntArray = np.empty(0, dtype=np.int64)

    @property
    def done(self) -> bool:
        """Whether blind pairs were drawn."""
        return bool(self._draws)

    @property
    def count(self) -> int:
        """Number of blind pairs."""
        return sum(len(blind.keys) for blind in self._draws)

    @property
    def first(self) -> Blind:
        """The first draw, which decides how long the search goes on."""
        return self._draws[0]

    def draw(self, labels: Labels, count: int, may_miss: int) -> None:
        """Draw pairs among those that were not reached, and not drawn before."""
        before = distinct(*(blind.keys for blind in self._draws)) if self._draws else None
        reached = labels.keys
        blind = Blind(
            self._oracle,
            self._universe,
            self._threshold,
            labels,
            count,
            self._rng,
            taken=before,
            may_miss=may_miss,
            tails=self.tails,
        )
        if not self._draws:
            share = len(blind.keys) / max(blind.rest, 1)
            some = np.linspace(0, len(reached) - 1, round(share * len(reached)))
            self._reached_before = reached[some.round().astype(np.int64)]
        self._draws.append(blind)

    def stated(self, labels: Labels, target: float) -> tuple[Recall, IntArray]:
        """Return what is stated of everything that was found, and the keys of all of it."""
        if self._draws:
            others = np.concatenate([blind.matches for blind in self._draws])
            last = self._draws[-1]
            return last.state(target, others), last.found(others)
        left = self._universe.size - len(labels)
        stated = state_recall(
            labels.found,
            rest=left,
            drawn=0,
            missed=0,
            left=left,
            pairs=self._universe.size,
            met=0,
            target=target,
        )
        return stated, labels.matches()

    def values(self, *, everything: bool) -> FloatArray:
        """Return similarities that stand for those of all pairs.

        They are those of the blind pairs, and as large a share of what was reached before the draw.
        """
        none: IntArray = np.empty(0, dtype=np.int64)
        if everything:
            # All is bought: as many as fit, for a picture.
            count = at_a_time(_SHOWN, _PER_SHOWN)
            shown = self._universe.draw(count, none, self._rng)
        else:
            shown = _some_of_both(self.first.keys if self._draws else none, self._reached_before)
        return self._oracle.entries(*self._universe.places(shown))


def _some_of_both(keys: IntArray, others: IntArray) -> IntArray:
    """Return every so-many-th of two lists that share no key, as if they were one.

    Both are in order, so that every so-many-th is as uniform as all. A copy of all would take as
    much memory as they do.
    """
    length = len(keys) + len(others)
    chosen = np.arange(0, length, max(1, -(-length // _SHOWN)))
    place = np.searchsorted(keys, others) + np.arange(len(others))
    before = np.searchsorted(place, chosen)  # how many of the others come first
    shown = np.empty(len(chosen), dtype=np.int64)
    theirs = np.isin(chosen, place, assume_unique=True)
    shown[theirs], shown[~theirs] = others[before[theirs]], keys[(chosen - before)[~theirs]]
    return shown
