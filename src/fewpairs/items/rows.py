"""Rows of tables, format by format: numbered, with the cells of the columns that were chosen.

The ending of a file's name chooses its reader from the table `ROWS`. A reader is a function
``reader(source, choose)``:

- ``source`` is a `Source`, which opens the file;
- ``choose(names)`` is called once with the names of the columns that are there, and returns those
  that are wanted, in the order that is wanted; it raises what is to be told if one is not there;
- it gives ``(number, cells)`` for each row: where a person finds it, and a tuple with the cells of
  these columns, None where there is none;
- what it raises of `READ_ERRORS` becomes one message that names the file.

A new format is one more entry, also from outside of fewpairs.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from fewpairs.errors import PARQUET, InputError, first_installed
from fewpairs.items.sources import Source, texts_only

Choose = Callable[[list[str]], list[str]]
Rows = Iterator[tuple[int, tuple[Any, ...]]]

#: What the lines of a plain text are called, where a column needs a name.
LINES = "text"
#: Longest cell of a .csv file, in characters. Python's own limit of 131,072 is less than a book;
#: this is the largest number that the csv module takes on every system.
_LONGEST_CELL = 2**31 - 1
#: Rows of a Parquet file that are in memory at a time.
_AT_A_TIME = 2**14


def line_rows(source: Source, choose: Choose) -> Rows:
    """Give the lines that are not blank, each with its number in the file."""
    width = len(choose([LINES]))
    with source.open_text() as file:
        for number, line in enumerate(texts_only(file), start=1):
            if line.strip():
                yield number, (line.rstrip("\n").rstrip("\r"),) * width


def csv_rows(source: Source, choose: Choose) -> Rows:
    """Give the rows of a table with a header, counted from 1 below it."""
    default = "\t" if source.ending.startswith(".tsv") else ","
    # The csv module wants line ends as they are: a cell may hold some.
    with source.open_text(newline="") as file, _long_cells():
        reader = csv.reader(texts_only(file), delimiter=source.delimiter or default, strict=True)
        rows = (row for row in _well_quoted(reader, source) if row)  # a blank line is no row
        names = next(rows, [])
        places = _places(choose(names), names, source) if names else []
        for number, row in enumerate(rows, start=1):
            if len(row) > len(names):
                raise InputError(
                    f"line {reader.line_num} of {source.name} has {len(row)} cells, and the header "
                    f"{len(names)}.",
                    "Which cell belongs to which column cannot be told.",
                    "Put cells that hold the delimiter in quotes, or name another: "
                    "--delimiter ';'.",
                )
            yield number, tuple(row[at] if at < len(row) else None for at in places)


def _well_quoted(reader: Any, source: Source) -> Iterator[list[str]]:
    """Give rows as they come; of one that is none, say where it begins, for it may never end."""
    begins = 1
    try:
        for row in reader:
            begins = reader.line_num + 1
            yield row
    except csv.Error as error:
        raise InputError(
            f"{source.name} cannot be read: in the row that begins in line {begins}, {error}.",
            "A quote at the beginning of a cell is closed at its end.",
            "Close that quote; one that belongs to the text is written twice.",
        ) from error


def json_rows(source: Source, choose: Choose) -> Rows:
    """Give the objects of a file that has one on each line, each with its line's number.

    A field of an object within an object has a name with a dot: ``fields.title``.
    """
    # Any line may bring a new field, so they are all read once for the names alone.
    names = list(dict.fromkeys(name for _, row in _objects(source) for name in leaves(row)))
    if names:
        chosen = choose(names)
        for number, row in _objects(source):
            yield number, tuple(leaf(row, name) for name in chosen)


def parquet_rows(source: Source, choose: Choose) -> Rows:
    """Give the rows of a Parquet file, counted from 1; fields within fields as in `json_rows`."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415 - the command starts fast

    library: Any = first_installed(PARQUET, "parquet", f"reading {source.name}")
    where: Any = source.path
    if source.content is not None or source.is_packed:
        with source.open_unpacked() as file:
            where = io.BytesIO(file.read())  # the names of its columns are at its end
    with _parquet_faults():
        empty, parts_of = (_arrow if library == "pyarrow" else _polars)(where)
        schema = nw.from_native(empty).collect_schema()
        tops = {name: top for top, kind in schema.items() for name in _names(top, kind)}
    chosen = choose(list(tops))
    parts = parts_of(list(dict.fromkeys(tops[name] for name in chosen)))
    number = 0
    while True:
        with _parquet_faults():
            rows = next(parts, None)
        if rows is None:
            return
        for row in rows:
            number += 1
            yield number, tuple(leaf(row, name) for name in chosen)


