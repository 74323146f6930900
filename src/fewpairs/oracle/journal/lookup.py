"""From the blocks of a journal to a memory of the items that are here now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.items.keys import Keys
from fewpairs.oracle.journal.blocks import Block, Record
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Ordered, Rectangle, Request, Scattered

#: Reads a block, with its values or without; None if it is damaged.
Read = Callable[[Path, bool], Block | None]
#: A line becomes a whole line of the memory if at least half of it was evaluated: it then takes no
#: more room than its entries would take one by one.
_HALF = 2
#: A prime, so that entries that are checked lie now here, now there in their records.
_STRIDE = 7919


class Places:
    """Where items stand, by their keys: of several with the same key, the first.

    Parameters
    ----------
    keys : ndarray
        Of all items, in their order.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys, self._first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        #: For each item, the first with the same key.
        self.first: IntArray = self._first[inverse.reshape(-1)].astype(np.int64)

    @property
    def count(self) -> int:
        """Number of different keys."""
        return len(self._keys)

    @property
    def distinct(self) -> bool:
        """Whether no two items have the same key."""
        return len(self._keys) == len(self.first)

    def of(self, keys: Keys) -> IntArray:
        """Return the positions of keys, -1 for what is not here."""
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._first[at], -1)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Takes from blocks what concerns the items of one matrix.

    Parameters
    ----------
    left, right : Places
        Of the rows and of the columns.
    reversible : bool
        Whether a pair of two sets may be found in the other order too.
    matrix : str
        What blocks of this very matrix carry, as `Block` has it. In them, no pair is found in the
        other order: a run does not do so with what it has just evaluated, nor must it when it goes
        on.
    """

    left: Places
    right: Places
    reversible: bool
    matrix: str

    def fill(
        self,
        memory: Memory,
        blocks: Sequence[Path],
        read: Read,
        finish: Callable[..., FloatArray],
        check: int,
    ) -> list[Record]:
        """Put what is known into a memory; return some entries of each record, to be checked.

        Parameters
        ----------
        memory : Memory
        blocks : sequence of Path
            Oldest first: of values for the same pair the oldest counts.
        read : callable
        finish : callable
            From values as they are written to those that the memory holds.
        check : int
            How many entries of each.
        """
        self._make_room(memory, blocks, read)
        samples: list[Record] = []
        for backwards in (False, True) if self.reversible else (False,):
            for path in blocks:
                for record in self._here(read(path, True), backwards=backwards):
                    whole = Record(record.request, finish(record.values))
                    self._store(memory, whole)
                    if check and not backwards:
                        samples.append(_some_of(whole, check, len(samples)))
        index = memory.columns.index
        memory.columns.finish(index[~np.isnan(memory.columns.get(index)).any(axis=0)])
        return samples

    def _make_room(self, memory: Memory, blocks: Sequence[Path], read: Read) -> None:
        """Give whole lines to a memory where a journal holds most of them."""
        across = np.zeros(len(self.right.first), dtype=np.int64)
        shapes = [
            record.request
            for path in blocks
            for record in self._here(read(path, False), backwards=False)
            if isinstance(record.request, Rectangle)
        ]
        for request in shapes:
            np.add.at(across, request.columns, len(request.rows))
            if memory.symmetric:
                np.add.at(across, request.rows, len(request.columns))
        whole = np.flatnonzero(across * _HALF >= self.left.count)
        memory.add_columns(memory.columns.missing(whole))
        if memory.symmetric:
            return
        down = np.zeros(len(self.left.first), dtype=np.int64)
        for request in shapes:
            outside = memory.columns.position(request.columns) < 0
            np.add.at(down, request.rows, int(outside.sum()))
        whole = np.flatnonzero(down * _HALF >= self.right.count)
        memory.add_rows(memory.rows.missing(whole))

    def _here(self, block: Block | None, *, backwards: bool) -> Iterator[Record]:
        """Yield what a block holds of the items that are here, at their positions."""
        if block is None or (backwards and self.matrix and block.matrix == self.matrix):
            return
        rows_at = self.left.of(block.keys)
        columns_at = rows_at if self.right is self.left else self.right.of(block.keys)
        for record in block.records:
            request, values = record.request, record.values
            if backwards:
                request, values = type(request)(request.columns, request.rows), values.T
            rows, columns = rows_at[request.rows], columns_at[request.columns]
            if isinstance(request, Rectangle):
                down, along = np.flatnonzero(rows >= 0), np.flatnonzero(columns >= 0)
                here: Request = Rectangle(rows[down], columns[along])
                found = values[np.ix_(down, along)] if values.size else values
            else:
                both = np.flatnonzero((rows >= 0) & (columns >= 0))
                here = type(request)(rows[both], columns[both])
                found = values[both] if values.size else values
            if here.size:
                yield Record(here, found)

    def _store(self, memory: Memory, record: Record) -> None:
        request, values = record.request, record.values
        if isinstance(request, Rectangle):
            _store_rectangle(memory, request, values)
        elif isinstance(request, Ordered) and memory.symmetric and not self.left.distinct:
            # It was asked for of any twin, and a run that goes on asks for it so again; to know it
            # of the first one would change how blocks are asked for.
            memory.store_order(request, values)
        else:
            # A list may hold a pair twice; as everywhere, its first value counts.
            keys = memory.keys(request.rows, request.columns)
            first = slice(None) if isinstance(request, Ordered) else _first(keys)
            kept = type(request)(request.rows[first], request.columns[first])
            memory.store(kept, values[first])


def _first(keys: IntArray) -> Any:
    return np.unique(keys, return_index=True)[1]


def _store_rectangle(memory: Memory, request: Rectangle, values: FloatArray) -> None:
    """Store the parts of a rectangle that lie in whole lines at once."""
    rows, columns = request.rows, request.columns
    held = memory.columns.position(columns) >= 0
    crossing = memory.rows.position(rows) >= 0
    for down, along in (
        (np.ones(len(rows), dtype=bool), held),
        (crossing, ~held),
        (~crossing, ~held),
    ):
        if down.any() and along.any():
            part = Rectangle(rows[down], columns[along])
            memory.store(part, values[np.ix_(down, along)])


def _some_of(record: Record, count: int, number: int) -> Record:
    """Return single entries of a record, other ones of every next."""
    request, size = record.request, record.request.size
    at = np.unique((np.arange(count) * (size // count + 1) + number * _STRIDE) % size)
    rows, columns = at, at
    if isinstance(request, Rectangle):
        rows, columns = np.divmod(at, len(request.columns))
    single = Scattered(request.rows[rows], request.columns[columns])
    return Record(single, record.values.ravel()[at])
