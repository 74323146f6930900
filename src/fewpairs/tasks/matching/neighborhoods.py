"""Each item's neighbours: how deep to look, learnt from a few rows that are read whole."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.candidates.nearest import most_similar
from fewpairs.error.recall import Recall
from fewpairs.guides.guides import Guide
from fewpairs.numerics import PAIRS_AT_A_TIME, distinct, parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import at_a_time, memory_ceiling, require_memory
from fewpairs.tasks.matching.all_pairs import whole_rows
from fewpairs.tasks.matching.features import Features
from fewpairs.tasks.matching.judges import Judges
from fewpairs.tasks.matching.lists import Lists
from fewpairs.tasks.matching.neighbor_rows import Chosen, NeighborRows, joined
from fewpairs.tasks.matching.ranking import Ranking
from fewpairs.tasks.matching.row_counts import row_counts
from fewpairs.tasks.matching.symmetry import check_symmetry, pairs_to_check
from fewpairs.tasks.matching.universe import Universe

#: Bytes of a candidate while its exact similarity is asked for.
_MEANWHILE = 100
#: Bytes that one candidate takes from the lists to the answer, and one entry of a row read whole:
#: of a symmetric similarity it is a candidate of another item, too.
_PER_CANDIDATE, _PER_ENTRY, _FOR_BOTH = 200, 40, 120


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
        #: Others that an item has.
        self._others = m - 1 if oracle.square else m
        self._rows = NeighborRows(oracle, min(k, self._others), small_is_near=small_is_near)
        self._universe = Universe(n, m, square=oracle.square, symmetric=oracle.symmetric)
        self.spent = {"ranked": 0, "landmarks": 0, "training": 0, "blind": 0, "symmetry": 0}
        self._judges: Judges | None = None

    def carry_out(self, guides: list[Guide]) -> Chosen:
        """Return items, neighbours and similarities, item by item, the best first."""
        oracle = self._oracle
        if self._rows.k < 1:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, np.empty(0)
        each = oracle.planner.per_entry
        drawn = pairs_to_check(oracle, self._universe, self._allowed // each, self._rng)
        self.spent["symmetry"] += check_symmetry(oracle, self._universe, drawn)
        all_cost = self._universe.size * each
        # What both orders of some pairs have cost counts where it limits something.
        spare = self.spent["symmetry"] if self._allowed < all_cost else 0
        counts = row_counts(
            self._recall,
            oracle.shape,
            self._allowed - spare,
            all_cost,
            guided=bool(guides),
            each=each,
        )
        if self._all_pairs or counts.everything:
            return self._everything()
        self._require_memory(self._rows.k, counts.together)
        ends = np.cumsum([counts.training, counts.landmarks, counts.judges])
        training, landmarks, judging, _ = np.split(self._rng.permutation(oracle.shape[0]), ends)
        features, known = self._learn(guides, training, landmarks)
        values = self._read("blind", judging)
        before = np.concatenate([training, landmarks])
        judges = Judges(self._universe, self._rows, judging, values, before, known)
        candidates = self._deep_enough(judges, *features)
        if candidates is None:
            return self._everything()
        self._judges = judges
        judges.judge(candidates)
        return self._answer(candidates, judges)

    def stated(self) -> Recall:
        """State the share of all true neighbours that was found."""
        k, skipped = self._rows.k, len(self._oracle.skipped)
        if self._judges is not None:
            return self._judges.stated(self._recall, skipped)
        everyone = self._universe.n * max(k, 0)
        return Recall(
            value=1.0,
            low=1.0,
            high=1.0,
            found=everyone,
            blind=0,
            met=0,
            missed=0,
            pairs=self._universe.size,
            target=self._recall,
            of="neighbours",
            complete=True,
            skipped=skipped,
        )

    # ------------------------------------------------------------------ steps

    def _everything(self) -> Chosen:
        """Read all rows, where blind ones alone would be most of them."""
        before, chosen = self._oracle.spent, []
        for rows, values in whole_rows(self._oracle):
            chosen.append(self._rows.best_of_rows(rows, self._rows.apart(rows, values)))
        self.spent["all_pairs"] = self._oracle.spent - before
        return joined(chosen)

    def _learn(
        self, guides: list[Guide], training: IntArray, landmarks: IntArray
    ) -> tuple[tuple[SingleArray, SingleArray], IntArray]:
        """Learn from a few rows what tells neighbours from others.

        Returns vectors whose products rank pairs, and the columns that are known of every row.
        """
        oracle, universe = self._oracle, self._universe
        features = Features(universe, guides, self._rng)
        across = landmarks
        if len(landmarks):
            before = oracle.spent
            if not oracle.square:
                across = self._rng.permutation(universe.m)[: len(landmarks)]
            features.add_landmarks(oracle.columns(across), oracle.rows(landmarks), landmarks)
            self.spent["landmarks"] += oracle.spent - before
        known = np.concatenate([training, landmarks]) if oracle.symmetric else across
        weights = features.first_weights
        if len(training):
            near = self._rows.near(self._read("training", training))
            rows, columns = (
                np.repeat(training, universe.m),
                np.tile(np.arange(universe.m), len(training)),
            )
            usable = rows != columns if oracle.square else np.ones(len(rows), dtype=bool)
            seen, matching = features.of(rows[usable], columns[usable]), near.ravel()[usable]
            weights = Ranking(seen, matching, np.ones(len(matching)), products=False).weights
        left, right = features.combined(weights)
        return (left[:], right[:]), known

    def _deep_enough(
        self, judges: Judges, left: SingleArray, right: SingleArray
    ) -> IntArray | None:
        """Return the pairs that state the recall, or that the budget allows; None takes all."""
        oracle, universe = self._oracle, self._universe
        each = oracle.planner.per_entry
        limited = self._allowed < universe.size * each
        room = max(self._allowed - sum(self.spent.values()), 0) // each
        depth = max(judges.promising(left, right, self._recall), self._rows.k)
        if limited:
            depth = min(depth, self._deepest(room, len(judges.whole)))
            depth = min(depth, self._most_that_fit(len(judges.whole)))
        while limited or depth < self._others:
            self._require_memory(depth, len(judges.whole))
            lists = Lists(
                universe,
                most_similar(
                    left, right, depth, self._rng, square=oracle.square, n_jobs=oracle.n_jobs
                ),
            )
            # Judged by the very lists that are evaluated: among equals, and of many items, these
            # are not quite those that come first.
            enough = judges.depth_for(lists, self._recall)
            if limited:
                keys = lists.affordable(room, judges.hold(lists.keys))
                first = lists.up_to(max(enough or depth, self._rows.k))
                return first if len(first) < len(keys) else keys
            if enough is not None:
                return lists.up_to(max(enough, self._rows.k))
            depth += depth // 2 + 1
        return None

    def _most_that_fit(self, whole: int) -> int:
        """Return how deep lists may be under the memory ceiling."""
        free = memory_ceiling() - self._memory_of(whole)
        return max(int(free // (_PER_CANDIDATE * self._universe.n)), 1)

    def _memory_of(self, whole: int) -> int:
        each = _FOR_BOTH if self._universe.symmetric else _PER_ENTRY
        return each * whole * self._universe.m

    def _require_memory(self, depth: int, whole: int) -> None:
        n = self._universe.n
        require_memory(
            _PER_CANDIDATE * n * depth + self._memory_of(whole),
            f"{depth:,} candidates of each of {n:,} items, and {whole:,} whole rows",
            "Pass a budget, or a smaller one",
        )

    def _deepest(self, room: int, known: int) -> int:
        """Return how deep lists may be, at the most, of which so many pairs are evaluated."""
        serves = 2 if self._universe.symmetric else 1
        deepest = serves * room // self._universe.n + known + 1 if room else 0
        return int(min(deepest, self._others))

    def _answer(self, candidates: IntArray, judges: Judges) -> Chosen:
        """Return the best of everything that is known: nothing that was paid for is left out."""
        oracle, universe, whole = self._oracle, self._universe, judges.whole
        nobody: IntArray = np.empty(0, dtype=np.int64)
        lines = (whole, nobody) if universe.symmetric else (nobody, judges.known)
        pairs = distinct(candidates, universe.lines(*lines))
        before = oracle.spent
        oracle.replan(before + int((~judges.hold(pairs)).sum()) * oracle.planner.per_entry)
        values = np.concatenate(
            [np.empty(0)]
            + [
                oracle.entries(*universe.places(pairs[part]))
                for part in parts(len(pairs), at_a_time(PAIRS_AT_A_TIME, _MEANWHILE))
            ]
        )
        self.spent["ranked"] += oracle.spent - before
        found = self._best_of(pairs, values, whole)
        judges.count_gain(universe.keys(found[0], found[1]), candidates)
        return joined([found, self._rows.best_of_rows(whole, self._read("blind", whole))])

    def _best_of(self, pairs: IntArray, values: FloatArray, whole: IntArray) -> Chosen:
        """Return the best of each row that was not read whole, from single pairs."""
        rows, columns = self._universe.places(pairs)
        sides = [(rows, columns, values)]
        if self._universe.symmetric:
            order = np.argsort(columns, kind="stable")
            sides.append((columns[order], rows[order], values[order]))
        unread: BoolArray = np.ones(self._universe.n, dtype=bool)
        unread[whole] = False
        chosen = []
        width = max(1, 2 * len(pairs) // self._universe.n)
        held = at_a_time(PAIRS_AT_A_TIME, _MEANWHILE)
        for part in parts(self._universe.n, max(1, held // width)):
            here = [
                slice(*np.searchsorted(side[0], (part.start, part.stop)).tolist()) for side in sides
            ]
            i, j, v = (
                np.concatenate([side[at][some] for side, some in zip(sides, here, strict=True)])
                for at in range(3)
            )
            kept = unread[i]
            some = self._rows.far_if_skipped(v[kept])
            chosen.append(self._rows.best_of_pairs(i[kept], j[kept], some))
        return joined(chosen)

    def _read(self, purpose: str, rows: IntArray) -> FloatArray:
        before = self._oracle.spent
        values = self._rows.read(rows)
        self.spent[purpose] += self._oracle.spent - before
        return values
