"""A similarity that is declared symmetric is asked for both orders of a few pairs, not believed."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.universe import Universe

#: Pairs that are asked for in both orders: a function of which a third of the pairs depend on the
#: order passes once in twenty-five times (0.67⁸), and eight cost nothing beside a search.
_PAIRS = 8
#: Of few pairs, or of what may still be spent, a quarter at most: each is asked for twice.
_SHARE = 4


def unlimited(universe: Universe) -> int:
    """Return what may be asked for where nobody has said how much: every pair in both orders."""
    return 2 * universe.size


def pairs_to_check(
    oracle: Oracle,
    universe: Universe,
    room: int,
    rng: np.random.Generator,
    wanted: IntArray | None = None,
) -> IntArray:
    """Draw the pairs that are asked for in both orders.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    room : int
        Pairs that may be evaluated in all. Where every pair may be, other orders of some are asked
        for only as far as that is not in their way.
    rng : numpy.random.Generator
    wanted : ndarray, optional
        Keys of pairs that are evaluated anyway: these are taken first, for they cost only their
        other order.

    Returns
    -------
    ndarray of int64
        Their keys; none where the symmetry is proven.
    """
    spare = room // _SHARE if room < universe.size else room - universe.size
    few = min(_PAIRS, universe.size // _SHARE, max(spare, 0))
    nothing = np.empty(0, dtype=np.int64)
    if not oracle.symmetric or oracle.similarity.symmetry_proven or not few:
        return nothing
    some = np.sort(rng.permutation(nothing if wanted is None else wanted)[:few])
    return np.concatenate([some, universe.draw(few - len(some), some, rng)])


def check_symmetry(oracle: Oracle, universe: Universe, keys: IntArray) -> int:
    """Refuse a similarity that is declared symmetric and is not; return what that has cost."""
    before = oracle.spent
    if len(keys):
        oracle.check_symmetry(*universe.places(keys))
    return oracle.spent - before
