"""Word vectors in an npz file: headers are checked before anything is allocated."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.items.packing import pack_texts, unpack_texts

Table = tuple[list[str], npt.NDArray[Any]]
#: An ``.npz`` is a zip archive of ``.npy`` files.
_ARRAY = ".npy"
#: Bytes before the name in the header of a zip's member, by the format's definition.
_LOCAL_HEADER = 30
#: Compressed vectors may be this many times larger than in the file, beside this many bytes: real
#: ones are rarely ten times, and a thousand times is the most that a hostile file can reach.
_MOST_EXPANSION, _FREE = 50, 2**26
#: Words are read in pieces of so many bytes, and a single one may take no more.
_PIECE = 2**22
#: NumPy's own array of words takes four bytes for each character of the longest, for every word.
_MOST_PADDING = 16
#: Under these names words are stored that such an array would change, or that would fill it with
#: padding: their UTF-8, one after the other, and where each ends.
_TEXT, _ENDS = "words_utf8", "words_ends"


class _Header(NamedTuple):
    """What the first bytes of an array's file say about the rest."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def is_list_of_words(self) -> bool:
        """Whether these may be the words."""
        return len(self.shape) == 1 and self.dtype.kind == "U"

    @property
    def is_table_of_numbers(self) -> bool:
        """Whether these may be the vectors."""
        return len(self.shape) == 2 and self.dtype.kind in "fiu"  # noqa: PLR2004 - rows, columns

    @property
    def size(self) -> int:
        """Bytes of the array, in whole numbers of any size."""
        return math.prod(self.shape) * self.dtype.itemsize


def pack_words(words: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that hold words: NumPy's own, unless it would change or drown them."""
    padded, characters = 4 * max(map(len, words)) * len(words), sum(map(len, words))
    changed = any(word.endswith("\0") for word in words)  # NumPy takes that for padding
    if not changed and padded <= _FREE + _MOST_PADDING * characters:
        return {"words": np.array(words)}
    content, ends = pack_texts(words)
    return {_TEXT: content, _ENDS: ends}


def read_npz(path: Path, *, mmap: bool) -> Table:
    """Read the first list of words and the first table of numbers in an archive.

    What is wrong with it raises ValueError, or whatever zipfile raises.
    """
    with zipfile.ZipFile(path) as archive:
        headers = _headers(archive)
        words = [name for name, array in headers.items() if array.is_list_of_words]
        tables = [name for name, array in headers.items() if array.is_table_of_numbers]
        packed = {_TEXT, _ENDS} <= set(headers)
        if not (words or packed) or not tables:
            _refuse_contents(headers)
        table, count = tables[0], headers[_ENDS if packed else words[0]].shape[0]
        rows, dimensions = headers[table].shape
        if count != rows or not dimensions:
            message = f"it has {count:,} words and vectors of the shape {headers[table].shape}"
            raise ValueError(message)
        _check_size(archive, table, headers[table])
        if packed:
            for name in (_TEXT, _ENDS):
                _check_size(archive, name, headers[name])
            listed = unpack_texts(_read_array(archive, _TEXT), _read_array(archive, _ENDS))
        else:
            listed = _read_words(archive, words[0], headers[words[0]])
        held = _mapped(path, archive.getinfo(table + _ARRAY), headers[table]) if mmap else None
        return listed, _read_array(archive, table) if held is None else held


def _refuse_contents(headers: dict[str, _Header]) -> None:
    pickled = [name for name, array in headers.items() if array.dtype.hasobject]
    how = f"its arrays {list(headers)} are not words and vectors"
    if pickled:
        how = f"its array {pickled[0]!r} is a pickle, which could run code when it is read"
    raise ValueError(how)


def _check_size(
    archive: zipfile.ZipFile, name: str, header: _Header, *, in_pieces: bool = False
) -> None:
    """Refuse an array that is not as large as its header says, or expands beyond reason."""
    info = archive.getinfo(name + _ARRAY)
    if not 0 < info.file_size - header.size < _PIECE:
        how = f"its array {name!r} promises {header.size:,} bytes and has {info.file_size:,}"
        raise ValueError(how)
    if not in_pieces and header.size > _FREE + _MOST_EXPANSION * info.compress_size:
        how = f"its array {name!r} would grow from {info.compress_size:,} to {header.size:,} bytes"
        raise ValueError(how)


def _headers(archive: zipfile.ZipFile) -> dict[str, _Header]:
    """Read the shapes and types of all arrays, and nothing of what they hold."""
    found = {}
    for member in archive.namelist():
        if member.endswith(_ARRAY):
            with archive.open(member) as file:
                found[member.removesuffix(_ARRAY)] = _header(file)
    return found


def _header(file: IO[bytes]) -> _Header:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy tells that a file is old: no matter of the caller's
        # Version 1.0 stores the header's length in two bytes, later ones in four.
        if np.lib.format.read_magic(file) == (1, 0):
            return _Header(*np.lib.format.read_array_header_1_0(file))
        return _Header(*np.lib.format.read_array_header_2_0(file))


def _read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(name + _ARRAY) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in _header
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read()  # to the end, where the checksum is compared
    return array


def _read_words(archive: zipfile.ZipFile, name: str, header: _Header) -> list[str]:
    """Read words in pieces: padded to the longest, all at once may not fit into the memory."""
    if header.dtype.itemsize > _PIECE:
        message = f"its words are padded to {header.dtype.itemsize:,} bytes each"
        raise ValueError(message)
    _check_size(archive, name, header, in_pieces=True)
    words: list[str] = []
    each = max(1, _PIECE // max(1, header.dtype.itemsize))
    with archive.open(name + _ARRAY) as file:
        _header(file)
        while len(words) < header.shape[0]:
            wanted = min(each, header.shape[0] - len(words)) * header.dtype.itemsize
            piece = file.read(wanted)
            if len(piece) < wanted or not piece:
                message = f"it ends after {len(words):,} of {header.shape[0]:,} words"
                raise ValueError(message)
            words += np.frombuffer(piece, header.dtype).tolist()
        file.read()  # to the end, where the checksum is compared
    return words


def _mapped(path: Path, info: zipfile.ZipInfo, expected: _Header) -> npt.NDArray[Any] | None:
    """Map an array of an uncompressed npz where it lies in the file; None if it is compressed."""
    if info.compress_type != zipfile.ZIP_STORED:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(_LOCAL_HEADER)
        # The archive's directory does not say how long the name and the extra field before the
        # data are: only the member's own header does, in two numbers of two bytes.
        file.seek(sum(int.from_bytes(local[k : k + 2], "little") for k in (26, 28)), 1)
        header = _header(file)
        if header != expected:
            message = "its directory and its content do not agree"
            raise ValueError(message)
        order: Any = "F" if header.fortran else "C"
        return np.memmap(path, header.dtype, "r", file.tell(), header.shape, order)
