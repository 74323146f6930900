"""Items from files: lines, tables, arrays.

The ending of a file's name chooses its reader from the table `READERS`. A reader is a function
``reader(path, column)``:

- ``path`` is the `Path` of a file that exists;
- ``column`` is the name of the column (or field) that holds the items, or None if the user named
  none; readers of files without columns refuse it, the others may call `choose_column`;
- it returns the items: a sequence, an array, or an iterator, which should then read the file piece
  by piece, because corpora may be larger than the memory;
- what it raises of `READ_ERRORS` becomes one message that names the file.

A new format is one more entry, also from outside of fewpairs::

    from fewpairs.items.readers import READERS

    READERS[".parquet"] = lambda path, column: polars.read_parquet(path)[column]
"""

from __future__ import annotations

import csv
import gzip
import json
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from fewpairs.errors import FewpairsError, InputError, MissingFileError, UnknownNameError

Reader = Callable[[Path, str | None], Iterable[Any]]

#: What reading a damaged file, or one of another format, raises.
READ_ERRORS = (OSError, EOFError, ValueError, RecursionError, csv.Error, zlib.error)
#: Longest cell of a .csv file, in characters. Python's own limit of 131,072 is less than a book;
#: this is the largest number that the csv module takes on every system.
_LONGEST_CELL = 2**31 - 1


def read_items(path: Path, column: str | None = None) -> Any:
    """Read all items of a file; the ending of its name says how.

    Parameters
    ----------
    path : Path
        One item a line (.txt, blank lines are left out), a table (.csv, .jsonl), each also with
        .gz behind it, or an array (.npy).
    column : str, optional
        Of a table; not needed if it has only one.

    Returns
    -------
    list, or ndarray
    """
    reader = _reader_of(path)
    if reader is None:
        raise UnknownNameError("file ending", path.suffix, READERS, where=f"of {path.name}")
    with _one_message(path):
        items = reader(path, column)
        if items is None or isinstance(items, (str, bytes)):
            message = f"its reader returned {type(items).__name__}, and no items"
            raise ValueError(message)
        return list(items) if isinstance(items, Iterator) else items


def stream_texts(path: Path, column: str | None = None) -> Iterator[Any]:
    """Give the texts of a file one by one; files larger than the memory are no obstacle.

    Parameters
    ----------
    path : Path
        As for `read_items`. Where the ending says nothing, each line is a text, and .gz is
        unpacked.
    column : str, optional
        Of a table; not needed if it has only one.

    Returns
    -------
    iterator of str
        Or of what else a table holds in that column.
    """
    return _streamed(_reader_of(path) or read_lines, path, column)


def _streamed(reader: Reader, path: Path, column: str | None) -> Iterator[Any]:
    with _one_message(path):
        yield from reader(path, column)


def open_text(path: Path, newline: str = "\n") -> TextIO:
    """Open a UTF-8 text, unpacked if its name ends in .gz.

    Only a line feed ends a line; other line ends of Unicode may be part of an item.
    """
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    # "-sig" leaves out the mark that spreadsheets write at the beginning.
    return cast("TextIO", opener(path, "rt", encoding="utf-8-sig", newline=newline))


def choose_column(column: str | None, names: list[str], path: Path) -> str:
    """Return the column that holds the items: the named one, or the only one."""
    if column is None and len(names) == 1:
        return names[0]
    if column is None:
        raise InputError(
            f"{path.name} has the columns {', '.join(names)}.",
            "Which of them holds the items cannot be guessed.",
            "Name it with --column.",
        )
    if column not in names:
        raise UnknownNameError("column", column, names, where=f"in {path.name}")
    return column


def read_lines(path: Path, column: str | None) -> Iterator[str]:
    """Give the lines that are not blank."""
    _refuse_column(path, column)
    with open_text(path) as file:
        for line in _texts_only(file):
            if line.strip():
                yield line.rstrip("\n").rstrip("\r")


def _refuse_column(path: Path, column: str | None) -> None:
    if column is not None:
        raise InputError(
            f"the column {column!r} was named, and {path.name} has no columns.",
            "It would be ignored.",
            "Leave it out, or pass a .csv or .jsonl file.",
        )


def read_csv(path: Path, column: str | None) -> Iterator[str]:
    """Give one column of a table with a header, comma-separated."""
    # The csv module wants line ends as they are: a cell may hold some.
    with open_text(path, newline="") as file, _long_cells():
        reader = csv.DictReader(_texts_only(file))
        if reader.fieldnames:
            chosen = choose_column(column, list(reader.fieldnames), path)
            for row in reader:
                if None in row:  # where the reader puts what is beyond the last column
                    message = f"line {reader.line_num} has more cells than the header has columns"
                    raise ValueError(message)
                yield row[chosen]


def read_jsonl(path: Path, column: str | None) -> Iterator[Any]:
    """Give one field of the objects in a file that has one on each line."""
    # Any line may bring a new field, so they are all read once for the names alone.
    names = list(dict.fromkeys(name for row in _json_rows(path) for name in row))
    if names:
        chosen = choose_column(column, names, path)
        yield from (row.get(chosen) for row in _json_rows(path))


def read_npy(path: Path, column: str | None) -> Any:
    """Return a stored array; its rows are the items."""
    _refuse_column(path, column)
    import numpy as np  # noqa: PLC0415 - the command starts fast

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy tells that a file is old, which is no matter
            # Mapped first, because then what the header promises must be there.
            array = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # what a header is parsed with raises whatever it likes
        message = f"it is no array of numbers ({type(error).__name__}: {error})"
        raise ValueError(message) from error
    if not array.size:
        message = "it holds no array with numbers"
        raise ValueError(message)
    return np.array(array)


#: From the ending of a file's name, in lower case, to its reader.
READERS: dict[str, Reader] = {
    ".txt": read_lines,
    ".txt.gz": read_lines,
    ".csv": read_csv,
    ".csv.gz": read_csv,
    ".jsonl": read_jsonl,
    ".jsonl.gz": read_jsonl,
    ".npy": read_npy,
}


def _reader_of(path: Path) -> Reader | None:
    if path.exists() and not path.is_file():
        raise InputError(
            f"{str(path)!r} is a folder, a pipe or a device.",
            "The ending of a file's name says how it is read, and some are read twice.",
            "Write the items to a file first, for example items.txt.",
        )
    if not path.is_file():
        raise MissingFileError(
            f"there is no file {str(path)!r}.", "It holds the items.", "Check the path."
        )
    double = "".join(path.suffixes[-2:]).lower()
    return READERS.get(double) or READERS.get(path.suffix.lower())


@contextmanager
def _one_message(path: Path) -> Iterator[None]:
    try:
        yield
    except READ_ERRORS as error:
        if isinstance(error, FewpairsError):
            raise
        raise InputError(
            f"{path.name} cannot be read: {error}",
            "Nothing was evaluated.",
            "Text files must be UTF-8, .jsonl files hold one object a line, .npy files numbers.",
        ) from error


@contextmanager
def _long_cells() -> Iterator[None]:
    # The limit is one for the whole process, so it is put back.
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _texts_only(lines: Iterable[str]) -> Iterator[str]:
    """Refuse what is valid UTF-8 and no text: UTF-16 without a mark, or bytes of a program."""
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            message = f"line {number} has the character NUL, which no text has"
            raise ValueError(message)
        yield line


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                message = f"line {number} is not JSON: {error}"
                raise ValueError(message) from error
            if not isinstance(row, dict):
                message = f"line {number} is not an object with named fields"
                raise ValueError(message)  # noqa: TRY004 - a fault of the file, not of a caller
            yield row
