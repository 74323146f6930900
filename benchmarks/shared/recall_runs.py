"""Whole runs that each state a recall: noted in a file, and summed up in a line of a table."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.coverage import upper_bound
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import table
from fewpairs.error.recall import Recall

#: What `summed` returns.
HEADINGS = (
    "runs",
    "evaluated",
    "of it blind",
    "true recall (least)",
    "mean statement",
    "holds",
    "claimed",
    "falsely",
)
#: Of which recall a claim is judged: the default that is asked for.
ASKED_FOR = 0.95
#: Runs of each case.
RUNS = 200

Run = dict[str, float]


def options_of(docstring: str, name: str) -> argparse.Namespace:
    """Read the command line: `--quick`, `--runs` and `--counts`."""
    parser = arguments(docstring)
    parser.add_argument("--runs", type=int, default=None, help=f"of each case; default {RUNS}")
    counts = Path(tempfile.gettempdir()) / f"fewpairs-{name}.jsonl"
    parser.add_argument("--counts", type=Path, default=counts, help="where runs are noted")
    options = parser.parse_args()
    need_data()
    options.runs = options.runs or (2 if options.quick else RUNS)
    return options


def noted_runs(
    options: argparse.Namespace, names: Iterable[str], run: Callable[[str, int], Run]
) -> dict[str, list[Run]]:
    """Make all runs but those that are noted in the file; a quick one neither reads nor writes it.

    Parameters
    ----------
    options : as `options_of` returns them
    names : iterable of str
        Of the cases.
    run : callable
        Makes the run of a case with a seed.
    """
    noted: dict[str, dict[int, Run]] = defaultdict(dict)
    if options.counts.exists() and not options.quick:
        for line in options.counts.read_text(encoding="utf-8").splitlines():
            name, seed, made = json.loads(line)
            noted[name][seed] = made
    every = list(names)
    for seed in range(options.runs):
        for name in every:
            if seed in noted[name]:
                continue
            noted[name][seed] = run(name, seed)
            if not options.quick:
                with options.counts.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, seed, noted[name][seed]]) + "\n")
        if seed % 10 == 9:
            print(f"{seed + 1} runs of each case", flush=True)
    return {name: list(noted[name].values()) for name in every}


def noted(stated: Recall, true: float, **more: Any) -> Run:
    """What a run states, what is true, and more numbers."""
    return {
        "true": true,
        "value": stated.value,
        "low": stated.low,
        "high": stated.high,
        "reached": stated.reached,
        **more,
    }


def summed(runs: list[Run]) -> list[str]:
    """A line of the table, its title aside."""
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    held = sum(holds(run) for run in runs)
    fails = " fails" if upper_bound(held, len(runs)) < 0.95 else ""
    false = np.mean([run["reached"] and run["true"] < ASKED_FOR for run in runs])
    return [
        f"{len(runs)}",
        f"{100 * mean['spent']:.1f} %",
        f"{100 * mean['blind']:.1f} %",
        f"{mean['true']:.3f} ({min(run['true'] for run in runs):.3f})",
        f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]",
        f"{held / len(runs):.3f}{fails}",
        f"{mean['reached']:.2f}",
        f"{false:.3f}",
    ]


def holds(run: Run) -> bool:
    """Whether the truth lies in the stated interval."""
    return run["low"] <= run["true"] + 1e-12 and run["true"] <= run["high"] + 1e-12


def written(caption: str, headings: Sequence[str], rows: list[list[str]]) -> str:
    """Return the caption, with how many cases fail, and the table."""
    failed = sum(any("fails" in cell for cell in row) for row in rows)
    return (
        f"{caption} A case fails where the 99 % upper bound of its coverage is below 0.95: "
        f"{failed} of {len(rows)} do.\n\n{table((*headings, *HEADINGS), rows)}\n"
    )
