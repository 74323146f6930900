"""plan_pairs(): what a statement of recall will cost, before anything is spent."""

from __future__ import annotations

from typing import NamedTuple

from fewpairs.arrays import is_whole
from fewpairs.error.recall import blind_pairs, check_recall
from fewpairs.errors import InputError
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.tasks.matching.steering import longest_in_vain
from fewpairs.tasks.matching.universe import Universe

#: Evaluations that finding takes for each match: its own at least, if a guide knows them all; and
#: the most in any run of docs/tables/stated-recall.md, matching-scale.md and matching-rivals.md,
#: where a guide led somewhere (39 in today's), beside what is looked at in vain before the draw.
_FEWEST, _MOST = 1, 76


class PairsPlan(NamedTuple):
    """The price of a stated recall, and of finding the matches.

    Attributes
    ----------
    blind : int
        Pairs to draw blindly, if none of the matches among them is missed.
    all_pairs : int
    matches : int
    recall : float
    items : int
        Of the smaller set. Before it draws, a search looks for some time in vain: where few items
        have a match, that is most of what finding takes.
    cost : Cost or None
        Of one evaluation.
    """

    blind: int
    all_pairs: int
    matches: int
    recall: float
    items: int
    cost: Cost | None = None

    @property
    def low(self) -> int:
        """Evaluations in all, with a guide that knows every match."""
        return self._in_all(_FEWEST)

    @property
    def high(self) -> int:
        """Evaluations in all, with a guide that is of some use; never worse than a useless one."""
        # Where half of all pairs are matches, more than half are evaluated.
        useless = max(self.blind + self.all_pairs // 2, self._in_all(2))
        most = self._in_all(_MOST, in_vain=longest_in_vain(self.blind, self.items))
        return min(most, useless)

    @property
    def money(self) -> tuple[float, float] | None:
        """What `low` and `high` cost; None where nobody said what an evaluation does."""
        if self.cost is None:
            return None
        return self.cost.price(self.low), self.cost.price(self.high)

    def _in_all(self, for_each: int, in_vain: int = 0) -> int:
        together = self.blind + for_each * self.matches + in_vain
        return self.all_pairs if self._few_matches else min(together, self.all_pairs)

    @property
    def _few_matches(self) -> bool:
        return 2 * self.blind >= self.all_pairs

    @property
    def share(self) -> float:
        """Share of all pairs that are drawn blindly."""
        return self.blind / self.all_pairs

    def __str__(self) -> str:
        text = f"to state a recall of {self.recall:g} for {self.matches:,} matches, "
        if self._few_matches:
            text += f"{self.blind:,} of {self.all_pairs:,} pairs are drawn blindly"
            text = f"{text} ({_percent(self.share)} %): with so few matches, evaluate all pairs"
            return text + (f" for {self.cost.written(self.all_pairs)}" if self.cost else "")
        if self.cost is None:
            return f"{text}{self.price}"
        low, high, everything = map(self.cost.written, (self.low, self.high, self.all_pairs))
        return f"{text}{self.price}: {low} to {high}, where all pairs cost {everything}"

    def _repr_html_(self) -> str:
        rows = [
            ("drawn blindly", f"{self.blind:,} of {self.all_pairs:,} pairs"),
            ("with finding", f"{self.low:,} to {self.high:,} evaluations"),
        ]
        title = f"a recall of {self.recall:g} for {self.matches:,} matches"
        drawn = svg.share(self.high / self.all_pairs)
        return card(title, [] if self._few_matches else rows, drawn, str(self))

    @property
    def price(self) -> str:
        """The price in words."""
        if self._few_matches:
            return f"all {self.all_pairs:,} pairs, or nearly so: a statement alone takes most"
        low, high = (_percent(count / self.all_pairs) for count in (self.low, self.high))
        return (
            f"{self.blind:,} of {self.all_pairs:,} pairs are drawn blindly "
            f"({_percent(self.share)} %); with what finding takes, {self.low:,} to {self.high:,} "
            f"evaluations ({low} to {high} %) if the guide is good, and perhaps half of all pairs "
            "if it is useless"
        )


def _percent(share: float) -> str:
    return "100" if share > 0.99 else f"{100 * share:.2g}"  # noqa: PLR2004 - not 1e+02


def plan_pairs(
    n: int,
    *,
    matches: int | None = None,
    recall: float = 0.95,
    others: int | None = None,
    symmetric: bool = True,
    cost: CostOption | None = None,
) -> PairsPlan:
    """Say what finding matches and stating a recall will cost, before anything is evaluated.

    The blind pairs are known beforehand, whatever finds the matches: about 3.1·R/((1 − R)·M) of
    all pairs, 59/M for a recall of 0.95, 28/M for 0.9. What finding takes depends on the guide;
    `low` and `high` are in all: for one that knows every match, and the most that was measured
    where one led somewhere.

    Parameters
    ----------
    n : int
        Number of items.
    matches : int, optional
        How many matches there are, roughly; by default as many as items of the smaller set.
    recall : float, default=0.95
        The lower end that is to be stated.
    others : int, optional
        Number of items of a second set.
    symmetric : bool, default=True
        Whether both orders of a pair are one.
    cost : float or str, optional
        What one evaluation costs: 0.002, or "0.002 USD". Then `plan.money` says what both cost.

    Returns
    -------
    PairsPlan

    Examples
    --------
    >>> import fewpairs as fp
    >>> plan = fp.plan_pairs(45_747, matches=71_078)
    >>> plan.blind, round(100 * plan.share, 3)
    (867029, 0.083)
    >>> plan.low, plan.high
    (938107, 6355659)
    >>> fp.plan_pairs(45_747, matches=71_078, cost="0.5 USD").money
    (469053.5, 3177829.5)
    """
    wanted = check_recall(recall)
    counts = {"n": n} | ({} if others is None else {"others": others})
    counts |= {} if matches is None else {"matches": matches}
    for name, count in counts.items():
        if not is_whole(count) or count < (0 if name == "matches" else 1):
            many = hasattr(count, "__len__")
            raise InputError(
                f"{name} is a {type(count).__name__}." if many else f"{name} is {count!r}.",
                "It is a number of items, or of pairs that match.",
                f"Pass {name}=len(…)." if many else "Pass a positive integer.",
            )
    square = others is None
    m = n if others is None else others
    universe = Universe(n, m, square=square, symmetric=square and symmetric)
    if universe.size == 0:
        raise InputError(
            f"{n} items have no pairs.",
            "A plan says what it costs to find those that match.",
            "Pass two items or more.",
        )
    if (matches or 0) > universe.size:
        raise InputError(
            f"{matches or 0:,} matches were given for {universe.size:,} pairs.",
            "There cannot be more matches than pairs.",
            "Check the numbers of items and of matches.",
        )
    plan = plan_for(universe, wanted, None if matches is None else int(matches))
    return plan if cost is None else plan._replace(cost=Cost.of(cost))


def plan_for(universe: Universe, recall: float, matches: int | None = None) -> PairsPlan:
    """Plan for pairs that are there, by default with one match for each item."""
    size = universe.size
    count = min(universe.n, universe.m, size) if matches is None else matches
    return PairsPlan(
        blind_pairs(recall, count, size), size, count, recall, min(universe.n, universe.m)
    )
