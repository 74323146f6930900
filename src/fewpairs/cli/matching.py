"""Commands that find pairs of rows: match, neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.cli.answers import Outputs, kept_as, tell, write_page, write_pairs
from fewpairs.cli.comparing import Compared, compare, evaluated_at
from fewpairs.cli.gathering import gathered
from fewpairs.cli.groups import (
    Answering,
    Cells,
    Files,
    Matches,
    OtherCells,
    Similar,
    Spending,
    Working,
    read_guide,
)
from fewpairs.cli.options import OtherTableOption, TableFile, TableOutputOption
from fewpairs.cli.planning import tell_plan
from fewpairs.errors import InputError

# NumPy and SciPy take a while to load, so each command imports what it needs: --help is instant.


@gathered
def match(
    left: TableFile,
    right: TableFile,
    *,
    output: TableOutputOption = None,
    cells: Cells,
    other: OtherCells,
    similar: Similar,
    matches: Matches,
    one_to_one: Annotated[
        bool, typer.Option("--one-to-one", help="Give each row at most one partner.")
    ] = False,
    spending: Spending,
    files: Files,
    running: Working,
    answering: Answering,
) -> None:
    """List the pairs of rows of two tables that are alike, and say how many may be missing."""
    threshold = matches.threshold
    outputs = Outputs.typed(output, answering, (left, right, similar.vectors))
    compared = compare(
        left,
        right,
        cells.columns(other),
        files.read_as,
        similar.choice(cells.missing, ignore_case=cells.ignore_case),
        running.jobs,
        running.journal,
    )
    limits = spending.limits
    if answering.plan:
        tell_plan(compared, threshold=threshold, **limits, as_json=answering.as_json)
        return
    with kept(compared, outputs.table, similar.vectors, running) as answers:
        found = answers.find_pairs(
            compared.oracle,
            **threshold,
            **limits,
            guide=read_guide(spending.guide),
            one_to_one=one_to_one,
            random_state=running.seed,
        )
        write_pairs(outputs.table, found, compared, raw=answering.raw)
        write_page(outputs.page, found, compared)
    tell(found, compared, outputs, as_json=answering.as_json)


@gathered
def neighbors(
    table: TableFile,
    *,
    output: TableOutputOption = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours of each row.")] = 10,
    others: OtherTableOption = None,
    cells: Cells,
    other: OtherCells,
    similar: Similar,
    spending: Spending,
    files: Files,
    running: Working,
    answering: Answering,
) -> None:
    """List the rows most similar to each row of a table, best first."""
    _refuse_idle(others, other)
    outputs = Outputs.typed(output, answering, (table, others, similar.vectors))
    compared = compare(
        table,
        others,
        cells.columns(other),
        files.read_as,
        similar.choice(cells.missing, ignore_case=cells.ignore_case),
        running.jobs,
        running.journal,
    )
    limits = spending.limits
    if answering.plan:
        tell_plan(compared, k=k, **limits, as_json=answering.as_json)
        return
    with kept(compared, outputs.table, similar.vectors, running) as answers:
        found = answers.find_nearest(
            compared.oracle,
            k=k,
            **limits,
            guide=read_guide(spending.guide),
            random_state=running.seed,
        )
        write_pairs(outputs.table, found, compared, raw=answering.raw)
        write_page(outputs.page, found, compared)
    tell(found, compared, outputs, as_json=answering.as_json)


@contextmanager
def kept(compared: Compared, output: Path, vectors: Path | None, running: Working) -> Iterator[Any]:
    """Give the functions that answer; what they evaluate is kept if the command ends early."""
    import fewpairs  # noqa: PLC0415 - --help is instant
    from fewpairs.cli.stopping import kept_unless_done  # noqa: PLC0415

    with (
        evaluated_at(running.scheduler, compared.oracle, running.jobs),
        kept_unless_done(compared.oracle, kept_as(output), vectors),
    ):
        yield fewpairs


def _refuse_idle(others: Path | None, other: OtherCells) -> None:
    if others is None and (other.right_column or other.right_id):
        raise InputError(
            "--right-column or --right-id was given without --others.",
            "There is no other file whose columns it could name.",
            "Leave it out, or name the file with --others.",
        )
