"""Average linkage of found pairs: exact, where all matches were found, and from few evaluations.

Two clusters whose average is at least the threshold have a pair that is: so every cluster lies
within items that are linked by matches, and only pairs of such items need to be known.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import BudgetError, InputError
from fewpairs.numerics import exponent
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import require_memory
from fewpairs.tasks.clustering.pairs import mean_of_orders
from fewpairs.tasks.matching.found import Found

#: Averages that miss the threshold by less, where the largest entries are about 1, miss it by
#: rounding.
_ROUNDING = 1e-12
#: A threshold so far from values of the size of 1 is as good as infinite, and can be computed with.
_BEYOND = 1e100


def groups_by_average(found: Found, budget: int | None = None) -> IntArray:
    """Return a number for each item: clusters by average linkage, within linked items.

    Pairs of linked items that were not evaluated yet are, if no more than `budget` evaluations. A
    pair without a value counts as far: see `_without_a_value`.
    """
    if budget is not None and not (is_whole(budget) and budget >= 0):
        raise BudgetError(
            f"the budget of groups by average linkage is {budget!r}.",
            "It is how many more evaluations may be made.",
            "Pass a whole number, or None for as many as it takes.",
        )
    linked = found.groups()
    if found.oracle is None or found.threshold is None:
        raise InputError(
            "groups by average linkage were asked for of pairs that know no threshold.",
            "Clusters are merged while their average similarity reaches it.",
            "Ask those of fewpairs.find_pairs.",
        )
    sizes = np.bincount(linked)
    order = np.argsort(linked, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    several = [some for some in members if len(some) > 1]
    total = sum(len(some) * (len(some) - 1) // 2 for some in several)
    require_memory(24 * total, f"{total:,} pairs of linked items", "Pass a higher threshold")
    if not total:
        return linked
    places = [np.triu_indices(len(some), 1) for some in several]
    rows = np.concatenate([some[i] for some, (i, _) in zip(several, places, strict=True)])
    columns = np.concatenate([some[j] for some, (_, j) in zip(several, places, strict=True)])
    if budget is not None:
        _refuse_more(found.oracle, rows, columns, budget)
    sign = found.threshold.sign
    values = sign * mean_of_orders(found.oracle, rows, columns)
    # To the size of 1, digit by digit: differences of huge numbers would be infinite.
    power = exponent(values[~np.isnan(values)])
    values = np.ldexp(values, -power)
    with np.errstate(over="ignore", under="ignore"):  # nothing, or everything, reaches it then
        at = float(np.clip(np.ldexp(sign * found.threshold.at, -power), -_BEYOND, _BEYOND))
    top = float(values[~np.isnan(values)].max(initial=at))
    cut = top - at + _ROUNDING
    labels = np.arange(len(linked))
    begin = 0
    for some in several:
        count = len(some) * (len(some) - 1) // 2
        here = values[begin : begin + count]
        begin += count
        heights = top - np.where(np.isnan(here), _without_a_value(at, here), here)
        inner = fcluster(linkage(heights, "average"), cut, criterion="distance")
        first = np.full(inner.max() + 1, len(linked))
        np.minimum.at(first, inner, some)
        labels[some] = first[inner]
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _without_a_value(at: float, values: FloatArray) -> float:
    """Return what a pair without a value counts as: below the threshold by the threshold's size.

    That is 0 for a similarity, and twice the threshold for a distance. Below a threshold of 0 it
    lies by the largest of the values of linked items, whatever other items there are.
    """
    sizes = np.abs(values[~np.isnan(values)])
    return at - (abs(at) or float(sizes.max(initial=0.0)) or 1.0)


def _refuse_more(oracle: Oracle, rows: IntArray, columns: IntArray, budget: int) -> None:
    known = oracle.known()
    missing = int(np.isnan(known.find(rows, columns)).sum())
    if not oracle.symmetric:
        missing += int(np.isnan(known.find(columns, rows)).sum())
    needed = missing * oracle.planner.per_entry
    if needed > budget:
        raise BudgetError(
            f"groups by average linkage need {needed:,} more evaluations, and {budget:,} are left.",
            "All pairs of linked items are compared.",
            f"Raise the budget by {needed - budget:,}, or take the groups by links.",
        )
