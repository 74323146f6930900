"""Parts of a long benchmark that are done, kept in a file: a run that was stopped goes on there."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fewpairs


def code(*rooms: str, without: str | None = None) -> str:
    """A word for the code of fewpairs, the same whatever its comments and line breaks are.

    Given rooms, for their code alone: a benchmark that uses nothing else need not begin again when
    other rooms change. `without` names a folder inside of them that does not count.
    """
    folder = Path(fewpairs.__file__).parent
    paths = [path for room in rooms or ("",) for path in sorted((folder / room).rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.parent.name != without]
    return hashlib.sha256("".join(ast.dump(ast.parse(t)) for t in texts).encode()).hexdigest()[:16]


class Kept:
    """Results of parts by their names; those that other code has made are not there.

    Code is that of fewpairs: a benchmark that computes something else gives it another name.

    Parameters
    ----------
    path : Path or None
        A file with a line for each part; None keeps nothing.
    *rooms : str
        The rooms whose code makes the results; all of them, if none is named.
    apart : str, optional
        A method whose own folder in these rooms makes the results with its name in them, as in
        ``"R8|fitted|0"``, and no others.
    """

    def __init__(self, path: Path | None, *rooms: str, apart: str | None = None) -> None:
        #: A word for the code that makes all results.
        self.code = code(*rooms)
        self.path, self._apart = path, apart
        self._code_of_others = code(*rooms, without=apart) if apart else self.code
        self._results: dict[str, Any] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                part = json.loads(line)
                if part["code"] == self._made_by(part["name"]):
                    self._results[part["name"]] = part["result"]

    def _made_by(self, name: str) -> str:
        """The code that makes a part."""
        return self.code if self._apart in name.split("|") else self._code_of_others

    def __contains__(self, name: str) -> bool:
        return name in self._results

    def __getitem__(self, name: str) -> Any:
        return self._results[name]

    def part(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what a part has found, now or before."""
        if name not in self:
            self.add(name, make())
        return self[name]

    def add(self, name: str, result: Any) -> None:
        """Keep what a part has found: numbers and texts in lists and dictionaries."""
        self._results[name] = result
        if self.path is not None:
            line = json.dumps({"code": self._made_by(name), "name": name, "result": result})
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
