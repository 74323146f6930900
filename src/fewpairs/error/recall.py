"""The stated recall: how many matches an answer holds of all there are.

Some pairs are drawn blindly: uniformly, whatever anyone predicts. Of the matches that a search has
not reached, each is among them with the same chance; how many of them are tells how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from fewpairs.arrays import FloatArray, is_number
from fewpairs.error.unreached import fewest_unreached, most_unreached
from fewpairs.errors import InputError
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.numerics import most_affordable

#: What may lie outside of the interval: nearly all of the 5 % on the side that matters, and what is
#: left for a second draw.
LOW_TAIL, HIGH_TAIL, SECOND_TAIL = 0.045, 0.0025, 0.0025


@dataclass(frozen=True, eq=False)
class Recall:
    """The share of all matches that an answer holds, with a 95 % interval.

    Attributes
    ----------
    value, low, high : float
    found : int
        Matches in the answer.
    blind : int
        Pairs that were drawn blindly, for this statement alone.
    met : int
        Matches among them.
    missed : int
        Of these, how many the answer would lack had they not been drawn.
    pairs : int
        All pairs.
    missing : int
        Matches that are not in the answer, at most: those of the lower end.
    target : float or None
        The recall that was asked for.
    needed : int
        Blind pairs that would state the target, if none of their matches is missed.
    evaluations : int
        What it took in all; 0 where the answer itself tells.
    precision : float or None
        Of candidates that were given: the share that are matches.
    examples : tuple or None
        Of candidates that were given: matches that are not among them, as left and right
        positions (your ids, where you gave some) and similarities.
    of : {"matches", "neighbours"}
        What was looked for. Blind pairs of neighbours are whole rows.
    complete : bool
        Whether every pair was evaluated, so that the recall is exact.
    skipped : int
        Pairs that were asked for and have no value: they count as no matches.
    advice : str
        What it takes to state the target, where that is not said by the numbers above.
    """

    value: float
    low: float
    high: float
    found: int
    blind: int
    met: int
    missed: int
    pairs: int
    target: float | None = None
    needed: int = 0
    evaluations: int = 0
    precision: float | None = None
    examples: tuple[Any, Any, FloatArray] | None = field(default=None, repr=False)
    of: str = "matches"
    complete: bool = False
    missing: int = 0
    skipped: int = 0
    advice: str = field(default="", repr=False)

    @property
    def reached(self) -> bool:
        """Whether the lower end is at least the target."""
        return self.target is not None and self.low >= self.target

    def __str__(self) -> str:
        without = f"; {self.skipped:,} skipped pairs count as no {self.of}" if self.skipped else ""
        return self._stated() + without

    def _repr_html_(self) -> str:
        return card(f"recall {_written(self.value)}", [], self.picture(), str(self))

    def picture(self) -> str:
        """Draw the interval, and the recall that was asked for."""
        return svg.interval(self.value, self.low, self.high, target=self.target)

    def _stated(self) -> str:
        where = "found" if self.examples is None else "among the candidates"
        found = f", {_counted(self.found, 'match')} {where}" if self.of == "matches" else ""
        if self.complete:
            return f"recall {_written(self.value)} (exact: every pair was evaluated){found}"
        text = (
            f"recall {_written(self.value)} (95 % interval {_written(self.low)} to "
            f"{_written(self.high, up=True)}){found}; {self._what_was_drawn()}"
        )
        if self.target is not None and self.low < self.target:
            text += f". {self._what_it_takes(self.target)}"
        return text

    def _what_was_drawn(self) -> str:
        drawn = f"among {self.blind:,} pairs drawn blindly"
        if not self.blind:
            return "no pairs were drawn blindly"
        what = "match" if self.of == "matches" else "neighbour"
        if not self.met:
            return f"no {what} {drawn}"
        met = _counted(self.met, what)
        if self.examples is not None:  # all of them lie outside of the candidates
            return f"{met} {drawn} outside of them"
        if self.missed == self.met:
            return f"{met} {drawn}, which had been missed"
        return f"of {met} {drawn}, {self.missed:,} had been missed"

    def _what_it_takes(self, target: float) -> str:
        if self.advice:
            return self.advice
        if self.missed and self.examples is not None:
            return f"That is too many to state {target:g}: more candidates are needed"
        if self.needed >= self.pairs:
            return f"To state {target:g}, all {self.pairs:,} pairs must be evaluated"
        if self.missed:
            return f"That is too many to state {target:g}: the search must go deeper"
        return f"To state {target:g}, draw {self.needed:,} pairs blindly"


def state_recall(
    found: int,
    *,
    rest: int,
    drawn: int,
    missed: int,
    left: int,
    pairs: int,
    may_miss: int = 0,
    met: int,
    target: float | None = None,
    tails: tuple[float, float] = (LOW_TAIL, HIGH_TAIL),
) -> Recall:
    """State the recall of an answer.

    Parameters
    ----------
    found : int
        Matches in the answer, those that were met blindly included.
    rest : int
        Pairs that could be drawn: all that were not evaluated by then.
    drawn : int
        How many were.
    missed : int
        Matches among the drawn that the search has not reached.
    left : int
        Pairs that are not evaluated now.
    may_miss : int, default=0
        If the search went on after the draw: how many of the drawn matches it had leave to miss.
        It stops between two batches, perhaps with fewer missed, which is no merit.
    pairs, met, target : as for `Recall`
    tails : (float, float)
        Chances that the truth lies below and above.

    Returns
    -------
    Recall
    """
    most = min(most_unreached(max(missed, may_miss), rest, drawn, tails[0]), missed + left)
    middle = min(most_unreached(missed, rest, drawn, 0.5), most)
    least = min(fewest_unreached(missed, rest, drawn, tails[1]), middle)
    needed = 0 if target is None else blind_pairs(target, found, pairs)
    return Recall(
        value=share_found(found, middle - missed),
        low=share_found(found, most - missed),
        high=share_found(found, least - missed),
        found=found,
        blind=drawn,
        met=met,
        missed=missed,
        pairs=pairs,
        target=target,
        needed=needed,
        complete=left == 0,
        missing=most - missed,
    )


def blind_pairs(
    recall: float, matches: int, rest: int, *, missed: int = 0, tail: float = LOW_TAIL
) -> int:
    """Count the blind pairs that state a recall if `missed` of their matches had been missed.

    Where none is, a share q of all pairs with (1 − q)^(L + 1) = 0.045, where L = (1 − R)/R·M is the
    number of matches that may be missing beside the M in the answer: about 59/M of all pairs for
    R = 0.95.
    """
    return blind_pairs_for(_may_be_missing(recall, matches), rest, missed=missed, tail=tail)


def leave_to_miss(
    recall: float,
    found: int,
    *,
    rest: int,
    drawn: int,
    before: int = 0,
    most: int,
    tail: float = LOW_TAIL,
) -> int:
    """Return how many of the drawn matches a search need not reach by now.

    As many as state the recall with what the search itself has found. This grows with what was
    found, and depends on nothing else, so that it is as good as fixed at the draw. For as long as
    the claim would be false, the last moment is the one at which the most may be missed and the
    fewest are: who stopped before would have stopped then, and that has the chance `tail`.

    Parameters
    ----------
    recall : float
    found : int
        Matches that the search has reached.
    rest, drawn : int
        Pairs that could be drawn, and that were.
    before : int, default=0
        What it had leave to miss before.
    most : int
        No more than these.
    tail : float
        Chance of being too sure.

    Returns
    -------
    int
    """
    missing = _may_be_missing(recall, found)
    return most_affordable(
        lambda missed: most_unreached(missed, rest, drawn, tail), most, missing, least=before
    )


def _may_be_missing(recall: float, matches: int) -> int:
    return int((1 - recall) / recall * matches)


def blind_pairs_for(missing: int, rest: int, *, missed: int = 0, tail: float = LOW_TAIL) -> int:
    """Count the blind pairs that state that no more than so many matches are missing."""
    share = stats.beta.ppf(1 - tail, missed + 1, missing + 1)
    return min(int(np.ceil(share * rest)) + 1, rest)


def check_recall(recall: object) -> float:
    """Check a wanted recall: a number between 0 and 1."""
    if not is_number(recall) or not 0 < recall < 1:
        raise InputError(
            f"recall is {recall!r}.",
            "It is the share of all matches that the answer must hold: 1 would need all pairs.",
            "Pass a number between 0 and 1, for example 0.95.",
        )
    return float(recall)


def share_found(found: int, missing: int) -> float:
    """Return the recall of an answer that lacks so many; of nothing, nothing is missing."""
    return 1.0 if missing == 0 else found / (found + missing)


def _counted(count: int, name: str) -> str:
    several = "es" if name.endswith("ch") else "s"
    return f"{count:,} {name}{'' if count == 1 else several}"


def _written(share: float, *, up: bool = False) -> str:
    """Write a share, rounded down so that only 1 itself reads as 1; an upper end is rounded up."""
    if share in (0, 1):
        return f"{share:.3g}"
    return f"{(np.ceil if up else np.floor)(share * 1000) / 1000:.3f}"
