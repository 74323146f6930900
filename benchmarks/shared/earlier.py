"""Cells of a page that an earlier run of the same command has made, marked where they are shown.

Distances of a whole set take minutes to hours, and the folder that keeps them may be gone. A run of
some sets leaves the cells of the others as they are on the page, with a mark that says so.
"""

from __future__ import annotations

from benchmarks.shared.tables import published

MARK = "°"
#: What stands in a cell that was not run.
NONE = "–"
#: Stands at the end of a page that has marked cells.
LEGEND = f"""
"{MARK}": of an earlier run of the same command, not made anew with the others. Seconds with this
mark were taken at another time, and are not to be compared with those without.
"""


def with_earlier(text: str, name: str) -> str:
    """Fill cells that were not run with those of docs/tables/NAME.md, which are marked and told."""
    before, lines, part = _cells(published(name)), [], _Place()
    for line in text.splitlines():
        part.read(line)
        if part.in_table:
            cells = [
                _marked(before.get((part.title, part.key, column), cell))
                if cell.startswith(NONE)
                else cell
                for column, cell in zip(part.columns, part.row, strict=True)
            ]
            lines.append("| " + " | ".join(cells) + " |")
        else:
            lines.append(line)
    page = "\n".join(lines) + "\n"
    return page + LEGEND if MARK in page else page


def _marked(cell: str) -> str:
    """Put the mark behind our own figure, before what a paper prints."""
    ours, bracket, paper = cell.partition(" (")
    if ours in (NONE, "") or ours.endswith(MARK):
        return cell
    return ours + MARK + bracket + paper


class _Place:
    """Where a page is read: under which title, and in which row of a table."""

    title = ""
    columns: list[str]
    row: list[str]

    def __init__(self) -> None:
        self.columns, self.row = [], []

    @property
    def in_table(self) -> bool:
        return bool(self.row)

    @property
    def key(self) -> tuple[str, str]:
        """What names a row: its first cell, and its second where that is no result."""
        second = self.row[1] if self.columns[1] in ("columns", "γ") else ""
        return self.row[0], second

    def read(self, line: str) -> None:
        """Take in a line."""
        self.row = []
        if not line.startswith("|"):
            self.columns = []
            self.title = line if line.startswith("#") else self.title
        elif not self.columns:
            self.columns = _split(line)
        elif "---" not in line:
            self.row = _split(line)


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _cells(page: str) -> dict[tuple[str, tuple[str, str], str], str]:
    found, part = {}, _Place()
    for line in page.splitlines():
        part.read(line)
        for column, cell in zip(part.columns, part.row, strict=False):
            found[part.title, part.key, column] = cell
    return found
