"""Columns as they are typed: names, weights, ids, and how the files are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fewpairs.errors import InputError
from fewpairs.items.rows import ROWS
from fewpairs.items.sources import Source


@dataclass(frozen=True)
class Form:
    """How files are written, where their names do not say it."""

    encoding: str
    delimiter: str | None
    form: str

    def source(self, path: Path) -> Source:
        """Look up a file that is written in this form."""
        return Source.of(
            path, ROWS, encoding=self.encoding, delimiter=self.delimiter, form=self.form
        )


@dataclass(frozen=True)
class Columns:
    """Columns that are compared.

    Attributes
    ----------
    left, right : list of str
        Their names in both files; empty for the only one that there is.
    weights : list of float or None
        None where none was typed.
    left_id, right_id : str or None
    """

    left: list[str]
    right: list[str]
    weights: list[float] | None
    left_id: str | None
    right_id: str | None

    @classmethod
    def typed(
        cls,
        columns: list[str] | None,
        id_column: str | None,
        right: list[str] | None = None,
        right_id: str | None = None,
    ) -> Columns:
        """Take weights off the names; the other file has the same names unless some are given."""
        split = [split_weight(column) for column in columns or ()]
        names = [name for name, _ in split]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"--column {twice} was given {names.count(twice)} times.",
                "A column is compared once.",
                f"If it should count more than others, give it a weight: --column {twice}:2.",
            )
        if right and len(right) != max(len(names), 1):
            raise InputError(
                f"--right-column was given {len(right)} times, and --column {len(names)} times.",
                "Each column is compared with one of the other file.",
                "Name as many, in the same order.",
            )
        weighted = any(weight is not None for _, weight in split)
        weights = [1.0 if weight is None else weight for _, weight in split]
        return cls(
            names, right or names, weights if weighted else None, id_column, right_id or id_column
        )


def split_weight(typed: str) -> tuple[str, float | None]:
    """Return a column's name, and the weight that may stand behind its last colon.

    A column that is itself called ``ratio:2`` is typed with a weight: ``ratio:2:1``.
    """
    name, colon, behind = typed.rpartition(":")
    try:
        weight = float(behind)
    except ValueError:
        return typed, None
    if not colon:
        return typed, None
    if not 0 < weight < float("inf"):
        raise InputError(
            f"--column {typed} has the weight {behind}.",
            "It says how much the column counts beside the others.",
            f"Pass a positive number, for example --column {name}:2.",
        )
    return name, weight
