"""Options that several commands share, and what is done with them first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewpairs.errors import InputError

ItemsFile = Annotated[
    Path,
    typer.Argument(
        help="Items: .txt (one a line, blank ones left out), .csv, .tsv, .jsonl or .parquet (see "
        "--column), each also with .gz; or .npy."
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
VectorsOption = Annotated[
    Path | None, typer.Option(help="Word vectors: word2vec, GloVe or .npz; for word_mover.")
]
OthersOption = Annotated[
    Path | None, typer.Option(help="Items of the columns, to compare two files.")
]
LandmarksOption = Annotated[int | None, typer.Option(help="Number of columns to read.")]
_BUDGET = (
    "The most to spend: evaluations, or a share of all pairs if below 1, or with --cost an amount: "
    "'5 USD'."
)
BudgetOption = Annotated[str | None, typer.Option(help=_BUDGET, metavar="NUMBER")]
ClusterBudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        help=f"{_BUDGET} By default 200 pairs for each row, or all pairs if these are fewer; "
        "by a string similarity all pairs of up to 2,000 rows.",
        metavar="NUMBER",
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
WorkersOption = Annotated[
    int | None,
    typer.Option(help="Also say what it takes on so many workers of a cluster."),
]
SecondsOption = Annotated[
    float | None,
    typer.Option("--seconds-per-pair", help="What one evaluation takes on a worker."),
]
TimedOption = Annotated[
    bool | None,
    typer.Option(
        "--timed/--no-timed",
        help="Evaluate a few pairs to tell the time; by default only with a similarity of strings "
        "or vectors and without --cost.",
    ),
]
HourOption = Annotated[
    float | None, typer.Option("--price-per-hour", help="What one worker costs in an hour.")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(help="Evaluate on a Dask cluster, whose scheduler is at tcp://host:8786."),
]
OnDiskOption = Annotated[
    bool,
    typer.Option(
        "--on-disk",
        help="Leave the items on disk: for files larger than the memory. Workers of a cluster "
        "read the same file in the same place.",
    ),
]
JournalOption = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        help="Folder in which evaluations are written down; what is there is not paid for again.",
    ),
]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same result.")]

# ------------------------------------------------------------------ tables

_TABLES = ".csv, .tsv, .jsonl, .parquet or .txt, each also with .gz; or - for standard input."
TableFile = Annotated[Path, typer.Argument(help=_TABLES)]
OtherTableOption = Annotated[
    Path | None, typer.Option("--others", help=f"Where neighbours are looked for: {_TABLES}")
]
TableOutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write: .csv, .tsv, .jsonl or .parquet, each also with .gz; or - for standard "
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
SimilarityOption = Annotated[
    str,
    typer.Option(
        help="Of texts levenshtein, damerau_levenshtein, osa, indel, lcs, hamming, jaro, "
        "jaro_winkler, prefix, ratio, token_sort_ratio, token_set_ratio, partial_ratio; word_mover "
        "with --vectors; of vectors cosine, dot, rbf, laplacian, sigmoid, polynomial; or your own "
        "as module:function, also from the current folder.",
    ),
]
AsymmetricOption = Annotated[
    bool,
    typer.Option("--asymmetric", help="Your own function depends on the order of the two items."),
]
RetryOption = Annotated[
    int | None,
    typer.Option(help="Further attempts of your own function after one that failed or hung."),
]
TimeoutOption = Annotated[
    float | None, typer.Option(help="Seconds that one call of your own function may take.")
]
PerSecondOption = Annotated[
    float | None,
    typer.Option("--per-second", help="Calls of your own function that may begin in a second."),
]
InFlightOption = Annotated[
    int | None,
    typer.Option("--max-in-flight", help="Calls of an async function under way at once, or 8."),
]
AboveOption = Annotated[
    float | None, typer.Option(help="Find pairs whose similarity is at least this.")
]
BelowOption = Annotated[
    float | None, typer.Option(help="Or, of a distance, those for which it is at most this.")
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing",
        help="What an empty cell counts: skip leaves its column out of the mean, a number such as "
        "0 is its similarity to any other. By default skip; in a single column an empty text.",
        metavar="skip|NUMBER",
    ),
]
IgnoreCaseOption = Annotated[
    bool,
    typer.Option(
        "--ignore-case",
        help="Compare texts without regard to capitals, and to blanks at their ends.",
    ),
]
AllPairsOption = Annotated[
    bool | None,
    typer.Option(
        "--all-pairs/--search",
        help="Evaluate every pair, or search. By default all, of string similarities and up to ten "
        "million pairs.",
    ),
]
RecallOption = Annotated[float, typer.Option(help="Share of all such pairs that is to be found.")]
EncodingOption = Annotated[str, typer.Option(help="Of the files that are read.")]
DelimiterOption = Annotated[
    str | None, typer.Option(help="Between the cells of a .csv or .tsv file; tab for that one.")
]
FormatOption = Annotated[
    str, typer.Option("--format", help="Of standard input: csv, tsv, jsonl, txt, parquet.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Say what it would cost, and evaluate nothing.")
]
RawOption = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write cells as they are; by default an apostrophe is put before those that a "
        "spreadsheet would take for formulas.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Say everything as one JSON object.")]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", help="Also write a page to look at in a browser: .html."),
]
GuideOption = Annotated[
    list[str] | None,
    typer.Option(
        "--guide",
        help="What hints at the similarity, and costs no evaluations: auto (the words or numbers "
        "of the rows), none, or a .npy file with a row of numbers for each row; for two tables "
        "twice.",
        metavar="auto|none|FILE",
    ),
]


def read_budget(typed: str | None) -> float | str | None:
    """Return a budget as it was typed: a number of evaluations, a share below 1, or money.

    1.0 is neither: as a share it would be all pairs, as a number one evaluation.
    """
    number = typed_number(typed)
    money = isinstance(number, str) and any(map(str.isdigit, number))
    if number is None or money or (isinstance(number, float) and 0 < number < 1):
        return number
    counted = isinstance(number, float) and number.is_integer() and number > 0
    if counted and (float(number) > 1 or str(typed).strip().isdigit()):
        return int(number)
    raise InputError(
        f"--budget is {typed}.",
        "It is a number of evaluations, a share of all pairs below 1, or an amount of money.",
        "Pass for example --budget 50000, or --budget 0.05; for all pairs a number as large as "
        "theirs.",
    )


def typed_number(text: str | None) -> float | str | None:
    """Return a number where one was typed, and other texts as they are."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
