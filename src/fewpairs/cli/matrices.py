"""Commands that make a matrix: inspect, plan, approximate."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewpairs.cli import options as o
from fewpairs.cli.comparing import evaluated_at
from fewpairs.cli.gathering import gathered
from fewpairs.cli.groups import Running, Similar, Working
from fewpairs.cli.on_cluster import OnCluster, facts_of
from fewpairs.items.readers import read_items

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle

# NumPy and SciPy take a while to load, so each command imports what it needs: --help is instant.


@dataclass(frozen=True)
class Sizing:
    """How large a matrix is approximated, and how."""

    landmarks: o.LandmarksOption = None
    budget: o.BudgetOption = None
    cost: o.CostOption = None
    target_error: o.TargetOption = None
    method: o.MethodOption = "auto"

    @property
    def arguments(self) -> dict[str, Any]:
        """The same, for the functions that make it."""
        return {
            "landmarks": self.landmarks,
            "budget": o.read_budget(self.budget),
            "cost": o.typed_number(self.cost),
            "target_error": self.target_error,
            "method": self.method,
        }


@gathered
def inspect(
    items: o.ItemsFile,
    *,
    column: o.ColumnOption = None,
    similar: Similar,
    sample: Annotated[
        int | None, typer.Option(help="Items whose pairs are evaluated; by default about 50.")
    ] = None,
    running: Running,
    as_json: o.JsonOption = False,
) -> None:
    """Look at a similarity before paying for it: its symmetry, signs, repeatability and time."""
    from fewpairs.run.inspect import inspect as look  # noqa: PLC0415

    oracle = _oracle(items, None, column, similar, running)
    found = look(oracle, sample=sample, random_state=running.seed)
    if not as_json:
        typer.echo(str(found))
        return
    facts = {name: getattr(found, name) for name in _INSPECTED}
    typer.echo(json.dumps({name: _plain(value) for name, value in facts.items()}))


#: What is told of an inspection.
_INSPECTED = (
    "name", "n_items", "n_sampled", "evaluations", "declared_symmetric", "asymmetry", "diagonal",
    "range", "repeatability", "non_finite", "negative_share", "seconds_per_evaluation",
)  # fmt: skip


@gathered
def plan(
    items: o.ItemsFile,
    *,
    column: o.ColumnOption = None,
    sizing: Sizing,
    similar: Similar,
    others: o.OthersOption = None,
    running: Running,
    there: OnCluster,
    timed: o.TimedOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Say what approximating a matrix would cost; only --timed evaluates what is not cheap."""
    from fewpairs.run.planning import plan as make  # noqa: PLC0415

    oracle = _oracle(items, others, column, similar, running)
    settled = make(oracle, **sizing.arguments, timed=there.timed(timed))
    on_cluster = there.plan(settled, oracle)
    if not as_json:
        timing = "--timed" if there.seconds_per_pair is None else None
        call = f"--landmarks {settled.most_landmarks}"
        typer.echo(settled.described(call, timing=timing))
        if on_cluster is not None:
            typer.echo(str(on_cluster))
        return
    facts = {name: getattr(settled, name) for name in _PLANNED}
    facts |= {} if settled.price is None else {"price": settled.price}
    told = {name: _plain(value) for name, value in facts.items()}
    typer.echo(json.dumps(told | facts_of(on_cluster)))


#: What is told of a plan.
_PLANNED = (
    "title", "n_items", "n_others", "n_landmarks", "evaluations", "share", "error_pairs", "memory",
    "seconds", "sampled", "all_pairs",
)  # fmt: skip


@gathered
def approximate(
    items: o.ItemsFile,
    *,
    output: o.OutputOption,
    column: o.ColumnOption = None,
    id_column: o.IdOption = None,
    sizing: Sizing,
    similar: Similar,
    others: o.OthersOption = None,
    on_disk: o.OnDiskOption = False,
    error_pairs: Annotated[int | None, typer.Option(help="Pairs for the error estimate.")] = None,
    running: Working,
    report: o.ReportOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Approximate the similarity matrix of the items in a file, and save it."""
    from fewpairs.cli.stopping import kept_unless_done, partial_of  # noqa: PLC0415
    from fewpairs.files.writing import (  # noqa: PLC0415
        refuse_other_than_page,
        refuse_overwriting,
        refuse_unwritable,
    )
    from fewpairs.run.approximate import approximate as run  # noqa: PLC0415

    # Before the first evaluation is paid for.
    inputs = (items, others, similar.vectors)
    for written in (output, report):
        if written is not None:
            refuse_unwritable(written)
            refuse_overwriting(written, (*inputs, output if written is report else None))
    if report is not None:
        refuse_other_than_page(report)
    refuse_overwriting(partial_of(output), inputs)
    ids = _ids(items, others, id_column)
    oracle = _oracle(items, others, column, similar, running, on_disk=on_disk)
    with (
        evaluated_at(running.scheduler, oracle, running.jobs),
        kept_unless_done(oracle, output, similar.vectors),
    ):
        matrix = run(
            oracle,
            ids=ids,
            error_pairs=error_pairs,
            random_state=running.seed,
            **sizing.arguments,
        )
        matrix.save(output)
        if report is not None:
            matrix.report(report)
    if not as_json:
        page = "" if report is None else f"\nopen {report} in a browser"
        typer.echo(f"{matrix!r}\nsaved to {output}{page}")
        return
    error = matrix.error
    facts = {
        "shape": list(matrix.shape),
        "method": matrix.method,
        "evaluations": int(matrix.evaluations),
        "error": None if error is None else _plain(list(error[:3])),
        "output": str(output),
    }
    facts |= {} if matrix.price is None else {"price": matrix.price}
    facts |= {} if report is None else {"report": str(report)}
    typer.echo(json.dumps(facts))


def _oracle(
    items: Path,
    others: Path | None,
    column: str | None,
    similar: Similar,
    running: Running,
    *,
    on_disk: bool = False,
) -> Oracle:
    """Read the items, and make their oracle; nothing is evaluated yet."""
    from fewpairs.items.on_disk import ItemsOnDisk  # noqa: PLC0415 - --help is instant
    from fewpairs.run.arguments import as_oracle  # noqa: PLC0415

    read = ItemsOnDisk if on_disk else read_items
    return as_oracle(
        read(items, column),
        similar.choice().of_items(),
        None if others is None else read(others, column),
        running.jobs,
        journal=running.journal,
    )


def _ids(items: Path, others: Path | None, id_column: str | None) -> Any:
    """Return the ids of a table's rows; of two tables, a pair."""
    if id_column is None:
        return None
    from fewpairs.items.rows import ROWS  # noqa: PLC0415 - --help is instant
    from fewpairs.items.sources import Source  # noqa: PLC0415
    from fewpairs.items.tables import read_table  # noqa: PLC0415

    files = [path for path in (items, others) if path is not None]
    ids = [read_table(Source.of(path, ROWS), (id_column,), id_column).ids for path in files]
    return ids[0] if others is None else tuple(ids)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: no NaN, no infinity, no tuple of NumPy's numbers."""
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
