"""Lines of a table that takes hours, kept in a file, so that a run that was stopped goes on."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path


class KeptLines:
    """Lines of a table by their titles.

    Parameters
    ----------
    path : Path or None
        Where they are kept; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lines: dict[str, list[str]] = {}
        if path is not None and path.exists():
            kept = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            self.lines = {line[0]: line for line in kept}

    def add(self, line: list[str]) -> None:
        """Keep a line."""
        self.lines[line[0]] = line
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def place_of(name: str) -> Path:
    """Where lines are kept unless a user says another place."""
    return Path(tempfile.gettempdir()) / f"fewpairs-{name}.jsonl"
