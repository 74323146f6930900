"""Pages of the site that are made of something else: the README, the changes, the docstrings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import fewpairs

PUBLIC = set(fewpairs.__all__) - {"__version__"}
ROOT = Path(__file__).resolve().parents[2]
#: Page of the site → file of the repository that it is.
ELSEWHERE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
#: Files of the repository that pages name and the site has not.
_OUTSIDE = ("CITATION.cff", "SECURITY.md", "LICENSE", "examples", "notebooks")
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `fewpairs\.(\w+)` \|", re.MULTILINE)
_CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_FETCHED = re.compile(
    r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//|<link[^>]* href="(?:https?:)?//'
)
_EXAMPLE = re.compile(r"^\[(examples/\w+\.py)\]\(\.\./\1\)$", re.MULTILINE)
_NAME = re.compile(r"(?<!\[)`(?:fp|fewpairs)\.(\w+)`")


def home_of(name: str) -> str:
    """Return the module and name at which a public name is defined."""
    home = fewpairs._HOMES.get(name)  # noqa: SLF001 - where names live is said nowhere else
    return f"fewpairs.{home}.{name}" if home else f"fewpairs.{name}"


def reference() -> dict[str, str]:
    """Make a page of docstrings for each section of the list of public names."""
    pages = {}
    for title, rows in _SECTION.findall((ROOT / "docs" / "api.md").read_text(encoding="utf-8")):
        slug = re.sub(r"\W+", "-", title.lower()).strip("-")
        names = [
            f"::: {home_of(name)}\n    options: {{heading: fewpairs.{name}, toc_label: {name}}}\n"
            for name in _ROW.findall(rows)
        ]
        pages[f"reference/{slug}.md"] = "\n".join([f"# {title}\n", *names])
    return pages


def borrowed() -> dict[str, str]:
    """Return what lies outside of docs/, with links as they are from inside."""
    pages = {}
    for page, source in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text = re.sub(r'(\]\(|src=")docs/', r"\1", text)
        for other, path in ELSEWHERE.items():
            text = text.replace(f"]({path})", f"]({other})")
        for path in _OUTSIDE:
            text = re.sub(rf"\[([^]]+)\]\({re.escape(path)}\)", r"\1", text)
        pages[page] = text
    return pages


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are no files of docs/ (called by MkDocs)."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests do without MkDocs

    for path, text in {**borrowed(), **reference()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def shown(example: re.Match[str]) -> str:
    """Put the code of an example, folded, in place of a link to its file."""
    code = (ROOT / example[1]).read_text(encoding="utf-8").replace("\n", "\n    ")
    return f'??? example "{example[1]}"\n\n    ```python\n    {code.rstrip()}\n    ```\n'


def origin(table: str) -> str:
    """Say which command made a table, and what it comes to, as the page of results has it."""
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    (row,) = [line for line in results.splitlines() if f"({table})" in line]
    measures, verdict, place = (cell.strip() for cell in row.strip("| ").split(" | "))
    _, command, made = place.split("<br>")
    return f"{measures}: {verdict}. Made by {command}, {made}; [all results](../results.md).\n\n"


def on_page_markdown(markdown: str, page: Any = None, **_: Any) -> str:
    """Let every public name lead to its docstring (called by MkDocs)."""
    if page is not None and page.file.src_uri.startswith("tables/"):
        page.meta["search"] = {"exclude": True}  # figures are no words
        return origin(page.file.src_uri) + markdown

    def link(found: re.Match[str]) -> str:
        name = found[1]
        return f"[{found[0]}][{home_of(name)}]" if name in PUBLIC else found[0]

    markdown = _EXAMPLE.sub(shown, markdown)
    parts = _CODE.split(markdown)  # every second one is a block of code
    parts[::2] = [_NAME.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def on_post_build(config: Any) -> None:
    """Refuse a site that lacks a public name, or that fetches something from elsewhere."""
    pages = {
        path: path.read_text(encoding="utf-8") for path in Path(config.site_dir).rglob("*.html")
    }
    text = "".join(page for path, page in pages.items() if path.parent.name == "reference")
    missing = [name for name in sorted(PUBLIC) if f'id="{home_of(name)}"' not in text]
    fetched = {path.name for path, page in pages.items() if _FETCHED.search(page)}
    if missing or fetched:
        from mkdocs.exceptions import PluginError  # noqa: PLC0415

        raise PluginError(f"names without a docstring: {missing}; pages that fetch: {fetched}")
