"""Tails that a killed process has left: read as far as they go, and folded into blocks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.errors import FileFormatError, MissingFileError, NewerVersionError
from fewpairs.files.archive import damaged
from fewpairs.items.keys import SIZE, Keys
from fewpairs.oracle.journal.blocks import KINDS, Block, Record, merged, write_block
from fewpairs.oracle.journal.folder import Shelf
from fewpairs.oracle.journal.lock import unwritable
from fewpairs.oracle.journal.tail import BEGINNING, FORMAT, FRAME, VERSION
from fewpairs.oracle.requests import Rectangle

#: No line at the beginning of a tail is longer.
_LINE = 128


def fold(shelf: Shelf, dtype: str) -> list[Path]:
    """Write what is in tails to a block, and remove them; return those that were damaged.

    Whoever does so holds the journal. Should it end between the two, or should blocks have been
    refused by a full disk that had taken a tail, then what is in tails is written once more, with
    the same values; to compact a journal drops it.
    """
    matrix, payloads, bad = "", dict[bytes, None](), []
    paths = shelf.tails()
    for path in paths:
        try:
            matrix, found, whole = _payloads(path, shelf.checksum)
        except NewerVersionError:
            raise
        except FileFormatError:
            found, whole = [], False
        # What was under way when a file was ended is in the next one as well.
        payloads.update(dict.fromkeys(found))
        bad += [] if whole else [path]
    if payloads:
        # In the order in which it was asked for: of two values for a pair the oldest counts.
        block = _block(sorted(payloads, key=lambda one: BEGINNING.unpack_from(one)[0]), matrix)
        records = merged(block.records)
        write_block(
            shelf.next_block(), records, block.keys, shelf.checksum, dtype, matrix=block.matrix
        )
    try:
        for path in paths:
            if path not in bad:
                path.unlink()
    except OSError as error:
        raise unwritable(shelf.path, error) from error
    return bad


def read_tail(path: Path, identity: str) -> tuple[Block, bool]:
    """Read a tail of this similarity as far as it goes; what is none raises FileFormatError.

    Returns
    -------
    block : Block
    whole : bool
        Whether nothing in it is damaged; a record that was being written is not.
    """
    matrix, payloads, whole = _payloads(path, identity)
    return _block(payloads, matrix), whole


def _payloads(path: Path, identity: str) -> tuple[str, list[bytes], bool]:
    """Return the matrix that a tail is of, its records, and whether the rest is none of them."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise MissingFileError(
            f"there is no file {str(path)!r}.", "It was replaced by a block.", "Look again."
        ) from error
    except OSError as error:
        raise damaged(path, str(error.strerror)) from error
    lines = data[: 3 * _LINE].split(b"\n", 3)
    complete = len(lines) == len(("format", "identity", "matrix", "records"))
    if not complete and len(data.rstrip(b"\0")) < len(FORMAT) + len(identity):
        return "", [], True  # it was just being made
    version = lines[0].removeprefix(FORMAT)
    if not complete or not lines[0].startswith(FORMAT) or not version.isdigit():
        raise damaged(path, "it does not begin like the tail of a journal")
    if int(version[:_LINE]) > VERSION:
        raise NewerVersionError(
            f"{str(path)!r} has the format version {version.decode():.6}; this fewpairs reads "
            f"{VERSION}.",
            "A newer version may mean other things by the same names.",
            "Upgrade fewpairs: pip install -U fewpairs",
        )
    if lines[1] != identity.encode():
        raise damaged(path, "it belongs to another similarity")
    at = sum(len(line) + 1 for line in lines[:3])
    found, at = _records(data, at)
    return lines[2].decode("ascii", "replace"), found, _torn(data, at)


def _torn(data: bytes, at: int) -> bool:
    """Whether what follows the last good record was being written when the process was killed.

    It reaches beyond the end; or what follows it, if anything does, are the zeros for which there
    was room.
    """
    if at + FRAME.size > len(data) or not any(data[at:]):
        return True
    end = at + FRAME.size + int(FRAME.unpack_from(data, at)[0])
    return end > len(data) or (end < len(data) and not any(data[end:]))


def _records(data: bytes, at: int) -> tuple[list[bytes], int]:
    """Return the records of a tail up to the first that is none, and where that begins."""
    found = []
    while at + FRAME.size <= len(data):
        length, checksum = FRAME.unpack_from(data, at)
        payload = data[at + FRAME.size : at + FRAME.size + length]
        if len(payload) < length or not _fits(payload, checksum):
            break
        found.append(payload)
        at += FRAME.size + length
    return found, at


def _fits(payload: bytes, checksum: int) -> bool:
    if len(payload) < BEGINNING.size or zlib.crc32(payload) != checksum:
        return False
    _, kind, rows, columns = BEGINNING.unpack_from(payload)
    if kind >= len(KINDS) or (KINDS[kind] is not Rectangle and rows != columns):
        return False
    values = rows * columns if KINDS[kind] is Rectangle else rows
    if len(payload) != BEGINNING.size + (rows + columns) * SIZE + values * 8:
        return False
    numbers = np.frombuffer(payload, "<f8", values, len(payload) - values * 8)
    return values > 0 and bool(np.isfinite(numbers).all())


def _block(payloads: list[bytes], matrix: str) -> Block:
    """Unpack records, at places in one table of keys."""
    if not payloads:
        return Block(np.empty(0, dtype=f"S{SIZE}"), [], matrix)
    keys, places = np.unique(
        np.concatenate([_keys_of(payload) for payload in payloads]), return_inverse=True
    )
    return Block(keys, list(_unpacked(payloads, places.reshape(-1).astype(np.int64))), matrix)


def _keys_of(payload: bytes) -> Keys:
    _, _, rows, columns = BEGINNING.unpack_from(payload)
    return np.frombuffer(payload, f"S{SIZE}", rows + columns, BEGINNING.size)


def _unpacked(payloads: list[bytes], places: IntArray) -> Iterator[Record]:
    at = 0
    for payload in payloads:
        _, kind, rows, columns = BEGINNING.unpack_from(payload)
        middle, end = at + rows, at + rows + columns
        request = KINDS[kind](places[at:middle], places[middle:end])
        values = np.frombuffer(payload, "<f8", offset=BEGINNING.size + (rows + columns) * SIZE)
        shape = (rows, columns) if isinstance(request, Rectangle) else (rows,)
        yield Record(request, values.astype(np.float64).reshape(shape))
        at = end
