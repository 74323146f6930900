"""The oracle: what can be read through the gate, whole lines and single entries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import BoolArray, FloatArray, IntArray, unmasked
from fewpairs.errors import InputError
from fewpairs.oracle.gate import Gate
from fewpairs.oracle.holes import stand_ins
from fewpairs.oracle.known import Known
from fewpairs.oracle.requests import Ordered, Scattered
from fewpairs.oracle.stores import ColumnStore
from fewpairs.oracle.symmetry import asymmetry


class Oracle(Gate):
    """Answers for entries of the similarity matrix, and counts what it had to ask for.

    A run knows only what it has asked for itself: the same seed gives the same result, whatever
    was bought before. What earlier runs have paid for is looked up instead of evaluated again, so
    that results agree as far as the similarity repeats itself when it is asked in other company.

    Parameters
    ----------
    items : sequence
        Items of the rows, and of the columns unless `others` is given.
    similarity : Similarity
    others : sequence, optional
        Items of the columns of a rectangular matrix.
    n_jobs : int, default=1
        Threads that call the similarity; results do not depend on it.
    workers : {"threads", "processes"}, default="threads"
        What `n_jobs` counts. Processes are for similarities that hold the interpreter, or must not
        be called by two threads at once; items and similarity are then pickled.
    client : dask.distributed.Client, optional
        The workers of a cluster evaluate instead.
    progress : bool, callable or None, default=None
        A bar in a terminal or notebook, or ``callback(done, planned)``: False stops the run.
    resumable : bool, default=True
        Whether a user can go on with this oracle after a fault.
    skips : bool, optional
        Whether pairs without a value may be skipped, where the similarity declares it; by default
        only by runs that can be resumed.
    journal : str, Path, Journal or None, default=None
        A folder in which what is evaluated is written down, and found by later calls.

    Examples
    --------
    >>> from fewpairs import Precomputed
    >>> oracle = Oracle(range(3), Precomputed([[1, 2, 3], [2, 4, 5], [3, 5, 6]]))
    >>> oracle.columns([1]).ravel(), oracle.evaluations
    (array([2., 4., 5.]), 3)
    """

    def known(self) -> Known:
        """Hand out what this run has asked for: whole lines, single entries, the diagonal."""
        known = self._memory.known()
        return known if self._scale is None else self._scale.of_known(known)

    def in_own_numbers(self, known: Known) -> Known:
        """Return what was handed out of a run as the similarity has answered it, not scaled."""
        columns = replace(known.columns, values=self._memory.columns.get(known.columns.index))
        rows = columns
        if not known.symmetric:
            rows = replace(known.rows, values=self._memory.rows.get(known.rows.index))
        diagonal = known.diagonal
        if diagonal is not None:
            everyone = np.arange(len(diagonal))
            diagonal = self._memory.find(everyone, everyone)
        single = self._memory.find(*known.places_of(known.keys))
        return Known(columns, rows, diagonal, known.keys, single)

    # ------------------------------------------------------------------ reading

    def columns(self, landmarks: npt.ArrayLike) -> FloatArray:
        """Return whole columns, as a read-only n × s array."""
        wanted = _indices(landmarks, self.shape[1])
        store = self._memory.columns
        self._memory.add_columns(store.missing(_different(wanted)))
        unknown = _different(wanted[~store.is_complete(wanted)])
        requests = self.planner.columns(unknown, self._memory.rows.complete)
        self._ask(requests, self.planner.price_of_columns(len(unknown)))
        self._complete(store, wanted)
        return self._as_read(store.get(wanted))

    def rows(self, landmarks: npt.ArrayLike) -> FloatArray:
        """Return whole rows, as a read-only s × n array."""
        if self.symmetric:
            return self.columns(landmarks).T
        wanted = _indices(landmarks, self.shape[0])
        store = self._memory.rows
        self._memory.add_rows(store.missing(_different(wanted)))
        unknown = _different(wanted[~store.is_complete(wanted)])
        there = np.setdiff1d(np.arange(self.shape[1]), self._memory.columns.complete)
        tiles = self.planner.tiles(unknown, there)
        self._ask(tiles, len(unknown) * len(there) * self.planner.per_entry)
        self._complete(store, wanted)
        return self._as_read(store.get(wanted)).T

    def _complete(self, store: ColumnStore, lines: IntArray) -> None:
        """Note that lines were read; something stands in for pairs without a value."""
        if len(self._memory.holes):
            self._memory.stand_in(store, lines)
        store.finish(lines)

    def block(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return the entries of some rows and some columns."""
        down = _indices(rows, self.shape[0])
        across = _indices(columns, self.shape[1])
        shape = len(down), len(across)
        i, j = np.repeat(down, shape[1]), np.tile(across, shape[0])
        unknown = self._unknown(i, j).reshape(shape)
        new_rows, new_columns = down[unknown.any(axis=1)], across[unknown.any(axis=0)]
        requests = list(self.planner.block(new_rows, new_columns))
        self._ask(requests, sum(r.size for r in requests) * self.planner.per_entry)
        values = self._memory.find(i, j).reshape(shape)
        if len(self._memory.holes) and not self._tolerant:
            gaps = np.isnan(values)
            values = stand_ins(values)
            if self.symmetric and np.array_equal(down, across):
                values = np.where(gaps, values / 2 + values.T / 2, values)
        return self._as_read(values)

    def _unknown(self, rows: IntArray, columns: IntArray) -> BoolArray:
        found = np.isnan(self._memory.find(rows, columns))
        return found & ~self._memory.is_hole(rows, columns) if len(self._memory.holes) else found

    def entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return single entries ``rows[k], columns[k]``; NaN for pairs that were skipped."""
        down = _indices(rows, self.shape[0])
        across = _indices(columns, self.shape[1])
        missing = self._unknown(down, across)
        i, j = down[missing], across[missing]
        if len(i):
            # Each pair once, also where both orders of it are wanted.
            first = np.unique(self._memory.keys(i, j), return_index=True)[1]
            i, j = i[first], j[first]
        self._ask(self.planner.lists(i, j), len(i) * self.planner.per_entry)
        values = self._memory.find(down, across)
        values[self._memory.is_hole(down, across)] = np.nan
        return self._as_read(values)

    def paid(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which entries cost nothing: a journal has them, or they were paid for before."""
        with self._writing():
            pass  # which looks up what a journal has, and compares some of it
        known = ~np.isnan(self._memory.find(rows, columns))
        return known | self._ledger.paid(Scattered(rows, columns))

    def answered(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return what this run knows of single entries, also after a fault; NaN for the rest."""
        return self._as_read(self._memory.find(rows, columns))

    def diagonal(self) -> FloatArray:
        """Return the similarity of every item with itself; free where it is declared.

        The mean of the others stands in for one that was skipped.
        """
        everyone = np.arange(min(self.shape))
        values = self.entries(everyone, everyone)
        return stand_ins(values[:, None])[:, 0] if len(self._memory.holes) else values

    @property
    def bytes_on_disk(self) -> int:
        """How long the files are in which columns and rows are kept already."""
        stores = {id(store): store for store in (self._memory.columns, self._memory.rows)}
        return sum(store.bytes_on_disk for store in stores.values())

    def expect_columns(self, count: int) -> None:
        """Say how many columns the run will read in all, so that none is copied later."""
        self._memory.columns.expect(count)

    # ------------------------------------------------------------------ judging and checking

    def set_aside(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Evaluate single entries that no method may see, to judge results by."""
        down = _indices(rows, self.shape[0])
        across = _indices(columns, self.shape[1])
        self._memory.reserve(down, across)
        return self.entries(down, across)

    @property
    def reserved(self) -> IntArray:
        """Keys of the entries that were set aside; `known()` does not tell their values."""
        return self._memory.reserved

    def reveal(self, rows: IntArray, columns: IntArray) -> None:
        """Let methods and results use entries that were set aside."""
        self._memory.reveal(rows, columns)

    def both_orders(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return entries (i, j) and entries (j, i), whatever symmetry was declared."""
        if not self.symmetric:
            return self.entries(rows, columns), self.entries(columns, rows)
        there, back = Ordered(rows, columns), Ordered(columns, rows)
        for both in (there, back):
            requests = self.planner.lists(both.rows, both.columns, Ordered)
            self._ask(requests, both.size * self.planner.per_entry)
        return self._memory.answer(there), self._memory.answer(back)

    def check_symmetry(self, rows: IntArray, columns: IntArray) -> None:
        """Ask for some entries in both orders, and refuse a similarity that depends on it."""
        there, back = self.both_orders(rows, columns)
        both = ~(np.isnan(there) | np.isnan(back))
        fault = asymmetry(self.items, rows[both], columns[both], there[both], back[both])
        if fault is not None:
            self._fail(fault)

    def _as_read(self, values: FloatArray) -> FloatArray:
        if self._scale is None:
            return values
        gaps = np.isnan(values) if len(self._memory.holes) else np.zeros(0, dtype=bool)
        if not gaps.any():
            return self._scale.of(values)
        return np.where(gaps, np.nan, self._scale.of(np.where(gaps, 0.0, values)))

    def repeated(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Ask for single entries once more, although they are known; the answers are not kept."""
        answers = [np.empty(0)]
        for request in self.planner.lists(rows, columns):
            outcome = self._evaluated(request)
            self._ledger.count(outcome.asked * self.planner.per_entry)
            answers.append(outcome.values)
        return np.concatenate(answers)


def _different(indices: IntArray) -> IntArray:
    """Return each index once, in the order in which they first come."""
    first = np.unique(indices, return_index=True)[1]
    return indices if len(first) == len(indices) else indices[np.sort(first)]


def _indices(indices: npt.ArrayLike, length: int) -> IntArray:
    array = np.asarray(unmasked(indices, "indices"))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"indices have the shape {array.shape} and the dtype {array.dtype}.",
            "They are positions of items.",
            "Pass a list of integers.",
        )
    if array.min() < 0 or array.max() >= length:
        raise InputError(
            f"indices run from {array.min()} to {array.max()}, with {length} items.",
            "There is no item at such a position.",
            f"Pass positions from 0 to {length - 1}.",
        )
    return array.astype(np.int64)
