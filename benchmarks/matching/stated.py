"""What `find_pairs` spends on a recall of 0.95 that it states, and what is true.

All defaults. Shares of all pairs by purpose, the true recall, the lower end of the stated one; and
how much more it is than what nobody can avoid: 59/M of all pairs to state 0.95 of M matches, plus
what it takes the same search to find 0.95 of them (finding.py). Writes
docs/tables/stated-recall.md. Lines are kept as those of finding.py are. Takes about half an hour on
one core.

    python -m benchmarks.matching.stated [--quick] [--only CASE …] [--lines FILE]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.matching.finding import OTHER_GUIDES, SEEDS
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept_lines import KeptLines, place_of
from benchmarks.shared.matching_cases import CASES, Case
from benchmarks.shared.matching_runs import kept_run, watched
from benchmarks.shared.tables import publish, table

PURPOSES = ("ranked", "landmarks", "blind", "symmetry")
HEADINGS = (
    "case (matches)",
    "59/M",
    "to find 0.95",
    "ranked + landmarks + blind",
    "in all",
    "true recall",
    "stated, from",
    "reached",
    "ratio",
    "s",
)


def summed(case: Case, run: dict[str, Any]) -> dict[str, float]:
    """One run in shares of all pairs."""
    finding, spent = run["shares"][1], run["spent"]
    everything = sum(spent.values()) / case.pairs
    return {
        **{purpose: spent[purpose] / case.pairs for purpose in PURPOSES},
        "all": everything,
        "finding": finding,
        "ratio": everything / min(59 / len(case.truth) + finding, 1.0),
        **{key: run[key] for key in ("true", "low", "value", "reached", "seconds")},
    }


def row(case: Case, runs: list[dict[str, float]]) -> list[str]:
    """One line of the table, its title aside."""
    mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    parts = " + ".join(f"{100 * mean[purpose]:.2f}" for purpose in PURPOSES[:-1])
    return [
        f"{100 * min(59 / len(case.truth), 1.0):.2f}",
        f"{100 * mean['finding']:.2f}",
        parts,
        f"{100 * mean['all']:.2f}",
        f"{mean['true']:.3f}",
        f"{mean['value']:.3f}, {mean['low']:.3f}",
        f"{sum(run['reached'] for run in runs):.0f} of {len(runs)}",
        f"{mean['ratio']:.2f}",
        f"{mean['seconds']:.0f}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=None)
    parser.add_argument(
        "--lines", type=Path, default=place_of("stated"), help="where lines are kept"
    )
    options = parser.parse_args()
    need_data()
    names = options.only or (["rte", "mrpc"] if options.quick else list(CASES))
    kept = KeptLines(None if options.quick else options.lines)
    for name in names:
        case = CASES[name]()
        kinds = () if options.quick else OTHER_GUIDES.get(name, ())
        for other in (case, *(case.guided(kind) for kind in kinds)):
            if (title := f"{other.name} ({len(other.truth):,})") in kept.lines:
                continue
            run = watched if options.quick else kept_run
            seeds = SEEDS[:1] if options.quick else SEEDS
            runs = [summed(other, run(other, seed)) for seed in seeds]
            kept.add([title, *row(other, runs)])
            print(*kept.lines[title], sep=" | ", flush=True)
    text = (
        "`find_pairs` with its defaults: shares of all pairs, in %, and recalls; means of "
        f"{len(SEEDS)} seeds. The ratio is that of all evaluations to 59/M and what finding "
        f"0.95 takes, together.\n\n{table(HEADINGS, kept.lines.values())}\n"
    )
    print("\n" + text)
    publish("stated-recall", text, quick=options.quick)


if __name__ == "__main__":
    main()
