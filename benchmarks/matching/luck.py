"""How much of what a statement costs is luck: some lines of stated.py, with twelve seeds.

Where a search stops depends on the last few of the blind matches, so that three seeds say little of
what is usual: of all lines that are above 1.4 there, and of three others. The ratio is that of
stated.py: all evaluations to 59/M and what finding 0.95 takes. Runs are kept as those of stated.py
are. Writes docs/tables/stated-luck.md. Takes about half an hour on one core.

    python -m benchmarks.matching.luck [--quick]
"""

from __future__ import annotations

import numpy as np

from benchmarks.matching.stated import summed
from benchmarks.shared.case_lines import title_of
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import CASES, Case
from benchmarks.shared.matching_runs import kept_run, watched
from benchmarks.shared.tables import publish, table

#: Cases, and with which guide: their own, or another.
LINES = (
    ("sts995", None),
    ("sts634", None),
    ("sts634", "none"),
    ("sts634", "noise"),
    ("rte", None),
    ("wmd", None),
    ("amazon2", None),
    ("mrpc", None),
)
RUNS = 12
HEADINGS = (
    "case (matches)",
    "ratio",
    "from",
    "to",
    "of the first three",
    "true recall",
    "least",
    "0.95 stated",
    "falsely",
)


def row(case: Case, *, quick: bool) -> list[str]:
    """One line of the table."""
    made = watched if quick else kept_run
    runs = [summed(case, made(case, seed)) for seed in range(2 if quick else RUNS)]
    ratios, true = (np.array([run[key] for run in runs]) for key in ("ratio", "true"))
    error = ratios.std(ddof=1) / len(ratios) ** 0.5
    stated = [run for run in runs if run["reached"]]
    return [
        title_of(case),
        f"{ratios.mean():.2f} ± {error:.2f}",
        f"{ratios.min():.2f}",
        f"{ratios.max():.2f}",
        f"{ratios[:3].mean():.2f}",
        f"{true.mean():.3f}",
        f"{true.min():.3f}",
        f"{len(stated)} of {len(runs)}",
        f"{sum(run['true'] < 0.95 for run in stated)}",
    ]


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    rows = []
    for name, guide in LINES[-1:] if options.quick else LINES:
        case = CASES[name]() if guide is None else CASES[name]().guided(guide)
        rows.append(row(case, quick=options.quick))
        print(*rows[-1], sep=" | ", flush=True)
    text = (
        "All evaluations of `find_pairs` with its defaults as a ratio to 59/M and what finding "
        f"0.95 takes, together: mean of {RUNS} seeds with its standard error, the least and the "
        "largest, and the mean of the first three, which the table of stated recalls has. Then the "
        "true recall, mean and least, and how often 0.95 was stated, and stated falsely.\n\n"
        f"{table(HEADINGS, rows)}\n"
    )
    print("\n" + text)
    publish("stated-luck", text, quick=options.quick)


if __name__ == "__main__":
    main()
