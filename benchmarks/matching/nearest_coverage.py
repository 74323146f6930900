"""How often the recall that `find_nearest` states holds the true one, over whole runs.

The ten nearest of sentences under cross-encoders and of names of places: with guides, without one
and with one of noise, with a budget and without, one set, two sets and an asymmetric similarity.
The share of runs whose 95 % interval holds the true recall, how often 0.95 is claimed, and how
often falsely. Runs are noted as those of recall_coverage.py are. Writes
docs/tables/nearest-coverage.md. Takes about half an hour on one core.

    python -m benchmarks.matching.nearest_coverage [--quick] [--runs N] [--counts FILE]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared import matching_cases as made
from benchmarks.shared.recall_runs import Run, noted, noted_runs, options_of, summed, written
from benchmarks.shared.tables import publish

K = 10
#: Rounding of scores that are as near as the last neighbour, in single precision.
_SLACK = 1e-6

#: Each case, and the options of its runs.
RUNS: dict[str, tuple[Callable[[], made.Case], dict[str, Any]]] = {
    "RTE": (made.rte, {}),
    "RTE, budget 10 %": (made.rte, {"budget": 0.1}),
    "RTE, budget 30 %": (made.rte, {"budget": 0.3}),
    "RTE, no guide, budget 30 %": (lambda: made.rte().guided("none"), {"budget": 0.3}),
    "MRPC, budget 20 %": (made.mrpc, {"budget": 0.2}),
    "MRPC, budget 50 %": (made.mrpc, {"budget": 0.5}),
    "STS-B": (made.sts_b_small, {}),
    "STS-B, budget 20 %": (made.sts_b_small, {"budget": 0.2}),
    "STS-B, guide of noise, budget 30 %": (
        lambda: made.sts_b_small().guided("noise"),
        {"budget": 0.3},
    ),
    "STS-B, both orders, budget 20 %": (made.asymmetric, {"budget": 0.2}),
    "places": (lambda: made.places(600), {}),
    "places, budget 10 %": (lambda: made.places(600), {"budget": 0.1}),
    "places, two sets, budget 20 %": (lambda: made.two_sets_of_places(400), {"budget": 0.2}),
}


class Task:
    """A case of which the true neighbours are known.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case: made.Case) -> None:
        self.case = case
        values = np.array(case.values, dtype=np.float64)
        if case.others is None:
            np.fill_diagonal(values, -np.inf)
        #: As similar as the last of each item's neighbours; among equals any will do.
        self.least = np.partition(values, -K, axis=1)[:, -K] - _SLACK

    def run(self, seed: int, options: dict[str, Any]) -> Run:
        """What a run states, and what is true."""
        case, start = self.case, time.perf_counter()
        found = fp.find_nearest(
            case.items,
            case.similarity,
            k=K,
            guide=case.guide,
            others=case.others,
            random_state=seed,
            **options,
        )
        return noted(
            found.recall,
            float((found.similarities >= self.least[found.left]).sum()) / (K * len(self.least)),
            items=case.shape[0],
            spent=found.evaluations / case.pairs,
            blind=found.spent["blind"] / case.pairs,
            seconds=time.perf_counter() - start,
        )


def main() -> None:
    options = options_of(__doc__, "nearest-coverage")
    tasks = {name: Task(make()) for name, (make, _) in RUNS.items()}
    every = noted_runs(options, RUNS, lambda name, seed: tasks[name].run(seed, RUNS[name][1]))
    rows = [[name, f"{runs[0]['items']}", *summed(runs)] for name, runs in every.items()]
    caption = (
        f"Whole runs of `find_nearest` for the {K} nearest of every item, which asks for a recall "
        "of 0.95: share of runs whose 95 % interval holds the true recall, and how often 0.95 is "
        "claimed, and falsely. What was evaluated, and what of it in the rows that judge, is a "
        "share of all pairs, and so is a budget."
    )
    text = written(caption, ("case", "items"), rows)
    print("\n" + text)
    publish("nearest-coverage", text, quick=options.quick)


if __name__ == "__main__":
    main()
