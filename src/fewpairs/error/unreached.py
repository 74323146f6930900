"""How many matches a search has not reached, by how many of them a blind draw has met."""

from __future__ import annotations

from collections.abc import Callable

from scipy import stats

from fewpairs.numerics import most_affordable

#: Of more pairs than this the draw is taken to be with replacement, which is never too sure.
_MANY = 10_000_000


def most_unreached(missed: int, rest: int, drawn: int, chance: float) -> int:
    """Return how many matches there may be, unreached, of which as few were drawn.

    That is the largest number of which no more than `missed` are drawn with more than that chance.
    """
    return _last_that_holds(
        lambda count: _chance_of_so_few(missed, rest, drawn, count) > chance,
        missed,
        rest - drawn + missed,
    )


def fewest_unreached(missed: int, rest: int, drawn: int, chance: float) -> int:
    """Return how many matches there must be, unreached, for as many to be drawn.

    That is the smallest number of which `missed` or more are drawn with more than that chance.
    """
    if missed == 0:
        return 0
    too_few = _last_that_holds(
        lambda count: 1 - _chance_of_so_few(missed - 1, rest, drawn, count) <= chance,
        missed - 1,
        rest - drawn + missed,
    )
    return too_few + 1


def _chance_of_so_few(missed: int, rest: int, drawn: int, count: int) -> float:
    """Return the chance that `missed` or fewer of `count` matches are drawn."""
    if rest > _MANY:
        return float(stats.binom.cdf(missed, count, drawn / rest))
    return float(stats.hypergeom.cdf(missed, rest, count, drawn))


def _last_that_holds(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest number from `low` to `high` for which something holds.

    It must hold of all smaller ones too, and not of larger ones; of `low` it is taken to hold.
    """
    return most_affordable(lambda count: int(not holds(count)), high, 0, least=low)
