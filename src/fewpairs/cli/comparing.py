"""What the commands on tables compare: rows of one table or two, and by which similarity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewpairs.cli.columns import Columns, Form
from fewpairs.errors import InputError
from fewpairs.items.sources import STANDARD_INPUT
from fewpairs.items.tables import Table, as_text, read_table

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle
    from fewpairs.similarities.protocol import Similarity


@dataclass(frozen=True)
class Choice:
    """A similarity as it was typed."""

    name: str
    asymmetric: bool
    gamma: float | None
    vectors: Path | None
    missing: str | None = None

    @property
    def own(self) -> bool:
        """Whether it is a person's own, ``module:function``."""
        return ":" in self.name

    def similarity(self, names: list[str], weights: list[float] | None) -> Similarity:
        """Make the similarity of these columns."""
        from fewpairs.similarities.named import named_similarity  # noqa: PLC0415 - --help
        from fewpairs.similarities.records import RecordSimilarity  # noqa: PLC0415

        if self.own:
            return self._imported(weights)
        if self.asymmetric:
            raise InputError(
                f"--asymmetric was given with the similarity {self.name}.",
                "Whether that depends on the order of two items is known.",
                "Leave it out, or name a function of your own: --similarity module:function.",
            )
        ready = named_similarity(self.name, gamma=self.gamma, vectors=self.vectors)
        if not self.takes_records(names):
            return ready
        each = weights or [1.0] * len(names)
        fields = {n: (ready, weight) for n, weight in zip(names, each, strict=True)}
        return RecordSimilarity(fields, missing=self._policy)

    def takes_records(self, names: list[str]) -> bool:
        """Whether rows are compared column by column."""
        return len(names) > 1 or (self.missing is not None and not self.own)

    @property
    def _policy(self) -> Any:
        if self.missing in (None, "skip"):
            return "skip"
        try:
            return float(str(self.missing))
        except ValueError as error:
            raise InputError(
                f"--missing is {self.missing}.",
                "It says what an empty cell counts.",
                "Pass --missing skip, or a similarity such as --missing 0.",
            ) from error

    def _imported(self, weights: list[float] | None) -> Similarity:
        from fewpairs.similarities.imported import imported_similarity  # noqa: PLC0415 - --help

        ignored = {
            "a weight": weights,
            "--gamma": self.gamma,
            "--vectors": self.vectors,
            "--missing": self.missing,
        }
        for option, value in ignored.items():
            if value is not None:
                raise InputError(
                    f"{option} was given with your own similarity {self.name}.",
                    "It would be ignored: your function gets the rows as they are.",
                    "Leave it out.",
                )
        return imported_similarity(self.name, symmetric=not self.asymmetric)


@dataclass(frozen=True, eq=False)
class Compared:
    """Two tables, or one with itself, and the oracle of their rows.

    Attributes
    ----------
    left, right : Table
    oracle : Oracle
    """

    left: Table
    right: Table
    oracle: Oracle


def compare(
    left: Path,
    right: Path | None,
    columns: Columns,
    form: Form,
    choice: Choice,
    jobs: int,
    journal: Path | None = None,
) -> Compared:
    """Read one table or two, and make the oracle of their rows; nothing is evaluated yet.

    Parameters
    ----------
    left : Path
    right : Path or None
        None compares the rows of one table with each other.
    columns : Columns
    form : Form
    choice : Choice
    jobs : int
    journal : Path, optional

    Returns
    -------
    Compared
    """
    from fewpairs.oracle.oracle import Oracle  # noqa: PLC0415 - --help is instant

    if left == right == STANDARD_INPUT:
        raise InputError(
            "both files are standard input.",
            "It can be read only once.",
            "Write one of them to a file first.",
        )
    # Both are looked up before the first, which may be large, is read.
    sources = [form.source(path) for path in (left, right) if path is not None]
    chosen = (columns.left, columns.left_id), (columns.right, columns.right_id)
    tables = [read_table(source, *chosen[side]) for side, source in enumerate(sources)]
    names = list(tables[0].columns)
    similarity = choice.similarity(names, columns.weights)
    plain = choice.own or similarity.takes_vectors
    records = choice.takes_records(names)
    items = [_items(table, names, plain=plain, records=records) for table in tables]
    if not records and not plain:
        for table, texts in zip(tables, items, strict=True):
            _tell_empty(table, texts)
    others = items[1] if right is not None else None
    oracle = Oracle(items[0], similarity, others=others, n_jobs=jobs, journal=journal)
    return Compared(tables[0], tables[-1], oracle)


def _items(table: Table, names: list[str], *, plain: bool, records: bool) -> list[Any]:
    """Return rows as items: cells, or records that have the names of the left table's columns."""
    columns = [
        cells if plain else [as_text(cell) for cell in cells] for cells in table.columns.values()
    ]
    if not records:
        return columns[0]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _tell_empty(table: Table, texts: list[Any]) -> None:
    empty = sum(isinstance(text, str) and not text.strip() for text in texts)
    if empty > 1:
        typer.echo(
            f"fewpairs: {empty:,} of {len(texts):,} rows of {table.name} are empty in the column "
            f"{next(iter(table.columns))}; most similarities find two empty texts alike. "
            "--missing 0 makes them unlike any other.",
            err=True,
        )
