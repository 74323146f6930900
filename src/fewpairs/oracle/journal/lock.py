"""One writer at a time: a lock that names its holder, and ends with it."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fewpairs.errors import JournalError, UnwritableError

try:
    import fcntl
except ImportError:  # Windows, where a lock is a file that only its holder may make
    fcntl = None  # type: ignore[assignment]

#: Whether nobody can remove a file that somebody has open.
_OPEN_FILES_STAY = os.name == "nt"
#: How often a waiting process looks again, in seconds.
_PATIENCE = 0.05
#: A holder's name is short; whatever else the file may hold is not read.
_LONGEST_NAME = 4096


class Lock:
    """The right to write to a journal.

    The system gives the lock back when its holder dies, whatever it died of. Only where processes
    that the holder has started live on with it, the lock is taken from them by name.

    Parameters
    ----------
    path : Path
        Of the lock file, which stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._process = 0

    def acquire(self, wait: float) -> None:
        """Take the lock, or refuse after `wait` seconds with the name of its holder."""
        until = time.monotonic() + wait
        while not self._taken():
            self._recover()
            if self._taken():
                break
            if time.monotonic() >= until:
                raise self._refused()
            time.sleep(_PATIENCE)

    def release(self) -> None:
        """Give the lock back."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if self._process == os.getpid():  # a forked process has no right to its parent's lock
            with suppress(OSError):
                os.ftruncate(handle, 0)
                if fcntl is not None:
                    # Closed alone, it would stay with those who were forked in the meantime.
                    fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
        if fcntl is None:
            with suppress(OSError):  # the next holder may have been quicker
                self._path.unlink()

    def _taken(self) -> bool:
        """Take the lock and sign it, unless somebody has it."""
        alone = 0 if fcntl is not None else os.O_EXCL
        try:
            handle = _opened(self._path, alone)
        except FileExistsError:
            return False
        except OSError as error:
            raise unwritable(self._path.parent, error) from error
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self._signed(handle):
                    os.close(handle)
                    return False
            else:
                _sign(handle)
        except BlockingIOError:
            os.close(handle)
            return False
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError):
                raise unwritable(self._path.parent, error) from error
            raise
        self._handle, self._process = handle, os.getpid()
        return True

    def _signed(self, handle: int) -> bool:
        """Write the holder's name into the file, unless the file was taken away in between."""
        # An empty file names nobody. In any other, the name of a dead holder may still be read by
        # somebody who is about to take the file away.
        named = os.fstat(handle).st_size > 0
        with self._recovering() if named else nullcontext():
            there = _is_at(handle, self._path)
            if there:
                _sign(handle)
        return there

    @contextmanager
    def _recovering(self) -> Iterator[None]:
        """One at a time: nobody may take away a file that another has just made or signed."""
        handle = _opened(self._path.with_name("lock.recovery"))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)

    def _recover(self) -> None:
        """Take a lock from the children of a dead holder: a new file takes its place."""
        if fcntl is None:
            if _OPEN_FILES_STAY:
                with suppress(OSError):  # its holder lives
                    self._path.unlink()
            return
        seen = self._identity()
        if not _is_dead(self._holder()):
            return
        with suppress(OSError), self._recovering():
            if self._identity() == seen and _is_dead(self._holder()):
                self._path.unlink(missing_ok=True)

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _holder(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(_LONGEST_NAME))
        except (OSError, ValueError, RecursionError):
            return {}  # it is being written, or the holder has just gone
        return found if isinstance(found, dict) else {}

    def _refused(self) -> JournalError:
        holder = self._holder()
        who = (
            f"process {holder.get('pid')} on {holder.get('host')}, since {holder.get('since')}"
            if holder
            else "another process"
        )
        return JournalError(
            f"the journal {str(self._path.parent)!r} is being written by {who}.",
            "Two writers would pay for the same evaluations, so there is one at a time.",
            "Call again when it has ended, or wait for it: "
            "journal=fewpairs.Journal(folder, wait=seconds).",
        )


def unwritable(folder: Path, error: OSError | ValueError) -> UnwritableError:
    """Make the error of a journal that cannot be written to."""
    reason = getattr(error, "strerror", None) or error
    return UnwritableError(
        f"the journal {str(folder)!r} cannot be written: {reason}.",
        "What is evaluated is written down there as it comes.",
        "Choose another folder, or make this one writable.",
    )


def _opened(path: Path, how: int = 0) -> int:
    """Open a file of the lock; a link would have us write to whatever it leads to."""
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | how, 0o666)


def _sign(handle: int) -> None:
    """Write the holder's name into the file, for whoever is refused."""
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, json.dumps(holder).encode())


def _is_at(handle: int, path: Path) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    mine = os.fstat(handle)
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _is_dead(holder: dict[str, Any]) -> bool:
    """Say whether a holder on this machine is certainly gone."""
    pid = holder.get("pid")
    if type(pid) is not int or pid <= 0 or holder.get("host") != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
