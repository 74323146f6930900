"""The command ``fewpairs`` itself: which commands it has, and how a fault is told."""

from __future__ import annotations

import sys
import warnings
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fewpairs import __version__
from fewpairs.cli.examples import epilog
from fewpairs.cli.grouping import cluster, dedupe
from fewpairs.cli.journal import journal
from fewpairs.cli.matching import match, neighbors
from fewpairs.cli.matrices import approximate, inspect, plan
from fewpairs.cli.messages import for_typing, told
from fewpairs.cli.reading import query, report
from fewpairs.cli.words import vectors
from fewpairs.errors import FewpairsError


def demo(
    report: Annotated[
        Path, typer.Option(help="The page that is written at the end: .html.")
    ] = Path("fewpairs-demo.html"),
) -> None:
    """Show fewpairs on texts that are already on this machine, in under a minute."""
    from fewpairs.demo import run_demo  # noqa: PLC0415 - --help is instant

    run_demo(report=report)
    # Nobody is there to answer where either end is no terminal.
    if sys.stdin.isatty() and sys.stdout.isatty() and typer.confirm(f"Open {report}?", True):
        webbrowser.open(report.resolve().as_uri())


app = typer.Typer(
    help="The whole similarity matrix from a few pairs. Begin with: fewpairs demo",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _first(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"fewpairs {__version__}")
        raise typer.Exit


_ON_TABLES = (match, dedupe, cluster, neighbors)
_ON_MATRICES = (inspect, plan, approximate, query, report)
for command in (demo, *_ON_TABLES, *_ON_MATRICES, vectors):
    app.command(epilog=epilog(command.__name__))(command)
app.add_typer(journal, name="journal")


def main() -> None:
    """Run the command; a fault that a user can mend is one message, not a traceback."""
    with warnings.catch_warnings():
        # A person who types has no line of code that a warning could name.
        warnings.showwarning = lambda message, *_: typer.echo(
            f"fewpairs: warning: {for_typing(str(message))}", err=True
        )
        try:
            app()
        except (FewpairsError, OSError) as error:
            typer.echo(f"fewpairs: {told(error)}", err=True)
            raise SystemExit(2) from None
