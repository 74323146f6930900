"""What may be there although no drawn pair shows it: four questions to the evaluated columns.

A few hundred drawn pairs say little of pairs that are rarer than one in a hundred, and a few such
pairs can hold most of the error. But every evaluated column holds n more pairs with a random item:
how many large *values* there are is known much better than how well they are *predicted*.

- Do the columns show more mass in the tail than the drawn pairs do?
- Do they show mass beyond everything that was drawn, more than chance explains, or so much that the
  estimate is nothing beside it?
- Was a value ever seen, such as a diagonal of ones, that is larger than all that columns show?
- Is no drawn pair badly wrong? Then errors may sit where neither pairs nor landmarks went, or in
  the few pairs that are left over where most were drawn.

docs/error.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE
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
#: Of what columns show beyond everything drawn, less than this was bought: then it is not accounted
#: for, whatever the noise.
_BOUGHT = 0.5


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
        What the columns show, where nothing of it was drawn.
    high : float
        What it may be at most, with 97.5 % confidence.
    squares : float
        Squared values, as a multiple of the mass.
    unknown : bool
        Whether the mass is only known to be no more than if every pair were as far off as can be.
    """

    mass: float
    high: float
    squares: float
    unknown: bool = False


NOTHING = Missed(0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Tails:
    """Distances from the middle: of evaluated columns, of drawn pairs, of pairs that were bought.

    Parameters
    ----------
    block, far : ndarray
        Evaluated columns in the rows that are not: of the same kind as what is unseen.
    drawn : DrawnPairs
    drawn_far, bought_far : ndarray
    middle : float
        The median of the columns.
    largest : float
        Distance of anything that was evaluated or declared.
    n_pairs, n_columns : int
        Unseen pairs, the drawn ones included, and columns that were not evaluated.
    share : float
        Of all columns, those that were evaluated.
    orders : int
        Two where one order of a pair stands for both.
    """

    block: FloatArray
    far: FloatArray
    drawn: DrawnPairs
    drawn_far: FloatArray
    bought_far: FloatArray
    middle: float
    largest: float
    n_pairs: int
    n_columns: int
    share: float
    orders: int

    @classmethod
    def of(cls, known: Known, unseen: Unseen, drawn: DrawnPairs) -> Tails:
        """Measure everything from the median of the columns."""
        block = known.columns.values[unseen.rows]
        middle = float(np.median(block))
        i, j, bought = known.outside_lines()
        every = [known.columns.values, known.rows.values, known.values, drawn.values]
        if known.diagonal is not None:
            every.append(known.diagonal)
        return cls(
            block,
            np.abs(block - middle),
            drawn,
            np.abs(drawn.values - middle),
            np.abs(bought[i != j] - middle),
            middle,
            max(float(np.abs(v - middle).max()) for v in every if v.size),
            unseen.population + len(drawn.values),
            len(unseen.columns),
            len(known.columns.index) / known.shape[1],
            2 if known.symmetric else 1,
        )

    def beyond_most(self) -> Missed:
        """Compare the tail of the columns with that of the drawn pairs."""
        threshold = _threshold(self.drawn_far)
        inside = self.drawn_far > threshold
        weights = self.drawn.stands_for
        sampled = self.n_pairs * float(weights[inside] @ self.drawn_far[inside] ** 2)
        accounted = self.orders * sampled / float(weights.sum()) + self._bought(threshold)
        shown = self._shown(threshold)
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
        """Return what the columns show beyond everything drawn, and whether that is telling.

        No more than about 3.7/m of the pairs are expected beyond the largest of m; more mass than
        that is telling, unless most of it was bought.
        """
        threshold = float(self.drawn_far.max(initial=0.0)) * (1 + 1e-9)
        shown = self._shown(threshold)
        if shown is None:
            return NOTHING, False
        bought = self._bought(threshold)
        expected = self.n_pairs / max(len(self.drawn_far), 1) * self.orders * threshold**2
        telling = shown.mass > _RULE_OF_THREE * expected and bought < _BOUGHT * shown.mass
        return Missed(0.0, max(0.0, shown.high - bought), shown.squares), telling

    def unlike_columns(self) -> float:
        """Bound values as large as the largest that was ever seen, if no column shows one."""
        if (self.far >= _AS_LARGE * self.largest).any():
            return 0.0
        s = self.far.shape[1]
        return float(_RULE_OF_THREE * self.n_columns / s * self.largest**2)

    def unlike_landmarks(self) -> float:
        """Bound errors of pairs that neither the drawn pairs nor the landmarks have met.

        If no drawn pair is badly wrong, at most 3.7/m of all pairs are; and if they are pairs of
        items of a kind that no landmark is of, at most (3.7/s)².
        """
        if self._worst() >= _BADLY_WRONG * self._range():
            return 0.0
        m, s = len(self.drawn.values), self.far.shape[1]
        share = min(1.0, _RULE_OF_THREE / max(m, 1), (_RULE_OF_THREE / s) ** 2)
        return float(share * self.n_pairs * self.orders * self._range() ** 2)

    def left_over(self) -> float:
        """Bound errors of the pairs that are left over where most were drawn.

        Pairs that seemed not to matter were drawn least. If no drawn pair is quite wrong, about 3.7
        draws' worth of them may be.
        """
        m = len(self.drawn.values)
        if m < _MOST_DRAWN * self.n_pairs or self._worst() >= _QUITE_WRONG * self._range():
            return 0.0
        undrawn = max(0.0, float(self.drawn.stands_for.max()) - 1)
        pairs = min(_RULE_OF_THREE * undrawn, self.n_pairs - m)
        return float(pairs * self.orders * self._range() ** 2)

    def _worst(self) -> float:
        """Return the largest residual of a drawn pair."""
        return float(np.sqrt(self.drawn.residuals.max(initial=0.0) / self.orders))

    def _range(self) -> float:
        """Return how far off a pair can be: as far as values are from the middle, or from zero."""
        seen = max(float(self.far.max()), float(self.drawn_far.max(initial=0.0)))
        return seen if seen > _ROUNDING * abs(self.middle) else abs(self.middle)

    def _shown(self, threshold: float) -> _Shown | None:
        """Return the mass that the columns show beyond a threshold, over all that is unseen.

        It comes in lumps, as many as carry it, and their number is Poisson. With all columns
        evaluated nothing would be left to chance.
        """
        inside = self.far > threshold
        # In units of the largest, whose fourth power is still a number.
        unit = float(self.far.max())
        if not inside.any() or unit == 0:
            return None
        mass = np.where(inside, (self.far / unit) ** 2, 0.0)
        of_columns = mass.sum(axis=0)
        total = float(of_columns.sum())
        values = self.block[inside] / unit
        squares = float(values @ values) / total
        lumps = min(total**2 / float(of_columns @ of_columns), total**2 / float((mass**2).sum()))
        low = float(scipy.special.gammaincinv(lumps, (1 - CONFIDENCE) / 2)) / lumps
        high = float(scipy.special.gammaincinv(lumps + 1, (1 + CONFIDENCE) / 2)) / lumps
        chance = np.sqrt(max(0.0, 1 - self.share))
        everywhere = total * self.n_columns / mass.shape[1] * unit**2
        return _Shown(
            everywhere * (1 - (1 - low) * chance),
            everywhere,
            everywhere * (1 + (high - 1) * chance),
            squares,
            lumps,
        )

    def _bought(self, threshold: float) -> float:
        """Return the mass beyond a threshold that single evaluated pairs hold."""
        far = self.bought_far[self.bought_far > threshold]
        return self.orders * float(far @ far)


class _Shown(NamedTuple):
    """Mass of a tail with its interval; κ, its squares; how many lumps carry it."""

    low: float
    mass: float
    high: float
    squares: float
    lumps: float


def _threshold(drawn: FloatArray) -> float:
    """Return the distance beyond which lie ten of the drawn pairs, or a quarter of them."""
    allowed = min(_DRAWN_IN_TAIL, int(_SHARE_IN_TAIL * len(drawn)))
    if allowed >= len(drawn):
        return -1.0
    # Equal values must lie on the same side, rounding or not.
    return float(np.sort(drawn)[::-1][allowed]) * (1 + 1e-9)
