"""Files of word vectors: word2vec text and binary, GloVe text, npz. Nothing in them is executed."""

from __future__ import annotations

import errno
import gzip
import re
from collections.abc import Sequence
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


def write(path: Path, words: Sequence[str], array: npt.NDArray[Any]) -> None:
    """Write ``.npz``, or word2vec text where the name ends in ``.txt``; whole or not at all."""
    if path.suffix == ".txt":
        _refuse_unwritable_words(words)
    with atomic(path) as unfinished:
        if path.suffix == ".txt":
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.write(f"{len(words)} {array.shape[1]}\n")
                for word, row in zip(words, array, strict=True):
                    file.write(f"{word} {' '.join(map(repr, row.tolist()))}\n")
        else:
            with unfinished.open("wb") as binary:
                arrays: dict[str, Any] = pack_words(words) | {"vectors": array}
                np.savez(binary, **arrays)


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
