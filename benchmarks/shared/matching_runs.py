"""Whole runs of the search of `find_pairs`, watched: what it finds, states and spends."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.kept import Kept
from benchmarks.shared.matching_cases import Case
from benchmarks.shared.matching_orders import RECALLS
from fewpairs.guides.guides import as_guides
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.running import Run
from fewpairs.tasks.matching.search import Search
from fewpairs.tasks.matching.steering import Steering
from fewpairs.tasks.matching.symmetry import unlimited
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Runs that were made; those of other code are made anew.
KEPT = Path(tempfile.gettempdir()) / "fewpairs-watched-runs.jsonl"


class Watched(Run):
    """A run that notes what `find_pairs` would return, and then searches on.

    Parameters
    ----------
    most : int
        Matches after which it ends.
    args : as for `Run`
    """

    def __init__(self, most: int, *args: Any) -> None:
        super().__init__(*args)
        self._most = most
        self._start = time.perf_counter()
        #: Pairs that the search has reached, and matches among them, after each step.
        self.steps = [(0, 0)]
        self.returned: dict[str, Any] | None = None

    def _is_settled(self, search: Search, steering: Steering) -> bool:
        self.steps.append((len(search.labels), search.labels.found))
        if self.returned is None and super()._is_settled(search, steering):
            self.note(search)
        return self.returned is not None and search.labels.found >= self._most

    def note(self, search: Search) -> None:
        """Note what is stated now."""
        stated, keys = self._stated(search)
        self.returned = {
            "spent": dict(self.spent),
            "found": len(keys),
            "value": stated.value,
            "low": stated.low,
            "reached": stated.reached,
            "seconds": time.perf_counter() - self._start,
        }

    def _stated(self, search: Search) -> Any:
        self.last = search
        return super()._stated(search)


def watched(case: Case, seed: int) -> dict[str, Any]:
    """What `find_pairs` returns with its defaults, and how many pairs each recall has taken.

    For the latter, blind pairs count only where the search reaches them, and within a batch matches
    are taken to be spread evenly.
    """
    run, shares = searched(case, seed, RECALLS)
    true = run.returned["found"] / len(case.truth)
    return {**run.returned, "true": true, "shares": shares}


def searched(
    case: Case, seed: int, recalls: tuple[float, ...], kind: type[Watched] = Watched
) -> tuple[Watched, list[float]]:
    """Search until the last of some recalls; return the run, and what share each has taken."""
    oracle = Oracle(case.items, case.similarity, others=case.others)
    universe = Universe(*oracle.shape, square=oracle.square, symmetric=oracle.symmetric)
    others = None if case.others is None else oracle.others
    guides = as_guides(case.guide, oracle.items, others, oracle.similarity)
    rng = oracle.generator(seed)
    wanted = [int(np.ceil(recall * len(case.truth))) for recall in recalls]
    threshold = Threshold(case.above, above=True)
    run = kind(wanted[-1], oracle, universe, threshold, unlimited(universe), 0.95, rng)
    with oracle.run(universe.size, rng):
        run.carry_out(guides)
    run.steps.append((len(run.last.labels), run.last.labels.found))
    if run.returned is None:
        run.note(run.last)
    return run, [until(count, np.array(run.steps)) / universe.size for count in wanted]


def until(count: int, steps: np.ndarray) -> float:
    """Pairs that were reached when there were so many matches, of steps as `Watched` has them."""
    k = min(int(np.searchsorted(steps[:, 1], count)), len(steps) - 1)
    (pairs, found), (after, more) = steps[max(k - 1, 0)], steps[k]
    return float(pairs + (after - pairs) * min((count - found) / max(more - found, 1), 1.0))


def kept_run(case: Case, seed: int) -> dict[str, Any]:
    """The same, from the file if this code has made it before: two tables read these runs."""
    kept, name = Kept(KEPT), f"{case.name}, seed {seed}"
    if name not in kept:
        kept.add(name, watched(case, seed))
    return kept[name]
