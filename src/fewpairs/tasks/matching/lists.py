"""Lists of candidates: pairs of items with those that come first for them, by what was learnt.

Of a symmetric similarity a pair serves both of its items, whichever has the other in its list; it
counts once, with the better of both places.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import BoolArray, IntArray, SingleArray
from fewpairs.candidates.nearest import Nearest
from fewpairs.tasks.matching.universe import Universe


class Lists:
    """Different pairs of some lists, the most promising first.

    Parameters
    ----------
    universe : Universe
    nearest : Nearest
        Of each item, best first.

    Attributes
    ----------
    keys : ndarray of int
        Of all pairs, in order.
    places : ndarray of int
        Where each pair comes in a list at best, from 1 on.
    """

    def __init__(self, universe: Universe, nearest: Nearest) -> None:
        n, depth = nearest.columns.shape
        keys = universe.keys(np.repeat(np.arange(n), depth), nearest.columns.ravel())
        places: IntArray = np.tile(np.arange(1, depth + 1), n)
        order = np.lexsort((places, keys))
        keys = keys[order]
        first = order[np.diff(keys, prepend=-1) > 0]
        self.keys: IntArray = keys[np.diff(keys, prepend=-1) > 0]
        self.places: IntArray = places[first]
        self._products: SingleArray = nearest.products.ravel()[first]

    def places_of(self, keys: IntArray) -> IntArray:
        """Return where pairs come in a list at best; beyond all lists where they are in none."""
        beyond = np.full(len(keys), np.iinfo(np.int64).max)
        if not len(self.keys):
            return beyond
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.places[at], beyond)

    def up_to(self, depth: int) -> IntArray:
        """Return the keys of the pairs that come among the first `depth` of a list."""
        return self.keys[self.places <= depth]

    def affordable(self, room: int, known: BoolArray) -> IntArray:
        """Return the keys of the pairs that come first, as many as may be evaluated.

        Parameters
        ----------
        room : int
            How many.
        known : ndarray of bool
            Which of all pairs cost nothing.
        """
        order = np.lexsort((-self._products, self.places))
        count = int(np.searchsorted(np.cumsum(~known[order]), room, side="right"))
        return np.sort(self.keys[order[:count]])
