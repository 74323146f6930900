"""How often the stated recall holds the true one, over whole runs of `find_pairs`.

With good, poor and useless guides, a small budget, one set, two sets and an asymmetric similarity:
the share of runs whose 95 % interval holds the true recall, how often the recall that was asked for
is claimed, and how often falsely. A case fails where the 99 % upper bound of its coverage is below
0.95. Every run is noted in a file, and a run that was stopped goes on where it ended: remove the
file to begin anew. Writes docs/tables/recall-coverage.md. Takes about an hour on one core.

    python -m benchmarks.matching.recall_coverage [--quick] [--runs N] [--counts FILE]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.coverage import upper_bound
from benchmarks.shared import matching_cases as made
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table


def rte() -> made.Case:
    """Small, so that many runs take an hour: what is tested does not depend on the size."""
    return made.rte().some(140, 0.04)


def sts_b() -> made.Case:
    return made.sts_b_small().some(140, 0.04)


#: Each case, and the options of its runs.
RUNS: dict[str, tuple[Callable[[], made.Case], dict[str, Any]]] = {
    "RTE": (rte, {}),
    "RTE, budget 6 %": (rte, {"budget": 0.06}),
    "RTE, budget 25 %": (rte, {"budget": 0.25}),
    "RTE, no guide": (lambda: rte().guided("none"), {}),
    "STS-B": (sts_b, {}),
    "STS-B, no guide": (lambda: sts_b().guided("none"), {}),
    "STS-B, guide of noise": (lambda: sts_b().guided("noise"), {}),
    "STS-B, 30 % of the guide noise": (lambda: sts_b().guided("spoilt"), {}),
    "STS-B, both orders": (lambda: made.asymmetric().some(140, 0.04), {}),
    "MRPC": (lambda: made.mrpc().some(140, 0.04), {}),
    "places": (lambda: made.places(200), {}),
    "places, two sets": (lambda: made.two_sets_of_places(150), {}),
}
HEADINGS = (
    "case",
    "items",
    "matches",
    "runs",
    "evaluated",
    "of it blind",
    "true recall (least)",
    "mean statement",
    "holds",
    "claimed",
    "falsely",
)


def one_run(case: made.Case, seed: int, options: dict[str, Any]) -> dict[str, float]:
    """What a run states, and what is true."""
    start = time.perf_counter()
    found = case.find(seed, **options)
    stated = found.recall
    return {
        "items": case.shape[0],
        "matches": len(case.truth),
        "true": case.recall(found),
        "value": stated.value,
        "low": stated.low,
        "high": stated.high,
        "reached": stated.reached,
        "spent": found.evaluations / case.pairs,
        "blind": found.spent["blind"] / case.pairs,
        "seconds": time.perf_counter() - start,
    }


def row(name: str, runs: list[dict[str, float]]) -> list[str]:
    """One line of the table."""
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    held = sum(holds(run) for run in runs)
    fails = " fails" if upper_bound(held, len(runs)) < 0.95 else ""
    false = np.mean([run["reached"] and run["true"] < 0.95 for run in runs])
    return [
        name,
        f"{runs[0]['items']}",
        f"{runs[0]['matches']:,}",
        f"{len(runs)}",
        f"{100 * mean['spent']:.1f} %",
        f"{100 * mean['blind']:.1f} %",
        f"{mean['true']:.3f} ({min(run['true'] for run in runs):.3f})",
        f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]",
        f"{held / len(runs):.3f}{fails}",
        f"{mean['reached']:.2f}",
        f"{false:.3f}",
    ]


def holds(run: dict[str, float]) -> bool:
    """Whether the truth lies in the stated interval."""
    return run["low"] <= run["true"] + 1e-12 and run["true"] <= run["high"] + 1e-12


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=None, help="of each case; default 200")
    counts = Path(tempfile.gettempdir()) / "fewpairs-recall-coverage.jsonl"
    parser.add_argument("--counts", type=Path, default=counts, help="where runs are noted")
    options = parser.parse_args()
    need_data()
    count = options.runs or (2 if options.quick else 200)
    noted: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    if options.counts.exists() and not options.quick:
        for line in options.counts.read_text(encoding="utf-8").splitlines():
            name, seed, run = json.loads(line)
            noted[name][seed] = run
    cases = {name: make() for name, (make, _) in RUNS.items()}
    for seed in range(count):
        for name, case in cases.items():
            if seed in noted[name]:
                continue
            noted[name][seed] = one_run(case, seed, RUNS[name][1])
            if not options.quick:
                with options.counts.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, seed, noted[name][seed]]) + "\n")
        if seed % 10 == 9:
            print(f"{seed + 1} runs of each case", flush=True)
    rows = [row(name, list(runs.values())) for name, runs in noted.items() if name in RUNS]
    failed = sum("fails" in r[8] for r in rows)
    text = (
        "Whole runs of `find_pairs` with its defaults, which asks for a recall of 0.95: share of "
        "runs whose 95 % interval holds the true recall, and how often 0.95 is claimed, and "
        "falsely. Of the 5 % outside 4.5 are meant for truths below the interval. A case fails "
        "where the 99 % upper bound of its coverage is below 0.95: "
        f"{failed} of {len(rows)} do.\n\n{table(HEADINGS, rows)}\n"
    )
    print("\n" + text)
    publish("recall-coverage", text, quick=options.quick)


if __name__ == "__main__":
    main()
