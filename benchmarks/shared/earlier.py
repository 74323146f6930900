"""Cells of a page that an earlier run of the same command has made, marked if other code made them.

Distances of a whole set take minutes to hours, and the folder that keeps them may be gone. A run of
some sets or sizes leaves what else is on the page as it is. The last line of a page, which readers
do not see, says which code made it: that of fewpairs, in the rooms that the benchmark names. The
same code makes the same accuracies, whenever it runs. Changes of benchmarks, of other rooms, of
data and of other packages are not seen: whoever changes what a benchmark computes takes the lines
that it concerns off the page by hand. A row that is renamed is taken off by hand too: under its
old name it would stay for ever, as one that was not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from benchmarks.shared.tables import published

MARK = "°"
#: What stands in a cell that was not run.
NONE = "–"
#: Headings of second columns that name a row together with the first.
NAMING = ("columns", "γ", "method", "vectors")
#: Heading of a column that no run makes: what the paper prints.
PRINTED = "paper"
#: Stands at the end of a page that has marked cells.
LEGEND = f"""
"{MARK}": of an earlier run of the same command, by other code, not made anew with the others.
Seconds with this mark are not to be compared with those without.
"""
Row = list[str]


@dataclass(frozen=True)
class Earlier:
    """A page as it was before this run, and the code of this run."""

    page: str
    code: str

    @classmethod
    def of(cls, name: str, code: str) -> Earlier:
        """docs/tables/NAME.md."""
        return cls(published(name), code)

    @property
    def mark(self) -> str:
        """What its cells get on the new page: nothing, if the same code made them."""
        return "" if _signature(self.code) in self.page else MARK

    def fill(self, text: str) -> str:
        """Put the earlier page's cells and rows where this run has none, and sign the page."""
        before = {title: lines for title, lines in _parts(self.page) if lines[0].startswith("|")}
        result: list[str] = []
        for title, lines in _parts(text):
            table = lines[0].startswith("|") and title in before
            result += self._filled(lines, before[title]) if table else lines
        page = "\n".join(result) + "\n"
        return page + (LEGEND if MARK in page else "") + "\n" + _signature(self.code) + "\n"

    def _filled(self, now: list[str], before: list[str]) -> list[str]:
        """A table of this run, with what the earlier one has and it has not."""
        (columns, rows), (known, earlier) = _by_name(now), _by_name(before)
        order = list(rows)
        place = 0
        for key in earlier:  # a row that is missing comes behind the one that it came behind
            place = order.index(key) + 1 if key in rows else place
            if key not in rows:
                order.insert(place, key)
                place += 1
        lines = now[:2]
        for key in order:
            there = dict(zip(known, earlier.get(key, ()), strict=False))
            row = rows.get(key) or [*key, *[NONE] * len(columns)][: len(columns)]
            cells = [
                self._marked(column, there.get(column, cell)) if cell.startswith(NONE) else cell
                for column, cell in zip(columns, row, strict=True)
            ]
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def _marked(self, column: str, cell: str) -> str:
        """Put the mark behind our own figure, before what a paper prints."""
        ours, bracket, paper = cell.partition(" (")
        if ours in (NONE, "") or ours.endswith(MARK) or column == PRINTED:
            return cell
        return ours + self.mark + bracket + paper


def _signature(code: str) -> str:
    return f"<!-- made by code {code} -->"


def _parts(page: str) -> Iterator[tuple[str, list[str]]]:
    """Tables and what is between them, with the title that each stands under."""
    title = ""
    for _, part in groupby(page.splitlines(), key=lambda line: line.startswith("|")):
        found = list(part)
        yield title, found
        title = next((line for line in reversed(found) if line.startswith("#")), title)


def _cells(line: str) -> Row:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _by_name(table: list[str]) -> tuple[Row, dict[tuple[str, ...], Row]]:
    """The headings of a table, and its rows by what names them."""
    columns, rows = _cells(table[0]), [_cells(line) for line in table[2:]]
    found = {_key(columns, row): row for row in rows}
    if len(found) < len(rows):
        twice = next(key for key in found if [_key(columns, row) for row in rows].count(key) > 1)
        raise ValueError(
            f"several rows of the table | {' | '.join(columns)} | are named {' | '.join(twice)}: "
            "all but one would be lost. See NAMING."
        )
    return columns, found


def _key(columns: Row, row: Row) -> tuple[str, ...]:
    """What names a row: its first cell, and its second where that is no result."""
    return tuple(row[: 2 if columns[1] in NAMING else 1])
