"""List every benchmark, or run some: `python -m benchmarks matrix.svm word_mover --quick`.

The list says what each measures and writes, and how long it takes. `--quick` alone runs all of
them, small; `--page` makes docs/results.md.

python -m benchmarks
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

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


def names() -> list[str]:
    """Return all benchmarks as SUBJECT.NAME."""
    return [f"{subject.name}.{path.stem}" for subject in subjects() for path in benchmarks(subject)]


def needs_data(path: Path) -> bool:
    """Say whether a benchmark, or what it imports from shared/, leaves without the data folder."""
    source = path.read_text(encoding="utf-8")
    for name in set(re.findall(r"from benchmarks\.shared\.(\w+) import", source)) - {"command"}:
        source += (HERE / "shared" / f"{name}.py").read_text(encoding="utf-8")
    return "need_data()" in source or "FEWPAIRS_DATA" in docstring(path)


class Benchmark(NamedTuple):
    """What docs/results.md says of a benchmark, but for its verdict."""

    name: str
    measures: str
    files: list[str]
    needs_data: bool


def results() -> list[tuple[str, list[Benchmark]]]:
    """Return the title of every subject, and its benchmarks."""
    found = []
    for subject in subjects():
        rows = []
        for path in benchmarks(subject):
            text, name = docstring(path), f"{subject.name}.{path.stem}"
            measures = text.splitlines()[0].rstrip(".")
            rows.append(Benchmark(name, measures, outputs(text), needs_data(path)))
        found.append((docstring(subject / "__init__.py").splitlines()[0].rstrip("."), rows))
    return found


def duration(text: str) -> str:
    """Return how long the whole form takes, as a docstring says it."""
    told = " ".join(text.split("\n\n    ", maxsplit=1)[0].split())
    told = next(s for s in re.split(r"(?<=[.;]) ", told) if re.search(r"\b(minutes?|hours?)\b", s))
    return f"{told[0].upper()}{told[1:].rstrip('.;')}."


def listing() -> None:
    for subject in subjects():
        print(f"{docstring(subject / '__init__.py').splitlines()[0]}\n")
        for path in benchmarks(subject):
            text = docstring(path)
            print(f"  python -m benchmarks.{subject.name}.{path.stem}")
            print(f"      {text.splitlines()[0]}")
            print(f"      writes {', '.join(outputs(text)) or 'nothing: it prints'}")
            print(f"      {duration(text)}\n")


def run(chosen: list[str], *, quick: bool) -> int:
    """Run benchmarks one after another, each in its own process; return how many failed."""
    failed = []
    for name in chosen:
        print(f"\n=== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if quick else [])]
        done = subprocess.run(  # noqa: S603 - our own modules
            command, cwd=HERE.parent, stderr=subprocess.PIPE, text=True, check=False
        )
        sys.stderr.write(done.stderr)
        if done.returncode and (lacking := missing_package(done.stderr)):
            print(f"skipped: {lacking} is not installed; the extra bench has what most need")
        # Without data or the folder that it asks for, a benchmark has said so.
        elif done.returncode and not done.stderr.startswith(("skipped:", "usage:")):
            failed.append(name)
    print(f"\n{len(chosen) - len(failed)} of {len(chosen)} ran or were skipped with a reason.")
    if failed:
        print("Failed:", *failed)
    return len(failed)


def missing_package(said: str) -> str:
    """Return the package without which a benchmark ended, by the last line of its traceback."""
    last = [line for line in said.splitlines() if line and not line.startswith("took ")][-1:]
    found = re.match(r"ModuleNotFoundError: No module named '(\w+)'$", last[0]) if last else None
    return found[1] if found and find_spec(found[1]) is None else ""


def told(unknown: str) -> str:
    """Return a name that there is not, with the nearest one that there is."""
    asked = unknown.lower().replace("/", ".").removesuffix(".py").strip(".")
    asked = asked.removeprefix("benchmarks.")
    every = names()
    known = [*every, *{name.split(".")[0] for name in every}]
    near = [name for name in known if name == asked]
    near = near or [name for name in every if name.split(".")[-1] == asked]
    near = near or difflib.get_close_matches(asked, known, n=1, cutoff=0.75)
    ends = {name.split(".")[-1]: name for name in every}
    near = near or [ends[end] for end in difflib.get_close_matches(asked, ends, n=1)]
    return f"{unknown} (did you mean {' or '.join(near)}?)" if near else unknown


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="List the benchmarks, or run some of them.")
    parser.add_argument("names", nargs="*", help="SUBJECT or SUBJECT.NAME, as the list has them")
    parser.add_argument("--quick", action="store_true", help="small runs, of all if none is named")
    parser.add_argument("--page", action="store_true", help="make docs/results.md, and run nothing")
    options = parser.parse_args(given)
    if options.page:
        from benchmarks.shared.results_page import PAGE, date_of, page

        files = [file for _, rows in results() for row in rows for file in row.files]
        text = page(results(), {file: date_of(file) for file in files})
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not options.names and not options.quick:
        listing()
        return 0
    every = names()
    chosen = [
        name
        for name in every
        if not options.names or name in options.names or name.split(".")[0] in options.names
    ]
    known = {*every, *(name.split(".")[0] for name in every)}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(
            f"no such benchmark: {', '.join(map(told, unknown))}; `python -m benchmarks` lists them"
        )
    return min(run(chosen, quick=options.quick), 1)


if __name__ == "__main__":
    sys.exit(main())
