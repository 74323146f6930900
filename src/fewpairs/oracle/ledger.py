"""What a run has asked for, what earlier runs have paid for, and what both have cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, RandomState
from fewpairs.errors import AsymmetryError
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Planner, Rectangle, Request, Scattered


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
        self._earlier: Memory | None = None

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

    def to_evaluate(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what must be evaluated of a request, and copy what was paid for before."""
        for part in self._unknown(request, planner):
            if self._earlier is None:
                yield part
                continue
            self.memory.store(part, self._earlier.answer(part))
            rest = list(unknown_part(part, self._earlier, planner))
            self.spent += (part.size - sum(r.size for r in rest)) * planner.per_entry
            yield from rest

    def _unknown(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what this run does not know; of few items, not even a block has known entries."""
        if isinstance(request, Scattered) or planner.by_pairs_only or not planner.few_items:
            yield from unknown_part(request, self.memory, planner)
            return
        unknown = self.memory.unknown(request)
        whole = unknown.all(axis=1)
        if whole.any():
            yield Rectangle(request.rows[whole], request.columns)
        for k in np.flatnonzero(~whole & unknown.any(axis=1)):
            yield Rectangle(request.rows[k : k + 1], request.columns[unknown[k]])

    def keep(self, request: Request, values: FloatArray) -> None:
        """Remember an answer."""
        self.memory.store(request, values)

    def count(self, evaluations: int) -> None:
        """Count what the similarity was asked for just now."""
        self.evaluations += evaluations
        self.spent += evaluations


def unknown_part(request: Request, memory: Memory, planner: Planner) -> Iterator[Request]:
    """Yield what a memory does not know of a request.

    A block is asked for whole or not at all, because a part of it would be computed differently in
    the last bits; so is each row of single pairs of a similarity that is written as a block only.
    Others get the missing pairs alone.
    """
    unknown = memory.unknown(request)
    scattered = isinstance(request, Scattered)
    if unknown.all() or (unknown.any() and not scattered and not planner.by_pairs_only):
        yield request
    elif unknown.any():
        i, j = request.pairs()
        missing = unknown.ravel()
        if scattered and planner.by_block_only:
            missing = np.isin(i, i[missing])
        kind = type(request) if isinstance(request, Scattered) else Scattered
        yield kind(i[missing], j[missing])
