"""A file that grows at its end, by stores into memory where the system lets it be mapped.

What is stored in shared memory of a file belongs to the system from that moment on, as what is
written does: it survives the death of the process. But it takes no system call, and an answer that
took a millisecond should not cost hundredths of one to be kept.

Such a file ends in zeros, for which room was made before. So a full disk is met where room is
made, as an error, and not where something is stored, as a signal; then the file is cut to what it
holds, and written to.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path

#: Bytes for which room is made at first; then for twice as many, and so on.
_ROOM = 2**16


class Growing:
    """A new file, open until it is closed.

    Parameters
    ----------
    path : Path
        What was there before is gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        self._length, self._room = 0, 0
        self._memory: mmap.mmap | None = None
        self._mappable = hasattr(os, "posix_fallocate")

    def append(self, data: bytes) -> bool:
        """Add to the end; say whether all of it is there. If not, nothing of it is."""
        end = self._length + len(data)
        if end > self._room and self._mappable:
            self._make_room(end)
        if self._memory is not None:
            self._memory[self._length : end] = data
        elif not self._written(data):
            return False
        self._length = end
        return True

    def close(self) -> None:
        """Close it; zeros at its end are taken off."""
        if self._memory is not None:
            self._cut()
        os.close(self._handle)

    def _make_room(self, needed: int) -> None:
        room = max(_ROOM, 2 * self._room)
        while room < needed:
            room *= 2
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        try:
            os.posix_fallocate(self._handle, 0, room)
            self._memory, self._room = mmap.mmap(self._handle, room), room
        except (OSError, ValueError):  # a full disk, or a file system that does without
            self._mappable = False
            self._cut()

    def _written(self, data: bytes) -> bool:
        try:
            if os.write(self._handle, data) == len(data):
                return True
        except OSError:
            pass
        self._cut()
        return False

    def _cut(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        with suppress(OSError):
            os.ftruncate(self._handle, self._length)
