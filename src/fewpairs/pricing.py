"""What a number of landmarks costs, everything included, and how many a budget buys."""

from __future__ import annotations

from dataclasses import dataclass

from fewpairs.errors import BudgetError
from fewpairs.methods.base import Method
from fewpairs.methods.landmarks import Selector, price_of_selection
from fewpairs.oracle.oracle import Oracle

MOST_ERROR_PAIRS = 2000
_SYMMETRY_PAIRS = 8


@dataclass(frozen=True)
class Price:
    """What a number of landmarks leads to, everything included."""

    oracle: Oracle
    method: Method
    selector: Selector
    pairs: int | None

    def symmetry_pairs(self, count: int) -> int:
        """Pairs of landmarks asked in both orders, where nothing else can tell that they differ.

        A block-only similarity gives both orders anyway, a proven one needs no check, and
        ``error_pairs=0`` means that nothing is spent beyond the method.
        """
        similarity, planner = self.oracle.similarity, self.oracle.planner
        free = not self.oracle.symmetric or planner.by_block_only or similarity.symmetry_proven
        few = min(count, planner.strip)
        most = min(_SYMMETRY_PAIRS, few * (few - 1) // 2, max(1, planner.n // 4))
        return 0 if free or self.pairs == 0 or count == 1 else most

    def error_pairs(self, count: int) -> int:
        """Return at most 2,000, at most a tenth of the method's price, at most what is unseen."""
        planner = self.oracle.planner
        spent = self.method.price(planner, count) // planner.per_entry
        wanted = min(MOST_ERROR_PAIRS, max(2, spent // 10)) if self.pairs is None else self.pairs
        everything = planner.price_of_everything // planner.per_entry
        return max(0, min(wanted, everything - spent))

    def total(self, count: int) -> int:
        """Count the method, the error estimate and the symmetry check."""
        return self.method.price(self.oracle.planner, count) + self.beside(count)

    def beside(self, count: int) -> int:
        """Count what is spent beside the method."""
        planner = self.oracle.planner
        pairs = self.error_pairs(count) + self.symmetry_pairs(count)
        return pairs * planner.per_entry + price_of_selection(self.selector, planner, count)


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
    low, high = 1, n
    while low < high:
        middle = (low + high + 1) // 2
        if price.total(middle) <= budget:
            low = middle
        else:
            high = middle - 1
    return low
