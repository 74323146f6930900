"""Judges: rows read whole and kept from the search, whose true neighbours tell what it finds.

What is stated of the others rests on lists of candidates alone, and on columns that were known
before any judge was drawn: so each judge's share is one of a fixed set, of which chance has drawn
some. The answer holds more than that. Of a symmetric similarity every item is compared with the
judges too; that can only add true neighbours, never lose one. The lower end stays; the value counts
what each judge gets from the others, and the upper end all that may be gained.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.error.recall import HIGH_TAIL, LOW_TAIL, Recall
from fewpairs.error.shares import least_mean, mean_of_others, rows_for
from fewpairs.numerics import contains
from fewpairs.tasks.matching.lists import Lists
from fewpairs.tasks.matching.neighbor_rows import NeighborRows
from fewpairs.tasks.matching.universe import Universe


class Judges:
    """Rows that judge.

    Parameters
    ----------
    universe : Universe
    neighbors : NeighborRows
    rows : ndarray of int
        Which rows these are.
    values : ndarray of shape (n_rows, m)
    before : ndarray of int
        Rows that were read whole before, and judge nothing.
    known : ndarray of int
        Columns that are known of every row, whoever judges.
    """

    def __init__(
        self,
        universe: Universe,
        neighbors: NeighborRows,
        rows: IntArray,
        values: FloatArray,
        before: IntArray,
        known: IntArray,
    ) -> None:
        self._universe, self._k = universe, neighbors.k
        self.rows, self.known = rows, known
        #: All rows that were read whole.
        self.whole: IntArray = np.sort(np.concatenate([before, rows]))
        #: Judge and neighbour of all pairs that are true ones; equal ones are all there, and tied
        #: are those that equal the last one: each of them will do, none makes up for a nearer one.
        self._judge: IntArray = rows
        self._neighbor: IntArray = rows
        self._tied: BoolArray = np.zeros(len(rows), dtype=bool)
        if len(rows):
            self._judge, self._neighbor = np.nonzero(neighbors.near(values))
            self._tied = ~neighbors.nearer(values)[self._judge, self._neighbor]
        self._keys = universe.keys(rows[self._judge], self._neighbor)
        self._free = np.isin(self._neighbor, known)
        #: Shares of their neighbours that lists hold; and with what other judges know of them.
        self.shares: FloatArray = np.empty(0)
        self._with_others: FloatArray = np.empty(0)
        self._gain = 0

    def hold(self, keys: IntArray) -> BoolArray:
        """Say which pairs are known from rows that were read whole."""
        rows, columns = self._universe.places(keys)
        across = self.whole if self._universe.symmetric else self.known
        return np.isin(rows, self.whole) | np.isin(columns, across)

    def promising(self, left: SingleArray, right: SingleArray, recall: float) -> int:
        """Return the depth at which the judges' own lists would state a recall, or beyond all."""
        places = np.zeros(len(self._judge), dtype=np.int64)
        for judge, row in enumerate(self.rows):
            scores = (left[row] @ right.T).astype(np.float64)
            if self._universe.square:
                scores[row] = -np.inf
            place = np.empty(len(scores), dtype=np.int64)
            place[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
            mine = self._judge == judge
            places[mine] = place[self._neighbor[mine]]
        depth = self._first_depth(places, recall)
        return self._universe.m if depth is None else depth

    def depth_for(self, lists: Lists, recall: float) -> int | None:
        """Return the depth from which on lists state a recall; None if they do not."""
        return self._first_depth(lists.places_of(self._keys), recall)

    def _first_depth(self, places: IntArray, recall: float) -> int | None:
        """Look for it among the places where a judge's neighbour comes in: between, nothing does.

        The deeper, the more is held. So a claim is false only if it is at the last depth that does
        not deserve it, whatever depths were looked at.
        """
        best = np.full((len(self.rows), self._k), np.iinfo(np.int64).max)
        places = np.where(self._free, 0, places)
        order = np.lexsort((places, self._tied, self._judge))
        judge = self._judge[order]
        at = np.arange(len(judge)) - np.searchsorted(judge, judge)
        best[judge[at < self._k], at[at < self._k]] = places[order][at < self._k]
        depths = np.unique(best)
        low, high = 0, len(depths)
        while low < high:  # the first that is enough
            middle = (low + high) // 2
            enough = least_mean((best <= depths[middle]).mean(axis=1), LOW_TAIL) >= recall
            low, high = (low, middle) if enough else (middle + 1, high)
        known = low < len(depths) and depths[low] < np.iinfo(np.int64).max
        return int(depths[low]) if known else None

    def judge(self, candidates: IntArray) -> None:
        """Note what candidates, keys in order, hold of the judges' neighbours."""
        held = contains(candidates, self._keys) | self._free
        self.shares = self._share(held)
        others = np.isin(self._neighbor, self.rows) if self._universe.symmetric else held
        self._with_others = self._share(held | others)

    def _share(self, held: BoolArray) -> FloatArray:
        def count(pairs: BoolArray) -> IntArray:
            return np.bincount(self._judge[pairs], minlength=len(self.rows))

        places_of_ties = self._k - count(~self._tied)
        held_ties = np.minimum(count(held & self._tied), places_of_ties)
        return np.asarray((count(held & ~self._tied) + held_ties) / self._k)

    def count_gain(self, found: IntArray, candidates: IntArray) -> None:
        """Note the pairs of an answer that are there because a judge's row was read."""
        rows, columns = self._universe.places(found)
        fixed = np.isin(columns, self.known)
        if self._universe.symmetric:
            fixed |= np.isin(rows, self.known)
        self._gain = int((~contains(candidates, found) & ~fixed).sum())

    def stated(self, target: float, skipped: int) -> Recall:
        """State the share of all true neighbours that was found."""
        n, m, drawn = self._universe.n, self._universe.m, len(self.rows)
        # Rows that were read whole are exact; the judges speak for all others.
        read, others = len(self.whole), n - len(self.whole)
        low, high = mean_of_others(self.shares, others, (LOW_TAIL, HIGH_TAIL))
        middle = float(self._with_others.mean()) if drawn else 0.0
        high = min(high + self._gain / max(others * self._k, 1), 1.0)
        ends = (min(max(middle, low), high), low, high)
        value, low, high = ((read + others * end) / n for end in ends)
        missed = drawn * self._k - round(float(self.shares.sum()) * self._k)
        return Recall(
            value=value,
            low=low,
            high=high,
            found=round(value * n * self._k),
            blind=drawn * m,
            met=drawn * self._k,
            missed=missed,
            pairs=self._universe.size,
            target=target,
            needed=rows_for(1.0, target, LOW_TAIL) * m,
            of="neighbours",
            skipped=skipped,
        )
