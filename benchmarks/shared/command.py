"""The command line of every benchmark."""

from __future__ import annotations

import argparse
import sys

from fewpairs import datasets


def arguments(docstring: str) -> argparse.ArgumentParser:
    """A parser with `--quick`; the first line of the benchmark's docstring describes it."""
    parser = argparse.ArgumentParser(description=docstring.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a smaller run, in a minute or two; writes nothing"
    )
    return parser


def need_data() -> None:
    """Leave with a reason where the data are not on this machine."""
    try:
        datasets.benchmark_folder()
    except datasets.DataNotFoundError as error:
        sys.exit(f"skipped: {error}")
