"""Exact transport between many documents: one landmark against all, or pair by pair.

Every pair is reduced first. Mass that both documents have on the same word stays where it is
(valid because the ground distance is a metric), lines without mass are dropped, and a problem with
one row or one column left is a dot product. What remains is copied into a small matrix that fits
the cache and goes to the simplex.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from fewpairs.transport.ground import REORDERED, cosine_distance, distance
from fewpairs.transport.reductions import COMPILED, INLINED, uncounted
from fewpairs.transport.simplex import NO_MASS, PADDING_COST, padded, solve
from fewpairs.transport.workspace import borrowed, make_workspace


@njit(**INLINED)
def reduce_pair(words, weights, first, last, place, other_weights, space):
    """Write the supplies and demands that are left into the workspace; return how many.

    `place[word]` is the word's position in the other document, or -1. `space.rows` and
    `space.columns` get the words (positions) that keep mass.
    """
    n_rows = n_columns = 0
    for k in range(len(other_weights)):
        space.left_over[k] = other_weights[k]
    for k in range(first, last):
        mass = weights[k]
        same = place[words[k]]
        if same >= 0:
            shared = min(mass, space.left_over[same])
            mass -= shared
            space.left_over[same] -= shared
        if mass > NO_MASS:
            space.supply[n_rows] = mass
            space.rows[n_rows] = words[k]
            n_rows += 1
    for k in range(len(other_weights)):
        if space.left_over[k] > NO_MASS:
            space.demand[n_columns] = space.left_over[k]
            space.columns[n_columns] = k
            n_columns += 1
    return n_rows, n_columns


@njit(**INLINED)
def transport(table, n_rows, n_columns, space):
    """Solve one reduced problem whose costs are rows and columns of a table."""
    if n_rows == 0 or n_columns == 0:
        return 0.0
    if n_rows == 1:
        total = 0.0
        for k in range(n_columns):
            total += table[space.rows[0], space.columns[k]] * space.demand[k]
        return total
    if n_columns == 1:
        total = 0.0
        for k in range(n_rows):
            total += table[space.rows[k], space.columns[0]] * space.supply[k]
        return total
    return solve(_copied(table, n_rows, n_columns, space), n_rows, n_columns, space)


@njit(**INLINED)
def _copied(table, n_rows, n_columns, space):
    """Copy the needed costs side by side, where the simplex reads them again and again."""
    width = padded(n_columns)
    costs = space.costs[: n_rows * width].reshape(n_rows, width)
    whole = n_columns == table.shape[1]
    for i in range(n_rows):
        source = table[space.rows[i]]
        if whole:  # without indirection the copy vectorises
            for k in range(n_columns):
                costs[i, k] = source[k]
        else:
            for k in range(n_columns):
                costs[i, k] = source[space.columns[k]]
        for k in range(n_columns, width):
            costs[i, k] = PADDING_COST
    return costs


@njit(**COMPILED)
def longest(starts):
    """Return the size of the longest document."""
    most = 1
    for k in range(len(starts) - 1):
        most = max(most, starts[k + 1] - starts[k])
    return most


@njit(**COMPILED)
def one_against_many(table, place, other_weights, words, weights, starts, far, result):
    """Write the distance of every document to one landmark.

    `table[word, k]` is the ground distance to the landmark's word k, `place[word]` that word's k
    or -1. A pair with one empty document gets `far`, with two 0.
    """
    owner = make_workspace(max(longest(starts), len(other_weights)))
    _walk(table, place, other_weights, words, weights, starts, far, result, owner)


@njit(**INLINED)
def _walk(table, place, other_weights, words, weights, starts, far, result, owner):
    space, table = borrowed(owner), uncounted(table)
    size = len(other_weights)
    for p in range(len(starts) - 1):
        first, last = starts[p], starts[p + 1]
        if first == last or size == 0:
            result[p] = 0.0 if first == last and size == 0 else far
            continue
        n_rows, n_columns = reduce_pair(words, weights, first, last, place, other_weights, space)
        result[p] = transport(table, n_rows, n_columns, space)


@njit(**REORDERED)
def _fill_costs(vectors, words, others, cosine, table):
    """Compare the words of two documents directly, without a table for the whole corpus."""
    for i in range(len(words)):
        for j in range(len(others)):
            x, y = vectors[words[i]], vectors[others[j]]
            table[i, j] = cosine_distance(x, y) if cosine else distance(x, y)


@njit(**COMPILED)
def pair_by_pair(vectors, left, right, cosine, far, result):
    """Write the distance of document k on the left to document k on the right.

    `left` and `right` are (words, weights, starts) with words as rows of `vectors`, increasing.
    """
    words, weights, starts = left
    other_words, other_weights, other_starts = right
    most = max(longest(starts), longest(other_starts))
    space = make_workspace(most)
    own, place = np.arange(most), np.empty(most, np.int64)
    buffer = np.empty(most * most)
    for p in range(len(starts) - 1):
        first, last = starts[p], starts[p + 1]
        begin, end = other_starts[p], other_starts[p + 1]
        n, m = last - first, end - begin
        if n == 0 or m == 0:
            result[p] = 0.0 if n == m else far
            continue
        table = buffer[: n * m].reshape(n, m)
        _fill_costs(vectors, words[first:last], other_words[begin:end], cosine, table)
        _same_words(words, first, last, other_words, begin, end, cosine, place)
        n_rows, n_columns = reduce_pair(
            own, weights[first:last], 0, n, place, other_weights[begin:end], space
        )
        result[p] = transport(table, n_rows, n_columns, space)


@njit(**COMPILED)
def _same_words(words, first, last, others, begin, end, cosine, place):
    """Find the words of one document in another; both are in increasing order."""
    k = begin
    for i in range(first, last):
        while k < end and others[k] < words[i]:
            k += 1
        found = k < end and others[k] == words[i] and not cosine
        place[i - first] = k - begin if found else -1
