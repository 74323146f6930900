"""The pairs with the largest inner products of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.cells import PairsOfCells
from fewpairs.candidates.joined import Joined, Vectors
from fewpairs.candidates.threshold import Best, Guess
from fewpairs.candidates.tiles import EveryPair, Tile, few_pairs, in_order, places
from fewpairs.numerics import contains
from fewpairs.parallel import count_jobs

_NO_KEYS = np.empty(0, dtype=np.int64)


class Products(NamedTuple):
    """Pairs and their inner products, largest first."""

    rows: IntArray
    columns: IntArray
    products: SingleArray


def largest_products(
    left: npt.NDArray[np.floating] | Joined,
    right: npt.NDArray[np.floating] | Joined,
    count: int,
    rng: np.random.Generator,
    *,
    square: bool,
    skip: IntArray = _NO_KEYS,
    exact: bool | None = None,
    n_jobs: int | None = 1,
) -> Products:
    """Find the pairs with the largest inner products ``left[i] @ right[j]``.

    Up to 5·10⁹ pairs (100,000 items) every product is computed, and the answer is exact up to the
    rounding of single precision. Beyond, `right` is divided into cells, and each row is compared
    with the 32 or so most promising of them. Products below a rising threshold are forgotten at
    once: memory is that of the vectors and, some three times, of the answer. Products need not be
    cosines.

    Parameters
    ----------
    left : ndarray of shape (n, d), or Joined
    right : ndarray of shape (m, d), or Joined
        Finite numbers, used in single precision.
    count : int
        How many pairs; all of them where there are fewer.
    rng : numpy.random.Generator
        Draws what the first threshold is guessed from, and the first means of cells. An exact
        answer does not depend on it.
    square : bool
        Both sides stand for the same n items and products are symmetric: pairs i < j only.
    skip : ndarray of int64, optional
        Pairs to leave out, as sorted keys i·m + j (square: of i < j).
    exact : bool, optional
        Whether to compute every product; by default the number of pairs decides.
    n_jobs : int or None, default=1
        Threads. They change the time, and no bit of the answer.

    Returns
    -------
    Products
        Where the answer is not exact it may have fewer than `count` pairs, if so many are wanted
        that cells do not hold them.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 2.0]])
    >>> found = largest_products(points, points, 2, np.random.default_rng(0), square=True)
    >>> list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))
    [(0, 1), (1, 2)]
    """
    n, m = len(left), len(right)
    pairs = n * (n - 1) // 2 if square else n * m
    every = few_pairs(n, m, square=square) if exact is None else exact
    same = right is left
    left = _single(left, whole=every)
    right = left if same else _single(right, whole=every)
    count = max(0, min(count, pairs - len(skip)))
    if count == 0:
        return Products(_NO_KEYS, _NO_KEYS, np.empty(0, dtype=np.float32))
    # All that is skipped may be among the largest.
    guess = Guess(left, right, (count + len(skip)) / pairs, rng, square=square)
    search: EveryPair | PairsOfCells
    if every:
        search = EveryPair(n, m, square=square)
    else:
        search = PairsOfCells(left, right, rng, square=square)
    # Columns side by side, so that BLAS needs no copy of them for each tile; cells gather theirs.
    across = None if isinstance(right, Joined) or not every else np.ascontiguousarray(right.T)
    while True:
        best = Best(count, guess.cut)

        def reaching(tile: Tile, best: Best = best) -> tuple[IntArray, SingleArray]:
            i, j, products = _reaching(left, right if across is None else across.T, tile, best.cut)
            wanted = search.wanted(i, j)
            keys = np.minimum(i, j) * m + np.maximum(i, j) if square else i * m + j
            wanted &= ~contains(skip, keys)
            return keys[wanted], products[wanted]

        for keys, products in in_order(reaching, search.tiles(), count_jobs(n_jobs)):
            best.add(keys, products)
        keys, products = best.kept()
        if len(keys) == count or guess.lowest:
            return Products(keys // m, keys % m, products)
        guess.lower()


def _single(vectors: npt.NDArray[np.floating] | Joined, *, whole: bool) -> Vectors:
    """Return vectors in single precision; those that need not be there as a whole are not."""
    if isinstance(vectors, Joined):
        return vectors[:] if whole else vectors
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _reaching(
    left: Vectors, right: Vectors, tile: Tile, cut: np.float32
) -> tuple[IntArray, IntArray, SingleArray]:
    """Return the pairs of a tile whose products reach the cut, and these."""
    products = (left[tile.rows] @ right[tile.columns].T).ravel()
    found = np.flatnonzero(products >= cut)
    rows, columns = places(tile.rows), places(tile.columns)
    i, j = np.divmod(found, len(columns))
    return rows[i], columns[j], products[found]
