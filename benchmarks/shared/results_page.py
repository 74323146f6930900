"""docs/results.md, from the docstrings of the benchmarks, their verdicts and git's dates."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.shared.tables import table

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = ROOT / "benchmarks" / "verdicts.toml"
PAGE = ROOT / "docs" / "results.md"
_INTRODUCTION = """# Results

Every table that is published, with the command that made it (some with options that its heading
names), the day it was last made, and what it comes to in one line, also where others are ahead.
Made by `python -m benchmarks --page` of `benchmarks/verdicts.toml` and of what the benchmarks say
of themselves; do not edit it by hand.

All of it ran on one machine with 2 cores and no graphics card, most of it on one thread. Other work
was often going on, so seconds are worth less than ratios and evaluations. Rivals are the real
packages, but for GloVe, which is a loop of ours, and in the same run but for lines with a ring;
tables that take hours are made in parts, on different days. A command marked * reads data that are
not part of the repository, from the folder that the environment variable `FEWPAIRS_DATA` names:
[what it holds](benchmark-data.md).

`pip install -e ".[bench]"` installs what most of them need; networks and language models need the
extra `transformers` as well. `python -m benchmarks` lists them, `python -m benchmarks matrix.svm
word_mover` runs one and a whole subject; `--quick` makes runs small, which then write nothing, and
by itself runs all of them so.
"""


def verdicts() -> dict[str, str]:
    """What each benchmark comes to, in one line."""
    return tomllib.loads(VERDICTS.read_text(encoding="utf-8"))


def date_of(path: str) -> str:
    """The day on which a file was last committed; today, if it never was."""
    command = ["git", "log", "-1", "--format=%as", "--", path]
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or datetime.now(UTC).date().isoformat()


def dates_on_page() -> dict[str, str]:
    """The dates that the page has now, by file."""
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    found = (
        re.search(r"\((?P<file>(?:tables|figures)/[^)]+)\).*(?P<date>\d{4}-\d\d-\d\d)", r)
        for r in rows
    )
    return {f"docs/{row['file']}": row["date"] for row in found if row}


def page(subjects: Iterable[tuple[str, Iterable[Any]]], dates: Mapping[str, str]) -> str:
    """Build the page of subjects and what `benchmarks.__main__` knows of their benchmarks."""
    parts = [_INTRODUCTION]
    comes_to = verdicts()
    heads = ["what is measured", "verdict", "where, by which command, when"]
    for title, benchmarks in subjects:
        rows = []
        for it in benchmarks:
            where = [f"[{Path(file).stem}]({file.removeprefix('docs/')})" for file in it.files]
            command = f"`python -m benchmarks.{it.name}`{'*' if it.needs_data else ''}"
            day = dates[it.files[0]] if it.files else "–"
            place = " ".join(where) or "printed"
            made = f"{place}<br>{command}<br>{day}"
            rows.append([it.measures, comes_to.get(it.name, "no verdict yet"), made])
        parts.append(f"## {title}\n\n{table(heads, rows)}\n")
    return "\n".join(parts)
