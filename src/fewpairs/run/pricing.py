"""What a number of landmarks costs, how many a budget buys, and with how many a target starts."""

from __future__ import annotations

from dataclasses import dataclass

from fewpairs.error.sampling import FEWEST_COLUMNS
from fewpairs.errors import BudgetError
from fewpairs.methods.base import Method
from fewpairs.methods.landmarks import Selector, price_of_selection
from fewpairs.numerics import most_affordable
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner

#: More pairs than this make the interval of an ordinary matrix hardly narrower (docs/error.md);
#: and judging should not cost more than a tenth of what is judged.
MOST_ERROR_PAIRS, _SHARE_FOR_ERROR = 2000, 1 / 10
#: A similarity that depends on the order does so for nearly every pair: a few tell.
_SYMMETRY_PAIRS = 8
#: Pairs set aside to judge the steps to a target by: 1,000, fewer for a small matrix (half as many
#: as it has items, but 200), and at least ten. More are drawn before a success is believed.
AUDIT_PAIRS, _SMALL_AUDIT, _FEWEST_AUDIT = 1000, 200, 10
#: They may not cost more than this share of a budget.
_SHARE_FOR_AUDIT = 1 / 20

#: Bytes of the pools of pairs that are drawn from to judge, at most, for each pair where there are
#: few, and for each item; as benchmarks/reliability/memory.py finds them.
_POOLS, _PER_PAIR, _PER_ITEM = 36 * 10**6, 40, 120


