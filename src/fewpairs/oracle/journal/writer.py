"""Blocks on their way to the disk: gathered, and written while the next answers are evaluated."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from fewpairs.items.keys import Keys
from fewpairs.oracle.journal.blocks import Record, merged, write_block
from fewpairs.oracle.journal.folder import Shelf
from fewpairs.oracle.journal.tail import Tail
from fewpairs.oracle.requests import Request

#: A block is written when it holds so many values.
_VALUES = 2**20
#: Or when its oldest is as old as this share of the run, within these seconds. That is what a
#: machine loses that loses its power, beside the requests under way: little of what was paid, and a
#: night leaves some 6,000 files, not one for each answer. A process that is killed loses nothing of
#: it: that is in the tail.
_SHARE, _SOONEST, _LATEST = 0.005, 0.5, 5.0


class Writer:
    """Gathers records, and writes them in a thread of its own: a disk takes its time to be sure.

    One block is written at a time. What could not be written stays, and is tried again.

    Parameters
    ----------
    shelf : Shelf
    keys : ndarray
        Of all items; records name them by their places in it.
    matrix : str
        What blocks carry, as `Block` has it.
    """

    def __init__(self, shelf: Shelf, keys: Keys, matrix: str) -> None:
        self._shelf, self._keys, self._matrix = shelf, keys, matrix
        #: Where answers are until a block holds them.
        self.tail = Tail(shelf, keys, matrix)
        #: Names of the blocks that were written here.
        self.written: set[str] = set()
        self._waiting: list[Record] = []
        self._count, self._oldest, self._start = 0, 0.0, time.monotonic()
        self._under_way: list[Record] = []
        self._replaces: list[Path] = []
        self._thread: threading.Thread | None = None
        self._fault: BaseException | None = None

    def add(self, record: Record, dtype: str, request: Request) -> None:
        """Take the answer to a request, and begin to write a block when enough has come."""
        now = time.monotonic()
        if not self._waiting:
            self._oldest = now
        self._waiting.append(record)
        self.tail.kept(request, record.request.size)
        self._count += record.request.size
        old = min(max(_SHARE * (now - self._start), _SOONEST), _LATEST)
        if self._count >= _VALUES or now - self._oldest > old:
            self._finish()
            self._begin(dtype)

    def flush(self, dtype: str) -> None:
        """Write all that has come, and return when it is on the disk."""
        self._finish()
        self._begin(dtype)
        self._finish()

    def close(self) -> None:
        """Leave no tail behind but of what is in no block."""
        self.tail.close(needed=bool(self._waiting or self._under_way))

    def _begin(self, dtype: str) -> None:
        if self._waiting:
            self._replaces = self.tail.turn()
            self._under_way, self._waiting, self._count = self._waiting, [], 0
            self._thread = threading.Thread(target=self._write, args=(dtype,))
            self._thread.start()

    def _finish(self) -> None:
        """Wait for the block that is being written; raise what stood in its way."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        # Also after Ctrl-C in the middle of this: what was not written is not forgotten.
        self._waiting, self._under_way = self._under_way + self._waiting, []
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def _write(self, dtype: str) -> None:
        try:
            block = self._shelf.next_block()
            records = merged(self._under_way)
            checksum = self._shelf.checksum
            write_block(block, records, self._keys, checksum, dtype, self._matrix)
            self.written.add(block.name)
            self._under_way = []
            self.tail.replaced(self._replaces)
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            self._fault = error
