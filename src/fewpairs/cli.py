"""The command fewpairs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.errors import FewpairsError, InputError, UnknownNameError
from fewpairs.items.readers import read_items

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
MethodOption = Annotated[str, typer.Option(help="auto, nystrom, sms, sicur, stacur, …")]
GammaOption = Annotated[
    float | None, typer.Option(help="γ of word_mover, rbf, laplacian, sigmoid.")
]
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
    vectors: VectorsOption = None,
    others: OthersOption = None,
    jobs: JobsOption = 1,
) -> None:
    """Say what a run would cost."""
    from fewpairs.run.plan import plan as make  # noqa: PLC0415

    settled = make(
        read_items(items, column),
        named_similarity(similarity, gamma, vectors),
        others=None if others is None else read_items(others, column),
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
    vectors: VectorsOption = None,
    others: OthersOption = None,
    target_error: Annotated[
        float | None, typer.Option(help="Add landmarks until the error is below this.")
    ] = None,
    error_pairs: Annotated[int | None, typer.Option(help="Pairs for the error estimate.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    jobs: JobsOption = 1,
) -> None:
    """Approximate the similarity matrix of the items in a file, and save it."""
    from fewpairs.run.approximate import approximate as run  # noqa: PLC0415

    _check_output(output)
    matrix = run(
        read_items(items, column),
        named_similarity(similarity, gamma, vectors),
        others=None if others is None else read_items(others, column),
        landmarks=landmarks,
        budget=_whole(budget),
        target_error=target_error,
        method=method,
        error_pairs=error_pairs,
        random_state=seed,
        n_jobs=jobs,
    )
    matrix.save(output)
    typer.echo(f"{matrix!r}\nsaved to {output}")


@app.command()
def vectors(
    texts: Annotated[Path, typer.Argument(help="Texts, one a line; .gz too.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help=".npz, or .txt for word2vec's text format.")
    ],
    dimensions: Annotated[int, typer.Option(help="Length of a vector.")] = 100,
    method: Annotated[str, typer.Option(help="build-up, divide or eigs.")] = "build-up",
    window: Annotated[int, typer.Option(help="Tokens that count as near.")] = 10,
    min_count: Annotated[int, typer.Option(help="Occurrences that a word needs.")] = 5,
    jobs: JobsOption = -1,
) -> None:
    """Train word vectors on the texts in a file, by distance geometry, and save them."""
    from fewpairs.text.training import train_word_vectors  # noqa: PLC0415

    _check_output(output)
    if not texts.is_file():
        raise InputError(f"there is no file {texts}.", "It holds the texts.", "Check the path.")
    trained = train_word_vectors(
        texts, dimensions, method, window=window, min_count=min_count, n_jobs=jobs
    )
    trained.save(output)
    typer.echo(f"{trained!r}\nsaved to {output}")


@app.command()
def query(
    matrix: Annotated[Path, typer.Argument(help="A file that fewpairs approximate wrote.")],
    item: Annotated[int | None, typer.Option(help="Position of an item, from 0.")] = None,
    text: Annotated[str | None, typer.Option(help="Or a new text to compare.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    rerank: Annotated[int, typer.Option(help="Re-evaluate this many candidates exactly.")] = 0,
    vectors: VectorsOption = None,
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
        found = load(matrix, similarity=_saved_similarity(found.source.fingerprint, vectors))
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


def named_similarity(name: str, gamma: float | None = None, vectors: Path | None = None) -> Any:
    """Make a ready similarity by its name."""
    from fewpairs.similarities.strings import SCORERS, StringSimilarity  # noqa: PLC0415
    from fewpairs.similarities.vectors import METRICS, VectorSimilarity  # noqa: PLC0415

    if name == "word_mover":
        return _word_mover(1.0 if gamma is None else gamma, vectors)
    if vectors is not None:
        raise InputError(
            f"--vectors was given with the similarity {name}.",
            "Word vectors belong to word_mover, and would be ignored.",
            "Leave them out, or pass --similarity word_mover.",
        )
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
    raise UnknownNameError("similarity", name, ["word_mover", *METRICS, *SCORERS])


def _word_mover(gamma: float, vectors: Path | None) -> Any:
    from fewpairs.similarities.word_mover import WordMover  # noqa: PLC0415
    from fewpairs.text.word_vectors import WordVectors  # noqa: PLC0415

    if vectors is None or not vectors.is_file():
        raise InputError(
            "word_mover was asked for without a file of word vectors.",
            "They say how far one word is from another.",
            "Pass --vectors with a word2vec, GloVe or .npz file.",
        )
    return WordMover(WordVectors.load(vectors), gamma, empty="far")


def _saved_similarity(fingerprint: str, vectors: Path | None) -> Any:
    name, _, parameters = fingerprint.partition("{")
    name = "word_mover" if name == "word mover" else name
    return named_similarity(name, json.loads("{" + parameters).get("gamma"), vectors)


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
