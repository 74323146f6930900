"""How many landmarks a run has: from their number, a budget or an error to reach."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError
from fewpairs.methods.landmarks import as_selector, given_landmarks
from fewpairs.run.arguments import check_count, evaluations_of
from fewpairs.run.pricing import Price, Target, audit_size, first_count, fit_budget

#: Enough for a first look at any matrix; a budget or a target is the better way to choose.
DEFAULT_LANDMARKS = 100
#: A first step to a target that costs more than this share of all pairs is not worth taking.
_WORTH_A_START = 1 / 2


class Size(NamedTuple):
    """How many landmarks, chosen how, what the method may spend, and what all of it costs."""

    price: Price
    landmarks: int
    allowance: int | None
    total: int
    first_step: int
    target: Target | None = None


def size_for_one_step(
    price: Price,
    landmarks: int | npt.ArrayLike | None,
    budget: float | str | None,
    *,
    put_back: bool,
) -> Size:
    """Settle the number of landmarks of a single step."""
    if landmarks is not None and budget is not None:
        raise InputError(
            "both landmarks and budget were given.",
            "A budget is turned into a number of landmarks, so the two may contradict each other.",
            "Pass one of them.",
        )
    planner = price.oracle.planner
    n = min(price.oracle.shape)
    allowance = None
    if budget is not None:
        most = evaluations_of(
            budget, planner.price_of_everything, planner.cost, for_all=f"landmarks={n} instead"
        )
        count = fit_budget(price, most, n)
        allowance = most - price.beside(count)
    elif landmarks is None:
        count = min(DEFAULT_LANDMARKS, n)
        everything = planner.price_of_everything
        if put_back and not price.method.reads_all and price.total(count) >= everything:
            count = n  # no error for the same price
    elif np.ndim(landmarks) == 0:
        count = check_count(landmarks, n)
    else:
        given = given_landmarks(landmarks, n)
        price, count = replace(price, selector=given), len(given.indices)
    if count == n and getattr(price.selector, "reads", True):
        # Nothing is left to choose, and choosing would cost more than all pairs.
        price = replace(price, selector=as_selector("uniform"))
    total = price.total(count)
    if allowance is not None and price.method.spends_allowance:
        total = max(total, min(allowance, planner.price_of_everything) + price.beside(count))
    return Size(price, count, allowance, total, total)


def size_for_target(
    price: Price, error: float, budget: float | str | None, *, put_back: bool
) -> Size:
    """Settle where a run with a target starts, and the most that it may spend."""
    oracle, planner = price.oracle, price.oracle.planner
    n = min(oracle.shape)
    beside = 2 * price.symmetry_pairs(n) * planner.per_entry
    all_pairs = planner.price_of_everything + beside
    # Single pairs that are known are not asked for again, unless they lie in a block: only then do
    # steps cost what they are priced at.
    most = 2 * all_pairs
    if budget is not None:
        most = evaluations_of(budget, planner.price_of_everything, planner.cost)
    audit = audit_size(price.pairs, oracle.shape, most // planner.per_entry)
    target = Target(error, most, audit)
    count = first_count(oracle, price.method, target, beside)
    start = price.method.price(planner, count) + 2 * audit * planner.per_entry
    if put_back and start > _WORTH_A_START * all_pairs and most >= all_pairs:
        # A few such steps would cost as much as all pairs, which leave no error.
        count, start = n, all_pairs
    return Size(price, count, None, min(most, all_pairs), start, target)
