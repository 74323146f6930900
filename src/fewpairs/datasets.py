"""Texts that are already on the machine, for the demo; and data sets of the benchmarks."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.errors import FewpairsError

_PACKAGES = ("numpy", "scipy", "sklearn")
#: Folders of these packages that hold tests, or code of others.
_SKIPPED = {"tests", "externals", "_lib", "f2py", "distutils", "_vendor", "conftest.py"}
#: Shortest text, in characters. Of 3,300 docstrings 12 % are shorter: single sentences.
_SHORTEST = 200


class Texts(NamedTuple):
    """Texts, with a name and a topic for each.

    Attributes
    ----------
    texts, names, topics : list of str
    """

    texts: list[str]
    names: list[str]
    topics: list[str]


def docstrings() -> Texts:
    """Read the docstrings of numpy, scipy and scikit-learn: some 3,000 real English texts.

    Their source files are parsed, not imported. A topic is a module, such as ``scipy.stats``. Which
    texts there are depends on the installed versions.

    Returns
    -------
    Texts
    """
    texts, names, topics = [], [], []
    seen = set()
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        root = Path(spec.submodule_search_locations[0])
        for file in sorted(root.rglob("*.py")):
            parts = file.relative_to(root).parts
            if _SKIPPED.intersection(parts):
                continue
            topic = f"{package}.{Path(parts[0]).stem}"
            for name, text in _documented(file):
                if text not in seen:
                    seen.add(text)
                    texts.append(text)
                    names.append(f"{topic}.{name}")
                    topics.append(topic)
    return Texts(texts, names, topics)


def _documented(file: Path) -> list[tuple[str, str]]:
    """Return name and docstring of the public functions and classes of a source file."""
    try:
        with warnings.catch_warnings():
            # Newer Pythons warn of what older code writes; nobody here can change that code.
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return []
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            text = ast.get_docstring(node)
            if text and len(text) >= _SHORTEST:
                found.append((node.name, text))
    return found


class DataNotFoundError(FewpairsError, FileNotFoundError):
    """The benchmark data are not on this machine."""


def benchmark_folder() -> Path:
    """Return the folder of benchmark data, named by the environment variable FEWPAIRS_DATA."""
    folder = os.environ.get("FEWPAIRS_DATA")
    if not folder or not Path(folder).is_dir():
        raise DataNotFoundError(
            f"FEWPAIRS_DATA is {folder!r}, which is not a folder."
            if folder
            else "FEWPAIRS_DATA is not set.",
            "Benchmarks on real data read it from there; nothing is downloaded.",
            "Set it to the folder that holds the data sets.",
        )
    return Path(folder)


def read_matrix(name: str) -> npt.NDArray[np.float64]:
    """Read a stored similarity matrix of the benchmarks, as its model returned it."""
    with np.load(benchmark_folder() / "matrices" / f"{name}.npz") as file:
        return np.asarray(file["K"], dtype=np.float64)


def read_records(name: str, split: str) -> list[dict[str, Any]]:
    """Read one part of a data set of the benchmarks, such as "train": a list of records."""
    folder = benchmark_folder()
    path = folder / name / f"{split}.jsonl.gz"
    if not path.is_file():
        raise DataNotFoundError(
            f"FEWPAIRS_DATA has no {name}/{path.name}.",
            f"It is {str(folder)!r}.",
            "Set it to the folder that holds the data sets.",
        )
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
