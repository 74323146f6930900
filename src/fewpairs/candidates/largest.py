"""The pairs with the largest inner products of all."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.tiles import Tile, in_order, tiles
from fewpairs.parallel import count_jobs, one_blas_thread

#: Items of each side that are drawn to guess how large the last product kept will be: four million
#: products, a thousandth of the work at 100,000 items.
_DRAWN = 2048
#: Products kept beyond those asked for, before the smallest are dropped.
_ROOM = 4_000_000
_NO_KEYS = np.empty(0, dtype=np.int64)


class Products(NamedTuple):
    """Pairs and their inner products, largest first."""

    rows: IntArray
    columns: IntArray
    products: SingleArray


def largest_products(
    left: npt.NDArray[np.floating],
    right: npt.NDArray[np.floating],
    count: int,
    rng: np.random.Generator,
    *,
    square: bool,
    skip: IntArray = _NO_KEYS,
    n_jobs: int | None = 1,
) -> Products:
    """Find the pairs with the largest inner products ``left[i] @ right[j]``.

    The answer is exact, up to the rounding of single precision: every product is computed, and
    those below a rising threshold are forgotten at once. Memory is that of the answer, three
    times, and of the vectors. Products need not be cosines.

    Parameters
    ----------
    left : ndarray of shape (n, d)
    right : ndarray of shape (m, d)
        Finite numbers, used in single precision.
    count : int
        How many pairs; all of them where there are fewer.
    rng : numpy.random.Generator
        Draws what the first threshold is guessed from. It decides the time, never the answer.
    square : bool
        Both sides stand for the same n items and products are symmetric: pairs i < j only.
    skip : ndarray of int64, optional
        Pairs to leave out, as sorted keys i·m + j (square: of i < j).
    n_jobs : int or None, default=1
        Threads, for the time only.

    Returns
    -------
    Products
        Of equal products, those of earlier tiles are kept and come first.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 2.0]])
    >>> found = largest_products(points, points, 2, np.random.default_rng(0), square=True)
    >>> list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))
    [(0, 1), (1, 2)]
    """
    left = np.ascontiguousarray(left, dtype=np.float32)
    right = np.asarray(right, dtype=np.float32)
    n, m = len(left), len(right)
    pairs = n * (n - 1) // 2 if square else n * m
    count = max(0, min(count, pairs - len(skip)))
    threads = count_jobs(n_jobs)
    if count == 0:
        return Products(_NO_KEYS, _NO_KEYS, np.empty(0, dtype=np.float32))
    across = np.ascontiguousarray(right.T)  # BLAS then needs no copy of it for each tile
    sample = _sample(left, right, rng, square=square)
    # All that is skipped may be among the largest.
    expected = len(sample) * min(1.0, (count + len(skip)) / pairs)
    rank = 1.5 * expected + 4 * sqrt(expected) + 8
    while True:
        best = _Best(count, _cut(sample, rank))

        def above(tile: Tile, best: _Best = best) -> tuple[IntArray, SingleArray]:
            return _above(left, across, tile, best.cut, skip, square=square)

        for keys, products in in_order(above, tiles(n, m, square=square), threads):
            best.add(keys, products)
        keys, products = best.kept()
        # The guess was too high, or there is nothing more.
        if len(keys) >= count or rank >= len(sample):
            break
        rank *= 8
    order = np.argsort(-products, kind="stable")
    keys = keys[order]
    return Products(keys // m, keys % m, products[order])


def _sample(
    left: SingleArray, right: SingleArray, rng: np.random.Generator, *, square: bool
) -> SingleArray:
    """Return the products of some items with some others."""
    rows = rng.choice(len(left), min(len(left), _DRAWN), replace=False)
    columns = rng.choice(len(right), min(len(right), _DRAWN), replace=False)
    with one_blas_thread():
        products = left[rows] @ right[columns].T
    return products[rows[:, None] != columns] if square else products.ravel()


def _cut(sample: SingleArray, rank: float) -> np.float32:
    """Return the product that takes this place in the sample."""
    if rank >= len(sample):
        return np.float32(-np.inf)
    return np.float32(np.partition(sample, -int(rank))[-int(rank)])


def _above(
    left: SingleArray,
    across: SingleArray,
    tile: Tile,
    cut: np.float32,
    skip: IntArray,
    *,
    square: bool,
) -> tuple[IntArray, SingleArray]:
    """Return the pairs of a tile whose products reach the cut, and these."""
    top, bottom, first, last = tile
    products = (left[top:bottom] @ across[:, first:last]).ravel()
    found = np.flatnonzero(products >= cut)
    values = products[found]
    rows, columns = np.divmod(found, last - first)
    rows += top
    columns += first
    keys = rows * across.shape[1] + columns
    wanted = columns > rows if square and first < bottom else np.ones(len(keys), dtype=bool)
    if len(skip):
        place = np.minimum(np.searchsorted(skip, keys), len(skip) - 1)
        wanted &= skip[place] != keys
    return keys[wanted], values[wanted]


class _Best:
    """The largest products so far, and the cut that a new one must reach."""

    def __init__(self, count: int, cut: np.float32) -> None:
        self.cut = cut
        self._count = count
        self._parts: list[tuple[IntArray, SingleArray]] = []
        self._held = 0

    def add(self, keys: IntArray, products: SingleArray) -> None:
        """Take what reaches the cut; it may have risen since the tile was begun."""
        high = products >= self.cut
        self._parts.append((keys[high], products[high]))
        self._held += len(self._parts[-1][0])
        if self._held > self._count + max(self._count, _ROOM):
            self._drop()

    def kept(self) -> tuple[IntArray, SingleArray]:
        """Return keys and products, in the order of the tiles."""
        self._drop()
        return self._parts[0]

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
