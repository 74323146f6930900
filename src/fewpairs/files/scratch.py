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

from fewpairs.errors import InputError, MemoryCeilingError, UnwritableError
from fewpairs.numerics import parts
from fewpairs.parallel import format_bytes, memory_ceiling, require_memory

#: A folder for tall arrays, or None: they are then kept in memory, or refused.
ScratchOption: TypeAlias = str | Path | None
#: An array goes to the disk, or stays there, if it would take more than this share of the ceiling.
LARGE = 1 / 4
#: Sizes that single precision holds with room to spare: runs take these as they are, too.
_ORDINARY = 2.0**100
#: Values after which the largest so far says of what size all are.
_ENOUGH = 1000


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


def has_scratch() -> bool:
    """Say whether there is a folder for tall arrays now."""
    return _scratch.get() is not None


def goes_to_disk(height: int, width: int) -> bool:
    """Say whether an array of that shape would be kept on disk now."""
    scratch = _scratch.get()
    if scratch is None:
        return False
    return scratch.always or 8 * height * width > LARGE * memory_ceiling()


def send_all_to_disk() -> None:
    """Let all columns of the present run go to the disk, as it was planned for them together."""
    scratch = _scratch.get()
    if scratch is not None:
        scratch.always = True


def require_room(size: int, what: str) -> None:
    """Refuse files that the folder has no room for, before anything is spent on the first."""
    scratch = _scratch.get()
    if scratch is None:
        return
    free = _free(scratch.folder)
    if size > free:
        raise MemoryCeilingError(
            f"{what} take {format_bytes(size)} on disk; in {str(scratch.folder)!r} "
            f"{format_bytes(free)} are free.",
            "What does not fit is refused before anything is spent on it.",
            "Make room, name another folder, or ask for fewer landmarks.",
        )


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


def is_on_disk(array: npt.NDArray[Any]) -> bool:
    """Say whether an array is one of ours, or a part of one, in a scratch folder."""
    return _folder_of(array) is not None


def tall_beside(
    tall: npt.NDArray[Any], height: int, width: int, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[Any]:
    """Return an uninitialised array, on disk if `tall` is there."""
    folder = _folder_of(tall)
    if folder is None:
        return np.empty((height, width), dtype=dtype)
    return _mapped(folder, height, width, dtype)


def copied(tall: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy; that of an array on disk is there, too."""
    return _written_anew(tall, len(tall)) if is_on_disk(tall) else tall.copy()


def lengthened(tall: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array with further rows; one on disk stays there."""
    if not is_on_disk(tall):
        return np.vstack([tall, rows])
    longer = _written_anew(tall, len(tall) + len(rows))
    SinglePrecision(largest=1.0).look_at(rows)  # of the columns there are ordinary ones already
    longer[len(tall) :] = rows
    return longer


class SinglePrecision:
    """Refuses values whose size single precision has no room for, before they become 0 or ∞.

    A few tiny ones beside ordinary ones are nothing, as they are in any sum.

    Parameters
    ----------
    largest : float, default=0.0
        Of what was there before.
    """

    def __init__(self, largest: float = 0.0) -> None:
        self._largest, self._seen = largest, 0

    def look_at(self, values: npt.NDArray[Any]) -> None:
        """Look at values that are about to be kept; NaN stands for none."""
        there = np.abs(values[~np.isnan(values)])
        self._largest = max(self._largest, float(there.max(initial=0.0)))
        self._seen += int(np.count_nonzero(there))
        if self._seen >= _ENOUGH or self._largest > _ORDINARY:
            self.done()

    def done(self) -> None:
        """Say what is wrong with all that was seen."""
        if self._largest == 0 or 1 / _ORDINARY <= self._largest <= _ORDINARY:
            return
        raise InputError(
            f"of the {self._seen:,} similarities that came so far, the largest is "
            f"{self._largest:.3g}.",
            "Columns in the folder of scratch= are kept in single precision, which has no room "
            "for such numbers.",
            "Multiply the similarity by a constant that brings them near 1, or leave scratch= out.",
        )


def _written_anew(tall: npt.NDArray[Any], height: int) -> npt.NDArray[Any]:
    """Return a copy on disk, of the same height or a larger one."""
    copy = tall_beside(tall, height, tall.shape[1])
    for part in parts(len(tall)):
        copy[part] = tall[part]
    return copy


def _mapped(
    folder: Path, height: int, width: int, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[Any]:
    size = np.dtype(dtype).itemsize * height * width
    if not size:  # nothing cannot be mapped
        return np.empty((height, width), dtype=dtype)
    free = _free(folder)
    if size > free:
        raise MemoryCeilingError(
            f"{height:,} × {width:,} numbers take {format_bytes(size)} on disk; in "
            f"{str(folder)!r} {format_bytes(free)} are free.",
            "What is as tall as columns on disk is kept beside them.",
            "Make room, name another folder, or ask for fewer landmarks.",
        )
    try:
        handle, name = tempfile.mkstemp(prefix="fewpairs-", suffix=".scratch", dir=folder)
    except OSError as error:
        raise _gone(folder, error) from error
    try:
        _take_room(handle, size, folder)
        array = np.memmap(name, dtype=dtype, mode="r+", shape=(height, width))
    finally:
        os.close(handle)
        if os.name == "posix":  # the pages live as long as the array, the name need not
            Path(name).unlink()
    return np.asarray(array)


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise _gone(folder, error) from error


def _gone(folder: Path, error: OSError) -> UnwritableError:
    return UnwritableError(
        f"no file can be made in the scratch folder {str(folder)!r}: {error.strerror}.",
        "What is as tall as columns on disk is kept beside them.",
        "Let the folder be there, and writable, until the matrix is no longer used.",
    )


def _take_room(handle: int, size: int, folder: Path) -> None:
    """Make a file that long, and its room sure: a mapped page without any ends the process."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
        else:
            os.truncate(handle, size)
    except OSError as error:
        raise MemoryCeilingError(
            f"{format_bytes(size)} in {str(folder)!r} are not to be had: {error.strerror}.",
            "Columns that do not fit into memory are kept there.",
            "Make room, name another folder, or ask for fewer landmarks.",
        ) from error


def _folder_of(array: npt.NDArray[Any]) -> Path | None:
    """Return where an array is kept, if it is a view of a file of ours."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    name = getattr(base, "filename", None)
    return None if name is None or not str(name).endswith(".scratch") else Path(name).parent
