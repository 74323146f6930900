"""Commands that read a matrix: query, report."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewpairs.cli.options import JsonOption, VectorsOption
from fewpairs.errors import InputError

if TYPE_CHECKING:
    from fewpairs.factored.matrix import FactoredMatrix
    from fewpairs.similarities.protocol import Similarity

MatrixFile = Annotated[Path, typer.Argument(help="A file that fewpairs approximate wrote.")]


def query(
    matrix: MatrixFile,
    item: Annotated[
        str | None, typer.Option(help="Position of an item, from 0, or its id.")
    ] = None,
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
    own: Annotated[
        str | None,
        typer.Option(
            "--similarity",
            help="Your own function as module:function, where the matrix was made with it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the items most similar to one: its position or id, the similarity, the item."""
    from fewpairs.factored.neighbors import how_many_candidates  # noqa: PLC0415
    from fewpairs.factored.storage import load, stored_similarity  # noqa: PLC0415
    from fewpairs.similarities.named import saved_similarity  # noqa: PLC0415

    if (item is None) == (text is None):
        raise InputError(
            "query needs either --item or --text.",
            "It lists the neighbours of one item.",
            "Pass for example --item 17.",
        )
    similarity = None if own is None else _imported(own, matrix)
    if own is None and (text is not None or rerank != 0):
        # The header says which similarity it was, so the matrix itself is read only once.
        fingerprint = stored_similarity(matrix)
        # Exact scores that nobody has asked for are no reason to refuse an answer.
        asked = text is not None or rerank is not None or vectors is not None
        with nullcontext() if asked else suppress(InputError, ImportError):
            similarity = saved_similarity(fingerprint, vectors)
    found = load(matrix, similarity=similarity)
    near = (
        found.nearest(_position(found, item), k, rerank=rerank)
        if item is not None
        else found.nearest(item=text, k=k, rerank=rerank)
    )
    candidates = how_many_candidates(found, k, rerank)
    everyone = found.shape[1] - (item is not None and found.source.square)
    scores = "exact" if found.source.evaluates and rerank != 0 else "approximate"
    names = found.source.items if found.source.square else found.source.others
    if as_json:
        listed = zip(near.ids, near.similarities.tolist(), near.indices.tolist(), strict=True)
        rows: list[dict[str, Any]] = [
            {"id": name, "similarity": value}
            | ({} if near.texts is None or names is None else {"text": names.take([at])[0]})
            for name, value, at in listed
        ]
        facts = {"neighbours": rows, "evaluations": near.evaluations, "scores": scores}
        facts |= {"candidates": min(candidates, everyone), "items": everyone}
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    for name, at, value in zip(near.ids, near.indices, near.similarities, strict=True):
        shown = "" if names is None else f"\t{names.take([at])[0]}"
        typer.echo(f"{name}\t{value:.4f}{shown}")
    spent = f"{near.evaluations:,} evaluation{'' if near.evaluations == 1 else 's'}"
    if scores == "exact":
        typer.echo(f"{spent}; {_looked_at(candidates, everyone)}", err=True)
        return
    # Who has not asked for the factored scores should know how to get the others.
    how = "" if rerank == 0 else "; pass --similarity (or --vectors) for exact ones"
    typer.echo(f"{spent}; scores are {scores}{how}", err=True)


def _looked_at(candidates: int, everyone: int) -> str:
    """Say how far exact scores can be trusted to be those of the nearest."""
    if candidates >= everyone:
        return f"scores are exact, of all {everyone:,} items"
    return (
        f"the best of {candidates:,} candidates among {everyone:,}, scored exactly; nearer ones "
        f"may be missed: --rerank {everyone} compares with all"
    )


def _imported(own: str, matrix: Path) -> Similarity:
    """Return a person's function again. A file names it, but is no reason to run any code."""
    from fewpairs.factored.storage import load  # noqa: PLC0415 - --help is instant
    from fewpairs.similarities.imported import imported_similarity  # noqa: PLC0415

    return imported_similarity(own, symmetric=load(matrix).symmetric)


def _position(matrix: FactoredMatrix, item: str) -> int | str:
    """Return what was typed as a position or an id; what is both is an id."""
    if matrix.ids is not None and item in map(str, matrix.ids):
        return [str(name) for name in matrix.ids].index(item)
    try:
        at = int(item)
    except ValueError:
        if matrix.ids is not None:
            return item
        at = -1
    if not 0 <= at < len(matrix):
        raise InputError(
            f"--item is {item}, and the matrix has {len(matrix)} items"
            f"{' without ids' if matrix.ids is None else ''}.",
            "Positions are counted from 0.",
            f"Pass a number from 0 to {len(matrix) - 1}.",
        )
    return at


def report(
    matrix: MatrixFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write: .html.")],
    title: Annotated[str, typer.Option(help="A heading of your own.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Write a page to look at in a browser: the error, a map of the items, their nearest."""
    from fewpairs.factored.storage import load  # noqa: PLC0415
    from fewpairs.files.writing import (  # noqa: PLC0415
        refuse_other_than_page,
        refuse_overwriting,
        refuse_unwritable,
    )

    refuse_unwritable(output)
    refuse_overwriting(output, (matrix,))
    refuse_other_than_page(output)
    load(matrix).report(output, title=title)
    if as_json:
        typer.echo(json.dumps({"output": str(output)}))
        return
    typer.echo(f"saved to {output}: open it in a browser, it needs no network")
