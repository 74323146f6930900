"""plan_pairs(): what a statement of recall will cost, before anything is spent."""

from __future__ import annotations

from typing import NamedTuple

from fewpairs.arrays import is_whole
from fewpairs.error.recall import blind_pairs, check_recall
from fewpairs.errors import InputError
from fewpairs.tasks.matching.universe import Universe


class PairsPlan(NamedTuple):
    """The price of a stated recall.

    Attributes
    ----------
    blind : int
        Pairs to draw blindly, if none of the matches among them is missed.
    all_pairs : int
    matches : int
    recall : float
    """

    blind: int
    all_pairs: int
    matches: int
    recall: float

    @property
    def share(self) -> float:
        """Share of all pairs."""
        return self.blind / self.all_pairs

    def __str__(self) -> str:
        text = (
            f"to state a recall of {self.recall:g} for {self.matches:,} matches, "
            f"{self.blind:,} of {self.all_pairs:,} pairs are drawn blindly "
            f"({100 * self.share:.2g} %)"
        )
        if 2 * self.blind >= self.all_pairs:
            return f"{text}: with so few matches, evaluate all pairs"
        return f"{text}; finding the matches comes on top, and is cheap with a good guide"


def plan_pairs(
    n: int, *, matches: int, recall: float = 0.95, others: int | None = None, symmetric: bool = True
) -> PairsPlan:
    """Say how many pairs must be drawn blindly to state a recall, whatever finds the matches.

    About 3.1·R/((1 − R)·M) of all pairs: 59/M for a recall of 0.95, 28/M for 0.9.

    Parameters
    ----------
    n : int
        Number of items.
    matches : int
        How many matches there are, roughly.
    recall : float, default=0.95
        The lower end that is to be stated.
    others : int, optional
        Number of items of a second set.
    symmetric : bool, default=True
        Whether both orders of a pair are one.

    Returns
    -------
    PairsPlan

    Examples
    --------
    >>> import fewpairs as fp
    >>> plan = fp.plan_pairs(45_747, matches=71_078)
    >>> plan.blind, round(100 * plan.share, 3)
    (867029, 0.083)
    """
    wanted = check_recall(recall)
    counts = {"n": n, "matches": matches} | ({} if others is None else {"others": others})
    for name, count in counts.items():
        if not is_whole(count) or count < (0 if name == "matches" else 1):
            raise InputError(
                f"{name} is {count!r}.",
                "It is a number of items, or of pairs that match.",
                "Pass a positive integer.",
            )
    square = others is None
    m = n if others is None else others
    universe = Universe(n, m, square=square, symmetric=square and symmetric)
    if universe.size == 0 or matches > universe.size:
        raise InputError(
            f"{matches:,} matches were given for {universe.size:,} pairs.",
            "There cannot be more matches than pairs.",
            "Check the numbers of items and of matches.",
        )
    return PairsPlan(
        blind_pairs(wanted, int(matches), universe.size), universe.size, int(matches), wanted
    )
