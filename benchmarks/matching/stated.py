"""What `find_pairs` spends on a recall of 0.95 that it states, and what is true.

All defaults. Shares of all pairs by purpose, the true recall, the lower end of the stated one; and
how much more it is than what nobody can avoid: 59/M of all pairs to state 0.95 of M matches, plus
what it takes the same search to find 0.95 of them (finding.py). Writes
docs/tables/stated-recall.md. Lines are kept as those of finding.py are. Takes about half an hour on
one core.

    python -m benchmarks.matching.stated [--quick] [--only CASE …] [--lines FILE]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.shared.case_lines import SEEDS, lines_of_cases, sizes
from benchmarks.shared.matching_cases import Case
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


def row(case: Case, *, quick: bool) -> list[str]:
    """One line of the table, its title aside."""
    made = watched if quick else kept_run
    runs = [summed(case, made(case, seed)) for seed in (SEEDS[:1] if quick else SEEDS)]
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


def caption(titles: Iterable[str]) -> str:
    """What the table shows."""
    return (
        "`find_pairs` with its defaults: shares of all pairs, in %, and recalls; means of "
        f"{len(SEEDS)} seeds. What was stated: the value, and the lower end; 0.95 is reached where "
        "that is at least 0.95. The ratio is that of all evaluations to 59/M and what finding "
        "0.95 takes, together: below 1 where fewer blind pairs do, as with few matches. Seconds "
        f"are wall time, on a machine with other work. {sizes(titles)}"
    )


def main() -> None:
    lines, quick = lines_of_cases(__doc__, "stated", row)
    text = f"{caption(line[0] for line in lines)}\n\n{table(HEADINGS, lines)}\n"
    print("\n" + text)
    publish("stated-recall", text, quick=quick)


if __name__ == "__main__":
    main()
