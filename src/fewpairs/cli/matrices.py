"""Commands that make a matrix, and read one: plan, approximate, query, report."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer

from fewpairs.cli.comparing import Choice, Patience, evaluated_at
from fewpairs.cli.options import (
    AsymmetricOption,
    BudgetOption,
    ColumnOption,
    CostOption,
    GammaOption,
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
    SeedOption,
    SimilarityOption,
    TargetOption,
    TimeoutOption,
    VectorsOption,
    read_budget,
    typed_number,
)
from fewpairs.errors import InputError
from fewpairs.items.readers import read_items

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
) -> None:
    """Say what a run would cost."""
    from fewpairs.run.planning import plan as make  # noqa: PLC0415

    patience = Patience(retry, timeout, per_second, max_in_flight)
    settled = make(
        read_items(items, column),
        Choice(similarity, asymmetric, gamma, vectors, patience=patience).of_items(),
        others=None if others is None else read_items(others, column),
        landmarks=landmarks,
        budget=read_budget(budget),
        cost=typed_number(cost),
        target_error=target_error,
        method=method,
        journal=journal,
        n_jobs=jobs,
    )
    typer.echo(settled.described(call=f"--landmarks {settled.most_landmarks}"))


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
