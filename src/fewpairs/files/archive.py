"""Arrays with facts in one file: the format safetensors, checksummed, without pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from fewpairs.errors import (
    FewpairsError,
    FileFormatError,
    InputError,
    MissingFileError,
    NewerVersionError,
)
from fewpairs.files import scratch
from fewpairs.files.writing import atomic
from fewpairs.numerics import parts
from fewpairs.parallel import memory_ceiling

FORMAT = "fewpairs"
#: Of the format, not of fewpairs; a file of a higher one is refused. 2: of a symmetric matrix each
#: single entry is written once, not in both orders. 3: numbers have whatever type they had.
VERSION = 3
#: Under these names the header lies in safetensors' own metadata: its text, and its checksum.
_KEY = "fewpairs"
_CHECKSUM = "sha256"
#: Headers have some kilobytes. A hostile one may claim any size, and parsed it takes some dozen
#: times its length.
_LARGEST_HEADER = 4 * 2**20
#: Our own header stands first in a file: so many bytes tell what is not one of ours.
_BEGINNING = 4096
#: From NumPy's names of types to those of safetensors.
_DTYPES = {
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    "bool": "BOOL",
}
_NUMPY = {theirs: ours for ours, theirs in _DTYPES.items()}
#: Bytes that are read, verified or written at a time.
_PIECE = 2**24

Arrays = dict[str, npt.NDArray[Any]]


def write(path: str | Path, arrays: Mapping[str, npt.NDArray[Any]], facts: dict[str, Any]) -> None:
    """Write arrays and facts to `path` by way of a temporary file in the same folder.

    Parameters
    ----------
    path : str or Path
    arrays : mapping of str to ndarray
        Booleans, integers and floats of up to 64 bits.
    facts : dict
        Whatever JSON can hold.
    """
    plain = {name: _plain(arrays[name]) for name in sorted(arrays)}
    described = {
        name: {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": _checksum(array)}
        for name, array in plain.items()
    }
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "arrays": described, "facts": facts},
        sort_keys=True,
        allow_nan=False,
    )
    # Larger types first, so that every array lies at a multiple of the size of its numbers.
    order = sorted(plain, key=lambda name: -plain[name].itemsize)
    header = _header(text, {name: plain[name] for name in order})
    if len(header) > _LARGEST_HEADER:
        raise InputError(
            f"the names and texts beside the arrays of {str(path)!r} take {len(header):,} bytes.",
            f"Nobody could read it again: above {_LARGEST_HEADER:,} a header counts as hostile.",
            "Give the similarity and the method shorter names.",
        )
    with atomic(Path(path)) as unfinished, unfinished.open("wb") as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for name in order:
            for piece in _pieces(plain[name]):
                file.write(piece)


def read(path: str | Path, *, only: Collection[str] | None = None) -> tuple[Arrays, dict[str, Any]]:
    """Read a file that `write` wrote; everything is verified before it is returned.

    Arrays that would take more than a quarter of the memory ceiling stay in the file, mapped.

    Parameters
    ----------
    path : str or Path
    only : collection of str, optional
        Names of arrays; others are neither read nor verified.

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
            raise damaged(source, "its arrays are not those that its header lists")
        arrays = {n: _tensor(source, file, n) for n in names if only is None or n in only}
        for name, array in arrays.items():
            expected = described[name]
            if array.dtype.name != expected["dtype"] or list(array.shape) != expected["shape"]:
                raise damaged(source, f'the array "{name}" has another shape or type than stated')
            if _checksum(array) != expected["sha256"]:
                raise damaged(source, f'the checksum of the array "{name}" does not match')
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
def unpacking(source: Path) -> Iterator[None]:
    """Turn whatever a file of unexpected content raises into one error that names it."""
    try:
        yield
    except (FewpairsError, OSError, MemoryError):
        raise
    except Exception as error:
        raise damaged(source, f"{type(error).__name__}: {error}") from error


def damaged(source: str | Path, how: str) -> FileFormatError:
    """Make the error of a file that cannot be trusted."""
    return FileFormatError(
        f"{str(source)!r} is damaged or is not a fewpairs file: {how:.300}.",
        "Wrong numbers would look exactly like right ones.",
        "Restore it from a copy, or save the matrix again.",
    )


