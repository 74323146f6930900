"""Lines of a text file that stay on disk: items that are read when they are compared."""

from __future__ import annotations

import mmap
import os
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.errors import FileFormatError, InputError, MissingFileError
from fewpairs.items.stored import Stored
from fewpairs.numerics import parts

#: Bytes that are looked through at a time for the ends of lines.
_AT_A_TIME = 2**24
_NEWLINE, _BLANK = 10, 32


class TextLines(Stored):
    """The lines of a text file, blank ones left out; each is an item, and stays on disk.

    In memory are 16 bytes for each line. Sent to another process goes the path alone: the workers
    of a cluster need the same file in the same place.

    Parameters
    ----------
    path : str or Path
        Not packed.
    encoding : str, default="utf-8"
        One in which a line ends with the byte 10: ASCII, UTF-8, Latin and Windows code pages.

    Examples
    --------
    >>> import fewpairs as fp
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "words.txt"
    ...     _ = path.write_text(chr(10).join(["ape", "bee", "", "cat"]), encoding="utf-8")
    ...     lines = fp.TextLines(path)
    ...     len(lines), lines[[2, 0]]
    (3, ['cat', 'ape'])
    """

    is_text = True

    def __init__(self, path: str | Path, encoding: str = "utf-8") -> None:
        self.path, self.encoding = Path(path), encoding
        if not _ends_lines_with_a_byte(encoding):
            raise InputError(
                f"the encoding is {encoding!r}.",
                "Lines are found by their last byte, and Python does not know it, or it writes "
                "that otherwise.",
                "Correct the name, or convert the file to UTF-8.",
            )
        try:
            with self.path.open("rb") as file:
                self._then = _state(os.fstat(file.fileno()))
                self._size = self._then[0]
                self._bytes: Any = b""
                if self._size:
                    self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise MissingFileError(
                f"{str(path)!r} cannot be read: {error.strerror}.",
                "Its lines are the items.",
                "Name a file, not packed, that can be mapped into memory.",
            ) from error
        self._starts, self._ends = _places(self._bytes, self._size)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (str(self.path.resolve()), self.encoding, self._size, len(self), self._sum)

    @cached_property
    def _sum(self) -> int:
        """A checksum: the same lines in another order have the same size and number."""
        total = 0
        for part in parts(self._size, _AT_A_TIME):
            total = zlib.crc32(self._bytes[part], total)
        return total

    def __len__(self) -> int:
        return len(self._starts)

    def _check(self) -> None:
        """Refuse a file that was written to: to read behind its end would end the process."""
        try:
            now = _state(self.path.stat())
        except OSError:
            return  # its name is gone; what was opened is still there
        if now != self._then:
            raise FileFormatError(
                f"{str(self.path)!r} was changed while its lines were compared.",
                "They are read when they are needed, and others may stand there now.",
                "Leave the file alone during a run, and call again.",
            )

    def _item(self, k: int) -> str:
        found = self._bytes[int(self._starts[k]) : int(self._ends[k])]
        try:
            return str(found, self.encoding).rstrip("\r")
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"line {k + 1} (of those that are not blank) of {str(self.path)!r} is not "
                f"{self.encoding}: {error.reason}.",
                "Its letters cannot be told.",
                "Name the encoding: fewpairs.TextLines(path, encoding=…).",
            ) from error


def _state(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns


def _ends_lines_with_a_byte(encoding: str) -> bool:
    try:
        return "a\nb".encode(encoding) == b"a\nb"
    except (LookupError, TypeError, ValueError):
        return False


def _opened(path: str, encoding: str, size: int, count: int, checksum: int) -> TextLines:
    """Open the same lines in another process, and see that they are the same."""
    lines = TextLines(path, encoding)
    if (lines._size, len(lines), lines._sum) != (size, count, checksum):  # noqa: SLF001 - its own
        raise FileFormatError(
            f"{path!r} has {lines._size:,} bytes and {len(lines):,} lines here, "  # noqa: SLF001
            f"and {size:,} bytes and {count:,} lines where the run was started, or others.",
            "Row 3 of the matrix belongs to line 3.",
            "Put the same file in the same place on every machine.",
        )
    return lines


def _places(content: Any, size: int) -> tuple[IntArray, IntArray]:
    """Return where lines that are not blank begin and end."""
    raw = np.frombuffer(content, dtype=np.uint8) if size else np.empty(0, dtype=np.uint8)
    found = [np.flatnonzero(raw[part] == _NEWLINE) + part.start for part in parts(size, _AT_A_TIME)]
    ends = np.concatenate([*found, np.array([size] if size and raw[-1] != _NEWLINE else [], int)])
    starts = np.concatenate([np.zeros(min(1, len(ends)), int), ends[:-1] + 1]).astype(np.int64)
    if raw[:3].tobytes() == b"\xef\xbb\xbf":  # some programs begin UTF-8 with a mark
        starts[0] = 3
    full = np.zeros(len(ends), dtype=bool)
    for part in parts(size, _AT_A_TIME):
        letters = np.flatnonzero(raw[part] > _BLANK) + part.start
        full[np.unique(np.searchsorted(ends, letters[letters >= starts[0]]))] = True
    return starts[full], ends[full].astype(np.int64)
