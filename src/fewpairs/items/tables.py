"""A table of items: the columns that are compared, and an id for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.readers import choose_column
from fewpairs.items.rows import ROWS
from fewpairs.items.sources import Source, one_message, refuse_spreadsheet

#: What a row is called in messages: people count differently in different files.
_PLACES = {".txt": "line", ".jsonl": "line"}


@dataclass(frozen=True)
class Table:
    """Columns of a file, all of the same length.

    Attributes
    ----------
    name : str
        What messages call the file.
    columns : dict
        From the name of a column to its cells, in the order in which they were asked for.
    ids : list
        One for each row, all different: of the id column, or the numbers of the rows.
    """

    name: str
    columns: dict[str, list[Any]]
    ids: list[Any]

    def __len__(self) -> int:
        return len(self.ids)


def read_table(source: Source, columns: Sequence[str] = (), id_column: str | None = None) -> Table:
    """Read columns of a whole table.

    Parameters
    ----------
    source : Source
        With an ending of `rows.ROWS`. A plain text is a table with the column ``text``.
    columns : sequence of str, optional
        Not needed where there is only one beside the ids. ``fields.title`` is a field of a field.
    id_column : str, optional
        Without it rows are counted from 1: lines of .txt and .jsonl, rows below the header of .csv
        and .tsv.

    Returns
    -------
    Table
        Cells as they are in the file; where there is none, the empty string.

    Raises
    ------
    InputError
        A column that is not there, a row without an id, an id that stands twice, or no rows.
    """
    refuse_spreadsheet(source)
    if source.ending not in ROWS:
        raise UnknownNameError("file ending", source.ending, ROWS, where=f"of {source.name}")
    wanted: list[str] = []

    def choose(names: list[str]) -> list[str]:
        ids = [] if id_column is None else [choose_column(id_column, names, source)]
        beside = [name for name in names if name not in ids] or names
        asked = columns or [choose_column(None, beside, source)]
        wanted.extend(choose_column(name, names, source) for name in asked)
        return [*wanted, *ids]

    with one_message(source):
        rows = list(ROWS[source.ending](source, choose))
    if not rows:
        raise InputError(
            f"{source.name} has no rows.", "There is nothing to compare.", "Check the file."
        )
    numbers = [number for number, _ in rows]
    cells = {
        name: ["" if _is_none(row[at]) else row[at] for _, row in rows]
        for at, name in enumerate(wanted)
    }
    if id_column is None:
        return Table(source.name, cells, numbers)
    place = _PLACES.get(source.ending.removesuffix(".gz"), "row")
    where = [f"{place} {number}" for number in numbers]
    ids = [row[-1] for _, row in rows]
    _refuse_missing(ids, where, source.name)
    _refuse_twice(ids, where, source.name)
    return Table(source.name, cells, ids)


def as_text(cell: Any) -> Any:
    """Return a cell as a text, if it is a single value; lists and objects stay what they are."""
    return cell if isinstance(cell, (str, bytes, list, dict)) else str(cell)


def _refuse_missing(ids: list[Any], where: list[str], name: str) -> None:
    missing = [at for at, found in enumerate(ids) if not _is_id(found)]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(ids)} rows of {name} have no id; first: {where[missing[0]]}.",
            "A pair is named by the ids of its two rows.",
            "Fill them, name another column, or leave --id out: rows are then counted.",
        )


def _refuse_twice(ids: list[Any], where: list[str], name: str) -> None:
    # As texts: most files could not tell the number 1 from the text "1".
    first: dict[str, int] = {}
    for at, found in enumerate(map(str, ids)):
        before = first.setdefault(found, at)
        if before != at:
            raise InputError(
                f"the id {found!r} stands twice in {name}: in {where[before]} and {where[at]}.",
                "Nobody could tell which of the two rows a pair belongs to.",
                "Make the ids different, or leave --id out: rows are then counted.",
            )


def _is_id(value: Any) -> bool:
    return not (_is_none(value) or value == "" or isinstance(value, (list, dict, bool)))


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN
