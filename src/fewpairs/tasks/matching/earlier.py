"""What was stated of old pairs, and how a statement about new ones joins it.

Old pairs keep their statement: at most so many of their matches are missing, but for a chance of
4.5 % (and 0.25 % for a second draw). Blind pairs of the new ones bound what is missing there. Both
bounds hold together but for the sum of their chances, whatever the old ones have led to: so the new
ones get what the upper end would have had, 0.25 % for all extensions that may follow each other,
half of what is left for each. The upper end is then 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fewpairs.arrays import IntArray
from fewpairs.error.recall import HIGH_TAIL, Recall, blind_pairs_for, share_found
from fewpairs.tasks.matching.blind import Tails

#: Of what an extension may fail by, the part of its second draw.
_SECOND = 0.1


@dataclass(frozen=True, eq=False)
class Earlier:
    """Matches that are known, and what is stated about those that are missing beside them.

    Parameters
    ----------
    left, right : ndarray
        Positions of the matches.
    recall : Recall
        What is stated of the old pairs.
    extensions : int
        How many there were, with the present one.
    """

    left: IntArray
    right: IntArray
    recall: Recall
    extensions: int

    @property
    def tails(self) -> Tails:
        """Chances that the statement about new pairs may be false."""
        share = HIGH_TAIL / 2**self.extensions
        return Tails(low=(1 - _SECOND) * share, high=0.0, second=_SECOND * share)

    def joined(self, stated: Recall) -> Recall:
        """Return the statement about old and new pairs."""
        old = self.recall
        found, missing = old.found + stated.found, old.missing + stated.missing
        return replace(
            stated,
            value=share_found(found, _expected(old) + _expected(stated)),
            low=share_found(found, missing),
            high=1.0,
            found=found,
            missing=missing,
            blind=old.blind + stated.blind,
            met=old.met + stated.met,
            missed=old.missed + stated.missed,
            pairs=old.pairs + stated.pairs,
            needed=self._needed(stated, found),
            complete=old.complete and stated.complete,
            advice=self._advice(stated, found),
        )

    def _needed(self, stated: Recall, found: int) -> int:
        """Return how many blind pairs of the new ones would have stated the target of all."""
        may_miss = self._may_miss(stated, found)
        if may_miss is None or may_miss < 0:
            return stated.pairs
        return blind_pairs_for(may_miss, stated.pairs, tail=self.tails.low)

    def _may_miss(self, stated: Recall, found: int) -> int | None:
        """Return how many matches of new pairs may be missing beside those of old ones."""
        if stated.target is None:
            return None
        return int((1 - stated.target) / stated.target * found) - self.recall.missing

    def _advice(self, stated: Recall, found: int) -> str:
        target, may_miss = stated.target, self._may_miss(stated, found)
        if target is None or may_miss is None:
            return ""
        if may_miss < 0:
            return (
                f"To state {target:g}, too little is known of the old pairs, of which up to "
                f"{self.recall.missing:,} matches may be missing: call find_pairs with all items"
            )
        needed = self._needed(stated, found)
        if needed >= stated.pairs:
            return f"To state {target:g}, all {stated.pairs:,} new pairs must be evaluated"
        if stated.missed:
            return f"Too many were missed to state {target:g}: the search must go deeper"
        return f"To state {target:g}, draw {needed:,} of the new pairs blindly"


def _expected(stated: Recall) -> int:
    """Return how many matches are missing as far as the stated value tells, at most all."""
    if not stated.found or not stated.value:
        return stated.missing
    return min(round(stated.found / stated.value) - stated.found, stated.missing)
