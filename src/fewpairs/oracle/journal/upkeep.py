"""Looking after a journal: what it holds, whether it is whole, fewer files, its values as a table.

Reading needs no lock: blocks are never changed, and appear only when they are complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import FileFormatError, JournalError, MissingFileError
from fewpairs.files.archive import damaged
from fewpairs.items.keys import Keys
from fewpairs.oracle.journal.blocks import Block, Record, merged, read_block, write_block
from fewpairs.oracle.journal.folder import LOCK, Folder, Shelf
from fewpairs.oracle.journal.folding import fold, read_tail
from fewpairs.oracle.journal.lock import Lock

#: Values in one block of a journal that was compacted.
_LARGEST = 2**22


@dataclass(frozen=True)
class Holding:
    """What a journal holds of one similarity.

    Attributes
    ----------
    identity : str
    blocks, values, items, bytes, bad : int
        Files, values in them, different items, size on disk, and files that were set aside.
    """

    identity: str
    blocks: int
    values: int
    items: int
    bytes: int
    bad: int


def existing(path: Path) -> Folder:
    """Return the journal in a folder; refuse what is none."""
    folder = Folder(path)
    if not folder.exists():
        raise JournalError(
            f"there is no journal in {str(path)!r}.",
            "It would be made by the first call that writes to it.",
            "Check the path.",
        )
    return folder


def holdings(folder: Folder) -> Iterator[Holding]:
    """Say what a journal holds, similarity by similarity; values themselves are not read."""
    for shelf in folder.shelves():
        keys: list[Keys] = [np.empty(0, dtype="S16")]
        values = size = 0
        blocks = shelf.blocks()
        for path in (*blocks, *shelf.tails()):
            try:
                size += path.stat().st_size
                block = _read(path, shelf, values=False)
            except (FileNotFoundError, FileFormatError):
                continue
            values += block.size
            keys.append(block.keys)
        items = len(np.unique(np.concatenate(keys)))
        bad = len(list(shelf.path.glob("*.bad")))
        yield Holding(shelf.identity, len(blocks), values, items, size, bad)


def faults(folder: Folder) -> Iterator[tuple[Path, str]]:
    """Read everything, and yield the files that are damaged, with what is wrong with them."""
    for shelf in folder.shelves():
        for path in (*shelf.blocks(), *shelf.tails()):
            try:
                _read(path, shelf)
            except MissingFileError:
                continue  # compacted in the meantime
            except FileFormatError as error:
                yield path, str(error).splitlines()[0]


def _read(path: Path, shelf: Shelf, *, values: bool = True) -> Block:
    """Read a block, or what is not in one yet."""
    if path.suffix == ".block":
        return read_block(path, shelf.checksum, values=values)
    block, whole = read_tail(path, shelf.checksum)
    if not whole:
        raise damaged(path, "the checksum of one of its records does not match")
    return block


def compact(folder: Folder, wait: float = 0.0) -> tuple[int, int]:
    """Write many small blocks as few large ones; return how many there were and are.

    The old ones are removed when the new ones are on the disk, so that nothing is lost wherever
    this is interrupted; what is then there twice is written once by the next attempt.
    """
    lock = Lock(folder.path / LOCK)
    lock.acquire(wait)
    try:
        facts = folder.open(None)
        counts = [_compact_shelf(shelf, facts) for shelf in folder.shelves()]
    finally:
        lock.release()
    return sum(before for before, _ in counts), sum(after for _, after in counts)


def _compact_shelf(shelf: Shelf, dtype: str) -> tuple[int, int]:
    fold(shelf, dtype)
    old = shelf.blocks()
    if len(old) < 2:  # noqa: PLR2004 - one is few enough
        return len(old), len(old)
    keys = np.unique(
        np.concatenate([read_block(path, shelf.checksum, values=False).keys for path in old])
    )
    seen = np.empty(0, dtype=np.int64)
    waiting: list[Record] = []
    count = new = 0

    def write() -> None:
        nonlocal waiting, count, new
        if waiting:
            write_block(shelf.next_block(), merged(waiting), keys, shelf.checksum, dtype)
            waiting, count, new = [], 0, new + 1

    for path in old:
        fresh = [seen]
        for record in _placed(path, shelf, keys):
            pairs = _numbered(record, len(keys))
            if np.isin(pairs, seen).all():
                continue
            fresh.append(pairs)
            waiting.append(record)
            count += record.request.size
        seen = np.unique(np.concatenate(fresh))
        if count >= _LARGEST:
            write()
    write()
    for path in old:
        path.unlink()
    return len(old), new


def _placed(path: Path, shelf: Shelf, keys: Keys) -> Iterator[Record]:
    """Yield the records of a block, at places in a table of all keys."""
    block = read_block(path, shelf.checksum)
    places = np.searchsorted(keys, block.keys)
    for record in block.records:
        request = record.request
        placed = type(request)(places[request.rows], places[request.columns])
        yield Record(placed, record.values)


def _numbered(record: Record, width: int) -> IntArray:
    """Return one number for each pair, another one where its order is on record."""
    i, j = record.request.pairs()
    kind = 0 if type(record.request).__name__ != "Ordered" else 1
    return (i * width + j) * 2 + kind


def values_of(shelf: Shelf) -> Iterator[tuple[Keys, Keys, FloatArray]]:
    """Yield keys and values of all pairs, block by block."""
    for path in (*shelf.blocks(), *shelf.tails()):
        block = _read(path, shelf)
        for record in block.records:
            i, j = record.request.pairs()
            yield block.keys[i], block.keys[j], record.values.ravel()
