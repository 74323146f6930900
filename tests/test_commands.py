"""Commands on the pages run, as somebody would type them, on files of the shape that they name."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
        *(path for f in ("", "recipes", "papers") for path in (ROOT / "docs" / f).glob("*.md")),
    ]
)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = ("fewpairs", "pip", "pytest", "python", "cat", "bash", "mkdocs", "pre-commit")
#: What begins like this is not run here, and why.
NOT_RUN = {
    "pip install": ".ci/run installs into a fresh environment, and this one stays as it is",
    "pytest": "these are the tests",
    "pre-commit install": "it changes the clone that the tests run in",
    "fewpairs demo": "tests/test_cli.py does, and .ci/run",
    "python -m benchmarks": "they take hours; tests/test_docs.py looks for them, below for options",
}


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCED.findall(page.read_text(encoding="utf-8"))


def commands(page: Path) -> list[str]:
    """Return what a reader would type: blocks of the shell, and whole commands in a sentence."""
    typed = [line for kind, text in blocks(page) if kind == "sh" for line in text.splitlines()]
    inline = [line for line in spans(page) if is_whole(line)]
    return [part.strip() for line in typed + inline for part in line.split("&&") if part.strip()]


def spans(page: Path) -> list[str]:
    """Return uses of the command in sentences."""
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(span.split()) for span in re.findall(r"`(fewpairs [a-z][^`]*)`", prose)]


def is_whole(line: str) -> bool:
    """Whether all is there: a file after the name of the command, and nothing is left out."""
    return "…" not in line and re.match(r"fewpairs [a-z]+ \S+\.\w+ ", line) is not None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, last = "Ann Anne Bob Rob Cleo Leo Mia Maja Tom".split(), "Smith Smyth Li Lee Poe".split()
    names = [f"{a} {b}" for a in first for b in last]
    rows = [(k, name, ("Oslo", "Bergen")[k % 2]) for k, name in enumerate(names)]
    table = "".join(f"{k},{name},{city}\n" for k, name, city in rows)
    for name in ("people.csv", "a.csv", "b.csv"):
        (tmp_path / name).write_text(f"id,name,city\n{table}")
    for name, key in (("ours.csv", "sku"), ("theirs.csv", "code")):
        (tmp_path / name).write_text(f"{key},title,maker\n{table}")
    fp.WordVectors([*first, *last, "number"], np.eye(15)).save(tmp_path / "vectors.npz")
    (tmp_path / "latin.csv").write_text("id;name\n1;Ødegård\n2;Ødegard\n", encoding="latin-1")
    (tmp_path / "catalogue.csv").write_text("key,title\nc1,Ann Smith\n")
    (tmp_path / "nested.jsonl").write_text(
        "".join(json.dumps({"key": k, "fields": {"title": name}}) + "\n" for k, name, _ in rows)
    )
    lines = [f"{name} number {i}" for i in range(5) for name in names]
    for name in ("texts.txt", "items.txt"):
        (tmp_path / name).write_text("\n".join(lines))
    return tmp_path


def before_the_commands(page: Path, folder: Path) -> None:
    """Make what the page has made by then."""
    code = [text for kind, text in blocks(page) if kind == "python"]
    if page.name == "matching-command.md":
        (folder / "score.py").write_text(code[0])
    if page.name == "journal.md":
        made: dict[str, list[str]] = {}
        exec(compile(code[0], str(page), "exec"), made)  # noqa: S102 - our own pages
        (folder / "names.txt").write_text("\n".join([*made["names"], "Eve Poe"]))


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_the_commands_on_the_page_run(page, folder):
    before_the_commands(page, folder)
    for line in commands(page):
        if line.startswith(tuple(NOT_RUN)):
            continue
        piped, command = re.fullmatch(r"(?:cat (\S+) \| )?fewpairs (.*)", line).groups()
        given = (folder / piped).read_bytes() if piped else None
        done = CliRunner().invoke(app, shlex.split(command, comments=True), input=given)
        assert done.exit_code == 0, (line, done.output)
        for written in re.findall(r" (?:-o|--report|--groups) (\w\S*)", line):
            assert (folder / written).stat().st_size, line


def test_whatever_is_not_run_is_on_some_page():
    lines = [line for page in PAGES for line in commands(page)]
    assert [start for start in NOT_RUN if not any(x.startswith(start) for x in lines)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_block_of_commands_says_that_it_is_one(page):
    for kind, text in blocks(page):
        words = {line.split()[0] for line in text.splitlines() if line.strip()}
        assert (kind == "sh") == bool(words & set(PROGRAMS)), text
        assert kind != "sh" or words <= set(PROGRAMS), text


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_options_that_the_page_names_exist(page):
    known = typer.main.get_command(app).commands
    for line in spans(page):
        _, command, *rest = line.split()
        options = {name for option in known[command].params for name in option.opts}
        assert {word for word in rest if word.startswith("--")} <= options, line
    for line in commands(page):
        module = re.match(r"python -m (benchmarks\.\S+)", line)
        if module:
            source = (ROOT / (module[1].replace(".", "/") + ".py")).read_text(encoding="utf-8")
            for option in re.findall(r"--\w+", line.partition("#")[0]):
                assert option == "--quick" or f'"{option}"' in source, line
