"""Tables of results: columns to a file, whose ending says in which format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from fewpairs.errors import (
    PARQUET,
    SPREADSHEETS,
    InputError,
    UnknownNameError,
    UnwritableError,
    first_installed,
)
from fewpairs.files.writing import atomic, refuse_unwritable

#: Names of columns and their cells; all columns are of the same length.
Columns = Mapping[str, Sequence[Any]]
#: How standard output is called on the command line.
STANDARD_OUTPUT = Path("-")
#: Some text cannot be encoded: halves of characters that JSON can spell. They stay legible.
_UNENCODABLE = "backslashreplace"
#: What a spreadsheet takes for the beginning of a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def check_table_path(path: Path) -> None:
    """Refuse a path to which no table can be written, before anything is spent on its content."""
    if path == STANDARD_OUTPUT:
        return
    if _ending(path) not in WRITERS:
        if path.suffix.lower() in SPREADSHEETS:
            raise InputError(
                f"{path.name} would be a spreadsheet.",
                "No writer of them is here; what opens them opens .csv too.",
                "Choose a name that ends in .csv.",
            )
        raise UnknownNameError("file ending", path.suffix, WRITERS, where=f"of {path.name}")
    if _ending(path).startswith(".parquet"):
        first_installed(PARQUET, "parquet", f"writing {path.name}")
    refuse_unwritable(path)


def write_table(path: Path, columns: Columns, *, escape: bool = True) -> None:
    """Write columns to a file, whole or not at all.

    Parameters
    ----------
    path : Path
        The ending is one of `WRITERS`; "-" is standard output, in the format .csv.
    columns : mapping
        From names to sequences of the same length.
    escape : bool, default=True
        Whether a text that a spreadsheet would take for a formula gets an apostrophe before it, in
        .csv and .tsv: such a formula may send the table elsewhere when it is opened. Numbers, also
        those written as text, stay as they are.
    """
    if escape and (path == STANDARD_OUTPUT or _ending(path).startswith((".csv", ".tsv"))):
        columns = {
            _harmless(name): [_harmless(v) for v in cells] for name, cells in columns.items()
        }
    if path == STANDARD_OUTPUT:
        _to_standard_output(columns)
        return
    check_table_path(path)
    with atomic(path) as unfinished, unfinished.open("wb") as file:
        WRITERS[_ending(path)](file, columns)


def write_csv(file: BinaryIO, columns: Columns, delimiter: str = ",") -> None:
    """Write a header and a line for each row."""
    with _text(file) as text:
        # Cells with any part of \\r\\n are quoted; in Python 3.11 only because this ends a line.
        ended: Any = _LineFeeds(text)
        writer = csv.writer(ended, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows(_rows(columns))


def write_tsv(file: BinaryIO, columns: Columns) -> None:
    """Write the same with tabs."""
    write_csv(file, columns, "\t")


def write_jsonl(file: BinaryIO, columns: Columns) -> None:
    """Write an object for each row, one a line."""
    with _text(file) as text:
        for row in _rows(columns):
            named = dict(zip(columns, row, strict=True))
            # What cannot be encoded becomes, by `_UNENCODABLE`, just what JSON writes for it.
            text.write(json.dumps(named, ensure_ascii=False, default=str) + "\n")


def write_parquet(file: BinaryIO, columns: Columns) -> None:
    """Write a Parquet file; a column of mixed types becomes one of texts."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415 - the command starts fast

    kinds = {float: nw.Float64, int: nw.Int64}
    cells, schema = {}, {}
    for name, values in columns.items():
        found = {type(value) for value in values}
        kind = kinds.get(found.pop()) if len(found) == 1 else None
        cells[name] = list(values) if kind is not None else [_encodable(v) for v in values]
        schema[name] = nw.String if kind is None else kind
    library: Any = first_installed(PARQUET, "parquet", "writing a .parquet file")
    nw.from_dict(cells, schema, backend=library).write_parquet(cast("Any", file))


def packed(write: Callable[[BinaryIO, Columns], None]) -> Callable[[BinaryIO, Columns], None]:
    """Return a writer of the same, packed by gzip."""

    def write_packed(file: BinaryIO, columns: Columns) -> None:
        # Without name and time: the same table gives the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inner:
            write(cast("BinaryIO", inner), columns)

    return write_packed


#: From the ending of a file's name, in lower case, to what writes columns to an open file.
WRITERS: dict[str, Callable[[BinaryIO, Columns], None]] = {
    ".csv": write_csv,
    ".csv.gz": packed(write_csv),
    ".tsv": write_tsv,
    ".tsv.gz": packed(write_tsv),
    ".jsonl": write_jsonl,
    ".jsonl.gz": packed(write_jsonl),
    ".parquet": write_parquet,
    ".parquet.gz": packed(write_parquet),
}


def _to_standard_output(columns: Columns) -> None:
    try:
        sys.stdout.flush()  # what was said before comes before
        WRITERS[".csv"](sys.stdout.buffer, columns)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Who reads has enough, as head has, which is no fault. What is left goes nowhere: Python
        # would try once more when it ends, and complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except OSError as error:
        raise UnwritableError(
            f"standard output was not written: {error.strerror or error}.",
            "A part of the table may be there.",
            "Make room where it goes, or write to a file: -o pairs.csv.",
        ) from error


class _LineFeeds:
    """Takes lines that end in a carriage return and a line feed, and writes them without the first.

    Parameters
    ----------
    text : io.TextIOWrapper
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text

    def write(self, line: str) -> int:
        return self._text.write(line.removesuffix("\r\n") + "\n")


@contextmanager
def _text(file: BinaryIO) -> Iterator[io.TextIOWrapper]:
    text = io.TextIOWrapper(file, encoding="utf-8", errors=_UNENCODABLE, newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()  # the file is not ours to close


def _rows(columns: Columns) -> Iterator[tuple[Any, ...]]:
    return zip(*columns.values(), strict=True)


def _harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _encodable(value: Any) -> str:
    return str(value).encode("utf-8", _UNENCODABLE).decode()


def _ending(path: Path) -> str:
    double = "".join(path.suffixes[-2:]).lower()
    return double if double in WRITERS else path.suffix.lower()
