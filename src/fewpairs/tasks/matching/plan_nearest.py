"""plan_nearest(): what each item's neighbours will cost, before anything is spent."""

from __future__ import annotations

from typing import NamedTuple

from fewpairs.arrays import is_whole
from fewpairs.error.recall import check_recall
from fewpairs.errors import InputError
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.tasks.matching.row_counts import row_counts
from fewpairs.tasks.matching.universe import Universe


class NearestPlan(NamedTuple):
    """The price of each item's neighbours.

    Attributes
    ----------
    rows : int
        Rows that are read whole, to learn from and to judge by; all where there are few.
    least : int
        Evaluations if the first k candidates of each item are its neighbours.
    all_pairs : int
        Evaluations at the most.
    k : int
    recall : float
    cost : Cost or None
        Of one evaluation.
    """

    rows: int
    least: int
    all_pairs: int
    k: int
    recall: float
    cost: Cost | None = None

    @property
    def money(self) -> tuple[float, float] | None:
        """What `least` and all pairs cost; None where nobody said what an evaluation does."""
        if self.cost is None:
            return None
        return self.cost.price(self.least), self.cost.price(self.all_pairs)

    def _repr_html_(self) -> str:
        rows = [("evaluations", f"{self.least:,} at least, of {self.all_pairs:,} pairs")]
        drawn = svg.share(self.least / max(self.all_pairs, 1))
        return card(f"the {self.k:,} nearest of each item", rows, drawn, str(self))

    def __str__(self) -> str:
        least, most = (
            f" ({self.cost.written(count)})" if self.cost else ""
            for count in (self.least, self.all_pairs)
        )
        if self.least >= self.all_pairs:
            return f"all {self.all_pairs:,} pairs{most} are evaluated: there are few"
        return (
            f"{self.least:,} evaluations at least{least}, of {self.all_pairs:,} pairs{most}: "
            f"{self.rows:,} rows "
            f"read whole, to state a recall of {self.recall:g}, and {self.k} candidates of each. "
            "A poor guide takes more candidates, up to all pairs; budget= limits rows and "
            "candidates, and with a good guide fewer may do"
        )


def plan_nearest(
    n: int,
    *,
    k: int = 10,
    recall: float = 0.95,
    others: int | None = None,
    symmetric: bool = True,
    cost: CostOption | None = None,
) -> NearestPlan:
    """Say what `find_nearest` will take without a budget, at least and at the most.

    Parameters
    ----------
    n : int
        Number of items.
    k : int, default=10
        Neighbours of each.
    recall : float, default=0.95
        The lower end that is to be stated.
    others : int, optional
        Number of items of a second set, among which neighbours are looked for.
    symmetric : bool, default=True
        Whether both orders of a pair are one.
    cost : float or str, optional
        What one evaluation costs, as for `plan_pairs`.

    Returns
    -------
    NearestPlan

    Examples
    --------
    >>> import fewpairs as fp
    >>> plan = fp.plan_nearest(20_000, k=10)
    >>> plan.rows, plan.least, plan.all_pairs
    (131, 2710699, 199990000)
    """
    wanted = check_recall(recall)
    money = None if cost is None else Cost.of(cost)
    for name, count in {"n": n, "k": k, "others": 1 if others is None else others}.items():
        if not is_whole(count) or count < 1:
            raise InputError(
                f"{name} is {count!r}.",
                "It is a number of items, or of neighbours.",
                "Pass a positive integer.",
            )
    square, m = others is None, n if others is None else others
    universe = Universe(n, m, square=square, symmetric=square and symmetric)
    counts = row_counts(wanted, (n, m), universe.size, universe.size, guided=True, each=1)
    if counts.everything:
        return NearestPlan(n, universe.size, universe.size, k, wanted, money)
    rows, most = counts.together, m - 1 if square else m
    whole, single = rows * most, (n - rows) * min(k, most)
    if universe.symmetric:  # a pair of two such rows, or of mutual neighbours, is evaluated once
        whole, single = whole - rows * (rows - 1) // 2, single // 2
    least = min(whole + single, universe.size)
    return NearestPlan(rows, least, universe.size, k, wanted, money)
