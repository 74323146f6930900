"""Merging whoever is nearest to each other, as far as the lists show it; compiled."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.parallel import COMPILED
from fewpairs.tasks.clustering.lists import ROUNDING, keep_best, nearest, settle
from fewpairs.tasks.clustering.state import ACTIVE, FINISHED, GONE, WAITING, State, average


@njit(**COMPILED)
def advance(state: State, least: float, chain: IntArray, values: FloatArray) -> None:
    """Merge all reciprocal nearest neighbours that the lists show, until they show no more.

    Those of which all others must be looked at are waiting afterwards.
    """
    for start in range(len(state.size)):
        if state.status[start] != ACTIVE:
            continue
        chain[0], length = start, 1
        while length:
            tip = chain[length - 1]
            if state.status[tip] == WAITING:
                break
            near, value = nearest(state, tip, least)
            if near == -2:  # noqa: PLR2004 - not in the list
                state.status[tip] = WAITING
                break
            # Equal but for rounding is equal: otherwise a chain could come back to itself.
            if length > 1 and value <= values[length - 2] + ROUNDING:
                new = merge(state, tip, chain[length - 2], values[length - 2])
                length -= 2
                if not length:
                    chain[0], length = new, 1
            elif near < 0 or value < least:
                state.status[tip] = FINISHED
                length -= 1
            else:
                values[length - 1] = value
                chain[length] = near
                length += 1


@njit(**COMPILED)
def merge(state: State, a: int, b: int, value: float) -> int:
    """Merge two clusters; return the new one, which has the name of the smaller."""
    if b < a:
        a, b = b, a
    width = state.near.shape[1]
    names = np.empty(2 * width, dtype=np.int64)
    count = 0
    for old in (a, b):
        settle(state, old)
        for k in range(state.n_near[old]):
            other = state.near[old, k]
            if other in (a, b):
                continue
            known = False
            for place in range(count):
                known |= names[place] == other
            if not known:
                names[count] = other
                count += 1
    share = state.size[b] / (state.size[a] + state.size[b])
    bound = state.bound[a]
    if share > 0 and state.bound[b] != bound:
        infinite = bound == -np.inf or state.bound[b] == -np.inf
        larger = max(bound, state.bound[b])
        bound = larger if infinite else bound + (state.bound[b] - bound) * share
    _join(state, a, b)
    place = state.n_merged[0]
    # Rounding must not put a merge above those that it is made of.
    state.height[a] = min(value, state.height[a], state.height[b])
    state.merged[place, 0], state.merged[place, 1] = a, b
    state.merged_at[place] = state.height[a]
    state.n_merged[0] += 1
    values = np.empty(count)
    for k in range(count):
        values[k] = average(state, a, names[k])
    keep_best(state, a, names, values, count, bound)
    return a


@njit(**COMPILED)
def _join(state: State, a: int, b: int) -> None:
    state.vectors[a] += state.vectors[b]
    state.lines[a] += state.lines[b]
    mine, other = state.line_of[a], state.line_of[b]
    if mine < 0:
        state.line_of[a] = other
    elif other >= 0:
        for item in range(len(state.lines)):
            state.lines[item, mine] += state.lines[item, other]
    state.size[a] += state.size[b]
    state.degree[a] += state.degree[b]
    state.following[state.last[a]] = b
    state.last[a] = state.last[b]
    state.parent[b] = a
    state.status[b] = GONE
    state.changed[a] = True
