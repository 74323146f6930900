"""Items from files: lines, one column of a table, arrays.

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

    READERS[".feather"] = lambda path, column: polars.read_ipc(path)[column]

A format of tables, which are read row by row, is an entry of `rows.ROWS`, and needs none here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.rows import LINES, ROWS, line_rows
from fewpairs.items.sources import Source, one_message, refuse_spreadsheet

#: Characters that may divide cells, as they are typed.
_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}

Reader = Callable[[Path, str | None], Iterable[Any]]


def read_items(path: Path, column: str | None = None) -> Any:
    """Read all items of a file; the ending of its name says how.

    Parameters
    ----------
    path : Path
        One item a line (.txt, blank lines are left out), a table (.csv, .tsv, .jsonl, .parquet),
        each also with .gz behind it, or an array (.npy).
    column : str, optional
        Of a table; not needed if it has only one. ``fields.title`` is a field of a field.

    Returns
    -------
    list, or ndarray
    """
    source = Source.of(path, (*READERS, *ROWS))
    refuse_spreadsheet(source)
    reader = _reader_of(source)
    if reader is None:
        known = {*READERS, *ROWS}
        raise UnknownNameError("file ending", path.suffix, known, where=f"of {path.name}")
    with one_message(source):
        items = reader(path, column)
        if items is None or isinstance(items, (str, bytes)):
            message = f"its reader returned {type(items).__name__}, and no items"
            raise ValueError(message)
        items = list(items) if isinstance(items, Iterator) else items
    if getattr(items, "shape", (1,))[:1] == (0,) or (isinstance(items, list) and not items):
        raise _empty(source)
    return items


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
    source = Source.of(path, (*READERS, *ROWS))
    return _streamed(_reader_of(source) or read_lines, source, column)


def _streamed(reader: Reader, source: Source, column: str | None) -> Iterator[Any]:
    empty = True
    with one_message(source):
        for text in reader(source.path, column):
            empty = False
            yield text
    if empty:
        raise _empty(source)


def _empty(source: Source) -> InputError:
    return InputError(f"{source.name} has no rows.", "There is nothing to read.", "Check the file.")


def _reader_of(source: Source) -> Reader | None:
    return READERS.get(source.ending) or (read_column if source.ending in ROWS else None)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def choose_column(column: str | None, names: list[str], path: _Named) -> str:
    """Return the column that holds the items: the named one, or the only one."""
    if column is None and len(names) == 1:
        return names[0]
    if column is None:
        raise InputError(
            f"{path.name} has the columns {', '.join(names)}.",
            "Which of them holds the items cannot be guessed.",
            "Name it with --column (in Python, column=).",
        )
    if column not in names:
        _refuse_other_delimiter(names, path)
        raise UnknownNameError("column", column, names, where=f"in {path.name}")
    return column


def _refuse_other_delimiter(names: list[str], path: _Named) -> None:
    """Where the header is one long name, say which character may divide it."""
    divided = {mark: names[0].count(mark) for mark in _DELIMITERS} if len(names) == 1 else {}
    mark = max(divided, key=lambda mark: divided[mark], default="")
    if divided.get(mark):
        raise InputError(
            f"{path.name} has a single column, {names[0]!r}.",
            "Its header seems to be divided by another character.",
            f"Pass --delimiter {_DELIMITERS[mark]}.",
        )


def read_lines(path: Path, column: str | None) -> Iterator[str]:
    """Give the lines that are not blank."""
    _refuse_column(path, column)
    rows = line_rows(Source.of(path), lambda _: [LINES])
    return (cells[0] for _, cells in rows)


def read_column(path: Path, column: str | None) -> Iterator[Any]:
    """Give one column of a table."""
    source = Source.of(path, ROWS)
    rows = ROWS[source.ending](source, lambda names: [choose_column(column, names, path)])
    return (cells[0] for _, cells in rows)


def _refuse_column(path: Path, column: str | None) -> None:
    if column is not None:
        raise InputError(
            f"the column {column!r} was named, and {path.name} has no columns.",
            "It would be ignored.",
            "Leave it out, or pass a .csv or .jsonl file.",
        )


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


#: From the ending of a file's name, in lower case, to its reader; tables are in `rows.ROWS`.
READERS: dict[str, Reader] = {".txt": read_lines, ".txt.gz": read_lines, ".npy": read_npy}