@dataclass(frozen=True)
class Price:
    """What a number of landmarks leads to, everything included."""

    oracle: Oracle
    method: Method
    selector: Selector
    pairs: int | None

    def symmetry_pairs(self, count: int) -> int:
        """Pairs of landmarks asked in both orders, where nothing else can tell that they differ.

        A block-only similarity of many items gives both orders anyway, a proven one needs no check,
        and ``error_pairs=0`` means that nothing is spent beyond the method.
        """
        similarity, planner = self.oracle.similarity, self.oracle.planner
        free = not self.oracle.symmetric or planner.sees_both_orders or similarity.symmetry_proven
        few = min(count, planner.first_landmarks)
        # Few items are not worth eight pairs.
        most = min(_SYMMETRY_PAIRS, few * (few - 1) // 2, max(1, planner.n // 4))
        return 0 if free or self.pairs == 0 or count == 1 else most

    def error_pairs(self, count: int) -> int:
        """Return at most 2,000, at most a tenth of the method's price, at most what is unseen."""
        planner = self.oracle.planner
        spent = self.method.price(planner, count) // planner.per_entry
        wanted = self.pairs
        if wanted is None:
            wanted = min(MOST_ERROR_PAIRS, max(2, int(spent * _SHARE_FOR_ERROR)))
        if self.method.price_is_most:  # only its lines are sure to be read
            spent = planner.price_of_lines(count, count, count) // planner.per_entry
        everything = planner.price_of_everything // planner.per_entry
        return max(0, min(wanted, everything - spent))

    def total(self, count: int) -> int:
        """Count the method, the error estimate and the symmetry check.

        What is judged by is not seen by the method: together they cannot spend more than all pairs.
        """
        planner = self.oracle.planner
        method, beside = self.method.price(planner, count), self.beside(count)
        judging = self.error_pairs(count) * planner.per_entry
        together = min(method + judging, max(method, planner.price_of_everything))
        return together + beside - judging

    def beside(self, count: int) -> int:
        """Count what is spent beside the method."""
        planner = self.oracle.planner
        reads = bool(getattr(self.selector, "reads", True))
        # One order of these pairs is part of the columns. But a selector that reads columns does
        # not record the order of a pair, so that both orders are asked again.
        orders = 2 if reads else 1
        pairs = self.error_pairs(count) + orders * self.symmetry_pairs(count)
        selection = price_of_selection(self.selector, planner, count)
        if reads and not planner.symmetric:
            # It reads the columns of all landmarks, and the method may need rows of some only.
            selection += (count - self.method.columns_read(count)) * planner.n * planner.per_entry
        return pairs * planner.per_entry + selection


def peak_memory(method: Method, planner: Planner, count: int, *, judged: bool) -> int:
    """Count the bytes that a run holds at its peak: tall arrays, and what fitting or judging takes.

    Who judges holds profiles in single precision, and pools of pairs to draw from.
    """
    judging = 0
    if judged:
        pools = min(_POOLS, _PER_PAIR * planner.n * planner.m)
        judging = 4 * planner.sides * count + pools + _PER_ITEM * planner.sides
    return method.memory(planner, count) + max(method.working_memory(planner, count), judging)


def peak_memory_beside_disk(method: Method, planner: Planner, count: int, *, judged: bool) -> int:
    """Count the bytes of a run whose tall arrays are on disk: lists of items, pools of pairs."""
    pools = min(_POOLS, _PER_PAIR * planner.n * planner.m) if judged else 0
    return max(pools, method.memory_beside_disk(planner, count)) + _PER_ITEM * planner.sides


def room_on_disk(method: Method, oracle: Oracle, count: int, *, drawn: bool) -> int:
    """Count the bytes of the files of a run whose tall arrays are on disk.

    Columns, which may be there already, and what is written beside them: who draws the pairs that
    judge by what they promise needs profiles, unless the method has them.
    """
    columns = profiles = 4 * oracle.planner.sides * count
    if not (drawn and oracle.square and count >= FEWEST_COLUMNS):
        profiles = 0
    beside = max(profiles, method.files_beside(oracle.planner, count))
    return beside + (columns if oracle.bytes_on_disk < columns else 0)


def fit_budget(price: Price, budget: int, n: int) -> int:
    """Return the largest number of landmarks whose run fits; prices grow with landmarks."""
    if price.total(1) > budget:
        raise BudgetError(
            f"a budget of {budget:,} evaluations is less than the {price.total(1):,} that one "
            "landmark costs.",
            "With fewer than one column nothing can be said of the other pairs.",
            f"Raise the budget, or pass error_pairs=0; {n} landmarks would cost "
            f"{price.total(n):,}.",
        )
    return most_affordable(price.total, n, budget, least=1)


@dataclass(frozen=True)
class Target:
    """What to reach, and what may be spent on it.

    Parameters
    ----------
    error : float
        The upper end of the error's interval must get below this.
    most : int
        Evaluations that may be spent in all.
    audit : int
        Pairs that judge the first step; more join them later.
    """

    error: float
    most: int
    audit: int


def audit_size(error_pairs: int | None, shape: tuple[int, int], most: int) -> int:
    """Return how many pairs are set aside to judge by; `most` is a budget in entries."""
    wanted = min(error_pairs or AUDIT_PAIRS, max(_SMALL_AUDIT, max(shape) // 2))
    return max(_FEWEST_AUDIT, min(wanted, int(most * _SHARE_FOR_AUDIT)))


def first_count(oracle: Oracle, method: Method, target: Target, beside: int) -> int:
    """Start small, and inside the budget; `beside` is what is spent beside the method."""
    planner = oracle.planner
    n = min(oracle.shape)
    beside += 2 * target.audit * planner.per_entry
    # As few columns as are of use: a further step costs arithmetic, overshooting evaluations.
    count = min(FEWEST_COLUMNS, n)
    count = most_affordable(
        lambda few: method.price(planner, few) + beside, count, target.most, least=1
    )
    least = method.price(planner, count) + beside
    if least > target.most:
        raise BudgetError(
            f"a budget of {target.most:,} evaluations is less than the {least:,} that a first "
            "step costs.",
            "It reads one column and judges the result twice.",
            "Raise the budget, or leave target_error out.",
        )
    return count
