"""Items from files: lines, tables, arrays."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from fewpairs.errors import FewpairsError, InputError, UnknownNameError


def read_items(path: Path, column: str | None = None) -> Any:
    """Read items from a file; its ending says how.

    Parameters
    ----------
    path : Path
        .txt (one item a line), .csv, .jsonl, .npy.
    column : str, optional
        Of a .csv or .jsonl file.

    Returns
    -------
    list of str, or ndarray
    """
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}.", "It holds the items.", "Check the path."
        )
    readers = {".txt": _read_lines, ".csv": _read_csv, ".jsonl": _read_jsonl, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise UnknownNameError("file ending", path.suffix, readers, where=f"of {path.name}")
    try:
        return readers[path.suffix.lower()](path, column)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, FewpairsError):
            raise
        raise InputError(
            f"{path.name} cannot be read: {error}",
            "Nothing was evaluated.",
            "Text files must be UTF-8, .jsonl files hold one object a line, .npy files numbers.",
        ) from error


def _read_lines(path: Path, column: str | None) -> list[str]:  # noqa: ARG001 - lines have none
    # Only line feeds end a line; other separators of Unicode may be part of an item.
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()]


def _read_csv(path: Path, column: str | None) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not reader.fieldnames:
            return []
        chosen = _chosen(column, list(reader.fieldnames or []), path)
        return [row[chosen] for row in reader]


def _read_jsonl(path: Path, column: str | None) -> list[Any]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                message = f"line {number} is not JSON: {error}"
                raise ValueError(message) from error
            if not isinstance(rows[-1], dict):
                message = f"line {number} is not an object with named fields"
                raise ValueError(message)
    if not rows:
        return []
    chosen = _chosen(column, list(dict.fromkeys(name for row in rows for name in row)), path)
    return [row.get(chosen) for row in rows]


def _read_npy(path: Path, column: str | None) -> Any:  # noqa: ARG001 - arrays have none
    import numpy as np  # noqa: PLC0415

    return np.load(path, allow_pickle=False)


def _chosen(column: str | None, names: list[str], path: Path) -> str:
    if column is None and len(names) == 1:
        return names[0]
    if column is None:
        raise InputError(
            f"{path.name} has the columns {', '.join(names)}.",
            "Which of them holds the items cannot be guessed.",
            "Name it with --column.",
        )
    if column not in names:
        raise UnknownNameError("column", column, names, where=f"in {path.name}")
    return column
