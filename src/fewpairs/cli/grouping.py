"""Commands that put the rows of one table together: dedupe, cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.cli.answers import (
    Outputs,
    tell,
    tell_clusters,
    write_groups,
    write_page,
    write_pairs,
)
from fewpairs.cli.comparing import compare
from fewpairs.cli.gathering import gathered
from fewpairs.cli.groups import (
    Answering,
    Cells,
    Files,
    Matches,
    Similar,
    Spending,
    Working,
    one_threshold,
    read_guide,
)
from fewpairs.cli.matching import kept
from fewpairs.cli.options import (
    ClusterBudgetOption,
    CostOption,
    GuideOption,
    TableFile,
    TableOutputOption,
    read_budget,
    typed_number,
)
from fewpairs.cli.planning import tell_plan, tell_plan_of_clusters
from fewpairs.errors import InputError, UnknownNameError


@gathered
def dedupe(
    table: TableFile,
    *,
    output: TableOutputOption = None,
    groups: Annotated[
        Path | None, typer.Option(help="Also write every row with the number of its group.")
    ] = None,
    groups_by: Annotated[
        str,
        typer.Option(
            help="links puts rows into one group that any chain of pairs joins; average asks that "
            "all pairs of a group are alike on average, and evaluates what is missing for that.",
            metavar="links|average",
        ),
    ] = "links",
    cells: Cells,
    similar: Similar,
    matches: Matches,
    spending: Spending,
    files: Files,
    running: Working,
    answering: Answering,
) -> None:
    """List the pairs of rows of one table that are alike, and say how many may be missing."""
    threshold = matches.threshold
    _check_groups_by(groups_by, groups)
    outputs = Outputs.typed(output, answering, (table, similar.vectors), groups)
    compared = compare(
        table,
        None,
        cells.columns(),
        files.read_as,
        similar.choice(cells.missing, ignore_case=cells.ignore_case),
        running.jobs,
        running.journal,
    )
    limits = spending.limits
    if answering.plan:
        tell_plan(compared, threshold=threshold, **limits, as_json=answering.as_json)
        return
    labels: list[int] | None = None
    with kept(compared, outputs.table, similar.vectors, running) as answers:
        found = answers.find_pairs(
            compared.oracle,
            **threshold,
            **limits,
            guide=read_guide(spending.guide),
            random_state=running.seed,
        )
        write_pairs(outputs.table, found, compared, raw=answering.raw)
        if groups is not None:
            joined = found.groups() if groups_by == "links" else _averaged(found, limits["budget"])
            labels = [int(label) for label in joined]
            write_groups(groups, labels, compared.left, raw=answering.raw)
        write_page(outputs.page, found, compared)
    tell(found, compared, outputs, as_json=answering.as_json, labels=labels)


def _averaged(found: Any, budget: float | str | None) -> Any:
    """Return groups by average linkage, for what is left of a budget, and say what they took."""
    from fewpairs.run.arguments import evaluations_of  # noqa: PLC0415 - --help is instant

    oracle, left = found.oracle, None
    if budget is not None:
        planner = oracle.planner
        all_pairs = found.recall.pairs * planner.per_entry
        allowed = evaluations_of(budget, all_pairs, planner.cost)
        left = max(allowed - found.evaluations, 0)
    before = oracle.evaluations
    labels = found.averaged_groups(left)
    typer.echo(
        f"fewpairs: groups by average took {oracle.evaluations - before:,} more evaluations.",
        err=True,
    )
    return labels


@gathered
def cluster(
    table: TableFile,
    *,
    output: TableOutputOption = None,
    cells: Cells,
    similar: Similar,
    threshold: Annotated[
        float | None,
        typer.Option(help="Merge clusters while their average similarity is at least this."),
    ] = None,
    below: Annotated[
        float | None,
        typer.Option(help="Or, of a distance, while their average distance is at most this."),
    ] = None,
    budget: ClusterBudgetOption = None,
    cost: CostOption = None,
    guide: GuideOption = None,
    files: Files,
    running: Working,
    answering: Answering,
) -> None:
    """Put the rows of one table into clusters by average linkage, and say how right they are."""
    at = one_threshold(
        {"threshold": threshold, "below": below},
        "It says how alike clusters are that are merged.",
        0.8,
    )
    outputs = Outputs.typed(output, answering, (table, similar.vectors))
    compared = compare(
        table,
        None,
        cells.columns(),
        files.read_as,
        similar.choice(cells.missing, ignore_case=cells.ignore_case),
        running.jobs,
        running.journal,
        one_order=True,
    )
    limits = {"budget": read_budget(budget), "cost": typed_number(cost)}
    if answering.plan:
        tell_plan_of_clusters(compared, threshold=at, **limits, as_json=answering.as_json)
        return
    with kept(compared, outputs.table, similar.vectors, running) as answers:
        found = answers.cluster(
            compared.oracle,
            **at,
            **limits,
            guide=read_guide(guide),
            random_state=running.seed,
        )
        labels = [int(label) for label in found.labels]
        # As Clusters.to_csv calls it.
        write_groups(outputs.table, labels, compared.left, called="cluster", raw=answering.raw)
        write_page(outputs.page, found, compared)
    tell_clusters(found, outputs, as_json=answering.as_json)


def _check_groups_by(groups_by: str, groups: Path | None) -> None:
    if groups_by not in ("links", "average"):
        raise UnknownNameError("--groups-by", groups_by, ("links", "average"))
    if groups is None and groups_by != "links":
        raise InputError(
            "--groups-by was given without --groups.",
            "There is no file to which groups would go.",
            "Name one: --groups groups.csv.",
        )
