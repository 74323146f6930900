"""What a command on tables has found: written to a file, and told in a few words or as JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from fewpairs.cli.comparing import Compared
from fewpairs.cli.groups import Answering
from fewpairs.cli.stopping import partial_of
from fewpairs.errors import InputError
from fewpairs.files.tables import STANDARD_OUTPUT, check_table_path, write_table
from fewpairs.files.writing import refuse_other_than_page, refuse_overwriting, refuse_unwritable
from fewpairs.items.tables import Table

#: What is told of a recall.
_RECALL = ("value", "low", "high", "target")


@dataclass(frozen=True)
class Outputs:
    """Where an answer goes.

    Attributes
    ----------
    table : Path
    groups, page : Path or None
    """

    table: Path
    groups: Path | None
    page: Path | None

    @classmethod
    def typed(
        cls,
        output: Path | None,
        answering: Answering,
        inputs: Iterable[Path | None],
        groups: Path | None = None,
    ) -> Outputs:
        """Refuse outputs that cannot be written, or that are inputs, before any evaluation."""
        written = [path for path in (output, groups) if path is not None]
        given = [path for path in inputs if path is not None]
        for path in written:
            check_table_path(path)
            refuse_overwriting(partial_of(kept_as(path)), given)
        if answering.report is not None:
            refuse_unwritable(answering.report)
            written.append(answering.report)
        for path in written:
            refuse_overwriting(path, given)
        places = [path.resolve() for path in written]
        twice = next((path for path in written if places.count(path.resolve()) > 1), None)
        if twice is not None:
            raise InputError(
                f"two outputs are called {str(twice)!r}.",
                "The second would take the place of the first.",
                "Choose another name for one of them.",
            )
        if answering.report is not None:
            refuse_other_than_page(answering.report)
        if answering.as_json and not answering.plan and STANDARD_OUTPUT in written:
            raise InputError(
                "--json was given, and a table goes to standard output: both would be mixed up.",
                "",
                "Write the table to a file: -o pairs.csv.",
            )
        if output is None and not answering.plan:
            raise InputError(
                "no output was named.",
                "What is found goes to a file, or to standard output.",
                "Pass for example -o pairs.csv, or -o -; --plan alone needs none.",
            )
        return cls(output or STANDARD_OUTPUT, groups, answering.report)

    @property
    def to_standard_output(self) -> bool:
        """Whether a table goes there, so that nothing else may."""
        return STANDARD_OUTPUT in (self.table, self.groups)

    @property
    def told(self) -> list[str]:
        """Say where the table and the page are, if they are files."""
        lines = [] if self.table == STANDARD_OUTPUT else [f"saved to {self.table}"]
        return lines if self.page is None else [*lines, f"open {self.page} in a browser"]

    @property
    def facts(self) -> dict[str, str]:
        """The same for JSON."""
        page = {} if self.page is None else {"report": str(self.page)}
        return {"output": str(self.table)} | page


def kept_as(output: Path) -> Path:
    """Return the name by which evaluations are kept if a run for this output is stopped."""
    return Path("fewpairs-output") if output == STANDARD_OUTPUT else output


def write_pairs(output: Path, found: Any, compared: Compared, *, raw: bool) -> None:
    """Write pairs with their ids, exact similarities, and what was compared."""
    columns: dict[str, list[Any]] = {
        "left": [compared.left.ids[i] for i in found.left.tolist()],
        "right": [compared.right.ids[j] for j in found.right.tolist()],
        "similarity": [float(value) for value in found.similarities],
    }
    columns |= _beside("left_", compared.left, found.left.tolist())
    columns |= _beside("right_", compared.right, found.right.tolist())
    write_table(output, columns, escape=not raw)


def write_groups(
    output: Path, labels: list[int], table: Table, *, called: str = "group", raw: bool
) -> None:
    """Write every row with the number of its group, so that it can be joined to the table."""
    named = {"id": table.ids, called: labels}
    beside = _beside("", table, range(len(table)))
    rest = {name: beside[name] for name in beside if name not in named}
    write_table(output, named | rest, escape=not raw)


def write_page(page: Path | None, found: Any, compared: Compared) -> None:
    """Write a page of what was found, with the ids of the rows, if one was asked for."""
    if page is not None:
        sides = compared.left.ids, compared.right.ids
        found.report(page, ids=sides[0] if compared.oracle.square else sides)


def tell(
    found: Any,
    compared: Compared,
    outputs: Outputs,
    *,
    as_json: bool,
    labels: list[int] | None = None,
) -> None:
    """Say how many pairs were found, what was spent, and how many may be missing."""
    pairs = len(found.left)
    several = sum(count > 1 for count in Counter(labels or ()).values())
    if as_json:
        facts = {
            "pairs": pairs,
            "rows": [len(compared.left), len(compared.right)],
            "recall": {name: _number(found.recall, name) for name in _RECALL},
            "evaluations": int(found.evaluations),
            "spent": {purpose: int(count) for purpose, count in found.spent.items()},
        } | outputs.facts
        facts |= {} if found.price is None else {"price": found.price}
        if labels is not None:
            facts |= {"groups": several, "groups_output": str(outputs.groups)}
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    spent = _counted(found.evaluations, "evaluation") + found.paying
    told = f"{_counted(pairs, 'pair')} found among {found.recall.pairs:,}"
    if found.recall.of == "neighbours":
        told = f"{_counted(pairs, 'neighbour')} of {_counted(len(compared.left), 'row')}"
    elif pairs < found.recall.found:
        told = f"{_counted(pairs, 'pair')} kept, one to one, of those found among "
        told += f"{found.recall.pairs:,}"
    lines = [f"{told}, by {spent}.", str(found.recall)]
    if labels is not None:
        there = "" if outputs.groups == STANDARD_OUTPUT else f", saved to {outputs.groups}"
        lines.append(f"{_counted(several, 'group')} of more than one row{there}")
    # Standard output holds nothing but a table where one goes there.
    typer.echo("\n".join([*lines, *outputs.told]), err=outputs.to_standard_output)


def tell_clusters(found: Any, outputs: Outputs, *, as_json: bool) -> None:
    """Say how many clusters there are, what was spent, and how right they are."""
    several = int((found.sizes > 1).sum())
    stated = {"precision": found.precision, "recall": found.recall}
    if as_json:
        facts = {
            "rows": len(found.labels),
            "clusters": found.n_clusters,
            "groups": several,
            "undecided": found.undecided,
            "evaluations": int(found.evaluations),
            "spent": {purpose: int(count) for purpose, count in found.spent.items()},
        } | outputs.facts
        facts |= {
            name: {end: _number(share, end) for end in _RECALL[:3]}
            for name, share in stated.items()
        }
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    rows, clusters = _counted(len(found.labels), "row"), _counted(found.n_clusters, "cluster")
    lines = [
        f"{rows} in {clusters}, {several:,} of more than one row, by "
        + _counted(found.evaluations, "evaluation")
        + ".",
        f"precision {found.precision}: of pairs within clusters, those that reach the threshold",
        f"recall {found.recall}: of all pairs that reach it, those within clusters",
        f"{_counted(found.undecided, 'merge')} within the noise of what was not evaluated",
    ]
    typer.echo("\n".join([*lines, *outputs.told]), err=outputs.to_standard_output)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _number(recall: Any, name: str) -> float | None:
    value = getattr(recall, name, None)
    return None if value is None or not math.isfinite(value) else float(value)


def _beside(prefix: str, table: Table, places: Iterable[int]) -> dict[str, list[Any]]:
    at = list(places)
    return {prefix + name: [cells[k] for k in at] for name, cells in table.columns.items()}
