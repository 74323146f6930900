"""An audit: blind pairs outside of given candidates, no more of them than tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.audited import state_given
from fewpairs.error.recall import Recall
from fewpairs.numerics import PAIRS_AT_A_TIME
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.all_pairs import all_matches
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Matches outside of the candidates after which no more pairs are drawn unasked. As many blind
#: pairs as state a recall meet three of them or so if it is true (3.1 where there are many): with
#: thirty it is out of reach, and how many are missing is known: a third more, or 43 % fewer.
ENOUGH = 30
#: Pairs that are evaluated before they are counted: at first, and later as a share of all so far.
_FIRST, _SHARE = 256, 8


class Missed(NamedTuple):
    """Matches that are none of the candidates: keys in order, and similarities."""

    keys: IntArray
    values: FloatArray


def audit(
    oracle: Oracle,
    universe: Universe,
    threshold: Threshold,
    candidates: Labels,
    count: int,
    rng: np.random.Generator,
    *,
    target: float,
    enough: int | None,
) -> tuple[Recall, Missed]:
    """Draw blind pairs outside of candidates, and state how many matches these hold.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    threshold : Threshold
    candidates : Labels
        Evaluated.
    count : int
        Pairs to draw at the most.
    rng : numpy.random.Generator
    target : float
        The recall that was asked for.
    enough : int or None
        How many missing matches end the draw; None draws all of `count`.

    Returns
    -------
    Recall, Missed
    """
    keys = rng.permutation(universe.draw(count, candidates.keys, rng))
    place, places, values = 0, [np.empty(0, dtype=np.int64)], [np.empty(0)]
    met = 0
    while place < len(keys) and (enough is None or met < enough):
        size = PAIRS_AT_A_TIME
        if enough is not None:
            size = min(max(_FIRST, place // _SHARE), PAIRS_AT_A_TIME)
        some = keys[place : place + size]
        found = oracle.entries(*universe.places(some))
        matching = np.flatnonzero(threshold.holds(found))
        places.append(place + matching)
        values.append(found[matching])
        place, met = place + len(some), met + len(matching)
    at, scores = np.concatenate(places), np.concatenate(values)
    last = None if enough is None or met < enough else (int(at[enough - 1]) + 1, enough)
    stated = _stated(universe, candidates.found, len(candidates), place, met, target, last)
    order = np.argsort(keys[at])
    return stated, Missed(keys[at][order], scores[order])


def audit_all(
    oracle: Oracle, universe: Universe, threshold: Threshold, candidates: IntArray, *, target: float
) -> tuple[Recall, Missed]:
    """Evaluate every pair instead, candidates too, and say what is missing; `audit` says more."""
    matches = all_matches(oracle, universe, threshold)
    missed = np.setdiff1d(matches, candidates, assume_unique=True)
    rest, found = universe.size - len(candidates), len(matches) - len(missed)
    stated = _stated(universe, found, len(candidates), rest, len(missed), target, None)
    return stated, Missed(missed, oracle.entries(*universe.places(missed)))


def _stated(
    universe: Universe,
    found: int,
    given: int,
    drawn: int,
    missed: int,
    target: float,
    last: tuple[int, int] | None,
) -> Recall:
    rest = universe.size - given
    return state_given(
        found,
        rest=rest,
        drawn=drawn,
        missed=missed,
        left=rest - drawn,
        pairs=universe.size,
        target=target,
        last=last,
    )
