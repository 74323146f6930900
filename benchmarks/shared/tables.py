"""Tables in Markdown, and the pages of docs/tables that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

_DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Where benchmarks draw.
FIGURES = _DOCS / "figures"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def publish(name: str, text: str, *, quick: bool) -> None:
    """Write docs/tables/NAME.md, unless the run was quick: its figures are not for readers."""
    if not quick:
        (_DOCS / "tables" / f"{name}.md").write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def published(name: str) -> str:
    """What docs/tables/NAME.md says; nothing where there is none."""
    page = _DOCS / "tables" / f"{name}.md"
    return page.read_text(encoding="utf-8") if page.exists() else ""


def published_rows(name: str) -> dict[str, list[str]]:
    """Rows of docs/tables/NAME.md by their first cell, for a run of some of its cases."""
    lines = published(name).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return {row[0]: row for row in rows[2:]}


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation of errors; a mean above 10 is only said to be that."""
    mean = float(np.mean(values))
    return ">10" if mean > 10 else f"{mean:.3f} ± {np.std(values):.3f}"
