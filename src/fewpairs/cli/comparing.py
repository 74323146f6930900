"""What the commands on tables compare: rows of one table or two, and by which similarity."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewpairs.cli.columns import Columns, Form, split_weight
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.sources import STANDARD_INPUT, Source
from fewpairs.items.tables import Table, as_text, read_table

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle
    from fewpairs.similarities.protocol import Similarity


@dataclass(frozen=True)
class Patience:
    """What a function of one's own is forgiven, as it was typed."""

    retry: int | None = None
    timeout: float | None = None
    per_second: float | None = None
    max_in_flight: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What was typed of it."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Choice:
    """A similarity as it was typed."""

    name: str
    asymmetric: bool
    gamma: float | None
    vectors: Path | None
    missing: str | None = None
    ignore_case: bool = False
    patience: Patience = Patience()

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
        for option in self.patience.given:
            raise InputError(
                f"--{option.replace('_', '-')} was given with the similarity {self.name}.",
                "That is computed here: it does not fail now and then, nor too fast.",
                "Leave it out, or name a function of your own: --similarity module:function.",
            )
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

    def of_items(self) -> Similarity:
        """Make the similarity of items that are no rows of a table."""
        return self.similarity(["item"], None)

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
            "--ignore-case": self.ignore_case or None,
        }
        for option, value in ignored.items():
            if value is not None:
                raise InputError(
                    f"{option} would be ignored by your own similarity {self.name}.",
                    "Your function gets the rows as they are.",
                    "Leave it out.",
                )
        imported = imported_similarity(self.name, symmetric=not self.asymmetric)
        return imported.with_patience(**self.patience.given)


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
    *,
    one_order: bool = False,
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
    one_order : bool, default=False
        Whether an asymmetric similarity becomes the mean of both orders.

    Returns
    -------
    Compared
    """
    from fewpairs.oracle.oracle import Oracle  # noqa: PLC0415 - --help is instant

    if left == right == STANDARD_INPUT:
        raise InputError(
            "both files are standard input, which can be read only once.",
            "",
            "Write one of them to a file first.",
        )
    # Both are looked up before the first, which may be large, is read.
    sources = [form.source(path) for path in (left, right) if path is not None]
    chosen = (columns.left, columns.left_id), (columns.right, columns.right_id)
    tables = [read_table(sources[0], *chosen[0])]
    tables += [_read_other(source, *chosen[1]) for source in sources[1:]]
    names = list(tables[0].columns)
    similarity = choice.similarity(names, columns.weights)
    plain = choice.own or similarity.takes_vectors
    records = choice.takes_records(names)
    if plain and choice.ignore_case:
        raise InputError(
            f"--ignore-case was given with the similarity {choice.name}.",
            "It compares numbers, which have no capitals.",
            "Leave it out.",
        )
    prepare = _unchanged if plain else _folded if choice.ignore_case else as_text
    items = [_items(table, names, prepare, records=records) for table in tables]
    if not plain and choice.missing is None:
        for table in tables:
            _tell_empty(table)
    if left == right:
        typer.echo(
            f"fewpairs: both tables are {tables[0].name}, so each row is compared with itself too; "
            "dedupe, and neighbors without --others, leave that out.",
            err=True,
        )
    others = items[1] if right is not None else None
    if one_order:
        similarity = similarity.symmetrized()
    oracle = Oracle(items[0], similarity, others=others, n_jobs=jobs, journal=journal)
    return Compared(tables[0], tables[-1], oracle)


@contextmanager
def evaluated_at(scheduler: str | None, oracle: Oracle, jobs: int) -> Iterator[None]:
    """Let an oracle evaluate on the cluster of a scheduler, if there is one, for a while."""
    if scheduler is None:
        yield
        return
    from fewpairs.workers.cluster import connected  # noqa: PLC0415 - rarely needed

    _send_code_of(oracle.similarity)
    with connected(scheduler) as client:
        oracle.work_in(jobs, client=client)
        yield


def _send_code_of(similarity: Similarity) -> None:
    """Let the code of a function from the current folder be sent: workers do not have its file."""
    import cloudpickle  # noqa: PLC0415

    for kind in similarity.kinds:
        module = sys.modules.get(getattr(getattr(similarity, kind), "__module__", ""))
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).resolve().parent == Path.cwd():
            cloudpickle.register_pickle_by_value(module)


def _read_other(source: Source, columns: list[str], id_column: str | None) -> Table:
    try:
        return read_table(source, columns, id_column)
    except UnknownNameError as error:
        error.add_note("Columns of this file have their own options: --right-column, --right-id.")
        weighted = next((name for name in columns if split_weight(name)[1] is not None), None)
        if weighted is not None:
            name = split_weight(weighted)[0]
            error.add_note(f"Weights stand at --column only: --right-column {name}.")
        raise


def _items(
    table: Table, names: list[str], prepare: Callable[[Any], Any], *, records: bool
) -> list[Any]:
    """Return rows as items: cells, or records that have the names of the left table's columns."""
    columns = [[prepare(cell) for cell in cells] for cells in table.columns.values()]
    if not records:
        return columns[0]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _unchanged(cell: Any) -> Any:
    return cell


def _folded(cell: Any) -> Any:
    """Return a text in which neither capitals nor blanks at its ends make a difference."""
    text = as_text(cell)
    return text.strip().casefold() if isinstance(text, str) else text


def _tell_empty(table: Table) -> None:
    """Say which columns have empty cells: rows may be alike by them, or without them."""
    blank = {
        name: sum(isinstance(cell, str) and not cell.strip() for cell in cells)
        for name, cells in table.columns.items()
    }
    if len(blank) > 1 and any(blank.values()):
        where = ", ".join(f"{name} ({count:,})" for name, count in blank.items() if count)
        typer.echo(
            f"fewpairs: of {len(table):,} rows of {table.name} some are empty in the columns "
            f"{where}; the other columns alone decide there. --missing 0 makes an empty cell "
            "unlike any other.",
            err=True,
        )
    elif len(blank) == 1 and sum(blank.values()) > 1:
        typer.echo(
            f"fewpairs: {sum(blank.values()):,} of {len(table):,} rows of {table.name} are empty "
            f"in the column {next(iter(blank))}; most similarities find two empty texts alike. "
            "--missing 0 makes them unlike any other.",
            err=True,
        )
