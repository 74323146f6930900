"""Options that several commands share, and what is done with them first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewpairs.errors import InputError

ItemsFile = Annotated[
    Path,
    typer.Argument(
        help="Items: .txt (one a line, blank ones left out), .csv or .jsonl (see --column), each "
        "also with .gz; or .npy."
    ),
]
TextsFile = Annotated[
    Path,
    typer.Argument(help="Texts: one a line, or .csv or .jsonl (see --column); .gz is unpacked."),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
ColumnOption = Annotated[
    str | None, typer.Option(help="Column of a .csv or .jsonl file that has several.")
]
SimilarityOption = Annotated[
    str,
    typer.Option(
        help="levenshtein, jaro_winkler, …; word_mover with --vectors; for vectors cosine, rbf, …"
    ),
]
VectorsOption = Annotated[
    Path | None, typer.Option(help="Word vectors: word2vec, GloVe or .npz; for word_mover.")
]
OthersOption = Annotated[
    Path | None, typer.Option(help="Items of the columns, to compare two files.")
]
LandmarksOption = Annotated[int | None, typer.Option(help="Number of columns to read.")]
BudgetOption = Annotated[
    float | None, typer.Option(help="Evaluations, or a share of all pairs if below 1.")
]
TargetOption = Annotated[
    float | None, typer.Option(help="Add landmarks until the error is below this.")
]
MethodOption = Annotated[str, typer.Option(help="auto, nystrom, sms, sicur, stacur, …")]
GammaOption = Annotated[
    float | None, typer.Option(help="γ of word_mover, rbf, laplacian, sigmoid, polynomial.")
]
JobsOption = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]


def whole_budget(budget: float | None) -> float | None:
    """Turn a budget of 1 or more, which the command line reads as a float, into an integer."""
    if budget is None or budget < 1:
        return budget
    if not budget.is_integer():  # also infinity and NaN
        raise InputError(
            f"--budget is {budget}.",
            "From 1 on it is a number of evaluations.",
            "Pass a whole number, or a share below 1.",
        )
    return int(budget)
