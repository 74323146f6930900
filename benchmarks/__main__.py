"""List every benchmark: its command, what it measures, what it writes, how long it takes.

python -m benchmarks
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent


def docstring(path: Path) -> str:
    """Return the docstring of a file, which is not imported: a benchmark may need PyTorch."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def subjects() -> Iterator[Path]:
    """Yield the folders that hold benchmarks; shared/ holds what they import."""
    for path in sorted(HERE.glob("*/__init__.py")):
        if path.parent.name != "shared":
            yield path.parent


def benchmarks(subject: Path) -> list[Path]:
    """Return the files of a subject: each is one benchmark."""
    return [path for path in sorted(subject.glob("*.py")) if path.name != "__init__.py"]


def outputs(text: str) -> list[str]:
    """Return the pages and pictures under docs/ that a docstring names."""
    return re.findall(r"docs/[\w/-]+\.(?:md|png|svg)", text)


def duration(text: str) -> str:
    """Return how long the whole form takes, as a docstring says it."""
    told = " ".join(text.split("\n\n    ", maxsplit=1)[0].split())
    return next(
        (s for s in re.split(r"(?<=[.;]) ", told) if re.search(r"\b(minutes?|hours?)\b", s)),
        "Nobody has said how long it takes.",
    )


def main() -> None:
    for subject in subjects():
        print(f"{docstring(subject / '__init__.py').splitlines()[0]}\n")
        for path in benchmarks(subject):
            text = docstring(path)
            print(f"  python -m benchmarks.{subject.name}.{path.stem}")
            print(f"      {text.splitlines()[0]}")
            print(f"      writes {', '.join(outputs(text)) or 'nothing: it prints'}")
            print(f"      {duration(text)}\n")


if __name__ == "__main__":
    main()
