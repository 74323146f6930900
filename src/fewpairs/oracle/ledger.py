"""What a run has asked for, what earlier runs have paid for, and what both have cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, RandomState
from fewpairs.errors import AsymmetryError
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Planner, Rectangle, Request, Scattered
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
        self.evaluations = self.spent = 0
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
        self._earlier, self.evaluations = memory, evaluations

    def earlier(self, empty: Memory) -> Memory:
        """Return the memory of what was paid for before, to be added to."""
        if self._earlier is None:
            self._earlier = empty
        return self._earlier

    def forget_earlier(self) -> None:
        """Forget what was paid for elsewhere: it turned out not to belong here."""
        self._earlier = None

    def to_evaluate(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what must be evaluated of a request, and copy what was paid for before."""
        for part in self._unknown(request, planner):
            rest = [part]
            if self._earlier is not None:
                known = self._earlier.answer(part if self.twins is None else self.twins.first(part))
                unknown = np.isnan(known)
                if not unknown.all():
                    # What this run has asked for too was there when it was first carried out, and
                    # did not change how the rest was asked for.
                    mine = np.isnan(self.memory.answer(part)) == unknown
                    self.memory.store(part, known)
                    rest = list(unknown_part(part, unknown, planner, shared=not mine.all()))
                    self.spent += (part.size - sum(r.size for r in rest)) * planner.per_entry
            for missing in rest:
                yield from self._own(missing)

    def _own(self, request: Request) -> Iterator[Request]:
        """Yield a request without the pairs that stand behind others of the same content."""
        if self.twins is None:
            yield request
            return
        own, behind = self.twins.apart(request)
        if behind is not None:
            self._behind.append(behind)
        if own is not None:
            yield own

    def owed(self, planner: Planner) -> Iterator[Request]:
        """Yield what pairs that were left out need, and no request has asked for by now."""
        if self.twins is None or not self._behind:
            return
        i, j = (
            np.concatenate(side) for side in zip(*(r.pairs() for r in self._behind), strict=True)
        )
        first = self.twins.first(Scattered(i, j))
        unknown = np.isnan(self._of_twins(first))
        i, j = first.rows[unknown], first.columns[unknown]
        a, b = (np.minimum(i, j), np.maximum(i, j)) if self.memory.symmetric else (i, j)
        once = np.unique(a * planner.m + b, return_index=True)[1]
        yield from planner.lists(i[once], j[once])

    def settle(self, planner: Planner) -> None:
        """Copy to the pairs that were left out what was evaluated for others of their content."""
        for request in self._behind:
            assert self.twins is not None  # noqa: S101 - nothing was left out otherwise
            values = self._of_twins(self.twins.first(request))
            self.memory.store(request, values)
            self.spent += int((~np.isnan(values)).sum()) * planner.per_entry
        self._behind = []

    def _of_twins(self, first: Request) -> FloatArray:
        found = self.memory.answer(first)
        if self.memory.assumed:  # declared for this run alone, of items with themselves
            found = np.where(first.rows == first.columns, np.nan, found)
        if self._earlier is None:
            return found
        return np.where(np.isnan(found), self._earlier.answer(first), found)

    def _unknown(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what this run does not know; of few items, not even a block has known entries."""
        if isinstance(request, Scattered) or planner.by_pairs_only or not planner.few_items:
            yield from unknown_part(request, np.isnan(self.memory.answer(request)), planner)
            return
        unknown = np.isnan(self.memory.answer(request))
        whole = unknown.all(axis=1)
        if whole.any():
            yield Rectangle(request.rows[whole], request.columns)
        for k in np.flatnonzero(~whole & unknown.any(axis=1)):
            yield Rectangle(request.rows[k : k + 1], request.columns[unknown[k]])

    def keep(self, request: Request, values: FloatArray) -> None:
        """Remember an answer."""
        self.memory.store(request, values)

    def count(self, evaluations: int, *, spent: bool = True) -> None:
        """Count what the similarity was asked for just now, for this run unless said otherwise."""
        self.evaluations += evaluations
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
        rest = ~whole & unknown.any(axis=1)
        if rest.any():
            yield Rectangle(request.rows[rest], request.columns[unknown[rest].any(axis=0)])
