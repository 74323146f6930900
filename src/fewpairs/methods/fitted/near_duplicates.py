"""Near-duplicates: nearest neighbours among profiles, exact or by a forest of random splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.rows import GROUP, largest_of_rows

#: Up to this many items every pair of profiles is compared (n² work, no evaluations).
EXACT_UP_TO = 50_000
#: Above that: items that are compared all with all, and how often the items are split anew. A leaf
#: of 512 is one product that fits the cache; four trees find most near-duplicates, which lie on the
#: same side of most splits.
_LEAF, _TREES = 512, 4
#: Rows that are compared at a time: of 50,000 items they take 100 MB.
_ROWS = 512
#: Bytes for each pair that is found and sorted, for each item, and for much that is small, as
#: benchmarks/reliability/memory.py finds them.
_PER_PAIR, _PER_ITEM, _SMALL = 60, 100, 16 * 10**6
#: Below every product of unit vectors.
_NOTHING = -2.0


def near_duplicates(
    profiles: SingleArray, per_item: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return pairs of items with similar profiles, most similar first, each once.

    Parameters
    ----------
    profiles : ndarray of shape (n, d), float32
        Unit vectors.
    per_item : int
        Neighbours of each item.
    rng : numpy.random.Generator
        Used above 50,000 items only, where the search is approximate.

    Returns
    -------
    first, second : ndarray of int
    """
    n = len(profiles)
    per_item = min(per_item, n - 1)
    if per_item < 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    near = _Neighbours.none(n, per_item)
    if n <= EXACT_UP_TO:
        near.improve(profiles, np.arange(n))
    else:
        for _ in range(_TREES):
            for leaf in _leaves(profiles, np.arange(n), rng):
                near.improve(profiles, leaf)
    keys, scores = near.pairs()
    order = np.argsort(-scores, kind="stable")
    return keys[order] // n, keys[order] % n


def memory_of_search(n: int, per_item: int) -> int:
    """Count the bytes that a search among n items takes: products of some rows, and pairs found."""
    products = 4 * _ROWS * n if n <= EXACT_UP_TO else 0
    return products + _PER_PAIR * per_item * n + _PER_ITEM * n + min(_SMALL, products)


def near_between(
    profiles: SingleArray, others: SingleArray, per_item: int
) -> tuple[IntArray, IntArray]:
    """Return pairs of items of two sets with similar profiles, most similar first.

    Parameters
    ----------
    profiles, others : ndarray, float32
        Unit vectors that can be compared.
    per_item : int
        Neighbours of each item of the larger set, among the smaller one.

    Returns
    -------
    first, second : ndarray of int
        Empty above 50,000² pairs, which would take minutes to compare.
    """
    if len(profiles) < len(others):
        second, first = near_between(others, profiles, per_item)
        return first, second
    n, m = len(profiles), len(others)
    per_item = min(per_item, m)
    if per_item < 1 or n * m > EXACT_UP_TO**2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    groups = -(-m // GROUP)
    padded = np.full((min(_ROWS, n), groups * GROUP), _NOTHING, dtype=profiles.dtype)
    places, scores = [], []
    for start in range(0, n, _ROWS):
        part = profiles[start : start + _ROWS]
        block = padded[: len(part)]
        np.matmul(part, others.T, out=block[:, :m])
        near = largest_of_rows(block, groups, per_item)
        places.append(near.ravel())
        scores.append(np.take_along_axis(block, near, axis=1).ravel())
    order = np.argsort(-np.concatenate(scores), kind="stable")
    return order // per_item, np.concatenate(places)[order]


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """The best neighbours of each item found so far; a place that is still empty holds -1."""

    places: npt.NDArray[np.int32]
    scores: SingleArray

    @classmethod
    def none(cls, n: int, per_item: int) -> _Neighbours:
        return cls(
            np.full((n, per_item), -1, dtype=np.int32),
            np.full((n, per_item), _NOTHING, dtype=np.float32),
        )

    def improve(self, profiles: SingleArray, names: IntArray) -> None:
        """Compare all pairs of one set of items, and keep what is better."""
        n = len(names)
        per_item = min(self.places.shape[1], n - 1)
        if per_item < 1:
            return
        whole = n == len(profiles)
        mine = profiles if whole else profiles[names]
        groups = -(-n // GROUP)
        padded = np.full((min(_ROWS, n), groups * GROUP), _NOTHING, dtype=profiles.dtype)
        for start in range(0, n, _ROWS):
            rows = np.arange(start, min(start + _ROWS, n))
            block = padded[: len(rows)]
            np.matmul(mine[rows], mine.T, out=block[:, :n])
            block[np.arange(len(rows)), rows] = _NOTHING
            near = largest_of_rows(block, groups, per_item)
            found = names[near].astype(np.int32)
            scores = np.take_along_axis(block, near, axis=1)
            if whole:  # nothing was found before
                self.places[rows], self.scores[rows] = found, scores
            else:
                self._merge(names[rows], found, scores)

    def _merge(self, items: IntArray, places: npt.NDArray[np.int32], scores: SingleArray) -> None:
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

    def pairs(self) -> tuple[IntArray, SingleArray]:
        """Return each pair once, as smaller·n + larger, with its score."""
        n, per_item = self.places.shape
        i, j = np.repeat(np.arange(n), per_item), self.places.ravel().astype(np.int64)
        held = self.scores.ravel() > _NOTHING
        i, j = i[held], j[held]
        keys, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
        return keys, self.scores.ravel()[held][first]


def _leaves(profiles: SingleArray, members: IntArray, rng: np.random.Generator) -> list[IntArray]:
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