@contextmanager
def _opened(source: Path) -> Iterator[tuple[Any, dict[str, dict[str, Any]], dict[str, Any]]]:
    """Open a file and check its header: the file, the arrays that it lists, and its facts."""
    if not source.is_file():
        raise MissingFileError(
            f"there is no file {str(source)!r}.",
            "It should hold what was saved: a folder, a pipe or a device does not.",
            "Check the path.",
        )
    _refuse_foreign(source)
    _check_header_size(source)
    with unpacking(source), safe_open(source, framework="numpy") as file:
        yield file, *_check_metadata(source, file.metadata() or {})


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _pieces(array: npt.NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array, some rows at a time: one on disk is not read as a whole."""
    rows = max(1, len(array) * _PIECE // max(array.nbytes, 1)) if array.ndim else 1
    table = array.reshape(len(array), -1) if array.size and array.ndim else array.reshape(1, -1)
    for part in parts(len(table), rows):
        yield np.ascontiguousarray(table[part]).reshape(-1).view(np.uint8).data


def _checksum(array: npt.NDArray[Any]) -> str:
    found = hashlib.sha256()
    for piece in _pieces(array):
        found.update(piece)
    return found.hexdigest()


def _tensor(source: Path, file: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of a file; one that takes much of the memory stays there, mapped."""
    described = file.get_slice(name)
    shape, dtype = tuple(described.get_shape()), np.dtype(_NUMPY[described.get_dtype()])
    if np.prod(shape, dtype=float) * dtype.itemsize <= scratch.LARGE * memory_ceiling():
        return np.asarray(file.get_tensor(name))
    with source.open("rb") as raw:
        length = int.from_bytes(raw.read(8), "little")
        start = json.loads(raw.read(length))[name]["data_offsets"][0]
    mapped = np.memmap(
        source, dtype=dtype.newbyteorder("<"), mode="r", offset=8 + length + start, shape=shape
    )
    return np.asarray(mapped)


def _header(text: str, arrays: Arrays) -> bytes:
    """Write the header of a safetensors file: where each array lies, and our own beside it."""
    metadata = {_KEY: text, _CHECKSUM: hashlib.sha256(text.encode()).hexdigest()}
    listed: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for name, array in arrays.items():
        listed[name] = {
            "dtype": _DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    header = json.dumps(listed, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % 8)


def _refuse_foreign(source: Path) -> None:
    with source.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if b'"__metadata__"' not in beginning:
        raise FileFormatError(
            f"{str(source)!r} is not a fewpairs file: it does not begin like one.",
            "Only what fewpairs has saved can be read here.",
            "Pass the file that was saved; if this is it, it is damaged: restore it from a copy.",
        )


def _check_header_size(source: Path) -> None:
    with source.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    if size > min(_LARGEST_HEADER, source.stat().st_size):
        raise damaged(source, f"its header claims {size:,} bytes")


def _check_metadata(
    source: Path, metadata: Mapping[str, str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    if _KEY not in metadata or _CHECKSUM not in metadata:
        raise damaged(source, "it has no fewpairs header")
    text = metadata[_KEY]
    if hashlib.sha256(text.encode()).hexdigest() != metadata[_CHECKSUM]:
        raise damaged(source, "the checksum of its header does not match")
    header = json.loads(text)
    version, arrays, facts = header["version"], header["arrays"], header["facts"]
    if type(version) is not int or not isinstance(facts, dict) or header["format"] != FORMAT:
        raise damaged(source, "its header is not one that fewpairs writes")
    if version > VERSION:
        raise NewerVersionError(
            f"{str(source)!r} has the format version {version:.6g}; this fewpairs reads {VERSION}.",
            "A newer version may mean other things by the same names.",
            "Upgrade fewpairs: pip install -U fewpairs",
        )
    if any(array["dtype"] not in _DTYPES for array in arrays.values()):
        raise damaged(source, "it lists an array of a type that fewpairs never writes")
    return arrays, facts
