"""Every Python block in the README and the docs runs, page by page, in order."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, str(page), "exec"), names)  # noqa: S102 - our own pages


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for target in re.findall(r'<img src="([^"]+)"', text):
        assert (page.parent / target).exists(), target


def test_commands_in_the_readme_are_those_of_ci():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in ("pip install -e . && fewpairs demo", 'pip install -e ".[test]" && pytest'):
        assert command in readme
        assert command in script


def test_benchmarks_named_on_the_pages_exist():
    for page in PAGES:
        for name in re.findall(r"benchmarks/(\w+\.py)", page.read_text(encoding="utf-8")):
            assert (ROOT / "benchmarks" / name).is_file(), name
