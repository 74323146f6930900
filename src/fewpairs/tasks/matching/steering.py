"""When to go on searching, when to buy landmarks, when to draw blind pairs, and how many.

Nothing here knows what the blind pairs hold: decisions rest on what was reached, so that a
statement made from the blind pairs stays true. The constants are shares of costs, chosen on the
cases of docs/tables/finding.md; none of them bears on what is stated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fewpairs.error.recall import LOW_TAIL, blind_pairs

#: First batch: an eighth of the items, so that a good guide is not followed longer than it pays;
#: later ones are a tenth of what was ranked before.
_FIRST, _FEWEST, _GROWTH = 8, 100, 10
#: But no batch is more than a fiftieth of all pairs, or the search could not learn from it.
_ROUNDS = 50
#: The search goes on as long as a tenth of the price of a statement brings 3 % more matches: they
#: make the statement cheaper by about as much.
_WINDOW, _GAIN = 0.1, 0.03
#: No longer than twenty pairs for each item in vain: where there is little to find, or nothing, a
#: statement may cost as much as all pairs.
_LONGEST = 20
#: With more misses than this the search gains nothing.
_MISSES = 8
#: As many matches as d⁻² are taken to be unreached after d ranked pairs; from 0.9 to 0.95 of all,
#: and on to 0.99, the power is 1.5 to 2.5 in most lines of docs/tables/finding.md. How many that
#: are is told by the last quarter of what was ranked.
_FALLS, _LATELY = 2.0, 4
#: Landmarks that are bought at a time.
LANDMARKS = 10
#: A guide that has led to a batch of which this share matched is worth following.
_LEADS = 0.05
#: Landmarks are bought once as much was spent on ranking as they cost. With a guide that leads
#: somewhere, once half of it was spent, if to spend as much on ranking would bring less than 1 %
#: more matches; or once 2.5 times as much was, if fewer than 3 % of recent pairs matched: then the
#: guide has told what it knows, and misleads for some of the items.
_RENT, _GUIDED_RENT, _LONG_RENT, _IDLE = 1.0, 0.5, 2.5, 0.01
_FADED = 0.03
#: Blind pairs get at most this share of a budget that allows for a statement, and this share of one
#: that does not.
_STATED, _UNSTATED = 0.6, 0.3
#: Landmarks must leave this share of the budget to what they lead to.
_LEFT_FOR_OTHERS = 0.4


@dataclass
class Steering:
    """Keeps count of a search, and decides what comes next.

    Parameters
    ----------
    n_items : int
        The smaller number of items of both sides.
    all_pairs : int
    allowed : int
        Pairs that may be evaluated.
    recall : float
        That is to be stated.
    guided : bool
    price_of_landmarks : int
        Of ten; 0 where there are none.
    tail : float
        Chance that the statement may be too sure.
    """

    n_items: int
    all_pairs: int
    allowed: int
    recall: float
    guided: bool
    price_of_landmarks: int
    tail: float = LOW_TAIL
    found: int = 0
    ranked: int = 0
    reached: int = 0
    _leads: bool = False
    _paid_for_landmarks: int = 0
    _ranked_at_landmarks: int = 0
    _batches: list[tuple[int, int]] = field(default_factory=list)

    # ------------------------------------------------------------------ what happened

    def ranked_batch(self, size: int, matches: int) -> None:
        """Note a batch of the most promising pairs, and how many of them matched."""
        early = self.ranked <= self.n_items // 2
        self._leads |= self.guided and early and matches >= _LEADS * size
        self.ranked += size
        self.reached += size
        self.found += matches
        self._batches.append((size, matches))

    def bought_landmarks(self, size: int, matches: int) -> None:
        """Note pairs of landmarks."""
        self.reached += size
        self.found += matches
        self._paid_for_landmarks += size
        self._ranked_at_landmarks = self.ranked
        self._batches.clear()

    # ------------------------------------------------------------------ what comes next

    @property
    def batch(self) -> int:
        """Size of the next batch."""
        first = max(_FEWEST, self.n_items // _FIRST)
        return max(first, min(self.ranked // _GROWTH, self.all_pairs // _ROUNDS))

    def wants_landmarks(self, *, drawn: bool) -> bool:
        """Whether whole columns of ten more items are worth their price.

        With a guide that leads somewhere only if the search goes on although blind pairs are
        drawn, or for long and with little to show.
        """
        price = self.price_of_landmarks
        if not price or self.reached + price > (1 - _LEFT_FOR_OTHERS) * self.allowed:
            return False
        if not self.guided and not self._paid_for_landmarks:
            return True
        since = self.ranked - self._ranked_at_landmarks
        rents = since / max(price, self._paid_for_landmarks)
        if self._leads:
            recent = self._recent(self.n_items // 2)
            idle = drawn and rents >= _GUIDED_RENT and recent * price < _IDLE * self.found
            return idle or (rents >= _LONG_RENT and recent < _FADED)
        never = not self._paid_for_landmarks and self.ranked >= self.n_items // 2
        return rents >= _RENT or never

    @property
    def price(self) -> int:
        """Blind pairs that a statement takes, if nothing more is found or missed."""
        rest = self.all_pairs - self.reached
        price = self._price(rest, self.may_miss)
        if price <= _STATED * self.allowed or self.allowed >= self.all_pairs:
            return min(price, max(self.allowed - self.reached, 0))
        return min(int(_UNSTATED * self.allowed), max(self.allowed - self.reached, 0))

    @property
    def may_miss(self) -> int:
        """How many matches of the blind pairs the search need not reach.

        Blind pairs that may miss some cost more, and save the search from going after the last
        ones: as many as make both together cheapest, by what is expected.
        """
        rest = self.all_pairs - self.reached
        if self.allowed < self.all_pairs or not self._batches:
            return 0
        recent = self._recent(max(self.batch, self.ranked // _LATELY))
        unreached = recent * self.ranked / _FALLS
        prices = [self._price(rest, missed) for missed in range(_MISSES + 1)]
        costs = [
            price + min(self._further(unreached * price / rest, missed), rest - price)
            for missed, price in enumerate(prices)
        ]
        return costs.index(min(costs))

    def _further(self, met: float, missed: int) -> float:
        """Return how many more pairs are ranked until so many blind matches are missed.

        If `met` of them are unreached now. From the end of the search they come at the times of a
        Poisson process; missed + 0.68 is the median of the one that ends it.
        """
        depth = (met / (missed + 0.68)) ** (1 / _FALLS)
        return float(self.ranked * max(depth - 1, 0.0))

    def _price(self, rest: int, missed: int) -> int:
        return blind_pairs(self.recall, self.found, rest, missed=missed, tail=self.tail)

    @property
    def is_time_to_draw(self) -> bool:
        """Whether the search no longer pays, or the budget is just enough for the blind pairs."""
        price = self.price
        if self.allowed < self.all_pairs and self.reached + self.batch + price > self.allowed:
            return True
        window = max(self.batch, longest_in_vain(price, self.n_items))
        return sum(size for size, _ in self._batches) >= window and self._recent(
            window
        ) * window < _GAIN * max(self.found, 1)

    def _recent(self, size: int) -> float:
        """Return the share of matches among the last `size` ranked pairs or so."""
        pairs = matches = 0
        for batch, found in reversed(self._batches):
            pairs, matches = pairs + batch, matches + found
            if pairs >= size:
                break
        return matches / max(pairs, 1)


def longest_in_vain(price: int, n_items: int) -> int:
    """Return how many pairs a search ranks with little to show before it draws blindly."""
    return min(int(_WINDOW * price), _LONGEST * n_items)
