"""A journal at work for one oracle: locked, read, written to as answers come, and left clean."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import (
    FileFormatError,
    JournalWarning,
    NewerVersionError,
    SimilarityError,
    warn,
)
from fewpairs.items.items import Items
from fewpairs.items.keys import Keys
from fewpairs.oracle.hearing import Single
from fewpairs.oracle.journal.blocks import Block, Record, read_block
from fewpairs.oracle.journal.checking import compare, some
from fewpairs.oracle.journal.folder import LOCK, SEEDS, read_json, write_json
from fewpairs.oracle.journal.folding import fold
from fewpairs.oracle.journal.journal import Journal
from fewpairs.oracle.journal.lock import Lock
from fewpairs.oracle.journal.lookup import Lookup, Places
from fewpairs.oracle.journal.writer import Writer
from fewpairs.oracle.ledger import Ledger
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Rectangle, Request, Scattered
from fewpairs.oracle.twins import Twins


class Recorder:
    """Writes down what an oracle evaluates, and looks up what was written down before.

    Parameters
    ----------
    journal : Journal
    identity : str
        Of the similarity whose values are written.
    sides : (Items, Items)
        Of the rows and of the columns, for messages.
    keys : (Keys, Keys or None)
        Of the rows and of the columns; None if they are the same.
    reversible : bool
        Whether a value for (a, b) is one for (b, a).
    """

    def __init__(
        self,
        journal: Journal,
        identity: str,
        sides: tuple[Items, Items],
        keys: tuple[Keys, Keys | None],
        *,
        reversible: bool,
    ) -> None:
        self.journal = journal
        self._shelf = journal.at().shelf(identity)
        self._sides = sides
        left, right = keys
        self._keys = left if right is None else np.concatenate([left, right])
        # Positions of columns follow those of rows in one table.
        self._shift = 0 if right is None else len(left)
        whole = hashlib.sha256(self._shift.to_bytes(8, "little") + self._keys.tobytes())
        self._matrix = whole.hexdigest()[:32]
        rows = Places(left)
        columns = rows if right is None else Places(right)
        # Only of two sets that share items can a pair be met in both orders.
        sign = self._matrix if right is not None and np.isin(left, right).any() else ""
        self.lookup = Lookup(rows, columns, right is not None and reversible, sign)
        distinct = rows.distinct and columns.distinct
        self.twins = None if distinct else Twins(rows.first, columns.first)
        self._lock = Lock(journal.path / LOCK)
        self._depth, self._probed = 0, False
        self._dtype = journal.dtype or "float64"
        self._seen: set[str] = set()
        self._writer = Writer(self._shelf, self._keys, sign)
        journal.at().exists()  # refuse what is no journal as soon as it is named

    # ------------------------------------------------------------------ one writer

    @contextmanager
    def writing(self) -> Iterator[bool]:
        """Hold the journal while it is read and written; say whether it was not held before."""
        if self._depth == 0:
            self._open()
        self._depth += 1
        try:
            yield self._depth == 1
        finally:
            self._depth -= 1
            if self._depth == 0:
                try:
                    self._writer.close()
                finally:
                    self._lock.release()

    def _open(self) -> None:
        folder = self.journal.at()
        folder.exists()
        folder.make_room()
        self._lock.acquire(self.journal.wait)
        try:
            if not self._probed:
                folder.probe()
            self._probed = True
            self._dtype = folder.open(self.journal.dtype)
            self._shelf.check()
            self._shelf.make()
            self._set_aside(fold(self._shelf, self._dtype))
        except BaseException:
            self._lock.release()
            raise

    # ------------------------------------------------------------------ looking up

    @property
    def unread(self) -> list[Path]:
        """Blocks that others have written since this one last looked."""
        known = self._seen | self._writer.written
        return [block for block in self._shelf.blocks() if block.name not in known]

    def look_up(
        self,
        ledger: Ledger,
        empty: Memory,
        finish: Callable[[FloatArray], FloatArray],
        again: Callable[[Request], FloatArray],
    ) -> None:
        """Put what others have written into a ledger, as paid for before.

        Parameters
        ----------
        ledger : Ledger
        empty : Memory
            Where it goes if nothing was there before.
        finish : callable
            From values as they are written to similarities.
        again : callable
            Evaluates a request once more: the first time, some of what was found is compared.
        """
        first = not self._seen
        found = self._fill(ledger.earlier(empty), finish)
        if not first or found is None:
            return
        try:
            compare(self.journal, self._sides, found, again)
        except BaseException:
            ledger.forget_earlier()
            self._seen.clear()
            raise

    def _fill(self, memory: Memory, finish: Callable[[FloatArray], FloatArray]) -> Record | None:
        """Put what others have written into a memory; return some of it, to be checked."""
        blocks, bad = self.unread, []

        def read(path: Path, values: bool) -> Block | None:
            if path in bad:
                return None
            try:
                return read_block(path, self._shelf.checksum, values=values)
            except NewerVersionError:
                raise
            except FileFormatError:
                bad.append(path)
                return None

        samples = self.lookup.fill(memory, blocks, read, finish, self.journal.check)
        self._seen.update(block.name for block in blocks)
        self._set_aside(bad)
        return some(samples, self.journal.check, len(blocks))

    def _set_aside(self, bad: list[Path]) -> None:
        self._shelf.set_aside(bad)
        if bad:
            warn(
                JournalWarning(
                    f"{len(bad)} of the files in {str(self._shelf.path)!r} were damaged, the first "
                    f"of them {bad[0].name}. They are set aside, with .bad behind their names, and "
                    "what they held is evaluated again where it is needed."
                )
            )

    # ------------------------------------------------------------------ writing down

    def rounded(self, values: FloatArray) -> FloatArray:
        """Return values as they will be found again."""
        if self._dtype == "float64":
            return values
        with np.errstate(over="ignore"):
            rounded = values.astype(np.float32)
        if np.isinf(rounded).any():
            raise SimilarityError(
                f"the similarity returned {np.nanmax(np.abs(values)):.6g}, which single precision "
                "cannot hold.",
                'The journal was made with dtype="float32".',
                'Choose another folder, and dtype="float64".',
            )
        return rounded.astype(np.float64)

    def expect(self, request: Request) -> None:
        """Learn of a request that is about to be evaluated."""
        self._writer.tail.expect(request)

    def hear(self, request: Request, part: Request, values: FloatArray, *, at_once: bool) -> None:
        """Take the answer to a part of a request, from any thread, before all of it is there."""
        try:
            record = self._record(part, self.rounded(values))
        except SimilarityError:
            return  # told when the whole answer is there
        if record is not None:
            self._writer.tail.hear(request, record, at_once=at_once)

    def hear_singly(
        self, request: Request, kind: type[Scattered], rows: IntArray, columns: IntArray
    ) -> Single:
        """Return what takes answers to pairs of a request one by one, and writes them at once."""
        if self._dtype == "float64":
            return self._writer.tail.singly(request, kind(rows, columns + self._shift))

        def rounded(k: int, value: float) -> None:
            pair = kind(rows[k : k + 1], columns[k : k + 1])
            self.hear(request, pair, np.array([value]), at_once=True)

        return rounded

    def add(self, request: Request, values: FloatArray) -> None:
        """Take an answer, and write a block when enough has come."""
        record = self._record(request, values)
        if record is not None:
            self._writer.add(record, self._dtype, request)

    def forget(self, request: Request) -> None:
        """Learn that nothing more comes of a request."""
        self._writer.tail.kept(request, 0)

    def _record(self, request: Request, values: FloatArray) -> Record | None:
        """Return what there is to be written of an answer; NaN is left out."""
        missing = np.isnan(values)
        if missing.any():
            kind = Scattered if isinstance(request, Rectangle) else type(request)
            i, j = request.pairs()
            there = ~missing.ravel()
            request, values = kind(i[there], j[there]), values[~missing]
        if not request.size:
            return None
        shifted = (
            type(request)(request.rows, request.columns + self._shift) if self._shift else request
        )
        return Record(shifted, values)

    def flush(self) -> None:
        """Write what is waiting, so that whatever happens next cannot lose it."""
        self._writer.flush(self._dtype)

    # ------------------------------------------------------------------ draws

    def seed(self, call: str) -> int:
        """Return the seed of a call without one: drawn once for these items, and written down."""
        name = hashlib.sha256(f"{call} {self._matrix}".encode()).hexdigest()[:32]
        path = self._shelf.path / SEEDS
        with self.writing():
            seeds: dict[str, Any] = {}
            if path.exists():
                try:
                    seeds = read_json(path)
                except FileFormatError:
                    self._set_aside([path])
            found = seeds.get(name)
            if not isinstance(found, str) or not found.isdecimal() or len(found) > 40:  # noqa: PLR2004
                found = str(secrets.randbits(128))
                write_json(path, seeds | {name: found})
            return int(found)
