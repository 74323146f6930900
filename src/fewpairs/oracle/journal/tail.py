"""The tail of a journal: every answer as it comes, until a block holds it.

A block has its price: it is flushed to the disk, and that takes milliseconds. So blocks are written
now and then, and every answer goes at once to the end of a small file beside them. What the system
has taken there survives the death of the process, if not that of the machine. When a block holds
what a tail holds, the tail is removed; what a killed process has left is read by `folding.py`.
"""

from __future__ import annotations

import struct
import threading
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.items.keys import SIZE, Keys
from fewpairs.oracle import hearing
from fewpairs.oracle.hearing import Single
from fewpairs.oracle.journal.blocks import KINDS, Record
from fewpairs.oracle.journal.folder import Shelf
from fewpairs.oracle.journal.growing import Growing
from fewpairs.oracle.requests import Request, Scattered

FORMAT, VERSION = b"fewpairs tail ", 2
#: Before each record: its length, and its checksum.
FRAME = struct.Struct("<II")
#: A record begins so: number of the request, kind, rows, columns; then keys, then values.
BEGINNING = struct.Struct("<QBII")
_VALUE = struct.Struct("<d")


class Tail:
    """Writes answers to the end of a file as they come, from any thread.

    Nothing depends on it but what a killed process loses: where it cannot be written, blocks tell.

    Parameters
    ----------
    shelf : Shelf
    keys : ndarray
        Of all items; records name them by their places in it.
    matrix : str
        As blocks carry it.
    """

    def __init__(self, shelf: Shelf, keys: Keys, matrix: str) -> None:
        self._shelf, self._keys, self._matrix = shelf, keys, matrix
        self._head = b"%s%d\n%s\n%s\n" % (
            FORMAT,
            VERSION,
            shelf.checksum.encode(),
            matrix.encode(),
        )
        self._lock = threading.Lock()
        self._number = self._files = 0
        self._start_anew()

    def __reduce__(self) -> tuple[Any, ...]:
        # A file that is open here cannot be written to by another process.
        return Tail, (self._shelf, self._keys, self._matrix)

    def _start_anew(self) -> None:
        #: Requests under way, by their identity: the number of each, which gives their order.
        self._expected: dict[int, tuple[int, Request]] = {}
        #: How many answers have come of each, by its number.
        self._told: dict[int, int] = {}
        #: What was written of each: no block will hold it for now.
        self._ahead: dict[int, list[bytes]] = {}
        #: Answers that came too fast to be written one by one.
        self._waiting: list[tuple[int, Record]] = []
        self._replaceable: list[Path] = []
        self._file: Growing | None = None
        self._failed, self._last = False, time.perf_counter()

    # ------------------------------------------------------------------ requests

    def expect(self, request: Request) -> None:
        """Give the next number to a request that is about to be evaluated."""
        with self._lock:
            self._number += 1
            self._expected[id(request)] = self._number, request
            self._told[self._number], self._ahead[self._number] = 0, []

    def hear(self, request: Request, record: Record, *, at_once: bool) -> None:
        """Take the answer to a part of a request; write it now, or soon."""
        with self._lock:
            number, _ = self._expected.get(id(request), (0, None))
            if not number:
                return  # a call that was given up has come back after all
            self._waiting.append((number, record))
            self._told[number] += record.request.size
            if at_once or time.perf_counter() - self._last >= hearing.OFTEN:
                self._write_waiting()

    def singly(self, request: Request, pairs: Scattered) -> Single:
        """Return what takes the answer to one of these pairs, and writes it now.

        The same as `hear`, in a tenth of its time: all but the value is packed beforehand.
        """
        number, _ = self._expected.get(id(request), (0, None))
        beginnings, each = self._beginnings(number, pairs), BEGINNING.size + 2 * SIZE
        length = each + _VALUE.size
        told, ahead, lock = self._told, self._ahead, self._lock
        pack, frame, checksum = _VALUE.pack, FRAME.pack, zlib.crc32

        def write(k: int, value: float) -> None:
            payload = beginnings[each * k : each * (k + 1)] + pack(value)
            framed = frame(length, checksum(payload)) + payload
            with lock:
                if number not in told:
                    return  # a call that was given up has come back after all
                told[number] += 1
                ahead[number].append(framed)
                if self._waiting:
                    self._write_waiting()
                self._append(framed)

        return write

    def _beginnings(self, number: int, pairs: Scattered) -> bytes:
        """Pack what comes before the value in the records of single pairs."""
        beginning = BEGINNING.pack(number, KINDS.index(type(pairs)), 1, 1)
        table = np.empty((pairs.size, len(beginning) + 2 * SIZE), dtype=np.uint8)
        table[:, : len(beginning)] = np.frombuffer(beginning, dtype=np.uint8)
        keys = self._keys.view(np.uint8).reshape(-1, SIZE)
        table[:, len(beginning) : -SIZE] = keys[pairs.rows]
        table[:, -SIZE:] = keys[pairs.columns]
        return table.tobytes()

    def kept(self, request: Request, count: int) -> None:
        """Learn that so many answers to a request are on their way to a block.

        If more have come, then Ctrl-C has come before they could be used; they stay here.
        """
        with self._lock:
            number, _ = self._expected.get(id(request), (0, None))
            if number and self._told[number] <= count:
                del self._expected[id(request)], self._told[number], self._ahead[number]

    # ------------------------------------------------------------------ files

    def turn(self) -> list[Path]:
        """Begin a new file; return those that the block of all that was kept will replace."""
        with self._lock:
            self._waiting = [(n, record) for n, record in self._waiting if n in self._told]
            self._close()
            self._failed = False
            if any(self._ahead.values()):
                self._append(b"".join(chain.from_iterable(self._ahead.values())))
            return [] if self._failed else list(self._replaceable)

    def replaced(self, paths: Iterable[Path]) -> None:
        """Remove files whose content is in blocks by now."""
        for path in paths:
            with suppress(OSError):  # whoever comes next finds what is known already
                path.unlink()
                self._replaceable.remove(path)

    def close(self, *, needed: bool) -> None:
        """End a file, and remove it unless it holds what is nowhere else."""
        with self._lock:
            if needed and self._waiting:
                self._write_waiting()
            needed = needed or any(self._ahead.values())
            self._close()
            paths = self._replaceable
        if not needed:
            self.replaced(list(paths))
        self._start_anew()

    def _write_waiting(self) -> None:
        payloads = []
        for number, record in self._waiting:
            payload = self._packed(number, record)
            payloads.append(payload)
            if number in self._told:
                self._ahead[number].append(payload)
        self._waiting = []
        self._append(b"".join(payloads))
        self._last = time.perf_counter()

    def _packed(self, number: int, record: Record) -> bytes:
        rows, columns = record.request.rows, record.request.columns
        kind = KINDS.index(type(record.request))
        payload = b"".join(
            (
                BEGINNING.pack(number, kind, len(rows), len(columns)),
                self._keys[rows].tobytes(),
                self._keys[columns].tobytes(),
                _little(record.values),
            )
        )
        return FRAME.pack(len(payload), zlib.crc32(payload)) + payload

    def _append(self, data: bytes) -> None:
        if self._failed:
            return
        if self._file is None:
            data = self._head + data
            self._files += 1
            try:
                self._file = Growing(self._shelf.path / f"{self._files:08d}.tail")
            except OSError:
                self._failed = True
                return
        # Not on a full disk: the block that cannot be written either will say so.
        self._failed = not self._file.append(data)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._replaceable.append(self._file.path)
            self._file = None


def _little(values: FloatArray) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()
