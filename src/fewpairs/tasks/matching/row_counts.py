"""How many rows `find_nearest` reads whole: to learn from, to judge by, or all of them."""

from __future__ import annotations

from typing import NamedTuple

from fewpairs.error.recall import LOW_TAIL
from fewpairs.error.shares import rows_for

# What is said of constants was tried on RTE, STS-B (634) and 607 places, six seeds, by the runs of
# benchmarks/matching/nearest_coverage.py with 20 and 30 % of all pairs, or without a budget.

#: Rows that the ranking learns from, and landmarks where there is no guide: few, because each costs
#: as much as a candidate of every item. From 2 to 20 rows change the recall within a budget by 0.01
#: or so where there is a guide; two cost 0.07 of it on places without one. So do five landmarks.
_TRAINING, _LANDMARKS = 5, 10
#: There are as many blind rows as state a recall R if the true one is 1 − 0.2·(1 − R), 0.99 for
#: 0.95: with fewer the search would have to go deeper, with more they cost more than that. 0.1
#: costs as much in all; with 0.3 they are so many that of 600 items all are read.
_SLACK = 0.2
#: Shares of a budget that training rows and landmarks, each, and blind rows may take. Half as much
#: for landmarks costs 0.12 of the recall without a guide, twice as much gains 0.03. Blind rows with
#: a share of 0.2 leave 0.04 more to be found and state 0.03 to 0.09 less; with 0.6 both are less.
_TRAINING_SHARE, _BLIND_SHARE = 0.1, 0.4


class RowCounts(NamedTuple):
    """Rows to read whole, by purpose.

    Attributes
    ----------
    training, landmarks, judges : int
    everything : bool
        Whether all rows are read instead, because those that judge would be most of them.
    """

    training: int
    landmarks: int
    judges: int
    everything: bool

    @property
    def together(self) -> int:
        """How many rows are read whole, if not all are."""
        return self.training + self.landmarks + self.judges


def row_counts(
    recall: float, shape: tuple[int, int], allowed: int, all_cost: int, *, guided: bool, each: int
) -> RowCounts:
    """Decide how many rows are read whole.

    Parameters
    ----------
    recall : float
        That is to be stated.
    shape : (int, int)
        Numbers of items on both sides.
    allowed, all_cost : int
        Evaluations that may be spent, and that all pairs would take.
    guided : bool
        Without a guide there are landmarks.
    each : int
        Evaluations that one entry takes.

    Returns
    -------
    RowCounts
    """
    room, price = min(allowed, all_cost), max(shape) * each
    wanted = rows_for(1 - _SLACK * (1 - recall), recall, LOW_TAIL)
    some = int(_TRAINING_SHARE * room / price)
    training, judges = min(_TRAINING, some), min(wanted, int(_BLIND_SHARE * room / price))
    landmarks = 0 if guided else min(_LANDMARKS, *shape, some)
    most = training + landmarks + judges + wanted >= shape[0] // 2
    return RowCounts(training, landmarks, judges, most and allowed >= all_cost)
