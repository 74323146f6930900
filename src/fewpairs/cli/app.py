"""The command ``fewpairs`` itself: which commands it has, and how a fault is told."""

from __future__ import annotations

import typer

from fewpairs.cli.matrices import approximate, plan, query
from fewpairs.cli.words import vectors
from fewpairs.errors import FewpairsError


def demo() -> None:
    """Show fewpairs on texts that are already on this machine, in under a minute."""
    from fewpairs.demo import run_demo  # noqa: PLC0415 - --help is instant

    run_demo()


app = typer.Typer(
    help="The whole similarity matrix from a few pairs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
for command in (demo, plan, approximate, query, vectors):
    app.command()(command)


def main() -> None:
    """Run the command; a fault that a user can mend is one message, not a traceback."""
    try:
        app()
    except (FewpairsError, OSError) as error:
        typer.echo(f"fewpairs: {error}", err=True)
        raise SystemExit(2) from None
