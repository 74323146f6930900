"""What may be there although no drawn pair shows it: four questions to the evaluated lines.

A few hundred drawn pairs say little of pairs that are rarer than one in a hundred, and a few such
pairs can hold most of the error. But every evaluated line holds n more pairs with a random item:
how many large *values* there are is known much better than how well they are *predicted*.

- Do the lines show more mass in the tail than the drawn pairs do?
- Do they show mass beyond everything that was drawn, more than chance explains, of another kind, or
  so much that the estimate is nothing beside it?
- Was a value ever seen, such as a diagonal of ones, that is larger than all that lines show?
- Is no drawn pair badly wrong? Then errors may sit where neither pairs nor landmarks went, or in
  the few pairs that are left over where most were drawn.

docs/error.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE
from fewpairs.error.shown import EvaluatedLines
from fewpairs.error.unseen import Unseen
from fewpairs.oracle.known import Known

#: The tail begins where at most ten of the drawn pairs are larger, and at most a quarter of them:
#: what is rarer than that, the sample cannot vouch for.
_DRAWN_IN_TAIL, _SHARE_IN_TAIL = 10, 1 / 4
#: A sum that fewer lumps than this carry, or a sample that holds fewer, says nothing of the rest.
_FEWEST_LUMPS = 5
#: None of s random items is of some kind: then at most about 3.7/s of all items are
#: (0.975 = 1 − exp(−3.7)).
_RULE_OF_THREE = -float(np.log((1 - CONFIDENCE) / 2))
#: Values above half of the largest count as being as large; a pair is badly wrong from a twentieth
#: of the largest value on, and quite wrong from a third on. Residuals of ordinary matrices with an
#: error above 2 % or so reach a twentieth; those of labels are one.
_AS_LARGE, _BADLY_WRONG, _QUITE_WRONG = 0.5, 0.05, 1 / 3
#: Where this share of the unseen pairs was drawn, few are left over.
_MOST_DRAWN = 0.25
#: Values that differ by less than this are one value.
_ROUNDING = 1e-12
#: A threshold lies so far above a drawn value that its equals, rounded otherwise, do not pass.
_JUST_ABOVE = 1 + 1e-9
#: Of what lines show beyond everything drawn, more than this is of another kind: then that is what
#: lies there.
_MOSTLY = 0.5
#: Of what lines show beyond everything drawn, less than this was bought: that explains it no more
#: than nothing would, however few lumps it comes in.
_HARDLY = 0.25


class DrawnPairs(NamedTuple):
    """Pairs of different items that were drawn, and are still unseen to the method.

    Attributes
    ----------
    values : ndarray
    stands_for : ndarray
        How many unseen pairs each of them stands for.
    residuals : ndarray
        r², summed over both orders where one stands for both.
    """

    values: FloatArray
    stands_for: FloatArray
    residuals: FloatArray


class Missed(NamedTuple):
    """Mass of large values that were not drawn: squared distances from the middle.

    Attributes
    ----------
    mass : float
        What the lines show, where nothing of it was drawn.
    high : float
        What it may be at most, with 97.5 % confidence.
    squares : float
        Squared values, as a multiple of the mass.
    unknown : bool
        Whether the mass is only known to be no more than if every pair were as far off as can be.
    residuals : float
        Squared residuals, as a multiple of the mass: 1 if what is missed was predicted to lie in
        the middle, as many as there are squared values if it was predicted to be zero.
    """

    mass: float
    high: float
    squares: float
    unknown: bool = False
    residuals: float = 1.0


NOTHING = Missed(0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Tails:
    """Distances from the middle: of evaluated lines, of drawn pairs, of pairs that were bought.

    Parameters
    ----------
    lines : EvaluatedLines
    drawn : DrawnPairs
    drawn_far, bought_far : ndarray
    largest : float
        Distance of anything that was evaluated or declared.
    n_pairs : int
        Unseen pairs, the drawn ones included.
    orders : int
        Two where one order of a pair stands for both.
    """

    lines: EvaluatedLines
    drawn: DrawnPairs
    drawn_far: FloatArray
    bought_far: FloatArray
    largest: float
    n_pairs: int
    orders: int

    @classmethod
    def of(cls, known: Known, unseen: Unseen, drawn: DrawnPairs) -> Tails:
        """Measure everything from the median of the lines."""
        lines = EvaluatedLines.of(known, unseen)
        middle = lines.middle
        i, j, bought = known.outside_lines()
        every = [known.columns.values, known.rows.values, known.values, drawn.values]
        if known.diagonal is not None:
            every.append(known.diagonal)
        return cls(
            lines,
            drawn,
            np.abs(drawn.values - middle),
            np.abs(bought[i != j] - middle),
            max(_farthest(v, middle) for v in every if v.size),
            unseen.population + len(drawn.values),
            2 if known.symmetric else 1,
        )

    def beyond_most(self) -> Missed:
        """Compare the tail of the lines with that of the drawn pairs."""
        threshold = _threshold(self.drawn_far)
        inside = self.drawn_far > threshold
        weights = self.drawn.stands_for
        sampled = self.n_pairs * float(weights[inside] @ self.drawn_far[inside] ** 2)
        accounted = self.orders * sampled / float(weights.sum()) + self._bought(threshold)
        shown = self.lines.beyond(threshold)
        if shown is None:
            return NOTHING
        low, everywhere, high, squares, lumps = shown
        # Enough were drawn to tell, and no more is missing than chance explains.
        if inside.sum() >= _FEWEST_LUMPS and low <= accounted:
            return NOTHING._replace(squares=squares)
        # Where some of it was drawn, the sample is right on average, if seldom.
        mass = 0.0 if inside.any() else max(0.0, everywhere - accounted)
        unknown = bool(lumps < _FEWEST_LUMPS)
        everything = self.n_pairs * self.orders * self.largest**2
        most = everything if unknown else max(0.0, high - accounted)
        return Missed(mass, most, squares, unknown)

    def beyond_all(self) -> tuple[Missed, bool]:
        """Return what the lines show beyond everything drawn, and whether that is telling.

        No more than about 3.7/m of the pairs are expected beyond the largest of m; more mass than
        that is telling, and so are values of another kind, more than twice as large as the largest.
        Unless what was bought explains it.
        """
        threshold = float(self.drawn_far.max(initial=0.0)) * _JUST_ABOVE
        shown = self.lines.beyond(threshold)
        if shown is None:
            return NOTHING, False
        bought = self._bought(threshold)
        expected = self.n_pairs / max(len(self.drawn_far), 1) * self.orders * threshold**2
        other = self.lines.beyond(threshold / _AS_LARGE)
        telling = shown.mass > _RULE_OF_THREE * expected
        telling = telling or (other is not None and other.mass > _MOSTLY * shown.mass)
        missed = Missed(0.0, max(0.0, shown.high - bought), shown.squares)
        return missed, telling and bought < max(shown.low, _HARDLY * shown.mass)

    def unlike_lines(self) -> float:
        """Bound values as large as the largest that was ever seen, if no line shows one."""
        if self.lines.farthest >= _AS_LARGE * self.largest:
            return 0.0
        return float(_RULE_OF_THREE / self.lines.exposure * self.largest**2)

    def unlike_landmarks(self) -> float:
        """Bound errors of pairs that neither the drawn pairs nor the landmarks have met.

        If no drawn pair is badly wrong, few are; and if they are pairs of items of a kind that no
        landmark is of, at most (3.7/s)² of all.
        """
        if self._worst() >= _BADLY_WRONG * self._range():
            return 0.0
        unmet = (_RULE_OF_THREE / self.lines.fewest) ** 2 * self.n_pairs
        pairs = min(self.n_pairs, self._not_drawn(), unmet)
        return float(pairs * self.orders * self._range() ** 2)

    def left_over(self) -> float:
        """Bound errors of the pairs that are left over where most were drawn.

        Pairs that seemed not to matter were drawn least. If no drawn pair is quite wrong, few of
        them are.
        """
        m = len(self.drawn.values)
        if m < _MOST_DRAWN * self.n_pairs or self._worst() >= _QUITE_WRONG * self._range():
            return 0.0
        return float(min(self._not_drawn(), self.n_pairs - m) * self.orders * self._range() ** 2)

    def residuals_of(self, squares: float) -> float:
        """Return squared residuals of what was missed, as a multiple of its mass.

        It is taken to be predicted as the drawn pairs were: no worse than by the middle, or, where
        the result does worse on them than the middle would, up to no better than by zero.

        Parameters
        ----------
        squares : float
            Squared values of what was missed, as a multiple of its mass.
        """
        weights = self.drawn.stands_for
        by_middle = self.orders * float(weights @ self.drawn_far**2)
        rounding = _ROUNDING * float(weights @ self.drawn.values**2)
        found = float(weights @ self.drawn.residuals)
        if squares <= 1 or found <= by_middle + rounding:
            return 1.0
        # In this order a middle that is right everywhere divides nothing.
        return squares if found >= squares * by_middle else found / by_middle

    def _not_drawn(self) -> float:
        """Return how many pairs of a kind there may be, beside those drawn, if none was drawn.

        Chances of being drawn differ. Pairs with the chances π are all missed with the probability
        exp(−Σπ), so that Σπ is at most 3.7; where they are those with the smallest chances, each
        stands for as many pairs as the drawn one that stands for most.
        """
        return _RULE_OF_THREE * max(0.0, float(self.drawn.stands_for.max(initial=0.0)) - 1)

    def _worst(self) -> float:
        """Return the largest residual of a drawn pair."""
        return float(np.sqrt(self.drawn.residuals.max(initial=0.0) / self.orders))

    def _range(self) -> float:
        """Return how far off a pair can be: as far as values are from the middle, or from zero."""
        seen = max(self.lines.farthest, float(self.drawn_far.max(initial=0.0)))
        middle = abs(self.lines.middle)
        return seen if seen > _ROUNDING * middle else middle

    def _bought(self, threshold: float) -> float:
        """Return the mass beyond a threshold that single evaluated pairs hold."""
        far = self.bought_far[self.bought_far > threshold]
        return self.orders * float(far @ far)


def _farthest(values: FloatArray, middle: float) -> float:
    return max(abs(float(values.max()) - middle), abs(float(values.min()) - middle))


def _threshold(drawn: FloatArray) -> float:
    """Return the distance beyond which lie ten of the drawn pairs, or a quarter of them."""
    allowed = min(_DRAWN_IN_TAIL, int(_SHARE_IN_TAIL * len(drawn)))
    if allowed >= len(drawn):
        return -1.0
    # Equal values must lie on the same side, rounding or not.
    return float(np.sort(drawn)[::-1][allowed]) * _JUST_ABOVE
