"""Found: pairs with their exact similarities, and what is stated about the rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fewpairs.arrays import FloatArray, IntArray, RandomState
from fewpairs.error.recall import Recall
from fewpairs.errors import InputError
from fewpairs.files.results import Paged, Tabular
from fewpairs.items.ids import NO_IDS, Ids
from fewpairs.items.records import shown_columns
from fewpairs.notebook.card import card
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.provenance import UNKNOWN, Provenance
from fewpairs.tasks.matching.assignment import best_assignment
from fewpairs.tasks.matching.communities import communities
from fewpairs.tasks.matching.histogram import Histogram, histogram_of
from fewpairs.tasks.matching.threshold import Threshold

#: Pairs, and characters of an item, that a notebook shows.
_SHOWN, _TEXT = 5, 60


@dataclass(frozen=True, eq=False)
class Found(Tabular, Paged):
    """Pairs that were found, best first.

    `to_pandas`, `to_polars` and `to_csv` give the columns left, right, similarity; with
    ``texts=True`` also left_text and right_text, or, of records, a column for each of their fields,
    such as left_name and right_name.

    Attributes
    ----------
    left, right : ndarray of int
        Positions of the items; of a symmetric similarity of one set, left < right.
    similarities : ndarray
        Exact, each evaluated.
    recall : Recall
        The share of all matches that is here, with an interval.
    spent : dict
        Evaluations by purpose: "ranked", "landmarks", "blind", "symmetry"; "all_pairs" where
        every pair was evaluated.
    paid : int or None
        What the similarity was really asked for: less, where evaluations were looked up.
    provenance : Provenance
        Which version made it, with which seed, when, and in what time.
    """

    left: IntArray
    right: IntArray
    similarities: FloatArray
    recall: Recall
    spent: dict[str, int]
    shape: tuple[int, int]
    ids: Ids = field(default=NO_IDS, repr=False)
    small_is_near: bool = field(default=False, repr=False)
    oracle: Oracle | None = field(default=None, repr=False)
    threshold: Threshold | None = field(default=None, repr=False)
    blind: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)
    guide: Any = field(default=None, repr=False)
    extensions: int = field(default=0, repr=False)
    paid: int | None = field(default=None, repr=False)
    provenance: Provenance = field(default=UNKNOWN, repr=False)

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return (
            f"<{len(self):,} pairs, {self.evaluations:,} evaluations{self.paying}; {self.recall}>"
        )

    def _repr_html_(self) -> str:
        best = slice(0, _SHOWN)
        pairs = zip(self.left[best], self.right[best], self.similarities[best], strict=True)
        rows = [
            ("evaluations", f"{self.evaluations:,}{self.paying}"),
            ("recall", str(self.recall)),
            *((f"{score:.3f}", self._written(i, j)) for i, j, score in pairs),
        ]
        more = len(self) - _SHOWN
        note = f"and {more:,} more pairs: .to_pandas(), .report(path)" if more > 0 else ""
        return card(f"{len(self):,} pairs", rows, self.recall.picture(), note)

    def _written(self, i: int, j: int) -> str:
        """Write a pair by its ids, and its items where these are texts."""
        sides = []
        for name, at, side in (
            (self.ids.written(i), i, "items"),
            (self.ids.written(j, right=True), j, "others"),
        ):
            item = None if self.oracle is None else getattr(self.oracle, side).take([at])[0]
            text = f" {item[:_TEXT]}{'…' * (len(item) > _TEXT)}" if isinstance(item, str) else ""
            sides.append(f"{name}{text}")
        return "  ~  ".join(sides)

    @property
    def evaluations(self) -> int:
        """Everything that was spent, as if nothing had been evaluated before."""
        return sum(self.spent.values())

    @property
    def looked_up(self) -> int:
        """How many of the evaluations an earlier run, or a journal, had paid for."""
        return max(self.evaluations - self.paid, 0) if self.paid is not None else 0

    @property
    def price(self) -> float | None:
        """What all evaluations have cost in money; None where nobody said what one does.

        What was looked up has cost nothing.
        """
        cost = None if self.oracle is None else self.oracle.planner.cost
        return None if cost is None else cost.price(self.evaluations - self.looked_up)

    @property
    def paying(self) -> str:
        """The price in words, with what was looked up; nothing where neither is known."""
        cost = None if self.oracle is None else self.oracle.planner.cost
        told = f", {self.looked_up:,} of them looked up" if self.looked_up else ""
        if cost is None:
            return told
        made = self.evaluations - self.looked_up
        comma = "," if told else ""
        return f"{told}{comma} for {cost.written(made)}"

    @property
    def left_ids(self) -> Any:
        """Your names of the items on the left, or their positions."""
        return self.ids.name(self.left)

    @property
    def right_ids(self) -> Any:
        """Your names of the items on the right, or their positions."""
        return self.ids.name(self.right, right=True)

    def histogram(self, bins: int = 50) -> Histogram:
        """Count pairs by similarity: what was found, and all pairs as blind ones show them.

        `fewpairs.plots.plot_scores` draws it: a gap between both is a good place for a threshold.
        """
        stands_for = self.recall.pairs / len(self.blind) if len(self.blind) else 0.0
        return histogram_of(self.similarities, self.blind, stands_for, bins)

    def extend(
        self,
        new_items: Any = None,
        *,
        others: Any = None,
        ids: Any = None,
        recall: float | None = None,
        budget: float | None = None,
        guide: Any = None,
        random_state: RandomState = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
    ) -> Found:
        """Find the matches of new items, with each other and with the old ones.

        Pairs of two old items are not evaluated again. Blind pairs are drawn among those with at
        least one new item; what they state is joined with what is stated here. Where all pairs of a
        cheap similarity were evaluated, so are the new ones, up to ten million without a budget.
        A journal of the first call goes on, unless it has keys of single items.

        Parameters
        ----------
        new_items : sequence, or Oracle
            Their positions follow those of the old items. ``error.oracle`` after a fault goes on.
        others : sequence, optional
            Of two sets: new items for the second one.
        ids : sequence
            Names of the new items, where the old ones have names; with others a pair of sequences.
            Of rows of a data frame and of records also the name of a column or field.
        recall : float, optional
            As for `find_pairs`: of the pairs with a new item, and so of all. By default that of the
            first call.
        budget : int or float, optional
            The most to spend here: evaluations, or a share of the pairs with a new item.
        guide : "auto", array, encoder, or list of these, optional
            By default that of the first call, which must have been no array; an array has a row for
            each item, old and new.
        random_state, n_jobs, progress : as for `find_pairs`

        Returns
        -------
        Found
            All matches, old and new; `spent` is that of all calls together.

        Examples
        --------
        >>> import fewpairs as fp
        >>> names = ["Anna Berg", "Bob Stone", "Carl May"]
        >>> found = fp.find_pairs(names, fp.StringSimilarity("jaro_winkler"), above=0.95)
        >>> found = found.extend(["Ana Berg", "Dora Lind"])
        >>> found.left.tolist(), found.right.tolist()
        ([0], [3])
        """
        from fewpairs.tasks.matching.extending import extend  # noqa: PLC0415 - it makes a Found

        return extend(
            self,
            new_items,
            others=others,
            ids=ids,
            recall=recall,
            budget=budget,
            guide=guide,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )

    # ------------------------------------------------------------------ other forms

    def _columns(self, *, texts: bool) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "left": self.left_ids,
            "right": self.right_ids,
            "similarity": self.similarities,
        }
        if texts and self.oracle is not None:
            for side, items, places in (
                ("left", self.oracle.items, self.left),
                ("right", self.oracle.others, self.right),
            ):
                columns |= shown_columns(items, places, side)
        return columns

    def _write_page(self, path: str | Path, **shown: Any) -> None:
        from fewpairs.report.found_page import report_found  # noqa: PLC0415 - a face

        report_found(self, path, **shown)

    def to_graph(self) -> sp.csr_array:
        """Return the similarities as a SciPy sparse matrix; of a symmetric one, both orders."""
        rows, columns, values = self.left, self.right, self.similarities
        if self._both_orders:
            rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
            values = np.concatenate([values, values])
        # Built from a list, not added up: a value of zero stays an entry.
        return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=self.shape))

    @property
    def _one_set(self) -> bool:
        return self.oracle is None or self.oracle.square

    @property
    def _both_orders(self) -> bool:
        one_order = self.oracle is not None and self.oracle.square and self.oracle.symmetric
        return one_order and self.recall.of == "matches"

    def groups(self) -> IntArray:
        """Return a number for each item, the same for all that are linked by pairs."""
        if not self._one_set:
            raise InputError(
                "groups were asked for of pairs between two sets of items.",
                "Groups hold items of one set.",
                "Use to_graph, or find pairs within one set.",
            )
        # A similarity of 0 may match, and would be no entry: ones say that there is a link.
        links = sp.coo_array((np.ones(len(self)), (self.left, self.right)), shape=self.shape)
        return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)

    def averaged_groups(self, budget: int | None = None) -> IntArray:
        """Return a number for each item: clusters by average linkage at the threshold.

        They are exactly those of all pairs if every match was found. Linked items are compared with
        each other: pairs of them that were not evaluated yet are, and count in the oracle. A pair
        without a value counts as 0 (at a threshold below 0, and of a distance: as twice the
        threshold; at 0: as less than that by the largest value among the items it is linked with).

        Parameters
        ----------
        budget : int, optional
            Evaluations that may be spent on that: if more are needed, none is, and BudgetError says
            how many.

        Returns
        -------
        ndarray of int
        """
        from fewpairs.tasks.clustering.components import groups_by_average  # noqa: PLC0415

        return groups_by_average(self, budget)

    def communities(self, min_samples: int = 5) -> IntArray:
        """Return a number for each item, -1 for those without a community (DBSCAN).

        An item with at least `min_samples` items at the threshold, itself included, founds one;
        whoever matches it belongs to it, and goes on only if it has as many.

        Parameters
        ----------
        min_samples : int, default=5

        Returns
        -------
        ndarray of int
            As of ``sklearn.cluster.DBSCAN`` on all pairs, if every match was found.
        """
        self.groups()  # refuses two sets
        return communities(self.left, self.right, self.shape[0], min_samples)

    def one_to_one(self) -> Found:
        """Keep the best assignment of two sets, in which no item is matched twice.

        The sum of what similarities have beyond the threshold (of neighbours: beyond the worst of
        them) is as large as possible, so that two pairs that just match do not break up an equal
        one. Of equal sums, the one with more pairs. The recall is still that of all matches, before
        this choice.
        """
        if self.oracle is not None:
            refuse_one_set(self.oracle)
        if not len(self):
            return self
        if self.threshold is not None:
            worst = self.threshold.at
        else:  # neighbours
            worst = self.similarities.max() if self.small_is_near else self.similarities.min()
        quality = np.abs(self.similarities - worst)
        chosen = best_assignment(self.left, self.right, quality, self.shape)
        return replace(
            self,
            left=self.left[chosen],
            right=self.right[chosen],
            similarities=self.similarities[chosen],
        )


def refuse_one_set(oracle: Oracle) -> None:
    """Refuse an assignment of items to themselves."""
    if oracle.square:
        raise InputError(
            "one_to_one was asked for of pairs within one set of items.",
            "An assignment has two sides.",
            "Pass others=, or use groups().",
        )
