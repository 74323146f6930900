"""The command fewpairs."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.errors import FewpairsError, InputError, UnknownNameError

app = typer.Typer(
    help="The whole similarity matrix from a few pairs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

ItemsFile = Annotated[
    Path,
    typer.Argument(
        help="Items: .txt (one a line, blank ones left out), .csv or .jsonl with --column, .npy."
    ),
]
ColumnOption = Annotated[str | None, typer.Option(help="Column of a .csv or .jsonl file.")]
SimilarityOption = Annotated[
    str, typer.Option(help="levenshtein, jaro_winkler, …; for vectors cosine, rbf, laplacian, …")
]
LandmarksOption = Annotated[int | None, typer.Option(help="Number of columns to read.")]
BudgetOption = Annotated[
    float | None, typer.Option(help="Evaluations, or a share of all pairs if below 1.")
]
MethodOption = Annotated[str, typer.Option(help="auto, nystrom, sms, sicur, stacur, …")]
GammaOption = Annotated[float | None, typer.Option(help="γ of rbf, laplacian, sigmoid.")]
JobsOption = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]


@app.command()
def demo() -> None:
    """Show fewpairs on texts that are already on this machine, in under a minute."""
    from fewpairs.demo import run_demo  # noqa: PLC0415 - the command starts fast

    run_demo()


@app.command()
def plan(
    items: ItemsFile,
    similarity: SimilarityOption = "levenshtein",
    column: ColumnOption = None,
    landmarks: LandmarksOption = None,
    budget: BudgetOption = None,
    method: MethodOption = "auto",
    gamma: GammaOption = None,
    jobs: JobsOption = 1,
) -> None:
    """Say what a run would cost."""
    from fewpairs.planning import plan as make  # noqa: PLC0415

    settled = make(
        read_items(items, column),
        named_similarity(similarity, gamma),
        landmarks=landmarks,
        budget=_whole(budget),
        method=method,
        n_jobs=jobs,
    )
    typer.echo(str(settled))


@app.command()
def approximate(
    items: ItemsFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    similarity: SimilarityOption = "levenshtein",
    column: ColumnOption = None,
    landmarks: LandmarksOption = None,
    budget: BudgetOption = None,
    method: MethodOption = "auto",
    gamma: GammaOption = None,
    error_pairs: Annotated[int | None, typer.Option(help="Pairs for the error estimate.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    jobs: JobsOption = 1,
) -> None:
    """Approximate the similarity matrix of the items in a file, and save it."""
    from fewpairs.approximation import approximate as run  # noqa: PLC0415

    _check_output(output)
    matrix = run(
        read_items(items, column),
        named_similarity(similarity, gamma),
        landmarks=landmarks,
        budget=_whole(budget),
        method=method,
        error_pairs=error_pairs,
        random_state=seed,
        n_jobs=jobs,
    )
    matrix.save(output)
    typer.echo(f"{matrix!r}\nsaved to {output}")


@app.command()
def query(
    matrix: Annotated[Path, typer.Argument(help="A file that fewpairs approximate wrote.")],
    item: Annotated[int | None, typer.Option(help="Position of an item, from 0.")] = None,
    text: Annotated[str | None, typer.Option(help="Or a new text to compare.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    rerank: Annotated[int, typer.Option(help="Re-evaluate this many candidates exactly.")] = 0,
) -> None:
    """List the items most similar to one."""
    from fewpairs.factored.storage import load  # noqa: PLC0415

    if (item is None) == (text is None):
        raise InputError(
            "query needs either --item or --text.",
            "It lists the neighbours of one item.",
            "Pass for example --item 17.",
        )
    found = load(matrix)
    if text is not None or rerank:
        found = load(matrix, similarity=_saved_similarity(found.source.fingerprint))
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
    for index, value in zip(*near, strict=True):
        name = "" if found.source.items is None else f"\t{found.source.items.take([index])[0]}"
        typer.echo(f"{index}\t{value:.4f}{name}")


def read_items(path: Path, column: str | None = None) -> Any:
    """Read items from a file; its ending says how.

    Parameters
    ----------
    path : Path
        .txt (one item a line), .csv, .jsonl, .npy.
    column : str, optional
        Of a .csv or .jsonl file.

    Returns
    -------
    list of str, or ndarray
    """
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}.", "It holds the items.", "Check the path."
        )
    readers = {".txt": _read_lines, ".csv": _read_csv, ".jsonl": _read_jsonl, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise UnknownNameError("file ending", path.suffix, readers, where=f"of {path.name}")
    try:
        return readers[path.suffix.lower()](path, column)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, FewpairsError):
            raise
        raise InputError(
            f"{path.name} cannot be read: {error}",
            "Nothing was evaluated.",
            "Text files must be UTF-8, .jsonl files hold one object a line, .npy files numbers.",
        ) from error


def _check_output(output: Path) -> None:
    """Make sure that a result can be written, before the first evaluation is bought."""
    folder = output.absolute().parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"{str(output)!r} cannot be written: it is a folder, or its folder is missing or "
            "not writable.",
            "It is checked before the first evaluation is bought.",
            "Choose another place with -o.",
        )


def _read_lines(path: Path, column: str | None) -> list[str]:  # noqa: ARG001 - lines have none
    # Only line feeds end a line; other separators of Unicode may be part of an item.
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()]


def _read_csv(path: Path, column: str | None) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not reader.fieldnames:
            return []
        chosen = _chosen(column, list(reader.fieldnames or []), path)
        return [row[chosen] for row in reader]


def _read_jsonl(path: Path, column: str | None) -> list[Any]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                message = f"line {number} is not JSON: {error}"
                raise ValueError(message) from error
            if not isinstance(rows[-1], dict):
                message = f"line {number} is not an object with named fields"
                raise ValueError(message)
    if not rows:
        return []
    chosen = _chosen(column, list(dict.fromkeys(name for row in rows for name in row)), path)
    return [row.get(chosen) for row in rows]


def _read_npy(path: Path, column: str | None) -> Any:  # noqa: ARG001 - arrays have none
    import numpy as np  # noqa: PLC0415

    return np.load(path, allow_pickle=False)


def _chosen(column: str | None, names: list[str], path: Path) -> str:
    if column is None and len(names) == 1:
        return names[0]
    if column is None:
        raise InputError(
            f"{path.name} has the columns {', '.join(names)}.",
            "Which of them holds the items cannot be guessed.",
            "Name it with --column.",
        )
    if column not in names:
        raise UnknownNameError("column", column, names, where=f"in {path.name}")
    return column


def named_similarity(name: str, gamma: float | None = None) -> Any:
    """Make a ready similarity by its name."""
    from fewpairs.similarities.strings import SCORERS, StringSimilarity  # noqa: PLC0415
    from fewpairs.similarities.vectors import METRICS, VectorSimilarity  # noqa: PLC0415

    if name in METRICS:
        return VectorSimilarity(name, gamma=gamma)
    if name in SCORERS and gamma is not None:
        raise InputError(
            f"--gamma was given with the string similarity {name}.",
            "It belongs to rbf, laplacian and sigmoid, and would be ignored.",
            "Leave it out.",
        )
    if name in SCORERS:
        return StringSimilarity(name)
    raise UnknownNameError("similarity", name, [*METRICS, *SCORERS])


def _saved_similarity(fingerprint: str) -> Any:
    name, _, parameters = fingerprint.partition("{")
    return named_similarity(name, json.loads("{" + parameters).get("gamma"))


def _whole(budget: float | None) -> float | None:
    """Turn a budget of 1 or more into a number of evaluations."""
    if budget is None or budget < 1:
        return budget
    if budget != budget // 1:  # also what is not finite
        raise InputError(
            f"--budget is {budget}.",
            "From 1 on it is a number of evaluations.",
            "Pass a whole number, or a share below 1.",
        )
    return int(budget)


def main() -> None:
    """Run the command; an error of ours is one message, not a traceback."""
    try:
        app()
    except (FewpairsError, OSError) as error:
        typer.echo(f"fewpairs: {error}", err=True)
        raise SystemExit(2) from None
