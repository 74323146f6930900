"""The site: every public name has its docstring there, every page a place in the navigation."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import fewpairs as fp

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("pages", DOCS / "site" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference_once(pages):
    text = "\n".join(pages.reference().values())
    shown = re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)
    public = set(fp.__all__) - {"__version__"}
    assert sorted(shown) == sorted(pages.home_of(name) for name in public)
    for name in public:
        home, _, last = pages.home_of(name).rpartition(".")
        assert getattr(importlib.import_module(home), last) is getattr(fp, name)


def test_every_page_has_a_place_in_the_navigation(pages):
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    placed = re.findall(r"^[^#\n]*?([\w/-]+\.md)$", navigation, re.MULTILINE)
    files = [
        p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if p.parent.name != "tables"
    ]
    everything = [*files, *pages.borrowed(), *pages.reference()]
    assert sorted(placed) == sorted(everything), "name the page once in mkdocs.yml, below nav"


def test_pages_from_elsewhere_keep_their_links(pages):
    made = {*pages.borrowed(), *pages.reference()}
    for name, text in pages.borrowed().items():
        for target in re.findall(r'(?:\]\(|src=")(?!https?:|#)([^)#"]+)', text):
            assert target in made or (DOCS / target).exists(), (name, target)


def test_examples_are_shown_whole_where_the_page_links_to_them(pages):
    linked = "[examples/clusters.py](../examples/clusters.py)"
    shown = pages.on_page_markdown(f"before\n\n{linked}\n\nafter `fp.wmd`\n")
    code = (ROOT / "examples" / "clusters.py").read_text(encoding="utf-8")
    assert linked not in shown
    assert all(line in shown for line in code.splitlines())
    assert shown.endswith("after [`fp.wmd`][fewpairs.transport.wmd.wmd]\n")


def test_a_table_says_where_it_comes_from(pages):
    for path in (DOCS / "tables").glob("*.md"):
        told = pages.origin(f"tables/{path.name}")
        assert re.search(r".: \S.*\. Made by `python -m benchmarks\..*`\*?, [\d–-]+; ", told), told


def test_public_names_lead_to_their_docstrings_outside_of_code(pages):
    text = "`fp.wmd` and `fp.nothing`\n\n```python\nx = `fp.wmd`\n```\n"
    linked = pages.on_page_markdown(text)
    assert linked.startswith("[`fp.wmd`][fewpairs.transport.wmd.wmd] and `fp.nothing`\n")
    assert linked.endswith("```python\nx = `fp.wmd`\n```\n")
