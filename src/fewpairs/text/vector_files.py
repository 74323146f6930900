"""Files of word vectors: word2vec text and binary, GloVe text, npz. Nothing in them is executed."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from fewpairs.errors import FileFormatError
from fewpairs.files.writing import atomic

Table = tuple[list[str], npt.NDArray[Any]]
#: The first bytes of the two kinds of compressed files.
_ZIP, _GZIP = b"PK", b"\x1f\x8b"
#: An ``.npz`` is a zip archive of ``.npy`` files.
_ARRAY = ".npy"
#: Bytes before the name in the header of a zip's member, by the format's definition.
_LOCAL_HEADER = 30


def read(path: Path, *, mmap: bool = False) -> Table:
    """Read words and vectors; the format is told by the content.

    Parameters
    ----------
    path : Path
    mmap : bool, default=False
        Only an ``.npz`` whose vectors are stored uncompressed can stay on disk.

    Returns
    -------
    words : list of str
    array : ndarray
    """
    with path.open("rb") as file:
        start = file.read(2)
    if start == _ZIP:
        try:
            return _read_npz(path, mmap=mmap)
        except zipfile.BadZipFile as error:
            raise _broken(path, str(error)) from error
    with _open(path, start) as file:
        first = file.readline()
        numbers = first.split()
        if len(numbers) == 2 and all(n.isdigit() for n in numbers):  # noqa: PLR2004 - a header
            count, dimensions = map(int, numbers)
            content = file.read()
            if _is_binary(content, dimensions):
                return _read_binary(path, content, count, dimensions)
            return _read_text(path, content, dimensions, expected=count)
        return _read_text(path, first + file.read(), len(numbers) - 1)


def _open(path: Path, start: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if start == _GZIP else path.open("rb")


def _is_binary(content: bytes, dimensions: int) -> bool:
    """Tell binary from text: in text, the first entry after the header ends in numbers."""
    line = content.split(b"\n", 1)[0].rstrip()
    parts = line.rsplit(b" ", dimensions)
    try:
        [float(p) for p in parts[1:]]
    except ValueError:
        return True
    return len(parts) != dimensions + 1


def _read_binary(path: Path, content: bytes, count: int, dimensions: int) -> Table:
    """Read entries of word2vec's binary form: a word, a space, four bytes for each number."""
    array = np.empty((count, dimensions), dtype=np.float32)
    words, at, size = [], 0, 4 * dimensions
    for k in range(count):
        space = content.find(b" ", at)
        if space < 0 or space + 1 + size > len(content):
            raise _broken(path, f"it ends after {k:,} of {count:,} vectors")
        words.append(content[at:space].lstrip(b"\n").decode("utf-8", "replace"))
        array[k] = np.frombuffer(content, "<f4", dimensions, space + 1)
        at = space + 1 + size
    return words, array


def _read_text(path: Path, content: bytes, dimensions: int, expected: int | None = None) -> Table:
    """Read lines of a word and its numbers; `expected` is what the header promises, if any."""
    everything = content.decode("utf-8", "replace").split("\n")
    numbered = enumerate(everything, 1 if expected is None else 2)
    lines = [(number, line) for number, line in numbered if line.strip()]
    if dimensions < 1 or not lines:
        raise _broken(path, "its first line holds no word with numbers")
    words, rows = [], np.empty((len(lines), dimensions), dtype=np.float32)
    for row, (number, line) in zip(rows, lines, strict=True):
        # A word may itself hold spaces, so the numbers are counted from the right.
        word, *numbers = line.rstrip().rsplit(" ", dimensions)
        try:
            # Of a line with one number alone, a plain assignment would fill the whole row.
            row[:] = np.array(numbers, dtype=np.float64).reshape(dimensions)
        except ValueError as error:
            raise _broken(path, f"line {number} does not end in {dimensions} numbers") from error
        words.append(word)
    if expected is not None and expected != len(words):
        raise _broken(path, f"it promises {expected:,} vectors and holds {len(words):,}")
    return words, rows


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


def _read_npz(path: Path, *, mmap: bool) -> Table:
    """Read the first list of words and the first table of numbers in the archive."""
    with zipfile.ZipFile(path) as archive:
        headers = _headers(archive)
    words = [name for name, array in headers.items() if array.is_list_of_words]
    tables = [name for name, array in headers.items() if array.is_table_of_numbers]
    if not words or not tables:
        pickled = [name for name, array in headers.items() if array.dtype.hasobject]
        how = f"its arrays {list(headers)} are not words and vectors"
        if pickled:
            how = f"its array {pickled[0]!r} is a pickle, which could run code when it is read"
        raise _broken(path, how)
    # One member at a time: asking the file for an array reads the whole of it.
    with np.load(path, allow_pickle=False) as file:
        listed = file[words[0]].tolist()
        held = _mapped(path, tables[0]) if mmap else None
        return listed, file[tables[0]] if held is None else held


def _headers(archive: zipfile.ZipFile) -> dict[str, _Header]:
    """Read the shapes and types of all arrays, and nothing of what they hold."""
    found = {}
    for member in archive.namelist():
        if member.endswith(_ARRAY):
            with archive.open(member) as file:
                found[member.removesuffix(_ARRAY)] = _header(file)
    return found


def _header(file: IO[bytes]) -> _Header:
    # Version 1.0 stores the header's length in two bytes, later ones in four.
    if np.lib.format.read_magic(file) == (1, 0):
        return _Header(*np.lib.format.read_array_header_1_0(file))
    return _Header(*np.lib.format.read_array_header_2_0(file))


def _mapped(path: Path, name: str) -> npt.NDArray[Any] | None:
    """Map an array of an uncompressed npz where it lies in the file; None if it is compressed."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(name + _ARRAY)
    if info.compress_type != zipfile.ZIP_STORED:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(_LOCAL_HEADER)
        # The archive's directory does not say how long the name and the extra field before the
        # data are: only the member's own header does, in two numbers of two bytes.
        file.seek(sum(int.from_bytes(local[k : k + 2], "little") for k in (26, 28)), 1)
        header = _header(file)
        order: Any = "F" if header.fortran else "C"
        return np.memmap(path, header.dtype, "r", file.tell(), header.shape, order)


def write(path: Path, words: Sequence[str], array: npt.NDArray[Any]) -> None:
    """Write ``.npz``, or word2vec text where the name ends in ``.txt``; whole or not at all."""
    with atomic(path) as unfinished:
        if path.suffix == ".txt":
            with unfinished.open("w", encoding="utf-8") as file:
                file.write(f"{len(words)} {array.shape[1]}\n")
                for word, row in zip(words, array, strict=True):
                    file.write(f"{word} {' '.join(map(repr, row.tolist()))}\n")
        else:
            with unfinished.open("wb") as binary:
                np.savez(binary, words=np.array(words), vectors=array)


def _broken(path: Path, how: str) -> FileFormatError:
    return FileFormatError(
        f"{path.name} is no file of word vectors that we can read: {how}.",
        "A wrong vector would go unnoticed in every distance.",
        "Pass word2vec text or binary, GloVe text, or an .npz with words and vectors.",
    )
