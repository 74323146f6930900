"""Whether it pays to try (a, c) early, where a matches b and b matches c.

The search of `find_pairs` beside one that first evaluates, in every batch, the pairs that close
what was found: of one set two matches with an item in common, most in common first; of two sets
three matches in a row. Share of all pairs until the true recall is 0.9, 0.95 and 0.99, blind pairs
not counted. Lines are kept in a file, as those of finding.py are. Writes docs/tables/transitive.md.
Takes about half an hour on one core.

    python -m benchmarks.matching.transitive [--quick] [--only CASE …] [--lines FILE]
"""

from __future__ import annotations

from unittest import mock

import numpy as np
from scipy import sparse

from benchmarks.shared.case_lines import SEEDS, lines_of_cases, sizes
from benchmarks.shared.matching_cases import Case
from benchmarks.shared.matching_orders import RECALLS
from benchmarks.shared.matching_runs import searched
from benchmarks.shared.tables import publish, table
from fewpairs.numerics import contains
from fewpairs.tasks.matching import running
from fewpairs.tasks.matching.search import Search

#: Of more items one seed: a run takes minutes.
MANY = 3000
HEADINGS = ("case (matches)", "closed by matches", "`find_pairs`", "closing first", "ratio")


class Closing(Search):
    """A search that first closes what was found."""

    def step(self, size: int) -> tuple[int, int]:
        """Reach pairs that are closed by matches, then the most promising."""
        early = self._open()[:size]
        matches = 0
        if len(early):
            matches = int(self._reach(early).sum())
            self.ranked += len(early)
            if self._pool is not None:
                keys, features = self._pool
                rest = ~contains(np.sort(early), keys)
                self._pool = keys[rest], features[rest]
        if len(early) == size or not self.left:
            return len(early), matches
        reached, found = super().step(size - len(early))
        return len(early) + reached, matches + found

    def _open(self) -> np.ndarray:
        """Keys of pairs that are closed by matches and were not reached, most in common first."""
        universe = self._universe
        keys, common = closed(
            universe.places(self.labels.matches()), (universe.n, universe.m), universe.square
        )
        fresh = ~self.labels.hold(keys)
        return keys[fresh][np.argsort(-common[fresh], kind="stable")]


def closed(
    places: tuple[np.ndarray, np.ndarray], shape: tuple[int, int], square: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Keys of pairs that are closed by matches, and by how many."""
    graph = sparse.coo_array((np.ones(len(places[0])), places), shape).tocsr()
    if square:
        graph = graph + graph.T
        paths = sparse.triu(graph @ graph, 1).tocoo()
    else:
        paths = (graph @ graph.T @ graph).tocoo()
    return paths.row.astype(np.int64) * shape[1] + paths.col, paths.data


def row(case: Case, *, quick: bool) -> list[str]:
    """One line of the table, its title aside."""
    i, j = np.divmod(case.truth, case.shape[1])
    keys, common = closed((i, j), case.shape, case.others is None)
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys[order], case.truth), len(keys) - 1)]
    paths = np.where(keys[at] == case.truth, common[at], 0)
    if case.others is not None:  # there and back along a match itself is no path
        paths = paths - np.bincount(i)[i] - np.bincount(j)[j] + 1
    share = (paths > 0).mean()
    seeds = SEEDS[:1] if quick or min(case.shape) >= MANY else SEEDS
    plain = np.mean([searched(case, seed, RECALLS)[1] for seed in seeds], axis=0)
    with mock.patch.object(running, "Search", Closing):
        closing = np.mean([searched(case, seed, RECALLS)[1] for seed in seeds], axis=0)
    shares = [" / ".join(f"{100 * x:.2g}" for x in way) for way in (plain, closing)]
    return [f"{share:.2f}", *shares, " / ".join(f"{x:.2f}" for x in closing / plain)]


def main() -> None:
    lines, quick = lines_of_cases(__doc__, "transitive", row)
    recalls = " / ".join(f"{recall:g}" for recall in RECALLS)
    text = (
        f"Share of all pairs, in %, until the true recall is {recalls}: the search of "
        "`find_pairs`, and one that first evaluates the pairs which close matches that were found "
        "(a with c, where a matches b and b matches c; of two sets along three matches). Means of "
        f"{len(SEEDS)} seeds, of {MANY:,} items or more one. First, what share of all matches is "
        f"closed by others at all. {sizes(line[0] for line in lines)}\n\n"
        f"{table(HEADINGS, lines)}\n"
    )
    print("\n" + text)
    publish("transitive", text, quick=quick)


if __name__ == "__main__":
    main()
