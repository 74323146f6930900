"""Commands that make a matrix, and read one: plan, approximate, query, report."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewpairs.cli.comparing import Choice, Patience, evaluated_at
from fewpairs.cli.options import (
    AsymmetricOption,
    BudgetOption,
    ColumnOption,
    CostOption,
    GammaOption,
    HourOption,
    InFlightOption,
    ItemsFile,
    JobsOption,
    JournalOption,
    LandmarksOption,
    MethodOption,
    OthersOption,
    OutputOption,
    PerSecondOption,
    RetryOption,
    SchedulerOption,
    SecondsOption,
    SeedOption,
    SimilarityOption,
    TargetOption,
    TimeoutOption,
    VectorsOption,
    WorkersOption,
    read_budget,
    typed_number,
)
from fewpairs.errors import InputError
from fewpairs.items.readers import read_items

if TYPE_CHECKING:
    from fewpairs.run.plan import Plan

# NumPy and SciPy take a while to load, so each command imports what it needs: --help is instant.


def plan(
    items: ItemsFile,
    similarity: SimilarityOption = "levenshtein",
    column: ColumnOption = None,
    landmarks: LandmarksOption = None,
    budget: BudgetOption = None,
    cost: CostOption = None,
    target_error: TargetOption = None,
    method: MethodOption = "auto",
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    others: OthersOption = None,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    journal: JournalOption = None,
    jobs: JobsOption = 1,
    workers: WorkersOption = None,
    seconds_per_pair: SecondsOption = None,
    price_per_hour: HourOption = None,
) -> None:
    """Say what a run would cost."""
    if workers is None and (seconds_per_pair or price_per_hour) is not None:
        raise InputError(
            "--seconds-per-pair or --price-per-hour was given without --workers.",
            "They say what a run takes on the workers of a cluster.",
            "Pass for example --workers 16.",
        )
    from fewpairs.run.planning import plan as make  # noqa: PLC0415

    patience = Patience(retry, timeout, per_second, max_in_flight)
    read = read_items(items, column)
    settled = make(
        read,
        Choice(similarity, asymmetric, gamma, vectors, patience=patience).of_items(),
        others=None if others is None else read_items(others, column),
        landmarks=landmarks,
        budget=read_budget(budget),
        cost=typed_number(cost),
        target_error=target_error,
        method=method,
        journal=journal,
        n_jobs=jobs,
        timed=workers is None or seconds_per_pair is None,
    )
    typer.echo(settled.described(call=f"--landmarks {settled.most_landmarks}"))
    if workers is not None:
        typer.echo(_on_a_cluster(settled, read, workers, seconds_per_pair, price_per_hour, jobs))


def _on_a_cluster(
    settled: Plan,
    items: Any,
    workers: int,
    seconds_per_pair: float | None,
    price_per_hour: float | None,
    jobs: int,
) -> str:
    """Say what a plan takes on a cluster; without a time for a pair, by the timed sample."""
    from fewpairs.parallel import count_jobs  # noqa: PLC0415
    from fewpairs.run.scaling import plan_cluster  # noqa: PLC0415

    each = seconds_per_pair
    if each is None:
        each = (settled.seconds or 0.0) * count_jobs(jobs) / max(settled.evaluations, 1) or 1e-6
    some = [items[k] for k in range(0, len(items), max(1, len(items) // 1000))]
    size = sum(len(item) if isinstance(item, str) else getattr(item, "nbytes", 50) for item in some)
    n = settled.n_items + (settled.n_others or 0)
    return str(
        plan_cluster(
            n,
            workers=workers,
            seconds_per_pair=each,
            landmarks=settled.n_landmarks,
            evaluations=settled.evaluations,
            memory=settled.memory,
            item_bytes=size / len(some),
            price_per_hour=price_per_hour,
        )
    )


def approximate(
    items: ItemsFile,
    output: OutputOption,
    similarity: SimilarityOption = "levenshtein",
    column: ColumnOption = None,
    landmarks: LandmarksOption = None,
    budget: BudgetOption = None,
    cost: CostOption = None,
    method: MethodOption = "auto",
    gamma: GammaOption = None,
    vectors: VectorsOption = None,
    others: OthersOption = None,
    target_error: TargetOption = None,
    error_pairs: Annotated[int | None, typer.Option(help="Pairs for the error estimate.")] = None,
    asymmetric: AsymmetricOption = False,
    retry: RetryOption = None,
    timeout: TimeoutOption = None,
    per_second: PerSecondOption = None,
    max_in_flight: InFlightOption = None,
    journal: JournalOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
) -> None:
    """Approximate the similarity matrix of the items in a file, and save it."""
    from fewpairs.cli.stopping import kept_unless_done, partial_of  # noqa: PLC0415
    from fewpairs.files.writing import refuse_overwriting, refuse_unwritable  # noqa: PLC0415
    from fewpairs.run.approximate import approximate as run  # noqa: PLC0415
    from fewpairs.run.arguments import as_oracle  # noqa: PLC0415

    # Before the first evaluation is paid for.
    refuse_unwritable(output)
    for written in (output, partial_of(output)):
        refuse_overwriting(written, (items, others, vectors))
    patience = Patience(retry, timeout, per_second, max_in_flight)
    oracle = as_oracle(
        read_items(items, column),
        Choice(similarity, asymmetric, gamma, vectors, patience=patience).of_items(),
        None if others is None else read_items(others, column),
        jobs,
        journal=journal,
    )
    with evaluated_at(scheduler, oracle, jobs), kept_unless_done(oracle, output, vectors):
        matrix = run(
            oracle,
            landmarks=landmarks,
            budget=read_budget(budget),
            cost=typed_number(cost),
            target_error=target_error,
            method=method,
            error_pairs=error_pairs,
            random_state=seed,
        )
        matrix.save(output)
    typer.echo(f"{matrix!r}\nsaved to {output}")


MatrixFile = Annotated[Path, typer.Argument(help="A file that fewpairs approximate wrote.")]


def query(
    matrix: MatrixFile,
    item: Annotated[int | None, typer.Option(help="Position of an item, from 0.")] = None,
    text: Annotated[str | None, typer.Option(help="Or a new text to compare.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    rerank: Annotated[
        int | None,
        typer.Option(
            help="Evaluate this many candidates exactly; 0 for none. "
            "By default ten for each neighbour and at least 50, if the similarity can be had."
        ),
    ] = None,
    vectors: VectorsOption = None,
) -> None:
    """List the items most similar to one."""
    from fewpairs.factored.storage import load, stored_similarity  # noqa: PLC0415
    from fewpairs.similarities.named import saved_similarity  # noqa: PLC0415

    if (item is None) == (text is None):
        raise InputError(
            "query needs either --item or --text.",
            "It lists the neighbours of one item.",
            "Pass for example --item 17.",
        )
    similarity = None
    if text is not None or rerank != 0:
        # The header says which similarity it was, so the matrix itself is read only once.
        fingerprint = stored_similarity(matrix)
        # Exact scores that nobody has asked for are no reason to refuse an answer.
        asked = text is not None or rerank is not None or vectors is not None
        with nullcontext() if asked else suppress(InputError, ImportError):
            similarity = saved_similarity(fingerprint, vectors)
    found = load(matrix, similarity=similarity)
    if item is not None and not 0 <= item < len(found):
        raise InputError(
            f"--item is {item}, and the matrix has {len(found)} items.",
            "Positions are counted from 0.",
            f"Pass a number from 0 to {len(found) - 1}.",
        )
    near = (
        found.nearest(item, k, rerank=rerank)
        if text is None
        else found.nearest(item=text, k=k, rerank=rerank)
    )
    names = found.source.items if found.source.square else found.source.others
    for index, value in zip(*near, strict=True):
        name = "" if names is None else f"\t{names.take([index])[0]}"
        typer.echo(f"{index}\t{value:.4f}{name}")
    scores = "exact" if found.source.evaluates and rerank != 0 else "approximate"
    typer.echo(f"{near.evaluations:,} evaluations; scores are {scores}", err=True)


def report(
    matrix: MatrixFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write: .html.")],
    title: Annotated[str, typer.Option(help="A heading of your own.")] = "",
) -> None:
    """Write a page to look at in a browser: the error, a map of the items, their nearest."""
    from fewpairs.factored.storage import load  # noqa: PLC0415
    from fewpairs.files.writing import refuse_overwriting, refuse_unwritable  # noqa: PLC0415

    refuse_unwritable(output)
    refuse_overwriting(output, (matrix,))
    load(matrix).report(output, title=title)
    typer.echo(f"saved to {output}: open it in a browser, it needs no network")
