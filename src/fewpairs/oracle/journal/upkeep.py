"""Looking after a journal: what it holds, whether it is whole, fewer files, its values as a table.

Reading needs no lock: blocks are never changed, and appear only when they are complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import FileFormatError, JournalError, MissingFileError, NewerVersionError
from fewpairs.files.archive import damaged
from fewpairs.items.keys import SIZE, Keys
from fewpairs.oracle.journal.blocks import Block, Record, merged, read_block, write_block
from fewpairs.oracle.journal.folder import LOCK, Folder, Shelf
from fewpairs.oracle.journal.folding import fold, read_tail
from fewpairs.oracle.journal.lock import Lock
from fewpairs.oracle.requests import Ordered, Request
from fewpairs.oracle.stores import EntryStore

#: Values in one block of a journal that was compacted.
_LARGEST = 2**22


@dataclass(frozen=True)
class Holding:
    """What a journal holds of one similarity.

    Attributes
    ----------
    identity : str
    blocks, values, items, bytes : int
        Files, values in them, different items, size on disk.
    damaged, bad : int
        Files that cannot be read, and files that were set aside for that.
    """

    identity: str
    blocks: int
    values: int
    items: int
    bytes: int
    damaged: int
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
        keys: list[Keys] = [np.empty(0, dtype=f"S{SIZE}")]
        values = size = bad = 0
        blocks = shelf.blocks()
        for path in (*blocks, *shelf.tails()):
            try:
                size += path.stat().st_size
                block = _read(path, shelf, values=False)
            except FileNotFoundError:
                continue  # compacted in the meantime
            except FileFormatError:
                bad += 1
                continue
            values += block.size
            keys.append(block.keys)
        items = len(np.unique(np.concatenate(keys)))
        aside = len(list(shelf.path.glob("*.bad")))
        yield Holding(shelf.identity, len(blocks), values, items, size, bad, aside)


def faults(folder: Folder) -> Iterator[tuple[Path, str]]:
    """Read everything, and yield the files that are damaged, with what is wrong with them."""
    for shelf in folder.shelves():
        for path in (*shelf.blocks(), *shelf.tails()):
            if fault := _fault(path, shelf, newer=True):
                yield path, fault


def _fault(path: Path, shelf: Shelf, *, newer: bool = False) -> str:
    """Say what is wrong with a file, if anything; a newer one is no fault unless told to be."""
    try:
        _read(path, shelf)
    except MissingFileError:
        pass  # compacted in the meantime
    except NewerVersionError as error:
        if not newer:
            raise
        return str(error).splitlines()[0]
    except FileFormatError as error:
        return str(error).splitlines()[0]
    return ""


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
    this is interrupted. What is then there twice does no harm, and goes with the next attempt.
    Damaged ones are set aside, as a run would.
    """
    lock = Lock(folder.path / LOCK)
    lock.acquire(wait)
    try:
        dtype = folder.open(None)
        counts = [_compact_shelf(shelf, dtype) for shelf in folder.shelves()]
    finally:
        lock.release()
    return sum(before for before, _ in counts), sum(after for _, after in counts)


def _compact_shelf(shelf: Shelf, dtype: str) -> tuple[int, int]:
    fold(shelf, dtype)
    bad = [path for path in shelf.blocks() if _fault(path, shelf)]
    shelf.set_aside(bad)
    old = shelf.blocks()
    if len(old) < 2:  # noqa: PLR2004 - one is few enough
        return len(old), len(old)
    keys = np.unique(
        np.concatenate([read_block(path, shelf.checksum, values=False).keys for path in old])
    )
    seen, new = EntryStore(), 0
    for matrix, records in _gathered(old, shelf, keys, seen):
        write_block(shelf.next_block(), merged(records), keys, shelf.checksum, dtype, matrix)
        new += 1
    for path in old:
        path.unlink()
    return len(old), new


def _gathered(
    paths: list[Path], shelf: Shelf, keys: Keys, seen: EntryStore
) -> Iterator[tuple[str, list[Record]]]:
    """Yield what new blocks hold, at places in a table of all keys, and what they carry."""
    waiting: list[Record] = []
    matrix = ""
    for path in paths:
        block = read_block(path, shelf.checksum)
        # A run between two sets must know its own blocks again, so these stay apart from others.
        full = sum(record.request.size for record in waiting) >= _LARGEST
        if waiting and (full or block.matrix != matrix):
            yield matrix, waiting
            waiting = []
        matrix = block.matrix
        places = np.searchsorted(keys, block.keys)
        for record in block.records:
            request = record.request
            placed = type(request)(places[request.rows], places[request.columns])
            pairs = _numbered(placed, len(keys))
            if np.isnan(seen.find(pairs)).any():
                seen.add(pairs, record.values.ravel())
                waiting.append(Record(placed, record.values))
    if waiting:
        yield matrix, waiting


def _numbered(request: Request, width: int) -> IntArray:
    """Return one number for each pair, another one where its order is on record."""
    i, j = request.pairs()
    return (i * width + j) * 2 + isinstance(request, Ordered)


def values_of(
    shelf: Shelf, bad: list[Path]
) -> Iterator[tuple[Keys, IntArray, IntArray, FloatArray]]:
    """Yield keys, the places among them of all pairs, and their values, record by record.

    Files that are damaged go to `bad`.
    """
    for path in (*shelf.blocks(), *shelf.tails()):
        try:
            block = _read(path, shelf)
        except NewerVersionError:
            raise
        except FileFormatError:
            bad.append(path)
            continue
        for record in block.records:
            i, j = record.request.pairs()
            yield block.keys, i, j, record.values.ravel()
