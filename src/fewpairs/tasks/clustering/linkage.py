"""Average linkage of a factored matrix: exact, and never with the matrix itself.

Average linkage is reducible: a merge never brings two clusters nearer to a third. So whoever is
nearest to each other may be merged at once, in any order, and the tree is that of the slow way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.files.scratch import is_on_disk, tall_beside
from fewpairs.numerics import parts
from fewpairs.parallel import announce, at_a_time, require_memory
from fewpairs.tasks.clustering.lists import look, refresh, remembered
from fewpairs.tasks.clustering.merging import advance
from fewpairs.tasks.clustering.state import FINISHED, GONE, WAITING, State
from fewpairs.tasks.clustering.sums import Sums

#: Neighbours that a cluster remembers.
_NEIGHBORS = 32
#: Products that are held at a time, in single precision: 64 MB.
_AT_A_TIME = 2**24
#: All clusters are written anew, one after the other, when so many of them are left.
_STILL_THERE = 0.75
#: Single precision is given up when it leaves more than this share of all lists undecided.
_UNDECIDED = 0.5
_ULP = 2.0**-24
#: Averages that miss the threshold by less, where the largest entries are about 1, miss it by
#: rounding, and reach it.
_MISSED = 1e-12


class Merges(NamedTuple):
    """What was merged, in the order in which it was.

    Attributes
    ----------
    pairs : ndarray of shape (k, 2)
        Two clusters, each by the smallest of its items.
    similarity : ndarray of shape (k,)
        Their average similarity; never larger than that of the merges that made them.
    scans : int
        How often a cluster was compared with all others.
    apart : ndarray of shape (m, 2)
        Where it was asked for: clusters that were not merged, each with others that are near.
    apart_similarity : ndarray of shape (m,)
    """

    pairs: IntArray
    similarity: FloatArray
    scans: int
    apart: IntArray
    apart_similarity: FloatArray


def average_linkage(sums: Sums, least: float = -np.inf, *, apart: bool = False) -> Merges:
    """Merge clusters by their average similarity, as long as that is at least `least`.

    Parameters
    ----------
    sums : Sums
        Written over.
    least : float, default=-inf
        In the numbers of the matrix. All merges above it are made, and no others.
    apart : bool, default=False
        Whether to return what was nearly merged, too.

    Returns
    -------
    Merges
    """
    n, rank = sums.vectors.shape
    require_sums(n, 0 if is_on_disk(sums.vectors) else 12 * n * rank)
    state = _singles(sums, _remembers(n))
    with np.errstate(over="ignore", under="ignore"):  # nothing, or everything, reaches it then
        scaled = float(np.ldexp(least, -sums.power)) - _MISSED
    announce(advance, "average linkage")
    chain, values = np.empty(n + 1, dtype=np.int64), np.empty(n + 1)
    comparing = _Comparing(state)
    scans = 0
    while (waiting := np.flatnonzero(state.status == WAITING)).size:
        comparing.look_at(waiting)
        scans += len(waiting)
        advance(state, scaled, chain, values)
    done = int(state.n_merged[0])
    similarity = np.ldexp(state.merged_at[:done], sums.power)
    beside, near = np.empty((0, 2), dtype=np.int64), np.empty(0)
    if apart:
        beside, near = remembered(state)
        keys, once = np.unique(beside[:, 0] * n + beside[:, 1], return_index=True)
        beside, near = np.column_stack([keys // n, keys % n]), np.ldexp(near[once], sums.power)
    return Merges(state.merged[:done], similarity, scans, beside, near)


def require_sums(n: int, tall: int = 0) -> None:
    """Refuse clusters of too many items; to be called before sums are made of their matrix, too.

    Parameters
    ----------
    n : int
    tall : int, default=0
        Bytes of the vectors, where these are in memory.
    """
    require_memory(
        tall + n * (24 * _remembers(n) + 100) + 4 * at_a_time(_AT_A_TIME, 4),
        f"sums over clusters of {n:,} items",
        "Cluster fewer items" if tall == 0 else "Use fewer landmarks",
    )


def _remembers(n: int) -> int:
    return max(1, min(_NEIGHBORS, n - 1))


def _singles(sums: Sums, width: int) -> State:
    n = len(sums.vectors)
    return State(
        vectors=sums.vectors,
        lines=sums.lines,
        line_of=sums.line_of.copy(),
        starts=sums.starts,
        others=sums.others,
        corrections=sums.corrections,
        n_positive=np.array([sums.n_positive], dtype=np.int64),
        size=np.ones(n, dtype=np.int64),
        status=np.full(n, WAITING, dtype=np.int64),
        parent=np.arange(n, dtype=np.int64),
        following=np.full(n, -1, dtype=np.int64),
        last=np.arange(n, dtype=np.int64),
        degree=np.diff(sums.starts),
        near=np.zeros((n, width), dtype=np.int64),
        near_size=np.zeros((n, width), dtype=np.int64),
        near_value=np.zeros((n, width)),
        n_near=np.zeros(n, dtype=np.int64),
        bound=np.full(n, np.inf),
        height=np.full(n, np.inf),
        merged=np.zeros((max(n - 1, 0), 2), dtype=np.int64),
        merged_at=np.zeros(max(n - 1, 0)),
        n_merged=np.zeros(1, dtype=np.int64),
        changed=np.zeros(n, dtype=np.bool_),
    )


class _Comparing:
    """Compares clusters with all others, in products of blocks.

    In single precision, which is twice as fast: who comes into a list is decided by it, with a
    margin for its rounding, and the averages in the list are computed in double precision. Where
    the margin leaves the nearest undecided, all of it is done in double precision.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._single = True
        self._gather()

    def look_at(self, rows: IntArray) -> None:
        """Make the lists of some clusters anew."""
        there = int((self._state.status < FINISHED).sum())
        if there < _STILL_THERE * len(self._names):
            self._gather()
        else:
            refresh(self._state, self._names, self._means, False)
        if self._single:
            undecided = rows[self._look(rows, self._means)]
            if len(undecided) > max(_UNDECIDED * len(rows), _NEIGHBORS):
                self._single = False
                self._gather()
            rows = undecided
        if len(rows):
            doubled = self._means if not self._single else self._written(np.float64)
            self._look(rows, doubled)

    def _gather(self) -> None:
        self._names = np.flatnonzero(self._state.status < FINISHED)
        self._place_of = np.full(len(self._state.size), -1, dtype=np.int64)
        self._place_of[self._names] = np.arange(len(self._names))
        self._means = self._written(np.float32 if self._single else np.float64)

    def _written(self, dtype: type) -> FloatArray:
        vectors = self._state.vectors
        means = tall_beside(vectors, len(self._names), vectors.shape[1], dtype)
        refresh(self._state, self._names, means, True)
        return means

    def _look(self, rows: IntArray, means: FloatArray) -> BoolArray:
        """Make lists from products of these averages; say which remain undecided."""
        state = self._state
        again = np.zeros(len(rows), dtype=np.bool_)
        lengths = np.sqrt(np.einsum("ij,ij->i", means, means, dtype=np.float64))
        longest = float(lengths[state.status[self._names] != GONE].max(initial=0))
        rank = means.shape[1]
        held = at_a_time(_AT_A_TIME, 4)
        for part in parts(len(rows), max(1, held // max(len(self._names), 1))):
            places = self._place_of[rows[part]]
            left = means[places].copy()
            left[:, state.n_positive[0] :] *= -1
            # Of a product of r terms in any order, and of what is known and added to it.
            margins = 1.01 * _ULP * ((rank + 8) * longest * lengths[places] + 16)
            if means.dtype == np.float64:
                margins[:] = 0
            undecided = np.zeros(len(places), dtype=np.bool_)
            block = left @ means.T
            look(state, rows[part], self._names, self._place_of, block, margins, undecided)
            again[part] = undecided
        return again
