"""Proposals: the pairs of a universe with the largest inner products, block by block."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.joined import Vectors, part_of
from fewpairs.candidates.largest import largest_products
from fewpairs.tasks.matching.universe import Universe


def propose(
    universe: Universe,
    left: Vectors,
    right: Vectors,
    count: int,
    rng: np.random.Generator,
    *,
    skip: IntArray,
    n_jobs: int = 1,
) -> IntArray:
    """Return the keys of pairs with large products ``left[i] @ right[j]``, largest first.

    Parameters
    ----------
    universe : Universe
    left, right : ndarray of shape (n, d) and (m, d)
        Products of one set under a symmetric similarity are symmetric.
    count : int
        How many; fewer where cells of similar vectors do not hold them.
    rng : numpy.random.Generator
    skip : ndarray
        Keys to leave out, in order.
    n_jobs : int, default=1

    Returns
    -------
    ndarray of int
    """
    one_order = universe.square and universe.symmetric
    if universe.square and not universe.symmetric:
        itself: IntArray = np.arange(universe.n) * (universe.m + 1)
        skip = np.union1d(skip, itself)
    keys: list[IntArray] = []
    products: list[SingleArray] = []
    for rows, columns in universe.blocks:
        found = largest_products(
            part_of(left, rows),
            part_of(right, columns),
            count,
            rng,
            square=one_order and rows == columns,
            skip=_inside(skip, rows, columns, universe.m),
            n_jobs=n_jobs,
        )
        keys.append((found.rows + rows.start) * universe.m + found.columns + columns.start)
        products.append(found.products)
    if len(keys) == 1:
        return keys[0]
    best = np.argsort(-np.concatenate(products), kind="stable")[:count]
    return np.concatenate(keys)[best]


def _inside(keys: IntArray, rows: slice, columns: slice, width: int) -> IntArray:
    """Return the keys that lie in a block, as keys of this block alone; they stay in order."""
    if rows.start == columns.start == 0 and columns.stop == width:
        return keys[: np.searchsorted(keys, rows.stop * width)]
    i, j = keys // width, keys % width
    inside = (rows.start <= i) & (i < rows.stop) & (columns.start <= j) & (j < columns.stop)
    i, j = i[inside] - rows.start, j[inside] - columns.start
    return np.asarray(i * (columns.stop - columns.start) + j)
