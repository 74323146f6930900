"""One step of the simplex: a cell enters the tree, the arc that runs empty first leaves it."""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.transport.reductions import INFINITE, INLINED, lowest_bit
from fewpairs.transport.workspace import Workspace


@njit(**INLINED)
def pivot(row: int, column: int, reduced: float, words: int, space: Workspace) -> None:
    """Let a cell enter the tree.

    Parameters
    ----------
    row, column : int
    reduced : float
        Its reduced cost, C_ij − u_i − v_j, below zero.
    words : int
        How many words a set of rows has.
    space : Workspace
    """
    end = 64 * words + column
    apex, leaving, on_columns_side = _find_leaving(row, column, words, space)
    amount = space.flow[leaving]
    if amount > 0:
        _shift(row, apex, amount, space.flow, space.parent)
        _shift(end, apex, amount, space.flow, space.parent)
    lower, upper = (end, row) if on_columns_side else (row, end)
    _rehang(lower, upper, leaving, apex, amount, words, space)
    _move_duals(-reduced if on_columns_side else reduced, words, space)


@njit(**INLINED)
def _find_leaving(row: int, column: int, words: int, space: Workspace) -> tuple[int, int, bool]:
    """Return the apex of the cycle, the node whose arc leaves, and on which side it lies.

    The cycle runs from the row up to the apex, the lowest node above both ends, and down to the
    column. Arcs that lose flow are those of row nodes on the row's side and of column nodes on the
    column's side. With `<` on the one and `<=` on the other side the last blocking arc seen from
    the apex leaves: Cunningham's rule.
    """
    flow, parent, inside = space.flow, space.parent, space.inside
    word, bit = words + (column >> 6), np.uint64(1) << np.uint64(column & 63)
    amount, leaving, on_columns_side = INFINITE, -1, False
    node = row
    while not inside[node, word] & bit:
        if flow[node] < amount:
            amount, leaving = flow[node], node
        node = parent[node]
        if inside[node, word] & bit:
            break
        node = parent[node]
    apex, node = node, 64 * words + column
    while node != apex:
        if flow[node] <= amount:
            amount, leaving, on_columns_side = flow[node], node, True
        node = parent[node]
        if node == apex:
            break
        node = parent[node]
    return apex, leaving, on_columns_side


@njit(**INLINED)
def _shift(node: int, apex: int, amount: float, flow: FloatArray, parent: IntArray) -> None:
    """On the way up, take from the first arc, give to the second, and so on by turns."""
    while node != apex:
        flow[node] -= amount
        node = parent[node]
        if node == apex:
            return
        flow[node] += amount
        node = parent[node]


@njit(**INLINED)
def _rehang(
    lower: int, upper: int, leaving: int, apex: int, amount: float, words: int, space: Workspace
) -> None:
    """Cut off the subtree of `leaving`, and hang it under `upper` by its node `lower`."""
    flow, parent, inside = space.flow, space.parent, space.inside
    moved, passed = space.moved, space.passed
    for w in range(2 * words):
        moved[w] = inside[leaving, w]
        passed[w] = 0
    node = parent[leaving]
    while node != apex:
        for w in range(2 * words):
            inside[node, w] &= ~moved[w]
        node = parent[node]
    node = upper
    while node != apex:
        for w in range(2 * words):
            inside[node, w] |= moved[w]
        node = parent[node]
    # The path from `lower` up to `leaving` is turned over: each node on it gets as its subtree all
    # of what is moved, except what hung below the node before it on the path.
    node, above, carried = lower, upper, amount
    while True:
        old_parent, old_flow = parent[node], flow[node]
        for w in range(2 * words):
            before = inside[node, w]
            inside[node, w] = moved[w] & ~passed[w]
            passed[w] = before
        parent[node], flow[node] = above, carried
        if node == leaving:
            return
        above, carried, node = node, old_flow, old_parent


@njit(**INLINED)
def _move_duals(step: float, words: int, space: Workspace) -> None:
    """Move all duals of the subtree that was moved, so that the entering cell fits as well.

    Inside the subtree u goes up by as much as v goes down, so its own arcs still fit.
    """
    for w in range(words):
        bits = space.moved[w]
        while bits:
            space.u[64 * w + lowest_bit(bits)] += step
            bits &= bits - np.uint64(1)
        bits = space.moved[words + w]
        while bits:
            space.v[64 * w + lowest_bit(bits)] -= step
            bits &= bits - np.uint64(1)
