"""Crowds of equal vectors: looked for once, and answered for all of them.

Where most items are equal, as under a constant similarity, all of them lie in one cell, and each
would be compared with each. One of them stands for all that look, and a few for all that are found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.cells import PROBES
from fewpairs.numerics import parts

#: An odd number without a pattern: products with it, modulo 2⁶⁴, tell all numbers apart.
_ODD = np.uint64(0x9E3779B97F4A7C15)
#: Finds columns and products of so many neighbours of each row: left, right, how many, square.
Search = Callable[[Any, Any, int, bool], tuple[IntArray, SingleArray]]


def nearest_among_equals(
    left: SingleArray, right: SingleArray, per_item: int, search: Search, *, square: bool
) -> tuple[IntArray, SingleArray]:
    """Return columns and products of each row's neighbours, found by `search`.

    It is asked about all vectors as they are, unless more of them are equal than a row is compared
    with anyway.
    """
    group_of = equal_rows(left)
    other_group_of = group_of if right is left else equal_rows(right)
    few = PROBES * len(right) ** 0.5 / 2
    if max(np.bincount(group_of).max(), np.bincount(other_group_of).max()) <= few:
        return search(left, right, per_item, square)
    # Beside the row itself.
    wanted = per_item + square
    first = np.unique(group_of, return_index=True)[1]
    kept = first_of_each(other_group_of, wanted)
    found, values = search(_Some(left, first), _Some(right, kept), wanted, False)
    found = kept[found]
    columns = np.empty((len(left), per_item), dtype=np.int64)
    products = np.empty((len(left), per_item), dtype=np.float32)
    for rows in parts(len(left)):
        group = group_of[rows]
        others, theirs = found[group], values[group]
        if square:
            own = others == np.arange(rows.start, rows.stop)[:, None]
            own[:, -1] |= ~own.any(axis=1)  # one too many, if it is not the row itself
            others = others[~own].reshape(-1, per_item)
            theirs = theirs[~own].reshape(-1, per_item)
        columns[rows], products[rows] = others, theirs
    return columns, products


def equal_rows(vectors: SingleArray) -> IntArray:
    """Return a number for each row, the same for rows that are equal."""
    factors = np.random.default_rng(0).integers(2**63, size=vectors.shape[1], dtype=np.uint64)
    factors = 2 * factors + np.uint64(1)
    sums = np.empty(len(vectors), dtype=np.uint64)
    for rows in parts(len(vectors)):
        # -0.0 is 0.0. What is added up runs over, which is no fault.
        bits = np.ascontiguousarray(vectors[rows] + np.float32(0)).view(np.uint32)
        sums[rows] = np.einsum("ij,j->i", _mixed(bits), factors)
    return np.asarray(np.unique(sums, return_inverse=True)[1].ravel(), dtype=np.int64)


def _mixed(bits: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """Return numbers all of whose bits depend on all bits.

    Those of 1/8 and -1/8 differ in the highest one alone, and sums of such differences would soon
    be equal by chance.
    """
    mixed = bits.astype(np.uint64) * _ODD
    mixed ^= mixed >> np.uint64(32)
    mixed *= _ODD
    mixed ^= mixed >> np.uint64(29)
    return mixed


def first_of_each(group_of: IntArray, most: int) -> IntArray:
    """Return the places of the first `most` of each group, ascending."""
    order = np.argsort(group_of, kind="stable")
    ordered = group_of[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank < most])


class _Some:
    """Some of the vectors, read where they are: all of them may be on disk."""

    def __init__(self, vectors: SingleArray, places: IntArray) -> None:
        self._vectors, self._places = vectors, places
        self.shape = len(places), vectors.shape[1]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, rows: slice | IntArray) -> SingleArray:
        return self._vectors[self._places[rows]]
