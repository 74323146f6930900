"""Files of word vectors: word2vec text and binary, GloVe text, npz. Nothing in them is executed."""

from __future__ import annotations

import errno
import gzip
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from fewpairs.errors import FewpairsError, FileFormatError, InputError, MissingFileError
from fewpairs.files.writing import atomic
from fewpairs.text.vector_archives import pack_words, read_npz
from fewpairs.text.vector_streams import read_stream

Table = tuple[list[str], npt.NDArray[Any]]
#: The first bytes of the two kinds of compressed files.
_ZIP, _GZIP = b"PK", b"\x1f\x8b"
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(path: Path, *, mmap: bool = False) -> Table:
    """Read words and vectors; the format is told by the content.

    What a file promises is believed only as far as it is there: memory is taken as content comes.

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
    if not path.is_file():
        raise MissingFileError(
            f"there is no file {str(path)!r}.", "It should hold word vectors.", "Check the path."
        )
    try:
        with path.open("rb") as file:
            start = file.read(2)
        if start == _ZIP:
            return read_npz(path, mmap=mmap)
        with _open(path, start) as file:
            return read_stream(file, size=None if start == _GZIP else path.stat().st_size)
    except (FewpairsError, MemoryError):
        raise
    except Exception as error:
        # A position that no file has comes from the content, other faults from the system.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        how = str(error) or type(error).__name__
        raise FileFormatError(
            f"{path.name} is no file of word vectors that we can read: {how:.300}.",
            "A wrong vector would go unnoticed in every distance.",
            "Pass word2vec text or binary, GloVe text, or an .npz with words and vectors.",
        ) from error


def _open(path: Path, start: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if start == _GZIP else path.open("rb")


Writer = Callable[[IO[bytes], Sequence[str], npt.NDArray[Any]], None]


def writer_for(path: Path) -> Writer:
    """Return what writes a file of this name, or refuse the name."""
    name = path.name.lower()
    for ending, writer in _WRITERS.items():
        if name.endswith(ending):
            return writer
    raise InputError(
        f"{path.name} does not end in {' or '.join(_WRITERS)}.",
        "The ending decides how word vectors are written.",
        "Name the file .npz to load it fast, .txt or .txt.gz to read it elsewhere.",
    )


def write(path: Path, words: Sequence[str], array: npt.NDArray[Any]) -> None:
    """Write what the name's ending says, ``.npz`` or word2vec text; whole or not at all."""
    writer = writer_for(path)
    if writer is not _write_npz:
        _refuse_unwritable_words(words)
    with atomic(path) as unfinished, unfinished.open("wb") as file:
        writer(file, words, array)


def _write_npz(file: IO[bytes], words: Sequence[str], array: npt.NDArray[Any]) -> None:
    arrays: dict[str, Any] = pack_words(words) | {"vectors": array}
    np.savez(file, **arrays)


def _write_text(file: IO[bytes], words: Sequence[str], array: npt.NDArray[Any]) -> None:
    file.write(f"{len(words)} {array.shape[1]}\n".encode())
    for word, row in zip(words, array, strict=True):
        file.write(f"{word} {' '.join(map(repr, row.tolist()))}\n".encode())


def _write_packed_text(file: IO[bytes], words: Sequence[str], array: npt.NDArray[Any]) -> None:
    # Without name and time: the same vectors give the same file.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inner:
        _write_text(cast("IO[bytes]", inner), words, array)


_WRITERS: dict[str, Writer] = {
    ".npz": _write_npz,
    ".txt": _write_text,
    ".txt.gz": _write_packed_text,
}


def _refuse_unwritable_words(words: Sequence[str]) -> None:
    """Refuse words that would not come back from a text file."""
    for word in words:
        # Half a character is a surrogate, for which UTF-8 has no bytes.
        if "\n" in word or (not word.isascii() and _SURROGATE.search(word)):
            raise InputError(
                f"the word {word[:60]!r} has a line break or half a character.",
                "In a text file each word is on a line of its own, in UTF-8.",
                "Save the vectors as .npz, or leave the word out.",
            )
