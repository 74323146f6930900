"""Commands that answer for tables: match, dedupe, cluster, neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.cli.answers import (
    check_outputs,
    kept_as,
    tell,
    tell_clusters,
    write_groups,
    write_pairs,
)
from fewpairs.cli.columns import Columns, Form
from fewpairs.cli.comparing import Choice, Compared, Patience, compare, evaluated_at
from fewpairs.cli.options import (
    AboveOption,
    AllPairsOption,
    AsymmetricOption,
    BelowOption,
    BudgetOption,
    ColumnsOption,
    CostOption,
    DelimiterOption,
    EncodingOption,
    FormatOption,
    GammaOption,
    IdOption,
    IgnoreCaseOption,
    InFlightOption,
    JobsOption,
    JournalOption,
    JsonOption,
    MissingOption,
    OtherTableOption,
    PerSecondOption,
    PlanOption,
    RawOption,
    RecallOption,
    RetryOption,
    RightColumnsOption,
    RightIdOption,
    SchedulerOption,
    SeedOption,
    SimilarityOption,
    TableFile,
    TableOutputOption,
    TimeoutOption,
    VectorsOption,
    read_budget,
    typed_number,
)
from fewpairs.cli.planning import tell_plan
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.files.tables import STANDARD_OUTPUT

# NumPy and SciPy take a while to load, so each command imports what it needs: --help is instant.


def match(
    left: TableFile,
    right: TableFile,
    output: TableOutputOption = None,
    column: ColumnsOption = None,
    id_column: IdOption = None,
    right_column: RightColumnsOption = None,
    right_id: RightIdOption = None,
    similarity: SimilarityOption = "levenshtein",
    above: AboveOption = None,
    below: BelowOption = None,
    missing: MissingOption = None,
    ignore_case: IgnoreCaseOption = False,
    recall: RecallOption = 0.95,
    budget: BudgetOption = None,
    all_pairs: AllPairsOption = None,
    cost: CostOption = None,
    one_to_one: Annotated[
        bool, typer.Option("--one-to-one", help="Give each row at most one partner.")
    ] = False,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    encoding: EncodingOption = "utf-8",
    delimiter: DelimiterOption = None,
    form: FormatOption = "csv",
    journal: JournalOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    raw: RawOption = False,
    as_json: JsonOption = False,
    plan: PlanOption = False,
) -> None:
    """List the pairs of rows of two tables that are alike, and say how many may be missing."""
    threshold = _threshold(above, below)
    check_outputs((output,), (left, right, vectors), as_json=as_json and not plan)
    output = _output(output, plan=plan)
    patience = Patience(retry, timeout, per_second, max_in_flight)
    compared = compare(
        left,
        right,
        Columns.typed(column, id_column, right_column, right_id),
        Form(encoding, delimiter, form),
        Choice(similarity, asymmetric, gamma, vectors, missing, ignore_case, patience),
        jobs,
        journal,
    )
    spend = _spending(recall, budget, all_pairs)
    if plan:
        tell_plan(compared, cost=typed_number(cost), **spend)
        return
    with _kept(compared, output, vectors, scheduler, jobs) as answers:
        found = answers.find_pairs(
            compared.oracle,
            **threshold,
            **spend,
            cost=typed_number(cost),
            one_to_one=one_to_one,
            random_state=seed,
        )
        write_pairs(output, found, compared, raw=raw)
    tell(found, compared, output, as_json=as_json)


def dedupe(
    table: TableFile,
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
    column: ColumnsOption = None,
    id_column: IdOption = None,
    similarity: SimilarityOption = "levenshtein",
    above: AboveOption = None,
    below: BelowOption = None,
    missing: MissingOption = None,
    ignore_case: IgnoreCaseOption = False,
    recall: RecallOption = 0.95,
    budget: BudgetOption = None,
    all_pairs: AllPairsOption = None,
    cost: CostOption = None,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    encoding: EncodingOption = "utf-8",
    delimiter: DelimiterOption = None,
    form: FormatOption = "csv",
    journal: JournalOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    raw: RawOption = False,
    as_json: JsonOption = False,
    plan: PlanOption = False,
) -> None:
    """List the pairs of rows of one table that are alike, and say how many may be missing."""
    threshold = _threshold(above, below)
    _check_groups_by(groups_by, groups)
    check_outputs((output, groups), (table, vectors), as_json=as_json and not plan)
    output = _output(output, plan=plan)
    patience = Patience(retry, timeout, per_second, max_in_flight)
    compared = compare(
        table,
        None,
        Columns.typed(column, id_column),
        Form(encoding, delimiter, form),
        Choice(similarity, asymmetric, gamma, vectors, missing, ignore_case, patience),
        jobs,
        journal,
    )
    spend = _spending(recall, budget, all_pairs)
    if plan:
        tell_plan(compared, cost=typed_number(cost), **spend)
        return
    labels: list[int] | None = None
    with _kept(compared, output, vectors, scheduler, jobs) as answers:
        found = answers.find_pairs(
            compared.oracle,
            **threshold,
            **spend,
            cost=typed_number(cost),
            random_state=seed,
        )
        write_pairs(output, found, compared, raw=raw)
        if groups is not None:
            joined = found.groups() if groups_by == "links" else _averaged(found, spend["budget"])
            labels = [int(label) for label in joined]
            write_groups(groups, labels, compared.left, raw=raw)
    tell(found, compared, output, as_json=as_json, groups=groups, labels=labels)


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


def cluster(
    table: TableFile,
    output: TableOutputOption = None,
    column: ColumnsOption = None,
    id_column: IdOption = None,
    similarity: SimilarityOption = "levenshtein",
    threshold: Annotated[
        float | None,
        typer.Option(help="Merge clusters while their average similarity is at least this."),
    ] = None,
    below: Annotated[
        float | None,
        typer.Option(help="Or, of a distance, while their average distance is at most this."),
    ] = None,
    missing: MissingOption = None,
    ignore_case: IgnoreCaseOption = False,
    budget: BudgetOption = None,
    cost: CostOption = None,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    encoding: EncodingOption = "utf-8",
    delimiter: DelimiterOption = None,
    form: FormatOption = "csv",
    journal: JournalOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    raw: RawOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put the rows of one table into clusters by average linkage, and say how right they are."""
    if (threshold is None) == (below is None):
        raise InputError(
            f"{'neither' if threshold is None else 'both'} of --threshold and --below "
            f"{'was' if threshold is None else 'were'} given.",
            "It says how alike clusters are that are merged.",
            "Pass --threshold 0.8 for a similarity, or --below 3 for a distance.",
        )
    check_outputs((output,), (table, vectors), as_json=as_json)
    output = _output(output, plan=None)
    patience = Patience(retry, timeout, per_second, max_in_flight)
    compared = compare(
        table,
        None,
        Columns.typed(column, id_column),
        Form(encoding, delimiter, form),
        Choice(similarity, asymmetric, gamma, vectors, missing, ignore_case, patience),
        jobs,
        journal,
        one_order=True,
    )
    with _kept(compared, output, vectors, scheduler, jobs) as answers:
        found = answers.cluster(
            compared.oracle,
            threshold=threshold,
            below=below,
            budget=read_budget(budget),
            cost=typed_number(cost),
            random_state=seed,
        )
        labels = [int(label) for label in found.labels]
        write_groups(output, labels, compared.left, raw=raw)
    tell_clusters(found, output, as_json=as_json)


