"""How often the stated recall holds the true one, over whole runs of `find_pairs`.

With good, poor and useless guides, a small budget, one set, two sets and an asymmetric similarity:
the share of runs whose 95 % interval holds the true recall, how often the recall that was asked for
is claimed, and how often falsely. A case fails where the 99 % upper bound of its coverage is below
0.95. Every run is noted in a file, and a run that was stopped goes on where it ended: remove the
file to begin anew. Writes docs/tables/recall-coverage.md. Takes about an hour on one core.

    python -m benchmarks.matching.recall_coverage [--quick] [--runs N] [--counts FILE]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.shared import matching_cases as made
from benchmarks.shared.recall_runs import Run, noted, noted_runs, options_of, summed, written
from benchmarks.shared.tables import publish


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


def one_run(case: made.Case, seed: int, options: dict[str, Any]) -> Run:
    """What a run states, and what is true."""
    start = time.perf_counter()
    found = case.find(seed, **options)
    return noted(
        found.recall,
        case.recall(found),
        items=case.shape[0],
        matches=len(case.truth),
        spent=found.evaluations / case.pairs,
        blind=found.spent["blind"] / case.pairs,
        seconds=time.perf_counter() - start,
    )


def main() -> None:
    options = options_of(__doc__, "recall-coverage")
    cases = {name: make() for name, (make, _) in RUNS.items()}
    every = noted_runs(options, RUNS, lambda name, seed: one_run(cases[name], seed, RUNS[name][1]))
    rows = [
        [name, f"{runs[0]['items']}", f"{runs[0]['matches']:,}", *summed(runs)]
        for name, runs in every.items()
    ]
    caption = (
        "Whole runs of `find_pairs` with its defaults, which asks for a recall of 0.95: share of "
        "runs whose 95 % interval holds the true recall, and how often 0.95 is claimed, and "
        "falsely. What was evaluated, and what of it blindly, is a share of all pairs of two "
        "items, and so is a budget. Of the 5 % outside 4.5 are meant for truths below the interval."
    )
    text = written(caption, ("case", "items", "matches"), rows)
    print("\n" + text)
    publish("recall-coverage", text, quick=options.quick)


if __name__ == "__main__":
    main()
