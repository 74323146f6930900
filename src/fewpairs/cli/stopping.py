"""Ctrl-C: the command writes what was evaluated beside the output, and goes on from there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle

#: What the shell's own commands return after Ctrl-C.
STOPPED = 130


def partial_of(output: Path) -> Path:
    """Return where evaluations are kept when a run for this output is stopped."""
    return output.with_name(output.name + ".partial")


@contextmanager
def kept_on_ctrl_c(oracle: Oracle, output: Path, vectors: Path | None) -> Iterator[None]:
    """Look up what a stopped run has evaluated; on Ctrl-C, keep what this one has.

    Parameters
    ----------
    oracle : Oracle
        Not used yet.
    output : Path
        The file that is made within this context; once it is there, nothing else is kept.
    vectors : Path or None
        A file on which the similarity depends.
    """
    from fewpairs.oracle.keeping import keep, restore  # noqa: PLC0415 - --help is instant

    partial = partial_of(output)
    inputs = {} if vectors is None else {"vectors": _checksum(vectors)}
    if partial.exists():
        restore(oracle, partial, inputs)
        typer.echo(f"fewpairs: going on with {_kept(oracle)} in {partial}", err=True)
    try:
        yield
    except KeyboardInterrupt:
        where = "there is nothing to keep."
        if keep(oracle, partial, inputs):
            where = f"they are kept in {partial}. The same command goes on from there."
        typer.echo(f"fewpairs: stopped after {_kept(oracle)}; {where}", err=True)
        raise typer.Exit(STOPPED) from None
    partial.unlink(missing_ok=True)


def _kept(oracle: Oracle) -> str:
    return f"{oracle.evaluations:,} evaluations"


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
