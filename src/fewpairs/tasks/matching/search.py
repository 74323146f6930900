"""The search: pairs are reached one batch after the other, the most promising first.

The order in which pairs are reached depends on nothing but the items, the seed and the pairs that
were reached before. Pairs that were drawn blindly are reached in their turn like any others, and
until then nobody here knows of them: that is what makes a statement about the rest true.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.guides.guides import Guide
from fewpairs.numerics import PAIRS_AT_A_TIME, largest, parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import require_memory
from fewpairs.tasks.matching.features import Features
from fewpairs.tasks.matching.labels import Labels, weights_of
from fewpairs.tasks.matching.proposals import propose
from fewpairs.tasks.matching.ranking import Ranking
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Random pairs that stand for all that were not reached, as if none of them matched.
_BACKGROUND = 8_000
#: With fewer matches nothing can be learnt; the first guide decides alone.
_FEWEST_MATCHES = 4
#: Of up to this many pairs all are ranked; of more, the candidates that guides propose, and these
#: many at a time.
_ALL_PAIRS, _CANDIDATES = 4_000_000, 2_000_000
#: Bytes of a pair that is ranked, beside its features twice: its key, its places, their matches.
_PER_PAIR = 56

_Pool: TypeAlias = tuple[IntArray, SingleArray]


class Search:
    """Reaches pairs, and learns from each batch which to reach next.

    Parameters
    ----------
    oracle : Oracle
    universe : Universe
    threshold : Threshold
    guides : list of Guide
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        oracle: Oracle,
        universe: Universe,
        threshold: Threshold,
        guides: list[Guide],
        rng: np.random.Generator,
    ) -> None:
        self.labels = Labels()
        self.ranked = 0
        #: Positions of the landmarks among the rows, and among the columns.
        self.landmarks: tuple[IntArray, IntArray] = (np.empty(0, int), np.empty(0, int))
        self.guided = bool(guides)
        self._oracle, self._universe, self._threshold = oracle, universe, threshold
        self._features = Features(universe, guides, rng)
        ranked = universe.size if universe.size <= _ALL_PAIRS else _CANDIDATES
        require_memory(
            ranked * (_PER_PAIR + 8 * self._features.count),
            f"{ranked:,} pairs that are ranked",
            "Search among fewer items",
        )
        self._rng = rng
        self._background = universe.draw(_BACKGROUND, self.labels.keys, rng)
        self._pool: _Pool | None = None
        self._ranking: Ranking | None = None

    @property
    def left(self) -> int:
        """Number of pairs that were not reached."""
        return self._universe.size - len(self.labels)

    def step(self, size: int) -> tuple[int, int]:
        """Reach the `size` most promising pairs; return how many were reached, and matched."""
        self._ranking = self._fitted() or self._ranking
        if self._pool is None or not len(self._pool[0]):
            self._pool = self._candidates()
        keys, features = self._pool
        features[:, self._features.at_matches] = self._features.matches(
            *self._universe.places(keys)
        )
        scores = self._scores(features)
        best = largest(scores, size)
        matching = self._reach(keys[best])
        self.ranked += len(best)
        rest = np.ones(len(keys), dtype=bool)
        rest[best] = False
        self._pool = keys[rest], features[rest]
        return len(best), int(matching.sum())

    def note(self, rows: IntArray, columns: IntArray) -> None:
        """Note matches that are known already, and are none of these pairs."""
        self._features.note(rows, columns)

    def buy_landmarks(self, count: int) -> None:
        """Read whole rows and columns of random items, which tell how other items lie to them."""
        universe, oracle = self._universe, self._oracle
        sides = []
        for side, whole in zip(self.landmarks, universe.whole_lines, strict=True):
            free = np.setdiff1d(whole, side)
            sides.append(np.concatenate([side, self._rng.permutation(free)[:count]]))
            if universe.square:
                sides = [sides[0], sides[0]]
                break
        rows, columns = sides
        self.landmarks = rows, columns
        across, along = oracle.columns(columns), oracle.rows(rows)
        keys = universe.lines(
            rows, columns if not universe.square or not universe.symmetric else columns[:0]
        )
        self._reach(keys[~self.labels.hold(keys)])
        self._features.add_landmarks(across, along, rows)
        self._pool = self._ranking = None

    def _reach(self, keys: IntArray) -> BoolArray:
        matching = np.empty(len(keys), dtype=bool)
        for part in parts(len(keys), PAIRS_AT_A_TIME):  # landmarks bring ten for each item
            rows, columns = self._universe.places(keys[part])
            holds = self._threshold.holds(self._oracle.entries(rows, columns))
            self._features.note(rows[holds], columns[holds])
            matching[part] = holds
        self.labels.add(keys, matching)
        return matching

    def _scores(self, features: SingleArray) -> SingleArray:
        if self._ranking is not None:
            return self._ranking(features)
        if not self._features.products:
            return self._rng.random(len(features), dtype=np.float32)
        return features @ self._features.first_weights.astype(np.float32)

    def _fitted(self) -> Ranking | None:
        """Fit a ranking to what was reached, with random pairs for all that was not."""
        usable = self._usable()
        if (usable & self.labels.matching).sum() < _FEWEST_MATCHES:
            return None
        matches, others = self.labels.sample(usable, self._rng)
        unknown = self._background[~self.labels.hold(self._background)]
        # All that was not reached counts as much as all that was: what tells matches from their
        # like matters as much as what tells them from anything.
        background = unknown, len(self.labels) / max(len(unknown), 1)
        kinds = (matches, others, background)
        features = np.concatenate(
            [
                self._features.of(*self._universe.places(keys), matching=kind is matches)
                for kind in kinds
                for keys in kind[:1]
            ]
        )
        matching = np.arange(len(features)) < len(matches[0])
        first = self._features.first_weights
        return Ranking(features, matching, weights_of(*kinds), first=first)

    def _usable(self) -> BoolArray:
        """Say which pairs were reached as others are: landmarks predict nothing of their own."""
        of_landmarks = [np.zeros(length, dtype=bool) for length in self._oracle.shape]
        for side, at in zip(of_landmarks, self.landmarks, strict=True):
            side[at] = True
        usable = np.empty(len(self.labels), dtype=bool)
        for part in parts(len(usable), PAIRS_AT_A_TIME):
            rows, columns = self._universe.places(self.labels.keys[part])
            usable[part] = ~(of_landmarks[0][rows] | of_landmarks[1][columns])
        return usable

    def _candidates(self) -> _Pool:
        universe = self._universe
        if universe.size <= _ALL_PAIRS:
            keys = np.setdiff1d(universe.everything(), self.labels.keys, assume_unique=True)
        elif not self._features.products:
            keys = universe.draw(_CANDIDATES, self.labels.keys, self._rng)
        else:
            keys = self._proposed()
            if not len(keys):  # no cell holds a further one
                keys = universe.draw(_CANDIDATES, self.labels.keys, self._rng)
        return keys, self._features.of(*universe.places(keys))

    def _proposed(self) -> IntArray:
        """Return the pairs that come first by what is learnt so far, products of features aside."""
        ranking = self._ranking
        weights = self._features.first_weights if ranking is None else ranking.weights
        return propose(
            self._universe,
            *self._features.combined(weights),
            _CANDIDATES,
            self._rng,
            skip=self.labels.keys,
            n_jobs=self._oracle.n_jobs,
        )


def best_first(values: FloatArray, keys: IntArray, threshold: Threshold) -> IntArray:
    """Return the order of matches: best scores first, equal ones by position."""
    return np.lexsort((keys, threshold.worst_last(values)))
