"""Each item's neighbours: how deep to look, learnt from a few rows that are read whole."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.candidates.nearest import most_similar
from fewpairs.error.recall import HIGH_TAIL, LOW_TAIL, Recall
from fewpairs.error.shares import least_mean, mean_of_others, rows_for
from fewpairs.guides.guides import Guide
from fewpairs.numerics import parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.matching.all_pairs import pair_by_pair, whole_rows
from fewpairs.tasks.matching.features import Features
from fewpairs.tasks.matching.ranking import Ranking
from fewpairs.tasks.matching.symmetry import check_symmetry
from fewpairs.tasks.matching.universe import Universe

# What is said of constants was tried on RTE, STS-B (634) and 607 places, six seeds, by the runs of
# benchmarks/matching/nearest_coverage.py with 20 and 30 % of all pairs, or without a budget.

#: Rows that the ranking learns from, and landmarks where there is no guide: few, because each costs
#: as much as a candidate of every item. From 2 to 20 rows change the recall within a budget by 0.01
#: or so where there is a guide; two cost 0.07 of it on places without one. So do five landmarks.
_TRAINING, _LANDMARKS = 5, 10
#: There are as many blind rows as state a recall R if the true one is 1 − 0.2·(1 − R), 0.99 for
#: 0.95: with fewer the search would have to go deeper, with more they cost more than that. 0.1
#: costs as much in all; with 0.3 they are so many that of 600 items all are read.
_SLACK = 0.2
#: Shares of a budget that training rows and landmarks, each, and blind rows may take. Half as much
#: for landmarks costs 0.12 of the recall without a guide, twice as much gains 0.03. Blind rows with
#: a share of 0.2 leave 0.04 more to be found and state 0.03 to 0.09 less; with 0.6 both are less.
_TRAINING_SHARE, _BLIND_SHARE = 0.1, 0.4
#: Candidates of which the exact similarities are asked for at a time: some megabytes of arrays.
_AT_A_TIME = 2**20


#: Items, their neighbours, and how similar they are.
Chosen: TypeAlias = tuple[IntArray, IntArray, FloatArray]


def judging_rows(recall: float) -> int:
    """Return how many blind rows there are, if nothing limits them."""
    return rows_for(1 - _SLACK * (1 - recall), recall, LOW_TAIL)


def rows_read(recall: float, allowed: int, price: int) -> tuple[int, int]:
    """Return how many rows are read to learn from, and to judge by, where one has a price."""
    training = min(_TRAINING, int(_TRAINING_SHARE * allowed / price))
    return training, min(judging_rows(recall), int(_BLIND_SHARE * allowed / price))


class Neighborhoods:
    """Finds each item's neighbours.

    Parameters
    ----------
    oracle : Oracle
    k : int
    allowed : int
        Evaluations that may be spent.
    recall : float
        That is to be stated.
    rng : numpy.random.Generator
    small_is_near : bool
        Whether small values are near.
    everything : bool, default=False
        Whether all pairs are evaluated anyway.

    Attributes
    ----------
    spent : dict
        Evaluations by purpose.
    """

    def __init__(
        self,
        oracle: Oracle,
        k: int,
        allowed: int,
        recall: float,
        rng: np.random.Generator,
        *,
        small_is_near: bool,
        everything: bool = False,
    ) -> None:
        self._all_pairs = everything
        self._oracle, self._allowed, self._recall, self._rng = oracle, allowed, recall, rng
        n, m = oracle.shape
        self._k = min(k, m - 1 if oracle.square else m)
        self._sign = -1.0 if small_is_near else 1.0
        self._universe = Universe(n, m, square=oracle.square, symmetric=oracle.symmetric)
        self.spent = {"ranked": 0, "landmarks": 0, "training": 0, "blind": 0, "symmetry": 0}
        self._shares: FloatArray = np.empty(0)
        self._exact = False
        self._whole = 0

    def carry_out(self, guides: list[Guide]) -> Chosen:
        """Return items, neighbours and similarities, item by item, the best first."""
        n, m = self._oracle.shape
        if self._k < 1:
            self._exact = True
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, np.empty(0)
        self.spent["symmetry"] += check_symmetry(
            self._oracle, self._universe, self._allowed // self._per_entry, self._rng
        )
        if self._all_pairs:
            return self._everything()
        room = min(self._allowed - self.spent["symmetry"], self._everything_costs)
        rows = max(n, m) * self._per_entry
        wanted = judging_rows(self._recall)
        training_rows, blind_rows = rows_read(self._recall, room, rows)
        counts = [
            training_rows,
            0 if guides else min(_LANDMARKS, n, m, int(_TRAINING_SHARE * room / rows)),
            blind_rows,
        ]
        if self._allowed >= self._everything_costs and sum(counts) + wanted >= n // 2:
            return self._everything()
        ends = np.cumsum(counts)
        training, landmarks, judges, _ = np.split(self._rng.permutation(n), ends)
        weights = self._learn(guides, training, landmarks)
        left, right = self._features.combined(weights)
        candidates = self._deep_enough(judges, left, right)
        whole = np.sort(np.concatenate([training, landmarks, judges]))
        self._whole = len(whole)
        return self._with_whole_rows(self._evaluate(candidates), whole)

    def stated(self) -> Recall:
        """State the share of all true neighbours that was found."""
        n, m = self._oracle.shape
        everyone = n * self._k
        if self._exact:
            value = low = high = 1.0
        else:
            # Rows that were read whole are exact; the judges speak for all others.
            others = n - self._whole
            ends = (
                float(self._shares.mean()) if len(self._shares) else 0.0,
                *mean_of_others(self._shares, others, (LOW_TAIL, HIGH_TAIL)),
            )
            value, low, high = ((self._whole + others * end) / n for end in ends)
        drawn, hits = len(self._shares), round(float(self._shares.sum()) * self._k)
        return Recall(
            value=value,
            low=low,
            high=high,
            found=round(value * everyone),
            blind=drawn * m,
            met=drawn * self._k,
            missed=drawn * self._k - hits,
            pairs=self._universe.size,
            target=self._recall,
            needed=rows_for(1.0, self._recall, LOW_TAIL) * m,
            of="neighbours",
            complete=self._exact,
            skipped=len(self._oracle.skipped),
        )

    # ------------------------------------------------------------------ steps

    def _everything(self) -> Chosen:
        """Read all rows, where blind ones alone would be most of them."""
        self._exact = True
        before = self._oracle.spent
        chosen = []
        for rows, values in whole_rows(self._oracle):
            chosen.append(self._best_of(rows, self._without_itself(rows, values)))
        self.spent["all_pairs"] = self._oracle.spent - before
        return self._joined(chosen)

    def _learn(self, guides: list[Guide], training: IntArray, landmarks: IntArray) -> FloatArray:
        """Return the weights of features that tell neighbours from others in a few rows."""
        oracle, universe = self._oracle, self._universe
        self._features = Features(universe, guides, self._rng)
        if len(landmarks):
            before = oracle.spent
            across = (
                landmarks if oracle.square else self._rng.permutation(universe.m)[: len(landmarks)]
            )
            self._features.add_landmarks(oracle.columns(across), oracle.rows(landmarks), landmarks)
            self.spent["landmarks"] += oracle.spent - before
        if not len(training):
            first = np.zeros(self._features.count)
            first[0] = 1.0  # the first guide, if there is one
            return first
        near = self._near(self._rows("training", training))
        rows, columns = (
            np.repeat(training, universe.m),
            np.tile(np.arange(universe.m), len(training)),
        )
        usable = rows != columns if oracle.square else np.ones(len(rows), dtype=bool)
        features = self._features.of(rows[usable], columns[usable])
        matching = near.ravel()[usable]
        return Ranking(features, matching, np.ones(len(matching)), products=False).weights

    def _deep_enough(self, judges: IntArray, left: SingleArray, right: SingleArray) -> IntArray:
        """Return as many candidates of each item as state the recall, or the budget allows."""
        oracle = self._oracle
        n, m = oracle.shape
        most = m - 1 if oracle.square else m
        near = self._near(self._rows("blind", judges)) if len(judges) else np.zeros((0, m), bool)
        depth = max(self._promising(judges, near, left, right), self._k)
        limited = self._allowed < self._everything_costs
        if limited:
            left_over = self._allowed - sum(self.spent.values())
            depth = min(depth, max(0, left_over // (n * self._per_entry)))
        while True:
            candidates = most_similar(
                left, right, depth, self._rng, square=oracle.square, n_jobs=oracle.n_jobs
            ).columns
            # Judged by the very lists that are evaluated: among equals, and of many items, these
            # are not quite those that come first.
            held = np.take_along_axis(near, candidates[judges], axis=1).sum(axis=1)
            self._shares = np.minimum(held, self._k) / self._k
            enough = least_mean(self._shares, LOW_TAIL) >= self._recall
            if limited or enough or depth >= most:
                return candidates
            depth = min(most, depth + depth // 2 + 1)

    def _promising(
        self, judges: IntArray, near: BoolArray, left: SingleArray, right: SingleArray
    ) -> int:
        """Return the depth at which the judges' lists would state the recall."""
        m = self._oracle.shape[1]
        most = m - 1 if self._oracle.square else m
        hits = np.zeros((len(judges), most))
        for k, row in enumerate(judges):
            scores = (left[row] @ right.T).astype(np.float64)
            if self._oracle.square:
                scores[row] = -np.inf
            order = np.argsort(-scores, kind="stable")[:most]
            hits[k] = np.minimum(np.cumsum(near[k][order]), self._k) / self._k
        means = hits.mean(axis=0) if len(judges) else np.zeros(most)
        # Depths with the same mean state the same.
        steps = np.flatnonzero(np.diff(means, prepend=-1.0) > 0)
        reach = [step for step in steps if least_mean(hits[:, step], LOW_TAIL) >= self._recall]
        return int(reach[0]) + 1 if reach else most

    def _evaluate(self, candidates: IntArray) -> Chosen:
        oracle, depth = self._oracle, candidates.shape[1]
        if depth == 0:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, np.empty(0)
        before = oracle.spent
        oracle.replan(before + candidates.size * self._per_entry)
        chosen = []
        for part in parts(len(candidates), max(1, _AT_A_TIME // depth)):
            rows = np.repeat(np.arange(part.start, part.stop), depth)
            columns = candidates[part].ravel()
            values = oracle.entries(rows, columns).reshape(-1, depth)
            values[np.isnan(values)] = -np.inf * self._sign
            order = np.lexsort((candidates[part], -self._sign * values))[:, : self._k]
            chosen.append(
                (
                    np.repeat(np.arange(part.start, part.stop), order.shape[1]),
                    np.take_along_axis(candidates[part], order, axis=1).ravel(),
                    np.take_along_axis(values, order, axis=1).ravel(),
                )
            )
        self.spent["ranked"] += oracle.spent - before
        return self._joined(chosen)

    def _with_whole_rows(self, found: Chosen, whole: IntArray) -> Chosen:
        """Put in what is known exactly: nothing that was paid for is left out of the answer."""
        kept = ~np.isin(found[0], whole)
        exact = self._best_of(whole, self._rows("blind", whole))
        rows, columns, values = self._joined(
            [(found[0][kept], found[1][kept], found[2][kept]), exact]
        )
        order = np.argsort(rows, kind="stable")
        return rows[order], columns[order], values[order]

    # ------------------------------------------------------------------ small things

    @property
    def _per_entry(self) -> int:
        return self._oracle.planner.per_entry

    @property
    def _everything_costs(self) -> int:
        return self._universe.size * self._per_entry

    def _rows(self, purpose: str, rows: IntArray) -> FloatArray:
        before = self._oracle.spent
        values = pair_by_pair(self._oracle, rows)
        self.spent[purpose] += self._oracle.spent - before
        return self._without_itself(rows, values)

    def _without_itself(self, rows: IntArray, values: FloatArray) -> FloatArray:
        """Return whole rows in which an item is farther from itself than from anything.

        So are skipped ones, which are nobody's neighbours.
        """
        apart = np.where(np.isnan(values), -np.inf * self._sign, values)
        if self._oracle.square:
            apart[np.arange(len(rows)), rows] = -np.inf * self._sign
        return apart

    def _near(self, values: FloatArray) -> BoolArray:
        """Say which entries of whole rows are at least as near as the k-th nearest."""
        signed = self._sign * values
        least = np.partition(signed, -self._k, axis=1)[:, -self._k]
        return np.asarray((signed >= least[:, None]) & np.isfinite(signed))

    def _best_of(self, rows: IntArray, values: FloatArray) -> Chosen:
        i, j = np.nonzero(self._near(values))  # k of each row, and what equals the last of them
        order = np.lexsort((j, -self._sign * values[i, j], i))
        i, j = i[order], j[order]
        place = np.arange(len(i)) - np.searchsorted(i, i)
        i, j = i[place < self._k], j[place < self._k]
        return rows[i], j, values[i, j]

    @staticmethod
    def _joined(
        chosen: list[Chosen],
    ) -> Chosen:
        rows, columns, values = (np.concatenate(part) for part in zip(*chosen, strict=True))
        there = np.isfinite(values)  # all, unless an item has few pairs with a value
        return rows[there], columns[there], values[there]
