"""Commands that look after a journal: inspect, verify, compact, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fewpairs.cli.options import ColumnOption, JsonOption

# NumPy takes a while to load, so each command imports what it needs: --help is instant.

journal = typer.Typer(
    help="Look after a journal: the folder that --journal names.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FolderArgument = Annotated[Path, typer.Argument(help="The folder of the journal.")]


@journal.command()
def inspect(folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Say what a journal holds."""
    from fewpairs.oracle.journal.upkeep import existing, holdings  # noqa: PLC0415 - --help

    found = list(holdings(existing(folder)))
    if as_json:
        names = ("identity", "values", "items", "blocks", "damaged", "bytes", "bad")
        typer.echo(json.dumps([{name: getattr(held, name) for name in names} for held in found]))
        return
    for held in found:
        damaged = f", {held.damaged:,} of them damaged" if held.damaged else ""
        bad = f", {held.bad:,} damaged files set aside" if held.bad else ""
        files = "1 file" if held.blocks == 1 else f"{held.blocks:,} files"
        typer.echo(
            f"{held.identity}\n  {held.values:,} values of {held.items:,} items in "
            f"{files}{damaged}, {held.bytes:,} bytes{bad}"
        )
    if not found:
        typer.echo("nothing was evaluated yet")


@journal.command()
def verify(folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Read everything, and name the files that are damaged."""
    from fewpairs.oracle.journal.upkeep import existing, faults, holdings  # noqa: PLC0415 - --help

    there = existing(folder)
    found = list(faults(there))
    values = sum(held.values for held in holdings(there))
    if as_json:
        damaged = [{"file": str(path), "fault": what} for path, what in found]
        typer.echo(json.dumps({"values": values, "damaged": damaged}))
        raise typer.Exit(bool(found))
    for path, what in found:
        typer.echo(f"{path}: {what}", err=True)
    if found:
        typer.echo(f"{len(found):,} files are damaged; the next run sets them aside", err=True)
        raise typer.Exit(1)
    typer.echo(f"{values:,} values, all as they were written")


@journal.command()
def compact(
    folder: FolderArgument,
    wait: Annotated[float, typer.Option(help="Seconds to wait for another writer.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Write many small files as few large ones."""
    from fewpairs.oracle.journal.upkeep import compact as make_few  # noqa: PLC0415 - --help
    from fewpairs.oracle.journal.upkeep import existing  # noqa: PLC0415

    before, after = make_few(existing(folder), wait)
    facts = {"files_before": before, "files": after}
    typer.echo(json.dumps(facts) if as_json else f"{before:,} files became {after:,}")


@journal.command()
def export(
    folder: FolderArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .csv, .tsv, .jsonl, .parquet.")
    ],
    items: Annotated[
        Path | None,
        typer.Option(help="Items, to be written in place of their keys; others are left out."),
    ] = None,
    column: ColumnOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write all values to a table: similarity, left, right, value."""
    import numpy as np  # noqa: PLC0415 - --help is instant

    from fewpairs.files.tables import check_table_path, write_table  # noqa: PLC0415
    from fewpairs.files.writing import refuse_overwriting  # noqa: PLC0415
    from fewpairs.oracle.journal.upkeep import existing, values_of  # noqa: PLC0415

    there = existing(folder)
    check_table_path(output)
    refuse_overwriting(output, [items])
    names = None if items is None else _names(items, column)
    bad: list[Path] = []
    table: dict[str, list[Any]] = {"similarity": [], "left": [], "right": [], "value": []}
    others = 0
    for shelf in there.shelves():
        for keys, i, j, values in values_of(shelf, bad):
            found = [_key(key) for key in keys]
            named = np.array([names is None or key in names for key in found])
            called = found if names is None else [names.get(key) for key in found]
            wanted = named[i] & named[j]
            table["similarity"] += [shelf.identity] * int(wanted.sum())
            table["left"] += [called[k] for k in i[wanted].tolist()]
            table["right"] += [called[k] for k in j[wanted].tolist()]
            table["value"] += values[wanted].tolist()
            others += int((~wanted).sum())
    write_table(output, table)
    count = len(table["value"])
    if as_json:
        told = {"values": count, "left_out": others, "damaged": [str(path) for path in bad]}
        typer.echo(json.dumps({**told, "output": str(output)}))
        raise typer.Exit(bool(bad))
    typer.echo(f"{count:,} values\nsaved to {output}")
    if others:
        typer.echo(f"{others:,} values of items that are not in {items} were left out", err=True)
    if bad:
        first = ", ".join(map(str, bad[:3]))
        typer.echo(f"{len(bad):,} files are damaged and were left out: {first}", err=True)
        raise typer.Exit(1)


def _key(key: bytes) -> str:
    from fewpairs.items.keys import SIZE  # noqa: PLC0415 - --help is instant

    return key.ljust(SIZE, b"\0").hex()  # NumPy cuts off the zeros at its end


def _names(path: Path, column: str | None) -> dict[str, Any]:
    """Return the items of a file by their keys."""
    from fewpairs.items.items import as_items  # noqa: PLC0415 - --help is instant
    from fewpairs.items.keys import item_keys  # noqa: PLC0415
    from fewpairs.items.readers import read_items  # noqa: PLC0415

    items = as_items(read_items(path, column))
    keys = (_key(key) for key in item_keys(items))
    return {key: item for key, item in zip(keys, items, strict=True)}  # noqa: C416 - types
