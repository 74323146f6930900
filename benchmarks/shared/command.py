"""The command line of every benchmark."""

from __future__ import annotations

import argparse
import atexit
import sys
import time

from fewpairs import datasets

QUICK = """\
QUICK RUN: parts of the data and few repetitions, to see that it works. What is printed is not the
published table, whatever its heading says of documents, trials and the paper's figures.
"""


class Parser(argparse.ArgumentParser):
    """What a benchmark is asked for; where that can be done it says how long it takes."""

    whole = ""

    def parse_args(self, *given, **options):
        """Parse; a quick run is called one, before anything else is printed."""
        found = super().parse_args(*given, **options)
        if sys.modules["__main__"].__doc__ == self.whole:  # not where another one imports it
            atexit.register(_say_how_long, time.perf_counter(), time.process_time())
        if found.quick:
            print(QUICK, flush=True)
        return found


def arguments(docstring: str) -> argparse.ArgumentParser:
    """A parser with `--quick`; the first line of the benchmark's docstring describes it.

    When the process ends, it says how long it took: what the docstring says of that can be mended.
    """
    parser = Parser(description=docstring.splitlines()[0])
    parser.whole = docstring
    parser.add_argument(
        "--quick", action="store_true", help="a smaller run, in a minute or two; writes nothing"
    )
    return parser


def _say_how_long(wall: float, cpu: float) -> None:
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"took {wall / 60:.1f} minutes, {cpu / 60:.1f} of a core", file=sys.stderr)


def need_data() -> None:
    """Leave with a reason where the data are not on this machine."""
    try:
        datasets.benchmark_folder()
    except datasets.DataNotFoundError as error:
        sys.exit(f"skipped: {error}")
