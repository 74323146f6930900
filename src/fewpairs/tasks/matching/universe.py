"""All pairs that may match: their number, their keys, and blind draws among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import BoolArray, IntArray
from fewpairs.numerics import distinct

#: Pairs that are drawn at a time: some ten megabytes of temporary arrays.
_AT_A_TIME = 2**21


@dataclass(frozen=True)
class Universe:
    """The pairs of n items, or of n items with m others.

    A pair has a key, ``row * m + column``. Of a symmetric similarity of one set each pair is there
    once, as row < column; of an asymmetric one in both orders; nothing is paired with itself.

    Parameters
    ----------
    n, m : int
    square : bool
        Whether rows and columns are the same items.
    symmetric : bool
    """

    n: int
    m: int
    square: bool
    symmetric: bool

    @property
    def size(self) -> int:
        """Number of pairs."""
        if not self.square:
            return self.n * self.m
        return self.n * (self.n - 1) // (2 if self.symmetric else 1)

    def keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return one integer for each pair."""
        if self.symmetric:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        return rows * self.m + columns

    def places(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Return rows and columns of keys."""
        return keys // self.m, keys % self.m

    def everything(self) -> IntArray:
        """Return all keys in order; only where there are few."""
        keys = np.arange(self.n * self.m, dtype=np.int64)
        return keys[self.holds(*self.places(keys))]

    def lines(self, items: IntArray, others: IntArray) -> IntArray:
        """Return the keys of everything in some rows and in some columns, in order."""
        rows = [np.repeat(items, self.m), np.tile(np.arange(self.n), len(others))]
        columns = [np.tile(np.arange(self.m), len(items)), np.repeat(others, self.n)]
        i, j = np.concatenate(rows), np.concatenate(columns)
        apart = i != j if self.square else np.ones(len(i), dtype=bool)
        return distinct(self.keys(i[apart], j[apart]))

    def draw(self, count: int, taken: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw different pairs uniformly among those that are not taken.

        Parameters
        ----------
        count : int
            At most as many as there are.
        taken : ndarray
            Keys in order.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray
            Keys in order.
        """
        count = min(count, self.size - len(taken))
        if self.n * self.m <= 4 * (count + len(taken)):
            free = np.setdiff1d(self.everything(), taken, assume_unique=True)
            return np.sort(rng.choice(free, count, replace=False, shuffle=False))
        drawn = np.empty(0, dtype=np.int64)
        while len(drawn) < count:
            # Few come twice, so that one sort at the end is enough, or two.
            fresh = [drawn]
            while (lacking := count - sum(map(len, fresh))) > 0:
                # Half of them, or more, are taken or in the other order.
                more = rng.integers(0, self.n * self.m, min(2 * lacking, _AT_A_TIME) + 100)
                more = more[self.holds(*self.places(more))]
                fresh.append(more[~contains(taken, more)])
            drawn = distinct(*fresh)
        surplus = rng.choice(len(drawn), len(drawn) - count, replace=False, shuffle=False)
        return np.delete(drawn, surplus)

    def holds(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which places are those of a pair: none with itself, none in the other order."""
        if not self.square:
            return np.ones(len(rows), dtype=bool)
        return np.asarray(rows < columns if self.symmetric else rows != columns)


def contains(keys: IntArray, wanted: IntArray) -> BoolArray:
    """Say which of `wanted` are among `keys`, which are in order."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(keys[place] == wanted)
