"""Word vectors that come one after the other: word2vec's text and binary, GloVe's text."""

from __future__ import annotations

import re
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

Table = tuple[list[str], npt.NDArray[Any]]
#: No table has longer vectors, nor words or lines of so many bytes.
_MOST_DIMENSIONS = 2**20
_LONGEST_WORD = 2**20
_LONGEST_LINE = 2**25
#: A header is two numbers, of at most so many digits.
_DIGITS = 18
#: Bytes that are read at a time, and rows for which room is made at a time.
_PIECE = 2**20
_ROWS = 1024
#: Bytes that no word has and that the bytes of floats are full of.
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
#: The mark that some editors write at the beginning of a text.
_MARK = b"\xef\xbb\xbf"


def read_stream(file: IO[bytes], size: int | None) -> Table:
    """Read words and vectors from a stream; what is wrong raises ValueError.

    Parameters
    ----------
    file : binary file
        At its beginning.
    size : int or None
        Bytes of the whole, where they are known.

    Returns
    -------
    words : list of str
    array : ndarray of float32
    """
    first = _line(file, 1).removeprefix(_MARK)
    numbers = first.split()
    if len(numbers) != 2 or not all(n.isdigit() for n in numbers):  # noqa: PLR2004 - a header
        return _read_text(file, first, 1, len(numbers) - 1, None)
    if max(map(len, numbers)) > _DIGITS:
        _refuse("its first line promises more than any file could hold")
    count, dimensions = map(int, numbers)
    # Each number takes at least two bytes: a digit and a space.
    if size is not None and 2 * count * dimensions > size:
        _refuse(f"it promises {count:,} vectors of {dimensions:,} numbers in {size:,} bytes")
    _check_dimensions(dimensions)
    if not count:
        _refuse("it promises no vectors")
    second = file.readline(_LONGEST_LINE)
    if _is_binary(second, dimensions):
        return _read_binary(file, second, count, dimensions)
    return _read_text(file, second, 2, dimensions, count)


def _check_dimensions(dimensions: int) -> None:
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        _refuse(
            "its first line holds no word with numbers"
            if dimensions < 1
            else f"it promises vectors of {dimensions:,} numbers"
        )


def _line(file: IO[bytes], number: int) -> bytes:
    line = file.readline(_LONGEST_LINE)
    if len(line) == _LONGEST_LINE:
        _refuse(f"line {number} does not end within {_LONGEST_LINE:,} bytes")
    return line


def _is_binary(line: bytes, dimensions: int) -> bool:
    """Tell binary from text: in text, the first entry after the header ends in numbers."""
    parts = line.rstrip().rsplit(b" ", dimensions)
    try:
        [float(p) for p in parts[1:]]
    except ValueError:
        return True
    return len(parts) != dimensions + 1


def _read_text(
    file: IO[bytes], line: bytes, number: int, dimensions: int, expected: int | None
) -> Table:
    """Read lines of a word and its numbers, from `line` on, the file's line `number`.

    `expected` is what the header promises, if there is one.
    """
    _check_dimensions(dimensions)
    words: list[str] = []
    blocks: list[npt.NDArray[np.float32]] = []
    while line:
        text = line.decode("utf-8", "replace").rstrip()
        if text:
            at = len(words) % _ROWS
            if not at:
                blocks.append(np.empty((_ROWS, dimensions), dtype=np.float32))
            # A word may itself hold spaces, so the numbers are counted from the right.
            word, *numbers = text.rsplit(" ", dimensions)
            blocks[-1][at] = _numbers(numbers, dimensions, number)
            words.append(word)
        number += 1
        line = _line(file, number)
    if not words:
        _refuse("its first line holds no word with numbers")
    if expected is not None and expected != len(words):
        _refuse(f"it promises {expected:,} vectors and holds {len(words):,}")
    return words, np.concatenate(blocks)[: len(words)]


def _numbers(texts: list[str], dimensions: int, number: int) -> npt.NDArray[np.float32]:
    try:
        # Of a line with one number alone, a plain assignment would fill the whole row.
        values = np.array(texts, dtype=np.float64).reshape(dimensions)
    except ValueError:
        _refuse(f"line {number} does not end in {dimensions} numbers")
    with np.errstate(over="ignore", under="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        _refuse(f"line {number} has a number that is not finite in single precision")
    return single


def _read_binary(file: IO[bytes], ahead: bytes, count: int, dimensions: int) -> Table:
    """Read entries of word2vec's binary form: a word, a space, four bytes for each number."""
    words: list[str] = []
    numbers = bytearray()
    at, size = 0, 4 * dimensions
    while len(words) < count:
        space = ahead.find(b" ", at, at + _LONGEST_WORD)
        if space < 0 and len(ahead) - at >= _LONGEST_WORD:
            _refuse(f"vector {len(words) + 1:,} has a word of more than {_LONGEST_WORD:,} bytes")
        if space < 0 or space + 1 + size > len(ahead):
            more = file.read(max(_PIECE, size))
            if not more:
                _refuse(f"it ends after {len(words):,} of {count:,} vectors")
            ahead, at = ahead[at:] + more, 0
            continue
        word = ahead[at:space].removeprefix(b"\n")  # which some writers put behind each vector
        if _CONTROL.search(word):
            _refuse(
                f"the word of vector {len(words) + 1:,} is {word[:40]!r}, so vectors have another "
                f"length than {dimensions:,}, as its first line says"
            )
        words.append(word.decode("utf-8", "replace"))
        numbers += ahead[space + 1 : space + 1 + size]
        at = space + 1 + size
    if (ahead[at:] + file.read(_PIECE)).strip():
        _refuse(
            f"it goes on after the {count:,} vectors of {dimensions:,} numbers that it promises"
        )
    array = np.frombuffer(numbers, "<f4").reshape(count, dimensions)
    _refuse_garbled(words, array)
    return words, array


def _refuse_garbled(words: list[str], array: npt.NDArray[Any]) -> None:
    """Refuse words and numbers that are bytes of something else."""
    broken = sum("\N{REPLACEMENT CHARACTER}" in word for word in words)
    # Single words may be cut within a character; word2vec does that to long ones.
    if 2 * broken > len(words):
        _refuse(f"{broken:,} of {len(words):,} words are not UTF-8")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        _refuse(f"vector {bad + 1:,}, of {words[bad]!r:.60}, is not finite")


def _refuse(how: str) -> NoReturn:
    raise ValueError(how)
