"""The command that trains word vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fewpairs.cli.options import ColumnOption, JobsOption, JsonOption, TextsFile
from fewpairs.items.readers import stream_texts


def vectors(
    texts: TextsFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help=".npz, or .txt for word2vec's text format.")
    ],
    column: ColumnOption = None,
    dimensions: Annotated[int, typer.Option(help="Length of a vector.")] = 100,
    method: Annotated[str, typer.Option(help="build-up, divide or eigs.")] = "build-up",
    window: Annotated[int, typer.Option(help="Tokens that count as near.")] = 10,
    min_count: Annotated[int, typer.Option(help="Occurrences that a word needs.")] = 5,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Train word vectors on the texts in a file, by distance geometry, and save them."""
    from fewpairs.files.writing import (  # noqa: PLC0415 - --help is instant
        refuse_overwriting,
        refuse_unwritable,
    )
    from fewpairs.text.training import train_word_vectors  # noqa: PLC0415
    from fewpairs.text.vector_files import writer_for  # noqa: PLC0415

    writer_for(output)
    refuse_unwritable(output)  # before hours of training
    refuse_overwriting(output, (texts,))
    trained = train_word_vectors(
        stream_texts(texts, column),
        dimensions,
        method,
        window=window,
        min_count=min_count,
        n_jobs=jobs,
    )
    trained.save(output)
    if as_json:
        facts = {"words": len(trained), "dimensions": trained.dimensions, "output": str(output)}
        typer.echo(json.dumps(facts))
        return
    typer.echo(f"{trained!r}\nsaved to {output}")
