"""What is known of pairs: which were reached, and which of them match."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.numerics import contains

#: Matches, and others, that a ranking is fitted to: more change it by less than another seed does.
_FITTED = 8_000


class Labels:
    """Keys of all pairs that a search has reached, in order, and those that match."""

    def __init__(self) -> None:
        self.keys: IntArray = np.empty(0, dtype=np.int64)
        self.matching: BoolArray = np.empty(0, dtype=bool)
        self.found = 0

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: IntArray, matching: BoolArray) -> None:
        """Note pairs that were not reached before."""
        order = np.argsort(keys, kind="stable")
        keys, matching = keys[order], matching[order]
        del order
        place = np.searchsorted(self.keys, keys)
        place += np.arange(len(keys))
        before = np.ones(len(self.keys) + len(keys), dtype=bool)
        before[place] = False
        self.keys = _merged(self.keys, keys, before, place)
        self.matching = _merged(self.matching, matching, before, place)
        self.found += int(matching.sum())

    def hold(self, keys: IntArray) -> BoolArray:
        """Say which pairs were reached."""
        return contains(self.keys, keys)

    def matches(self) -> IntArray:
        """Return the keys of all matches."""
        return self.keys[self.matching]

    def sample(
        self, usable: BoolArray, rng: np.random.Generator
    ) -> tuple[tuple[IntArray, float], tuple[IntArray, float]]:
        """Return some matches and some others, each with the number of pairs that one stands for.

        Parameters
        ----------
        usable : ndarray of bool
            Which of the pairs may be taken.
        rng : numpy.random.Generator
        """
        parts = []
        for kind in (self.matching, ~self.matching):
            every = np.flatnonzero(usable & kind)
            some = every if len(every) <= _FITTED else rng.choice(every, _FITTED, replace=False)
            parts.append((self.keys[some], len(every) / max(len(some), 1)))
        return parts[0], parts[1]


def _merged(
    older: npt.NDArray[Any], newer: npt.NDArray[Any], before: BoolArray, place: IntArray
) -> npt.NDArray[Any]:
    """Return both as one, the newer ones at their places."""
    both = np.empty(len(before), dtype=older.dtype)
    both[before], both[place] = older, newer
    return both


def weights_of(*kinds: tuple[IntArray, float]) -> FloatArray:
    """Return one weight for each pair."""
    return np.concatenate([np.full(len(keys), weight) for keys, weight in kinds])
