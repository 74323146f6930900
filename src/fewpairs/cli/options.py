"""Options that several commands share, and what is done with them first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewpairs.errors import InputError

ItemsFile = Annotated[
    Path,
    typer.Argument(
        help="Items: .txt (one a line, blank ones left out), .csv, .tsv or .jsonl (see --column), "
        "each also with .gz; .parquet; or .npy."
    ),
]
TextsFile = Annotated[
    Path,
    typer.Argument(
        help="Texts: one a line, or .csv, .tsv, .jsonl or .parquet (see --column); .gz is unpacked."
    ),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
ColumnOption = Annotated[
    str | None,
    typer.Option(help="Column of a table that has several; fields.title is a field of a field."),
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
    str | None,
    typer.Option(
        help="Evaluations, or a share of all pairs if below 1, or with --cost an amount: '5 USD'."
    ),
]
CostOption = Annotated[
    str | None, typer.Option(help="What one evaluation costs: 0.002, or '0.002 USD'.")
]
TargetOption = Annotated[
    float | None, typer.Option(help="Add landmarks until the error is below this.")
]
MethodOption = Annotated[str, typer.Option(help="auto, nystrom, sms, sicur, stacur, …")]
GammaOption = Annotated[
    float | None, typer.Option(help="γ of word_mover, rbf, laplacian, sigmoid, polynomial.")
]
JobsOption = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
JournalOption = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        help="Folder in which evaluations are written down; what is there is not paid for again.",
    ),
]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same result.")]

# ------------------------------------------------------------------ tables

_TABLES = ".csv, .tsv, .jsonl or .txt, each also with .gz; .parquet; or - for standard input."
TableFile = Annotated[Path, typer.Argument(help=_TABLES)]
OtherTableOption = Annotated[
    Path | None, typer.Option("--others", help=f"Where neighbours are looked for: {_TABLES}")
]
TableOutputOption = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="File to write: .csv, .tsv or .jsonl, each also with .gz; .parquet; or - for standard "
        "output.",
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Column to compare; several with weights: --column name:2 --column city. "
        "fields.title is a field of a field.",
    ),
]
IdOption = Annotated[
    str | None, typer.Option("--id", help="Column that names the rows; without it, their number.")
]
RightColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--right-column", help="The same in the other file, if it is called otherwise."),
]
RightIdOption = Annotated[
    str | None, typer.Option("--right-id", help="Ids of the other file, if called otherwise.")
]
OwnSimilarityOption = Annotated[
    str,
    typer.Option(
        "--similarity",
        help="levenshtein, jaro_winkler, …; word_mover with --vectors; or your own as "
        "module:function, also from the current folder.",
    ),
]
AsymmetricOption = Annotated[
    bool,
    typer.Option("--asymmetric", help="Your own function depends on the order of the two items."),
]
AboveOption = Annotated[
    float | None, typer.Option(help="Find pairs whose similarity is at least this.")
]
BelowOption = Annotated[
    float | None, typer.Option(help="Or, of a distance, those for which it is at most this.")
]
RecallOption = Annotated[float, typer.Option(help="Share of all such pairs that is to be found.")]
EncodingOption = Annotated[str, typer.Option(help="Of the files that are read.")]
DelimiterOption = Annotated[
    str | None, typer.Option(help="Between the cells of a .csv or .tsv file; tab for that one.")
]
FormatOption = Annotated[
    str, typer.Option("--format", help="Of standard input: csv, tsv, jsonl, txt, parquet.")
]
RawOption = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write cells as they are; by default an apostrophe is put before those that a "
        "spreadsheet would take for formulas.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Say what was found as one JSON object.")]


def typed_budget(budget: str | None) -> float | str | None:
    """Turn a typed budget into a share below 1, a whole number, or an amount of money."""
    number = typed_number(budget)
    if number is None or isinstance(number, str) or number < 1:
        return number
    if not number.is_integer():  # also infinity and NaN
        raise InputError(
            f"--budget is {budget}.",
            "From 1 on it is a number of evaluations.",
            "Pass a whole number, a share below 1, or an amount of money with its currency.",
        )
    return int(number)


def typed_number(text: str | None) -> float | str | None:
    """Return a number where one was typed, and other texts as they are."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
