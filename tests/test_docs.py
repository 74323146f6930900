"""Pages keep their word: code runs, links lead somewhere, commands and tables exist."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import matplotlib as mpl
import pytest

import fewpairs as fp
from benchmarks.__main__ import benchmarks, docstring, duration, outputs, subjects
from fewpairs.factored.answers import Answers

mpl.use("Agg")

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        ROOT / "README.md",
        *(path for f in ("", "recipes", "papers") for path in (ROOT / "docs" / f).glob("*.md")),
    ]
)
TABLES = sorted((ROOT / "docs" / "tables").glob("*.md"))
OTHERS = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
BENCHMARKS = [path for subject in subjects() for path in benchmarks(subject)]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
COMMAND = re.compile(r"python -m (benchmarks[\w.]*)")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, str(page), "exec"), names)  # noqa: S102 - our own pages


@pytest.mark.parametrize("page", PAGES + TABLES + OTHERS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text) + re.findall(r'<img src="([^"]+)"', text):
        assert (page.parent / target).exists(), target


def test_every_table_has_a_page_that_links_to_it():
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert TABLES
    assert set(TABLES) <= linked, set(TABLES) - linked


def test_commands_in_the_readme_are_those_of_ci():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in ("pip install -e . && fewpairs demo", 'pip install -e ".[test]" && pytest'):
        assert command in readme
        assert command in script


def test_benchmarks_named_on_the_pages_exist():
    known = {"benchmarks", *map(module_of, BENCHMARKS)}
    for page in PAGES + TABLES:
        text = page.read_text(encoding="utf-8")
        assert set(COMMAND.findall(text)) <= known, page.name
        for name in re.findall(r"benchmarks/[\w/]+\.py", text):
            assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("path", BENCHMARKS, ids=module_of)
def test_every_benchmark_states_its_own_command(path):
    text = docstring(path)
    assert COMMAND.findall(text) == [module_of(path)]
    source = path.read_text(encoding="utf-8")
    for name in re.findall(r"from benchmarks\.shared\.(\w+) import", source):
        source += (ROOT / "benchmarks" / "shared" / f"{name}.py").read_text(encoding="utf-8")
    for option in re.findall(r"--\w+", text[text.index("python -m") :]):
        assert option == "--quick" or f'"{option}"' in source, option
    assert "[--quick]" in text
    assert "arguments(" in source or '"--quick"' in source
    assert duration(text)


@pytest.mark.parametrize("path", BENCHMARKS, ids=module_of)
def test_every_benchmark_names_what_it_writes(path):
    source = path.read_text(encoding="utf-8")
    written = {f"docs/tables/{name}.md" for name in re.findall(r'publish\("([\w-]+)"', source)}
    named = outputs(docstring(path))
    assert written == {name for name in named if name.endswith(".md")}
    for name in named:
        assert (ROOT / name).is_file(), name


def test_every_table_has_a_benchmark_that_writes_it():
    written = {ROOT / name for path in BENCHMARKS for name in outputs(docstring(path))}
    assert set(TABLES) <= written, set(TABLES) - written


def test_the_page_of_journals_names_everything_that_takes_one():
    text = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
    takers = [f"`{name}`" for name in fp.__all__ if takes_journal(getattr(fp, name))]
    methods = vars(fp.FactoredMatrix) | vars(Answers)
    takers += [f"`K.{name}`" for name, f in methods.items() if name[0] != "_" and takes_journal(f)]
    assert len(takers) > 10
    assert [name for name in takers if name not in text] == []


def takes_journal(something):
    try:
        return "journal" in signature(something).parameters
    except (TypeError, ValueError):
        return False
