"""A forest of random splits: each row's neighbours among the rows of a few small leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.candidates.rows import GROUP, largest_of_rows

#: Rows that are compared all with all, and how often the rows are split anew.
_LEAF, _TREES = 512, 4
#: Below every product of unit vectors.
_NOTHING = -2.0


def neighbors(profiles, count, rng):
    """Return the places of each row's neighbours, best first; -1 where there are fewer."""
    near = Neighbours.none(len(profiles), count)
    for _ in range(_TREES):
        for leaf in leaves(profiles, np.arange(len(profiles)), rng):
            near.improve(profiles, leaf)
    order = np.argsort(-near.scores, axis=1, kind="stable")
    return np.take_along_axis(near.places, order, axis=1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The best neighbours of each item found so far; a place that is still empty holds -1."""

    places: np.ndarray
    scores: np.ndarray

    @classmethod
    def none(cls, n, per_item):
        """All places are empty."""
        return cls(
            np.full((n, per_item), -1, dtype=np.int32),
            np.full((n, per_item), _NOTHING, dtype=np.float32),
        )

    def improve(self, profiles, names):
        """Compare all pairs of one set of items, and keep what is better."""
        n = len(names)
        per_item = min(self.places.shape[1], n - 1)
        if per_item < 1:
            return
        mine = profiles[names]
        groups = -(-n // GROUP)
        block = np.full((n, groups * GROUP), _NOTHING, dtype=profiles.dtype)
        np.matmul(mine, mine.T, out=block[:, :n])
        block[np.arange(n), np.arange(n)] = _NOTHING
        near = largest_of_rows(block, groups, per_item)
        scores = np.take_along_axis(block, near, axis=1)
        self._merge(names, names[near].astype(np.int32), scores)

    def _merge(self, items, places, scores):
        both = np.hstack([self.places[items], places])
        values = np.hstack([self.scores[items], scores])
        order = np.argsort(both, axis=1, kind="stable")
        both = np.take_along_axis(both, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        values[:, 1:][both[:, 1:] == both[:, :-1]] = _NOTHING  # found before
        width = self.places.shape[1]
        best = np.argpartition(-values, width - 1, axis=1)[:, :width]
        self.places[items] = np.take_along_axis(both, best, axis=1)
        self.scores[items] = np.take_along_axis(values, best, axis=1)


def leaves(profiles, members, rng):
    """Split at the median along a random difference until the sets are small: n log n work."""
    done, open_sets = [], [members]
    while open_sets:
        current = open_sets.pop()
        if len(current) <= _LEAF:
            done.append(current)
            continue
        one, other = rng.choice(current, 2, replace=False)
        direction = profiles[one] - profiles[other]
        along = np.concatenate(
            [profiles[current[k : k + 4096]] @ direction for k in range(0, len(current), 4096)]
        )
        # Equal profiles must split too, or the sets would never become small.
        order = np.lexsort((rng.random(len(current)), along))
        half = len(current) // 2
        open_sets += [current[order[:half]], current[order[half:]]]
    return done
