"""The oracle: items, a similarity, and memory. The only code that evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import AsymmetryError, InputError, SimilarityError, StoppedError
from fewpairs.items.items import as_items
from fewpairs.oracle.evaluation import Outcome, evaluate
from fewpairs.oracle.execution import run
from fewpairs.oracle.memory import ColumnStore, EntryStore, Memory
from fewpairs.oracle.progress import Progress, ProgressOption
from fewpairs.oracle.requests import Planner, Rectangle, Request, Scattered
from fewpairs.parallel import count_jobs
from fewpairs.similarities.base import as_similarity

#: Relative difference between Δ(x, y) and Δ(y, x) that still counts as symmetric: half-precision
#: models and batched networks repeat themselves no better than this.
SYMMETRY_TOLERANCE = 1e-4
#: Scattered pairs in one call: each is a Python object, however large blocks may be.
LARGEST_LIST = 2**13


class Oracle:
    """Answers for entries of the similarity matrix, and counts what it had to ask for.

    Parameters
    ----------
    items : sequence
        Items of the rows, and of the columns unless `others` is given.
    similarity : Similarity
    others : sequence, optional
        Items of the columns of a rectangular matrix.
    n_jobs : int, default=1
        Threads that call the similarity; results do not depend on it.
    progress : bool, callable or None, default=None
        A bar in a terminal, or a callback ``(done, planned)`` that stops the run with False.

    Attributes
    ----------
    evaluations : int
        Number of entries that the similarity was asked for, times what each costs.
    memory : Memory
        Everything evaluated so far; nothing in it is ever asked for again.

    Examples
    --------
    >>> from fewpairs import Precomputed
    >>> oracle = Oracle(range(3), Precomputed([[1, 2, 3], [2, 4, 5], [3, 5, 6]]))
    >>> oracle.columns([1]).ravel(), oracle.evaluations
    (array([2., 4., 5.]), 3)
    """

    def __init__(
        self,
        items: Any,
        similarity: Any,
        *,
        others: Any = None,
        n_jobs: int | None = 1,
        progress: ProgressOption = None,
    ) -> None:
        self.similarity = as_similarity(similarity)
        self.items = as_items(items)
        self.others = self.items if others is None else as_items(others)
        self.square = others is None
        self.n_jobs = count_jobs(n_jobs)
        self.progress = progress
        self.evaluations = 0
        self._left = self.similarity.prepare(self.items)
        self._right = self._left if self.square else self.similarity.prepare(self.others)
        diagonal = self.similarity.known_diagonal(self._left) if self.square else None
        self.symmetric = self.square and bool(self.similarity.symmetric)
        self.memory = Memory(*self.shape, symmetric=self.symmetric, diagonal=diagonal)
        self.planner = Planner.of(
            self.similarity,
            self.shape,
            square=self.square,
            symmetric=self.symmetric,
            diagonal_known=diagonal is not None,
        )
        self.symmetry_checked = False
        self._watching: Progress | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the whole matrix."""
        return len(self.items), len(self.others)

    def columns(self, landmarks: npt.ArrayLike) -> FloatArray:
        """Return whole columns, as a read-only n × s array."""
        wanted = self._indices(landmarks, self.shape[1])
        new = self.memory.columns.missing(wanted)
        if len(new):
            self.memory.reserve_columns(new)
        # Columns of a run that was stopped have a place but are not complete.
        unknown = wanted[_incomplete(self.memory.columns.get(wanted))]
        self._ask(self._column_requests(unknown), self.planner.price_of_columns(len(unknown)))
        return self.memory.columns.get(wanted)

    def rows(self, landmarks: npt.ArrayLike) -> FloatArray:
        """Return whole rows, as a read-only s × n array."""
        if self.symmetric:
            return self.columns(landmarks).T
        wanted = self._indices(landmarks, self.shape[0])
        new = self.memory.rows.missing(wanted)
        if len(new):
            self.memory.reserve_rows(new)
        unknown = wanted[_incomplete(self.memory.rows.get(wanted))]
        there = np.setdiff1d(np.arange(self.shape[1]), _complete(self.memory.columns))
        tiles = self.planner.tiles(unknown, there)
        self._ask(tiles, len(unknown) * len(there) * self.planner.per_entry)
        return self.memory.rows.get(wanted).T

    def block(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return the entries of some rows and some columns."""
        down = self._indices(rows, self.shape[0])
        across = self._indices(columns, self.shape[1])
        unknown = np.isnan(self.memory.find_block(down, across))
        new_rows, new_columns = down[unknown.any(axis=1)], across[unknown.any(axis=0)]
        requests: list[Request] = []
        if self.symmetric:
            both = np.intersect1d(new_rows, new_columns)
            only_rows = np.setdiff1d(new_rows, both)
            requests += self.planner.tiles(only_rows, new_columns)
            requests += self.planner.tiles(both, np.setdiff1d(new_columns, both))
            requests += self.planner.triangle(both)
        else:
            requests += self.planner.tiles(new_rows, new_columns)
        self._ask(requests, sum(r.size for r in requests) * self.planner.per_entry)
        return self.memory.find_block(down, across)

    def entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return single entries ``rows[k], columns[k]``."""
        down = self._indices(rows, self.shape[0])
        across = self._indices(columns, self.shape[1])
        unknown = np.isnan(self.memory.find(down, across))
        keys, first = np.unique(self.memory.keys(down[unknown], across[unknown]), return_index=True)
        i, j = down[unknown][first], across[unknown][first]
        size = self.planner.block_size
        step = min(size[0] * size[1] if isinstance(size, tuple) else size, LARGEST_LIST)
        chunks = (Scattered(i[k : k + step], j[k : k + step]) for k in range(0, len(i), step))
        self._ask(chunks, len(keys) * self.planner.per_entry)
        return self.memory.find(down, across)

    def set_aside(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Evaluate single entries that no method may see, to judge results by."""
        down = self._indices(rows, self.shape[0])
        across = self._indices(columns, self.shape[1])
        shown, self.memory.entries = self.memory.entries, EntryStore()
        try:
            values = self.entries(down, across)
        finally:
            self.memory.aside.add(*self.memory.entries.all())
            self.memory.entries = shown
        return values

    def diagonal(self) -> FloatArray:
        """Return the similarity of every item with itself; free where it is declared."""
        everyone = np.arange(min(self.shape))
        return self.entries(everyone, everyone)

    def declare_diagonal(self, value: float) -> None:
        """Take every self-similarity as known, so that none is evaluated, now or later."""
        self.similarity = self.similarity.with_diagonal(value)
        self.memory.diagonal = np.full(self.shape[0], value)
        self.planner = replace(self.planner, diagonal_known=True)

    def check_symmetry(self, rows: IntArray, columns: IntArray) -> None:
        """Ask for some entries in both orders, and refuse a similarity that depends on it.

        Both orders count as evaluations; the first order is remembered.
        """
        there = self.entries(rows, columns)
        back = evaluate(self.similarity, self._left, self._right, Scattered(columns, rows))
        self.evaluations += back.asked * self.planner.per_entry
        if back.error is not None:
            self._fail(back.error)
        self._refuse_asymmetry(rows, columns, there, back.values)
        self.symmetry_checked = True

    @contextmanager
    def watch(self, planned: int) -> Iterator[None]:
        """Report the progress of several calls as one run of `planned` further evaluations."""
        if self._watching is not None:
            yield
            return
        with Progress(self.evaluations + planned, self.progress) as progress:
            self._watching = progress
            try:
                yield
            finally:
                self._watching = None

    def _column_requests(self, columns: IntArray) -> Iterator[Request]:
        """Cut columns into requests, leaving out rows that are known as a whole."""
        known = _complete(self.memory.rows)
        if self.symmetric:
            yield from self.planner.triangle(columns)
            known = np.concatenate([known, columns])
        yield from self.planner.tiles(np.setdiff1d(np.arange(self.shape[0]), known), columns)

    def _ask(self, requests: Iterable[Request], planned: int) -> None:
        """Answer requests; store every answer before any fault or stop is raised."""
        fault: SimilarityError | None = None
        stopped = False

        def still_needed() -> Iterator[Request]:
            for request in requests:
                if fault is not None or stopped:
                    return
                yield from self._unknown_part(request)

        work = partial(evaluate, self.similarity, self._left, self._right)
        with self.watch(planned):
            assert self._watching is not None  # noqa: S101 - watch has just set it
            for request, outcome in run(still_needed(), work, self.n_jobs):
                self.evaluations += outcome.asked * self.planner.per_entry
                fault = fault or outcome.error or self._asymmetry_of(request, outcome)
                self.memory.store(request, outcome.values)
                stopped = not self._watching.update(self.evaluations) or stopped
        if fault is not None:
            self._fail(fault)
        if stopped:
            stop = StoppedError(
                f"the progress callback stopped the run after {self.evaluations:,} evaluations.",
                "What was evaluated is kept in error.oracle.",
                "Go on with fewpairs.approximate(error.oracle, …).",
            )
            stop.oracle = self
            self.progress = None  # whoever goes on must not be stopped by the same callback
            raise stop

    def _unknown_part(self, request: Request) -> Iterator[Request]:
        """Yield what is not known of a request; blocks are asked for whole or not at all."""
        rows, columns = request.rows, request.columns
        if isinstance(request, Scattered):
            unknown = np.isnan(self.memory.find(rows, columns))
            if unknown.any():
                yield Scattered(rows[unknown], columns[unknown])
            return
        if np.all(self.memory.columns.position(columns) >= 0):
            held = self.memory.columns.get(columns)[rows]
        elif np.all(self.memory.rows.position(rows) >= 0):
            held = self.memory.rows.get(rows)[columns].T
        else:
            held = self.memory.find_block(rows, columns)
        unknown = np.isnan(held)
        if unknown.all() or (unknown.any() and not self.planner.by_pairs_only):
            yield request
        elif unknown.any():
            i, j = np.nonzero(unknown)
            yield Scattered(rows[i], columns[j])

    def _asymmetry_of(self, request: Request, outcome: Outcome) -> SimilarityError | None:
        """Compare both orders where a block-only similarity has given both anyway."""
        if not self.symmetric or not isinstance(request, Rectangle) or outcome.error is not None:
            return None
        if not np.array_equal(request.rows, request.columns):
            return None
        rows, columns = request.pairs()
        try:
            self._refuse_asymmetry(rows, columns, outcome.values.ravel(), outcome.values.T.ravel())
        except AsymmetryError as error:
            return error
        # One triangle stands for both, so that the square is symmetric to the last bit.
        upper = np.triu(outcome.values)
        outcome.values[:] = upper + np.triu(outcome.values, 1).T
        return None

    def _refuse_asymmetry(
        self, rows: IntArray, columns: IntArray, there: FloatArray, back: FloatArray
    ) -> None:
        scale = max(float(np.abs(there).max(initial=0)), float(np.abs(back).max(initial=0)))
        difference = np.abs(there - back)
        worst = int(difference.argmax()) if len(difference) else 0
        if len(difference) and difference[worst] > SYMMETRY_TOLERANCE * scale:
            i, j = int(rows[worst]), int(columns[worst])
            fault = AsymmetryError(
                f"the similarity is declared symmetric, but items {self.items.describe(i)} and "
                f"{self.others.describe(j)} give {there[worst]:.6g} in one order and "
                f"{back[worst]:.6g} in the other ({len(there)} pairs were asked in both).",
                "One order would silently stand for both.",
                "Declare symmetric=False, or average both orders with similarity.symmetrized().",
                pair=(i, j),
            )
            fault.oracle = self
            raise fault

    def _fail(self, fault: SimilarityError) -> None:
        fault.oracle = self
        fault.add_note(f"The {self.evaluations:,} evaluations made so far are kept.")
        raise fault

    def _indices(self, indices: npt.ArrayLike, length: int) -> IntArray:
        array = np.asarray(indices)
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


def _complete(store: ColumnStore) -> IntArray:
    return store.landmarks[~_incomplete(store.values)]


def _incomplete(columns: FloatArray) -> npt.NDArray[np.bool_]:
    # A sum is NaN if any entry is; this needs no second array of the same size.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.isnan(columns.sum(axis=0)))
