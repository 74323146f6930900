"""Commands on the pages run, as somebody would type them, on a table of that shape."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fewpairs.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
#: docs/matching-command.md has a test of its own, with the files that it names.
PAGES = ("README.md", "docs/start.md", "docs/clustering.md", "docs/report.md")


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [line for line in re.findall(r"^fewpairs (.*)$", text, re.MULTILINE) if line != "demo"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, last = "Ann Anne Bob Rob Cleo Leo Mia Maja Tom".split(), "Smith Smyth Li Lee Poe".split()
    names = [f"{a} {b}" for a in first for b in last]
    rows = "".join(f"{k},{name}\n" for k, name in enumerate(names))
    for table in ("people.csv", "a.csv", "b.csv"):
        (tmp_path / table).write_text(f"id,name\n{rows}")
    (tmp_path / "texts.txt").write_text(
        "\n".join(f"{name} number {i}" for i in range(4) for name in names)
    )
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_the_page_run(page, folder):
    assert commands(page)
    for line in commands(page):
        done = CliRunner().invoke(app, shlex.split(line, comments=True))
        assert done.exit_code == 0, (line, done.output)
        written = re.search(r" -o (\S+)", line)
        assert (folder / written[1]).stat().st_size
