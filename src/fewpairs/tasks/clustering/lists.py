"""The best neighbours of each cluster, so that few of them are compared with all others; compiled.

Each cluster keeps a short list of its best neighbours, and a bound on its average similarity with
every other. A neighbour in a list is a set of items that may since have become part of a larger
cluster; what is not in the list may have merged, too, and stays below the bound, because an average
never exceeds the larger of its two parts. So one knows without a look at all others, most of the
time, who the nearest neighbour is.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.parallel import COMPILED
from fewpairs.tasks.clustering.state import ACTIVE, FINISHED, GONE, State, average, root_of

#: Averages that differ by less, where the largest entries are about 1, differ by rounding.
ROUNDING = 1e-13


@njit(**COMPILED)
def settle(state: State, a: int) -> None:
    """Write a cluster's list anew, each neighbour once, under the name it has now."""
    count = 0
    near, sizes, values = state.near[a], state.near_size[a], state.near_value[a]
    for k in range(state.n_near[a]):
        root, size, value = root_of(state.parent, near[k]), sizes[k], values[k]
        place = 0
        while place < count and near[place] != root:
            place += 1
        if place == count:
            near[place], sizes[place], values[place] = root, size, value
            count += 1
        else:  # two sets of items that are now in one cluster
            both = sizes[place] + size
            values[place] += (value - values[place]) * (size / both)
            sizes[place] = both
    state.n_near[a] = count


@njit(**COMPILED)
def nearest(state: State, a: int, least: float) -> tuple[int, float]:
    """Return the nearest neighbour and the similarity.

    -1 where nothing is at least `least`; -2 where the list does not say, and all others must be
    looked at.
    """
    settle(state, a)
    bound = state.bound[a]
    while True:
        best, place, upper = -1, -1, -np.inf
        for k in range(state.n_near[a]):
            other = state.near[a, k]
            share = state.near_size[a, k] / state.size[other]
            at_most = share * state.near_value[a, k]
            if share < 1.0:  # the rest of that cluster is below the bound
                at_most += (1.0 - share) * bound
            if at_most > upper or (at_most == upper and other < best):
                best, place, upper = other, k, at_most
        if best < 0 or max(upper, bound) < least:
            return (-1, -np.inf) if bound < least or bound == -np.inf else (-2, bound)
        if state.near_size[a, place] == state.size[best]:
            return (best, upper) if upper >= bound - ROUNDING else (-2, bound)
        state.near_value[a, place] = average(state, a, best)
        state.near_size[a, place] = state.size[best]


@njit(**COMPILED)
def keep_best(
    state: State, a: int, names: IntArray, values: FloatArray, count: int, bound: float
) -> None:
    """Make a list of the best among some neighbours; what is left out raises the bound."""
    order = np.argsort(-values[:count], kind="mergesort")
    width = min(count, state.near.shape[1])
    for place in range(width):
        k = order[place]
        state.near[a, place] = names[k]
        state.near_size[a, place] = state.size[names[k]]
        state.near_value[a, place] = values[k]
    state.n_near[a] = width
    state.bound[a] = max(bound, values[order[width]]) if count > width else bound


@njit(**COMPILED)
def refresh(state: State, names: IntArray, means: Any, everything: bool) -> None:
    """Write the average vectors of clusters that have changed, or of all."""
    for place in range(len(names)):
        name = names[place]
        if everything or (state.changed[name] and state.status[name] != GONE):
            for k in range(means.shape[1]):
                means[place, k] = state.vectors[name, k] / state.size[name]
            state.changed[name] = False


@njit(**COMPILED)
def look(  # noqa: C901, PLR0912 - one loop; numba compiles it as one
    state: State,
    rows: IntArray,
    names: IntArray,
    place_of: IntArray,
    products: Any,
    margins: FloatArray,
    again: BoolArray,
) -> None:
    """Make the lists of some clusters from products of their average vectors with all others.

    Parameters
    ----------
    state : State
    rows : ndarray
        Clusters.
    names : ndarray of shape (m,)
        All clusters; some may be gone.
    place_of : ndarray of shape (n,)
        Where they are among these, or -1.
    products : ndarray of shape (len(rows), m)
        Changed in place.
    margins : ndarray of shape (len(rows),)
        By how much entries may be off; 0 says that they are what there is.
    again : ndarray of shape (len(rows),)
        Filled: whether a list within these margins does not say who is nearest.
    """
    width = state.near.shape[1]
    best, at = np.empty(width + 1), np.empty(width + 1, dtype=np.int64)
    found, values = np.empty(width + 1, dtype=np.int64), np.empty(width + 1)
    for row in range(len(rows)):
        a, line = rows[row], products[row]
        _correct(state, a, names, place_of, line)
        count, worst = 0, 0
        for place in range(len(names)):
            value = line[place]
            if count > width and value <= best[worst]:
                continue
            name = names[place]
            if name == a or state.status[name] >= FINISHED:
                continue
            if count <= width:
                best[count], at[count] = value, place
                count += 1
            else:
                best[worst], at[worst] = value, place
            if count > width:
                for k in range(width + 1):  # of equal ones, the last
                    if best[k] < best[worst] or (best[k] == best[worst] and at[k] > at[worst]):
                        worst = k
        bound = -np.inf
        if count > width:
            bound = best[worst] + margins[row]
            best[worst], at[worst] = best[width], at[width]
            count = width
        found[:count] = names[at[:count]]
        found[:count].sort()
        for k in range(count):
            values[k] = average(state, a, found[k])
        keep_best(state, a, found, values, count, bound)
        again[row] = False
        if count and state.near_value[a, 0] < bound:
            if margins[row] > 0:
                again[row] = True
            else:
                state.bound[a] = state.near_value[a, 0]
        state.status[a] = ACTIVE


@njit(**COMPILED)
def _correct(state: State, a: int, names: IntArray, place_of: IntArray, line: Any) -> None:
    """Add what is known exactly to one row of products."""
    mine = state.line_of[a]
    if state.lines.shape[1]:
        for place in range(len(names)):
            name = names[place]
            column = state.line_of[name]
            more = state.lines[a, column] if column >= 0 else 0.0
            if mine >= 0:
                more += state.lines[name, mine]
            if more != 0.0:
                line[place] += more / (state.size[a] * state.size[name])
    if state.degree[a]:
        item = a
        while item >= 0:
            for k in range(state.starts[item], state.starts[item + 1]):
                other = root_of(state.parent, state.others[k])
                place = place_of[other]
                if place >= 0 and other != a:
                    line[place] += state.corrections[k] / (state.size[a] * state.size[other])
            item = state.following[item]


@njit(**COMPILED)
def remembered(state: State) -> tuple[IntArray, FloatArray]:
    """Return clusters that were not merged, with the neighbours in their lists, and averages.

    A pair that stands in both lists is there twice.
    """
    n, width = state.near.shape
    pairs, values = np.empty((n * width, 2), dtype=np.int64), np.empty(n * width)
    count = 0
    for a in range(n):
        if state.status[a] == GONE:
            continue
        settle(state, a)
        for k in range(state.n_near[a]):
            b = state.near[a, k]
            pairs[count, 0], pairs[count, 1] = min(a, b), max(a, b)
            values[count] = average(state, a, b)
            count += 1
    return pairs[:count], values[:count]
