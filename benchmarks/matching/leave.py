"""What leave to miss some of the blind matches costs, and spares, by expectation.

A search is made once, as far as 0.997 of all matches; its order does not depend on blind pairs. So
many draws can be made at the moment at which `find_pairs` draws, with leave to miss u = 0, 1, … of
their matches, and each tells where the search would have stopped. Means of all that is evaluated
then, as ratios to 59/M and what finding 0.95 takes: what the table of stated.py has of three
runs. A search that has not stopped by 0.997 is taken to stop there; no second draw is made. Writes
docs/tables/leave-to-miss.md. Takes about ten minutes on one core.

    python -m benchmarks.matching.leave [--quick]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.shared import matching_runs
from benchmarks.shared.case_lines import OTHER_GUIDES, SEEDS
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import CASES, Case
from benchmarks.shared.matching_orders import RECALLS
from benchmarks.shared.tables import publish, table
from fewpairs.error.recall import blind_pairs, leave_to_miss

NAMES = ("sts995", "sts999", "sts634", "rte", "mrpc", "wmd")
#: Recall at which a search ends here, misses that are tried, draws of each.
END, MISSES, DRAWS = 0.997, range(5), 400


class Noted(matching_runs.Watched):
    """A run that notes what it had reached at its first draw, and what it had leave to miss."""

    at_draw: tuple[int, int, int] | None = None

    def _draw(self, search: Any, count: int, may_miss: int = 0) -> None:
        self.at_draw = self.at_draw or (len(search.labels), search.labels.found, may_miss)
        super()._draw(search, count, may_miss)


def expected(case: Case, run: Noted, finding: float, missed: int) -> float:
    """The mean ratio, with leave to miss so many."""
    matches, pairs = len(case.truth), case.pairs
    reached, found, _ = run.at_draw
    rest = pairs - reached
    drawn = blind_pairs(0.95, found, rest, missed=missed)
    steps = np.array([step for step in run.steps if step[0] >= reached])
    leave = np.array(
        [
            leave_to_miss(0.95, int(f), rest=rest, drawn=drawn, before=missed, most=40)
            for f in steps[:, 1]
        ]
    )
    rng = np.random.default_rng(0)
    totals = []
    for _ in range(DRAWS):
        # Places of the drawn ones among the matches that were not reached, in the search's order.
        met = rng.integers(0, matches - found, rng.binomial(matches - found, drawn / rest))
        unreached = (met[None] >= steps[:, 1, None] - found).sum(axis=1)
        stops = np.flatnonzero(unreached <= leave)
        depth = steps[stops[0] if len(stops) else -1, 0]
        # Blind pairs that the search has reached are paid for once.
        totals.append(depth + drawn * (pairs - depth) / rest)
    return float(np.mean(totals) / pairs / min(59 / matches + finding, 1.0))


def row(case: Case, seeds: range) -> list[str]:
    """One line of the table."""
    every, chosen, found = [], [], []
    for seed in seeds:
        run, shares = matching_runs.searched(case, seed, (*RECALLS, END), Noted)
        every.append([expected(case, run, shares[1], missed) for missed in MISSES])
        chosen.append(run.at_draw[2])
        found.append(run.at_draw[1] / len(case.truth))
    means = [f"{ratio:.2f}" for ratio in np.mean(every, axis=0)]
    taken = ", ".join(map(str, chosen))
    return [f"{case.name} ({len(case.truth):,})", f"{np.mean(found):.3f}", *means, taken]


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    rows = []
    for name in NAMES[3:5] if options.quick else NAMES:
        case = CASES[name]()
        others = () if options.quick else OTHER_GUIDES.get(name, ())
        for one in (case, *(case.guided(kind) for kind in others)):
            rows.append(row(one, SEEDS[:1] if options.quick else SEEDS))
            print(*rows[-1], sep=" | ", flush=True)
    headings = ("case (matches)", "recall at the draw", *(f"u = {u}" for u in MISSES), "chosen")
    text = (
        "Evaluations to state 0.95 as ratios to 59/M and what finding 0.95 takes, by expectation "
        f"over {DRAWS} draws for each of {len(SEEDS)} searches, if u of the blind matches may be "
        "missed at the draw (and more, where more is found); and the u that `find_pairs` chose. "
        f"Searches end at {END:g} of all matches here, and there is no second draw.\n\n"
        f"{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("leave-to-miss", text, quick=options.quick)


if __name__ == "__main__":
    main()