def neighbors(
    table: TableFile,
    output: TableOutputOption = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours of each row.")] = 10,
    others: OtherTableOption = None,
    column: ColumnsOption = None,
    id_column: IdOption = None,
    right_column: RightColumnsOption = None,
    right_id: RightIdOption = None,
    similarity: SimilarityOption = "levenshtein",
    missing: MissingOption = None,
    ignore_case: IgnoreCaseOption = False,
    recall: RecallOption = 0.95,
    budget: BudgetOption = None,
    all_pairs: AllPairsOption = None,
    cost: CostOption = None,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    encoding: EncodingOption = "utf-8",
    delimiter: DelimiterOption = None,
    form: FormatOption = "csv",
    journal: JournalOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    raw: RawOption = False,
    as_json: JsonOption = False,
    plan: PlanOption = False,
) -> None:
    """List the rows most similar to each row of a table, best first."""
    _refuse_idle(others, right_column, right_id)
    check_outputs((output,), (table, others, vectors), as_json=as_json and not plan)
    output = _output(output, plan=plan)
    patience = Patience(retry, timeout, per_second, max_in_flight)
    compared = compare(
        table,
        others,
        Columns.typed(column, id_column, right_column, right_id),
        Form(encoding, delimiter, form),
        Choice(similarity, asymmetric, gamma, vectors, missing, ignore_case, patience),
        jobs,
        journal,
    )
    spend = _spending(recall, budget, all_pairs)
    if plan:
        tell_plan(compared, k=k, cost=typed_number(cost), **spend)
        return
    with _kept(compared, output, vectors, scheduler, jobs) as answers:
        found = answers.find_nearest(
            compared.oracle,
            k=k,
            **spend,
            cost=typed_number(cost),
            random_state=seed,
        )
        write_pairs(output, found, compared, raw=raw)
    tell(found, compared, output, as_json=as_json)


