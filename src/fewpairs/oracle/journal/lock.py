"""One writer at a time: a lock that names its holder, and ends with it."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
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
        self._sign()

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is None:
            return
        with suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)
        self._handle = None
        if fcntl is None:
            with suppress(OSError):  # the next holder may have been quicker
                self._path.unlink()

    def _taken(self) -> bool:
        alone = 0 if fcntl is not None else os.O_EXCL
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | alone, 0o666)
        except FileExistsError:
            return False
        except OSError as error:
            raise unwritable(self._path.parent, error) from error
        try:
            if fcntl is None:
                self._handle = handle
                return True
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, self._path):  # not taken away in between
                self._handle = handle
                return True
        except BlockingIOError:
            pass
        except OSError as error:
            os.close(handle)
            raise unwritable(self._path.parent, error) from error
        os.close(handle)
        return False

    def _sign(self) -> None:
        """Write the holder's name into the file, for whoever is refused."""
        assert self._handle is not None  # noqa: S101 - it was just taken
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, json.dumps(holder).encode())
        except BaseException as error:
            self.release()
            if isinstance(error, OSError):
                raise unwritable(self._path.parent, error) from error
            raise

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
        # Recoveries one at a time: nobody may remove the file that another has just made.
        with suppress(OSError):
            handle = os.open(self._path.with_name("lock.recovery"), os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if self._identity() == seen and _is_dead(self._holder()):
                    self._path.unlink(missing_ok=True)
            finally:
                os.close(handle)

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


def unwritable(folder: Path, error: OSError) -> UnwritableError:
    """Make the error of a journal that cannot be written to."""
    return UnwritableError(
        f"the journal {str(folder)!r} cannot be written: {error.strerror or error}.",
        "What is evaluated is written down there as it comes.",
        "Choose another folder, or make this one writable.",
    )


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
