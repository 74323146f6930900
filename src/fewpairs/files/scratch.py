"""Tall arrays on disk: memory-mapped files in single precision, gone when nobody holds them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError, MemoryCeilingError
from fewpairs.numerics import parts
from fewpairs.parallel import format_bytes, memory_ceiling, require_memory

#: A folder for tall arrays, or None: they are then kept in memory, or refused.
ScratchOption: TypeAlias = str | Path | None
#: An array goes to the disk if it would take more than this share of the ceiling.
_SHARE = 1 / 4


@dataclass
class _Scratch:
    """A folder, and whether all columns of the run go there."""

    folder: Path
    always: bool = False


_scratch: ContextVar[_Scratch | None] = ContextVar("fewpairs_scratch", default=None)


@contextmanager
def scratch_in(folder: ScratchOption) -> Iterator[None]:
    """Let tall arrays that take much of the memory go to a folder; None changes nothing."""
    if folder is None:
        yield
        return
    path = Path(folder)
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise InputError(
            f"scratch is {str(folder)!r}, which is no folder that can be written to.",
            "Columns that do not fit under the memory ceiling are kept there during the run.",
            "Make the folder, on a fast disk with room for 4 bytes for each number.",
        )
    token = _scratch.set(_Scratch(path))
    try:
        yield
    finally:
        _scratch.reset(token)


def goes_to_disk(height: int, width: int) -> bool:
    """Say whether an array of that shape would be kept on disk now."""
    scratch = _scratch.get()
    if scratch is None:
        return False
    return scratch.always or 8 * height * width > _SHARE * memory_ceiling()


def send_all_to_disk() -> None:
    """Let all columns of the present run go to the disk, as it was planned for them together."""
    scratch = _scratch.get()
    if scratch is not None:
        scratch.always = True


def tall_array(height: int, width: int, what: str, instead: str) -> npt.NDArray[Any]:
    """Return an uninitialised array of double precision, or of single precision on disk.

    Parameters
    ----------
    height, width : int
    what, instead : str
        As for `require_memory`.
    """
    scratch = _scratch.get()
    if scratch is None or not goes_to_disk(height, width):
        require_memory(8 * height * width, what, instead)
        return np.empty((height, width))
    return _mapped(scratch.folder, height, width)


def lengthened(tall: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array with further rows; one on disk stays there."""
    folder = _folder_of(tall)
    if folder is None:
        return np.vstack([tall, rows])
    longer = _mapped(folder, len(tall) + len(rows), tall.shape[1])
    for part in parts(len(tall)):
        longer[part] = tall[part]
    longer[len(tall) :] = rows
    return longer


def _mapped(folder: Path, height: int, width: int) -> npt.NDArray[Any]:
    size = 4 * height * width
    free = shutil.disk_usage(folder).free
    if size > free:
        raise MemoryCeilingError(
            f"{height:,} × {width:,} numbers take {format_bytes(size)} on disk; in "
            f"{str(folder)!r} {format_bytes(free)} are free.",
            "What does not fit is refused before anything is spent on it.",
            "Make room, name another folder, or ask for fewer landmarks.",
        )
    handle, name = tempfile.mkstemp(prefix="fewpairs-", suffix=".scratch", dir=folder)
    try:
        os.truncate(name, size)
        array = np.memmap(name, dtype=np.float32, mode="r+", shape=(height, width))
    finally:
        os.close(handle)
        if os.name == "posix":  # the pages live as long as the array, the name need not
            Path(name).unlink()
    return np.asarray(array)


def _folder_of(array: npt.NDArray[Any]) -> Path | None:
    """Return where an array is kept, if it is a view of a file of ours."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    name = getattr(base, "filename", None)
    return None if name is None or not str(name).endswith(".scratch") else Path(name).parent
