"""What a run has asked for, what earlier runs have paid for, and what both have cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, RandomState
from fewpairs.errors import AsymmetryError
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.planner import Planner
from fewpairs.oracle.requests import Rectangle, Request, Scattered
from fewpairs.oracle.twins import Twins


class Ledger:
    """Keeps the memory of the present run apart from what was bought before it.

    A run sees nothing that it has not asked for itself, so that the same seed gives the same
    result on a fresh oracle, on one that has been used, and after a fault. What it asks for and an
    earlier run has paid for is copied, not evaluated.

    Parameters
    ----------
    empty : Memory
        Of the first run.

    Attributes
    ----------
    memory : Memory
        Of the present run.
    evaluations : int
        What the similarity was really asked for, in all runs.
    answered : int
        How many of these have a value, which is kept.
    spent : int
        What the present run would have asked for alone.
    seconds : float
        What the similarity, and keeping its answers, has taken in all runs.
    unfinished : dict or None
        State of the random generator at the start of a run that has not ended.
    drawn_from : RandomState
        What the user gave as the random state of the last run.
    refused : AsymmetryError or None
        The fault of a similarity that is not symmetric, once it was seen.
    """

    def __init__(self, empty: Memory) -> None:
        self.memory = empty
        self.evaluations = self.answered = self.spent = 0
        self.seconds = 0.0
        self.unfinished: dict[str, Any] | None = None
        self.drawn_from: RandomState = None
        self.refused: AsymmetryError | None = None
        #: Items of the same content, where a journal tells them; then one is evaluated for all.
        self.twins: Twins | None = None
        self._earlier: Memory | None = None
        self._behind: list[Scattered] = []

    def begin(self, empty: Memory) -> None:
        """Start a run that knows nothing yet."""
        self.memory.forget_assumed()
        if self._earlier is not None:
            self._earlier.absorb(self.memory)
        elif not self.memory.empty:
            self._earlier = self.memory
        self.memory = empty
        self.spent = 0

    def bought(self, empty: Memory) -> Memory:
        """End the present run, and return everything that was ever paid for."""
        self.begin(empty)
        return empty if self._earlier is None else self._earlier

    def endow(self, memory: Memory, evaluations: int) -> None:
        """Begin with what was paid for elsewhere."""
        self._earlier, self.evaluations, self.answered = memory, evaluations, evaluations

    def earlier(self, empty: Memory) -> Memory:
        """Return the memory of what was paid for before, to be added to."""
        if self._earlier is None:
            self._earlier = empty
        return self._earlier

    def paid(self, request: Request) -> BoolArray:
        """Say what of a request was paid for before."""
        if self._earlier is None:
            return np.zeros(request.shape, dtype=bool)
        first = request if self.twins is None else self.twins.first(request)
        return ~np.isnan(self._earlier.answer(first))

    def forget_earlier(self) -> None:
        """Forget what was paid for elsewhere: it turned out not to belong here."""
        self._earlier = None

    def to_evaluate(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what must be evaluated of a request, and copy what was paid for before."""
        for part in self._unknown(request, planner):
            own: Request | None = part
            if self.twins is not None:
                own, behind = self.twins.apart(part)
                if behind is not None:  # settled when all requests have been answered
                    self._behind.append(behind)
            if own is not None:
                yield from self._unpaid(own, planner)

    def _unpaid(self, part: Request, planner: Planner) -> Iterator[Request]:
        """Yield what no earlier run has paid for, and copy the rest."""
        if self._earlier is None:
            yield part
            return
        known = self._earlier.answer(part if self.twins is None else self.twins.first(part))
        unknown = self.memory.unknown(part)
        # What this run knows as well it knew when it was first carried out, if it was: then it
        # changes nothing in how the rest is asked for.
        if not (unknown & ~np.isnan(known)).any():
            yield part
            return
        self.memory.store(part, known)
        rest = list(unknown_part(part, unknown & np.isnan(known), planner, shared=True))
        self.spent += (part.size - sum(r.size for r in rest)) * planner.per_entry
        yield from rest

    def owed(self, planner: Planner) -> Iterator[Request]:
        """Yield what pairs that were left out need, and nobody has paid for."""
        if self.twins is None or not self._behind:
            return
        sides = zip(*(request.pairs() for request in self._behind), strict=True)
        first = self.twins.first(Scattered(*map(np.concatenate, sides)))
        unknown = np.isnan(self._mine(first)) & ~self.memory.is_hole(*first.pairs())
        i, j = first.rows[unknown], first.columns[unknown]
        once = np.unique(self.memory.keys(i, j), return_index=True)[1]
        for part in planner.lists(i[once], j[once]):
            if self._earlier is None:
                yield part
            else:
                yield from unknown_part(
                    part, np.isnan(self._earlier.answer(part)), planner, shared=True
                )

    def settle(self, planner: Planner) -> None:
        """Copy to the pairs that were left out what was evaluated for others of their content."""
        for request in self._behind:
            assert self.twins is not None  # noqa: S101 - nothing was left out otherwise
            first = self.twins.first(request)
            values = self._mine(first)
            if self._earlier is not None:
                values = np.where(np.isnan(values), self._earlier.answer(first), values)
            self.memory.store(request, values)
            self.memory.share_holes(first, request)
            asked = ~np.isnan(values).ravel() | self.memory.is_hole(*request.pairs())
            self.spent += int(asked.sum()) * planner.per_entry
        self._behind = []

    def _mine(self, first: Request) -> FloatArray:
        """Return what this run has evaluated, and has not only assumed."""
        found = self.memory.answer(first)
        return (
            np.where(first.rows == first.columns, np.nan, found) if self.memory.assumed else found
        )

    def _unknown(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what this run does not know; of few items, not even a block has known entries."""
        if isinstance(request, Scattered) or planner.by_pairs_only or not planner.few_items:
            yield from unknown_part(request, self.memory.unknown(request), planner)
            return
        unknown = self.memory.unknown(request)
        whole = unknown.all(axis=1)
        if whole.any():
            yield Rectangle(request.rows[whole], request.columns)
        for k in np.flatnonzero(~whole & unknown.any(axis=1)):
            yield Rectangle(request.rows[k : k + 1], request.columns[unknown[k]])

    def count(self, evaluations: int, *, answered: int | None = None, spent: bool = True) -> None:
        """Count what the similarity was asked for just now, for this run unless said otherwise."""
        self.evaluations += evaluations
        self.answered += evaluations if answered is None else answered
        self.spent += evaluations if spent else 0


def unknown_part(
    request: Request, unknown: BoolArray, planner: Planner, *, shared: bool = False
) -> Iterator[Request]:
    """Yield what is not known of a request.

    A block is asked for whole or not at all, because a part of it would be computed differently in
    the last bits; so is each row of single pairs of a similarity that is written as a block only.
    Others get the missing pairs alone; and so do blocks that share pairs with other runs.
    """
    if unknown.all():
        yield request
    elif unknown.any() and (isinstance(request, Scattered) or planner.by_pairs_only):
        i, j = request.pairs()
        missing = unknown.ravel()
        if isinstance(request, Scattered) and planner.by_block_only and not shared:
            missing = np.isin(i, i[missing])
        kind = type(request) if isinstance(request, Scattered) else Scattered
        yield kind(i[missing], j[missing])
    elif unknown.any() and not shared:
        yield request
    elif unknown.any():
        whole = unknown.all(axis=1)
        if whole.any():
            yield Rectangle(request.rows[whole], request.columns)
        rest = np.flatnonzero(~whole & unknown.any(axis=1))
        # Rows that lack the same columns, together: a hull of all would ask for what is known.
        lacking, group, sizes = np.unique(
            unknown[rest], axis=0, return_inverse=True, return_counts=True
        )
        # In one pass: there may be as many groups as rows. Behind the last group nothing is left.
        parts = np.split(rest[np.argsort(group.ravel(), kind="stable")], np.cumsum(sizes))
        for columns, part in zip(lacking, parts, strict=False):
            yield Rectangle(request.rows[part], request.columns[columns])
