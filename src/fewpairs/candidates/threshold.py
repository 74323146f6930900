"""Keeping the largest of many products that come by parts."""

from __future__ import annotations

from math import sqrt

import numpy as np

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.joined import Vectors
from fewpairs.parallel import one_blas_thread

#: Items of each side that are drawn to guess how large the last product kept will be: four million
#: products, a thousandth of the work at 100,000 items.
_DRAWN = 2048
#: Products kept beyond those asked for, before the smallest are dropped.
_ROOM = 4_000_000


class Guess:
    """A threshold that a little more than the wanted pairs will reach, from products of a few.

    Parameters
    ----------
    left, right : ndarray of shape (n, d) and (m, d)
    share : float
        Share of all pairs that is wanted.
    rng : numpy.random.Generator
    square : bool
        An item is not paired with itself.
    """

    def __init__(
        self,
        left: Vectors,
        right: Vectors,
        share: float,
        rng: np.random.Generator,
        *,
        square: bool,
    ) -> None:
        rows = rng.choice(len(left), min(len(left), _DRAWN), replace=False)
        columns = rng.choice(len(right), min(len(right), _DRAWN), replace=False)
        with one_blas_thread():
            products = left[rows] @ right[columns].T
        self._sample = products[rows[:, None] != columns] if square else products.ravel()
        expected = min(1.0, share) * len(self._sample)
        # Four standard deviations of what is drawn, and enough of it where little is wanted.
        self._rank = int(1.5 * expected + 4 * sqrt(expected) + 8)

    @property
    def lowest(self) -> bool:
        """Every product reaches it."""
        return self._rank >= len(self._sample)

    @property
    def cut(self) -> np.float32:
        """The product that takes this place in the sample."""
        if self.lowest:
            return np.float32(-np.inf)
        return np.float32(np.partition(self._sample, -self._rank)[-self._rank])

    def lower(self) -> None:
        """Guess anew, so that eight times as many reach it."""
        self._rank *= 8


class Best:
    """The largest products so far, and the cut that a new one must reach.

    Parameters
    ----------
    count : int
        How many to keep.
    cut : float32
        The first cut; it rises once there are enough.
    """

    def __init__(self, count: int, cut: np.float32) -> None:
        self.cut = cut
        self._count = count
        self._parts: list[tuple[IntArray, SingleArray]] = []
        self._held = 0

    def add(self, keys: IntArray, products: SingleArray) -> None:
        """Take what reaches the cut; it may have risen since these were computed."""
        high = products >= self.cut
        self._parts.append((keys[high], products[high]))
        self._held += len(self._parts[-1][0])
        if self._held > self._count + max(self._count, _ROOM):
            self._drop()

    def kept(self) -> tuple[IntArray, SingleArray]:
        """Return keys and products, largest first; equal ones in the order in which they came."""
        self._drop()
        keys, products = self._parts[0]
        order = np.argsort(-products, kind="stable")
        return keys[order], products[order]

    def _drop(self) -> None:
        keys, products = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        if len(keys) > self._count:
            edge = np.partition(products, -self._count)[-self._count]
            keep = products > edge
            equal = np.flatnonzero(products == edge)
            keep[equal[: self._count - np.count_nonzero(keep)]] = True
            keys, products = keys[keep], products[keep]
            # Equals of the last one come too late from now on.
            self.cut = np.nextafter(edge, np.float32(np.inf))
        self._parts, self._held = [(keys, products)], len(keys)