@contextmanager
def _kept(
    compared: Compared, output: Path, vectors: Path | None, scheduler: str | None, jobs: int
) -> Iterator[Any]:
    """Give the functions that answer; what they evaluate is kept if the command ends early."""
    import fewpairs  # noqa: PLC0415 - --help is instant
    from fewpairs.cli.stopping import kept_unless_done  # noqa: PLC0415

    with (
        evaluated_at(scheduler, compared.oracle, jobs),
        kept_unless_done(compared.oracle, kept_as(output), vectors),
    ):
        yield fewpairs


def _spending(recall: float, budget: str | None, all_pairs: bool | None) -> dict[str, Any]:
    return {"recall": recall, "budget": read_budget(budget), "all_pairs": all_pairs}


def _output(output: Path | None, *, plan: bool | None) -> Path:
    """Return where the answer goes; `plan` is None of a command that has no --plan."""
    if output is None and not plan:
        raise InputError(
            "no output was named.",
            "What is found goes to a file, or to standard output.",
            "Pass for example -o pairs.csv, or -o -"
            + ("." if plan is None else "; --plan alone needs none."),
        )
    return STANDARD_OUTPUT if output is None else output


def _threshold(above: float | None, below: float | None) -> dict[str, float]:
    if (above is None) == (below is None):
        raise InputError(
            f"{'neither' if above is None else 'both'} of --above and --below "
            f"{'was' if above is None else 'were'} given.",
            "It says which pairs count as alike.",
            "Pass --above 0.9 for a similarity, or --below 3 for a distance.",
        )
    return {"above": above} if below is None else {"below": below}  # type: ignore[dict-item]


def _check_groups_by(groups_by: str, groups: Path | None) -> None:
    if groups_by not in ("links", "average"):
        raise UnknownNameError("--groups-by", groups_by, ("links", "average"))
    if groups is None and groups_by != "links":
        raise InputError(
            "--groups-by was given without --groups.",
            "There is no file to which groups would go.",
            "Name one: --groups groups.csv.",
        )


def _refuse_idle(others: Path | None, right_column: Any, right_id: str | None) -> None:
    if others is None and (right_column or right_id):
        raise InputError(
            "--right-column or --right-id was given without --others.",
            "There is no other file whose columns it could name.",
            "Leave it out, or name the file with --others.",
        )
