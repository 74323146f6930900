"""Files that are never half written; and arrays with facts in one file, checksummed, no pickle."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from fewpairs.errors import FewpairsError, FileFormatError

FORMAT = "fewpairs"
#: Of the format, not of fewpairs; a file of a higher one is refused. 2: of a symmetric matrix each
#: single entry is written once, not in both orders.
VERSION = 2
#: Under these names the header lies in safetensors' own metadata: its text, and its checksum.
_KEY = "fewpairs"
_CHECKSUM = "sha256"
#: Headers have some kilobytes. A damaged one may claim any size, and would be given the memory;
#: safetensors itself refuses more than 100 MB.
_LARGEST_HEADER = 64 * 2**20
_DTYPES = {"float64", "float32", "int64", "uint8"}
#: What safetensors, JSON and a header with other content than ours raise.
_UNREADABLE = (
    SafetensorError,
    json.JSONDecodeError,
    UnicodeDecodeError,
    AttributeError,
    KeyError,
    TypeError,
)

Arrays = dict[str, npt.NDArray[Any]]


class UnwritableError(FewpairsError, FileNotFoundError):
    """A file of that name cannot be made."""


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to, and make it `path` when all is written.

    After a fault or a crash `path` holds what it held before: the data reach the disk before the
    name is changed.
    """
    refuse_unwritable(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def refuse_unwritable(path: Path) -> None:
    """Refuse a path where no file can be made, before anything is spent on its content."""
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UnwritableError(
            f"{str(path)!r} cannot be written: it is a folder, or its folder is missing or not "
            "writable.",
            "A result that cannot be saved would be lost.",
            "Choose another place.",
        )


def write(path: str | Path, arrays: Mapping[str, npt.NDArray[Any]], facts: dict[str, Any]) -> None:
    """Write arrays and facts to `path` by way of a temporary file in the same folder.

    Parameters
    ----------
    path : str or Path
    arrays : mapping of str to ndarray
        float64, float32, int64 or uint8.
    facts : dict
        Whatever JSON can hold.
    """
    target = Path(path)
    refuse_unwritable(target)
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    described = {
        name: {
            "dtype": str(array.dtype),
            "shape": list(array.shape),
            "sha256": _checksum(array),
        }
        for name, array in plain.items()
    }
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "arrays": described, "facts": facts},
        sort_keys=True,
        allow_nan=False,
    )
    metadata = {_KEY: text, _CHECKSUM: hashlib.sha256(text.encode()).hexdigest()}
    with atomic(target) as unfinished:
        save_file(plain, unfinished, metadata=metadata)


def read(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read a file that `write` wrote; everything is verified before it is returned.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    arrays : dict of str to ndarray
    facts : dict

    Raises
    ------
    FileFormatError
        Not a fewpairs file, damaged, or written by a newer version.
    """
    source = Path(path)
    with _opened(source) as (file, described, facts):
        names = list(file.keys())
        if set(names) != set(described):
            raise _damaged(source, "its arrays are not those that its header lists")
        arrays = {name: file.get_tensor(name) for name in names}
    for name, array in arrays.items():
        expected = described[name]
        if str(array.dtype) != expected["dtype"] or list(array.shape) != expected["shape"]:
            raise _damaged(source, f'the array "{name}" has another shape or type than stated')
        if _checksum(array) != expected["sha256"]:
            raise _damaged(source, f'the checksum of the array "{name}" does not match')
    return arrays, facts


def read_facts(path: str | Path) -> dict[str, Any]:
    """Read the facts alone, which are verified; the arrays are neither read nor verified.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict
    """
    with _opened(Path(path)) as (_, _, facts):
        return facts


@contextmanager
def _opened(source: Path) -> Iterator[tuple[Any, dict[str, dict[str, Any]], dict[str, Any]]]:
    """Open a file and check its header: the file, the arrays that it lists, and its facts."""
    if not source.is_file():
        message = f"there is no file {str(source)!r}"
        raise FileNotFoundError(message)
    _check_header_size(source)
    try:
        with safe_open(source, framework="numpy") as file:
            yield file, *_check_metadata(source, file.metadata() or {})
    except _UNREADABLE as error:
        raise _damaged(source, f"{type(error).__name__}: {error}") from error


def _checksum(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(array.data.cast("B") if array.size else b"").hexdigest()


def _check_header_size(source: Path) -> None:
    with source.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    if size > min(_LARGEST_HEADER, source.stat().st_size):
        raise _damaged(source, f"its header claims {size:,} bytes")


def _check_metadata(
    source: Path, metadata: Mapping[str, str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    if _KEY not in metadata or _CHECKSUM not in metadata:
        raise _damaged(source, "it has no fewpairs header")
    text = metadata[_KEY]
    if hashlib.sha256(text.encode()).hexdigest() != metadata[_CHECKSUM]:
        raise _damaged(source, "the checksum of its header does not match")
    header = json.loads(text)
    if header["version"] > VERSION:
        raise FileFormatError(
            f"{str(source)!r} has the format version {header['version']}; this fewpairs reads "
            f"{VERSION}.",
            "A newer version may mean other things by the same names.",
            "Upgrade fewpairs: pip install -U fewpairs",
        )
    if any(array["dtype"] not in _DTYPES for array in header["arrays"].values()):
        raise _damaged(source, "it lists an array of a type that fewpairs never writes")
    return header["arrays"], header["facts"]


def _damaged(source: Path, how: str) -> FileFormatError:
    return FileFormatError(
        f"{str(source)!r} is damaged or is not a fewpairs file: {how}.",
        "Wrong numbers would look exactly like right ones.",
        "Restore it from a copy, or save the matrix again.",
    )


def _umask() -> int:
    # Temporary files are made private; there is no call that only reads what others may have.
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
