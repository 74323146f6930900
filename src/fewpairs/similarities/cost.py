"""Money: what one evaluation costs, what many cost, and how many an amount buys."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from fewpairs.arrays import is_number
from fewpairs.errors import BudgetError, InputError

#: A number, or an amount with its currency on either side: "0.002 USD", "$0.002".
CostOption: TypeAlias = float | str
_AMOUNT = re.compile(r"([^\d\s.+-]*)\s*(\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([^\d\s.+-]*)")
#: Amounts are written with cents, and smaller ones with three digits.
_CENT = 0.01


@dataclass(frozen=True)
class Cost:
    """What one evaluation costs.

    Parameters
    ----------
    each : float
    currency : str
        As it was typed; nothing where none was.
    """

    each: float
    currency: str = ""

    @classmethod
    def of(cls, value: Any) -> Cost:
        """Read a cost: a positive number, or an amount with its currency."""
        if isinstance(value, Cost):
            return value
        amount, currency = _read(value) or (None, "")
        if amount is None or not 0 < float(amount) < math.inf:
            raise InputError(
                f"cost is {value!r}.",
                "It is the price of one evaluation.",
                'Pass a positive number, or an amount with its currency, as in "0.002 USD".',
            )
        return cls(float(amount), currency)

    def price(self, evaluations: int) -> float:
        """Return what so many evaluations cost."""
        return self.each * evaluations

    def written(self, evaluations: int) -> str:
        """Write what so many evaluations cost, for people."""
        price = self.price(evaluations)
        amount = f"{price:,.2f}" if price >= _CENT or price == 0 else f"{price:.3g}"
        return f"{amount} {self.currency}".rstrip()


def evaluations_for(budget: str, cost: Cost | None) -> int:
    """Return how many evaluations an amount of money buys."""
    read = _read(budget)
    if read is None or not read[1]:
        raise BudgetError(
            f"budget is {budget!r}.",
            "A text is an amount of money.",
            'Pass an amount with its currency, as in "5 USD"; or a number of evaluations.',
        )
    amount, currency = read
    if cost is None:
        raise BudgetError(
            f"budget is {budget!r}, and nobody has said what an evaluation costs.",
            "Money must be turned into a number of evaluations.",
            f'Pass cost="0.002 {currency}", or whatever it is.',
        )
    if cost.currency and cost.currency != currency:
        raise BudgetError(
            f"budget is {budget!r}, and an evaluation costs {cost.each:g} {cost.currency}.",
            "Currencies are not converted.",
            "Pass both in the same one.",
        )
    count = int(amount / Decimal(repr(cost.each)))
    if not count:
        raise BudgetError(
            f"budget is {budget!r}, and an evaluation costs {cost.each:g} {cost.currency}".rstrip()
            + ".",
            "It does not pay for a single one.",
            "Raise the budget.",
        )
    return count


def _read(value: Any) -> tuple[Decimal, str] | None:
    """Return an amount and its currency, or None where it is none."""
    if is_number(value):
        return Decimal(repr(float(value))), ""
    match = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or (match[1] and match[3]) or "%" in (match[1], match[3]):  # a share
        return None
    try:
        return Decimal(match[2].replace("_", "")), match[1] or match[3]
    except InvalidOperation:
        return None