#: From the columns that are wanted to their rows, some at a time.
_PartsOf = Callable[[list[str]], Iterator[list[dict[str, Any]]]]


def _arrow(where: Any) -> tuple[Any, _PartsOf]:
    """Return a frame with the columns of a file and no rows, and how to read them."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - optional

    def parts(columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        with file:
            # Of all groups at once, what was read ahead would stay in memory to the end.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(_AT_A_TIME, row_groups=[group], columns=columns):
                    yield batch.to_pylist()

    file = ParquetFile(where, pre_buffer=False)
    return file.schema_arrow.empty_table(), parts


def _polars(where: Any) -> tuple[Any, _PartsOf]:
    """Do the same with polars."""
    import polars as pl  # noqa: PLC0415 - optional

    def parts(columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        for start in count(step=16 * _AT_A_TIME):  # each begins to read at a row group
            rows = frame.slice(start, 16 * _AT_A_TIME).select(columns).collect().to_dicts()
            if not rows:
                return
            yield rows

    frame = pl.scan_parquet(where)
    return frame, parts


#: From the ending of a file's name, in lower case, to the reader of its rows.
ROWS: dict[str, Callable[[Source, Choose], Rows]] = {
    ".txt": line_rows,
    ".txt.gz": line_rows,
    ".csv": csv_rows,
    ".csv.gz": csv_rows,
    ".tsv": csv_rows,
    ".tsv.gz": csv_rows,
    ".jsonl": json_rows,
    ".jsonl.gz": json_rows,
    ".parquet": parquet_rows,
    ".parquet.gz": parquet_rows,
}


def leaves(row: dict[str, Any], above: str = "") -> Iterator[str]:
    """Give the names of the fields that hold no further ones."""
    for name, value in row.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{above}{name}.")
        else:
            yield above + name


def leaf(row: Any, name: str) -> Any:
    """Return what a field holds, or None; a name with a dot may also be the field's own."""
    if not isinstance(row, dict):
        return None
    if name in row:
        return row[name]
    dots = (at for at, letter in enumerate(name) if letter == ".")
    found = (leaf(row[name[:at]], name[at + 1 :]) for at in dots if name[:at] in row)
    return next((value for value in found if value is not None), None)


def _names(name: str, kind: Any) -> Iterator[str]:
    """Give the names of a Parquet column's leaves: its own, if it has no fields."""
    fields = getattr(kind, "fields", None)
    if not fields:
        yield name
    for inner in fields or ():
        yield from _names(f"{name}.{inner.name}", inner.dtype)


def _places(chosen: list[str], names: list[str], source: Source) -> list[int]:
    twice = next((name for name in chosen if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"the header of {source.name} has the column {twice!r} {names.count(twice)} times.",
            "Which of them is meant cannot be told.",
            "Give each column a name of its own.",
        )
    return [names.index(name) for name in chosen]


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open_text() as file:
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
            yield number, row


@contextmanager
def _parquet_faults() -> Iterator[None]:
    try:
        yield
    except BaseException as error:  # each library has its own
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # Ctrl-C; a fault of polars's core is no Exception either
        message = f"it is no Parquet file ({type(error).__name__}: {error})"
        raise ValueError(message) from error


@contextmanager
def _long_cells() -> Iterator[None]:
    # The limit is one for the whole process, so it is put back.
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
