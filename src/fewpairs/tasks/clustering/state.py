"""All clusters on the way up, and the average similarity of two of them; compiled."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.parallel import COMPILED

#: What a cluster may be. One that is finished has nothing above the threshold, now or later.
ACTIVE, WAITING, FINISHED, GONE = 0, 1, 2, 3
_FAST = COMPILED | {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}


class State(NamedTuple):
    """All clusters, by the smallest of their items.

    Attributes
    ----------
    vectors, lines, line_of, starts, others, corrections
        As in `Sums`, added up in place.
    n_positive : ndarray of shape (1,)
    size, status : ndarray of shape (n,)
    parent : ndarray of shape (n,)
        Of an item or a merged cluster: where it went.
    following, last, degree : ndarray of shape (n,)
        The items of a cluster as a chain, its last one, and how many corrections they have.
    near, near_size, near_value : ndarray of shape (n, k)
        The best neighbours: cluster, how many items it had, average similarity with those.
    n_near, bound : ndarray of shape (n,)
    height : ndarray of shape (n,)
        Of the last merge; infinite for single items.
    merged, merged_at : ndarray of shape (n - 1, 2) and (n - 1,)
    n_merged : ndarray of shape (1,)
    changed : ndarray of shape (n,)
        Whether the average vector is no longer what it was when all were compared.
    """

    vectors: FloatArray
    lines: FloatArray
    line_of: IntArray
    starts: IntArray
    others: IntArray
    corrections: FloatArray
    n_positive: IntArray
    size: IntArray
    status: IntArray
    parent: IntArray
    following: IntArray
    last: IntArray
    degree: IntArray
    near: IntArray
    near_size: IntArray
    near_value: FloatArray
    n_near: IntArray
    bound: FloatArray
    height: FloatArray
    merged: IntArray
    merged_at: FloatArray
    n_merged: IntArray
    changed: BoolArray


@njit(**COMPILED)
def root_of(parent: IntArray, item: int) -> int:
    """Return the cluster that an item, or a merged cluster, is part of."""
    root = item
    while parent[root] != root:
        root = parent[root]
    while parent[item] != root:
        parent[item], item = root, parent[item]
    return root


@njit(**_FAST)
def product(vectors: FloatArray, n_positive: int, a: int, b: int) -> float:
    """Return the inner product of two rows, with the signature."""
    x, y = vectors[a], vectors[b]
    total = 0.0
    for k in range(n_positive):
        total += x[k] * y[k]
    less = 0.0
    for k in range(n_positive, len(x)):
        less += x[k] * y[k]
    return total - less


@njit(**COMPILED)
def average(state: State, a: int, b: int) -> float:
    """Return the average similarity of two clusters; the same in both orders."""
    if b < a:
        a, b = b, a
    total = product(state.vectors, state.n_positive[0], a, b)
    if state.line_of[b] >= 0:
        total += state.lines[a, state.line_of[b]]
    if state.line_of[a] >= 0:
        total += state.lines[b, state.line_of[a]]
    if state.degree[a] and state.degree[b]:
        fewer, more = (a, b) if state.degree[a] <= state.degree[b] else (b, a)
        item = fewer
        while item >= 0:
            for place in range(state.starts[item], state.starts[item + 1]):
                if root_of(state.parent, state.others[place]) == more:
                    total += state.corrections[place]
            item = state.following[item]
    return float(total / (state.size[a] * state.size[b]))
