"""Files that are written whole or not at all, and never over what they were made from."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fewpairs.errors import FewpairsError, InputError, UnwritableError

try:
    import fcntl
except ImportError:  # Windows, where nobody can tell an abandoned file from one in use
    fcntl = None  # type: ignore[assignment]

#: Unfinished files are called ``.name.xxxxxxxx.fewpairs-part``, with at most so much of the name:
#: a name may be as long as the system allows.
_SUFFIX = ".fewpairs-part"
_SHOWN_NAME = 40


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to, and make it `path` when all is written.

    After a fault or a crash `path` holds what it held before: the data reach the disk before the
    name is changed. A link stays a link, to the new content. What a writer of this path has left
    behind when it was killed is removed.
    """
    refuse_unwritable(path)
    try:
        path = Path(os.path.realpath(path))
        _remove_abandoned(path)
        lock, unfinished = _begin(path)
    except (OSError, ValueError) as error:
        raise _unwritten(path, error) from error
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except BaseException as error:
        with suppress(OSError):  # a disk that fails may fail here too; the next writer removes it
            unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, FewpairsError):
            raise _unwritten(path, error) from error
        raise
    finally:
        if lock is not None:
            os.close(lock)
    _sync_folder(path.parent)


def refuse_unwritable(path: Path) -> None:
    """Refuse a path where no file can be made, before anything is spent on its content."""
    folder = path.absolute().parent
    device = path.exists() and not path.is_file()
    if device or not folder.is_dir() or not _takes_files(folder):
        raise UnwritableError(
            f"{str(path)!r} cannot be written: it is a folder or a device, or its folder is "
            "missing or not writable.",
            "A result that cannot be saved would be lost.",
            "Choose another place.",
        )


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made there; rights alone do not say so of every file system."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def refuse_other_than_page(path: Path) -> None:
    """Refuse a name for a page that no browser would open as one."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"the report {str(path)!r} does not end in .html.",
            "It is a page for a browser, which goes by the name.",
            f"Choose a name such as {path.stem or 'report'}.html.",
        )


def refuse_overwriting(output: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse an output that is one of the inputs, whatever it is called there."""
    for given in inputs:
        if given is not None and _same_file(output, given):
            raise InputError(
                f"the output {str(output)!r} is the input {str(given)!r}, which would be lost.",
                "",
                "Choose another name for the output.",
            )


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)  # also by links, and where case does not matter
    except (OSError, ValueError):
        return False  # one of the two does not exist, which is told elsewhere


def _begin(path: Path) -> tuple[int | None, Path]:
    """Make an unfinished file, locked as long as its writer lives."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=_SUFFIX)
        if fcntl is None:
            os.close(handle)  # an open file could not be renamed there
            return None, Path(name)
        _locked(handle)
        # Between these two lines another writer may have taken it for abandoned.
        if Path(name).exists():
            return handle, Path(name)
        os.close(handle)


def _remove_abandoned(path: Path) -> None:
    """Remove unfinished files of this path whose writer is dead: the lock died with it."""
    ours = re.compile(re.escape(_prefix(path)) + "[a-z0-9_]{8}" + re.escape(_SUFFIX))
    with suppress(OSError):
        for file in path.parent.iterdir() if fcntl else ():
            if ours.fullmatch(file.name):
                _remove_if_abandoned(file)


def _remove_if_abandoned(file: Path) -> None:
    with suppress(OSError):  # another writer was faster, or it is not ours to remove
        handle = os.open(file, os.O_RDWR)
        try:
            if _locked(handle):
                file.unlink()
        finally:
            os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock of a file, and say whether it was free; it never is where there are none."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _prefix(path: Path) -> str:
    return f".{path.name[:_SHOWN_NAME]}."


def _unwritten(path: Path, error: OSError | ValueError) -> UnwritableError:
    reason = getattr(error, "strerror", None) or str(error)
    return UnwritableError(
        f"{str(path)!r} was not written: {reason}.",
        "Nothing is left of the attempt, and a file that was there before is as it was.",
        "Make room or choose another place, and save again: what was to be saved is still in "
        "memory.",
    )


def _umask() -> int:
    # Temporary files are made private; there is no call that only reads what others may have.
    with suppress(OSError, ValueError, IndexError):
        # On Linux a file tells it: to set it for a moment would set it for all threads.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("\nUmask:")[1].split()[0], 8)
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
