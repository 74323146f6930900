"""What a run has asked for, what earlier runs have paid for, and what both have cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Planner, Request, Scattered


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
    """

    def __init__(self, empty: Memory) -> None:
        self.memory = empty
        self.evaluations = self.spent = 0
        self._earlier: Memory | None = None

    def begin(self, empty: Memory) -> None:
        """Start a run that knows nothing yet."""
        if self._earlier is not None:
            self._earlier.absorb(self.memory)
        elif not self.memory.empty:
            self._earlier = self.memory
        self.memory = empty
        self.spent = 0

    def to_evaluate(self, request: Request, planner: Planner) -> Iterator[Request]:
        """Yield what must be evaluated of a request, and copy what was paid for before."""
        for part in unknown_part(request, self.memory, planner):
            if self._earlier is None:
                yield part
                continue
            self.memory.store(part, self._earlier.answer(part))
            rest = list(unknown_part(part, self._earlier, planner))
            self.spent += (part.size - sum(r.size for r in rest)) * planner.per_entry
            yield from rest

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
    the last bits; only a similarity that is not written as a block gets the missing pairs alone.
    """
    unknown = np.isnan(memory.answer(request))
    scattered = isinstance(request, Scattered)
    if unknown.all() or (unknown.any() and not scattered and not planner.by_pairs_only):
        yield request
    elif unknown.any():
        i, j = request.pairs()
        kind = type(request) if isinstance(request, Scattered) else Scattered
        yield kind(i[unknown.ravel()], j[unknown.ravel()])
