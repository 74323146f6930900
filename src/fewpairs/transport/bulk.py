"""Exact transport between many documents: one landmark against all, or pair by pair.

Every pair is reduced first. Mass that both documents have on the same word stays where it is (valid
because the ground distance is a metric), words without mass are dropped, and a problem with one row
or one column left is a dot product. What remains is copied into a small matrix that fits the cache
and goes to the simplex.

A bag of words is three arrays, as in `Documents`: document p has ``words[starts[p]:starts[p + 1]]``
with the weights at the same places.
"""

# mypy: disable-error-code="untyped-decorator,call-arg,no-any-return"

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.transport.distances import (
    REORDERED,
    VANISHING,
    both_zero,
    cosine_distance,
    distance,
    tiny_distance,
)
from fewpairs.transport.reductions import FINITE_ONLY, INLINED, uncounted
from fewpairs.transport.simplex import solve, solve_finer
from fewpairs.transport.workspace import (
    NO_MASS,
    PADDING_COST,
    Workspace,
    borrowed,
    make_workspace,
    padded,
)

#: Numbers of words, or places of words: int32 or int64.
Words: TypeAlias = npt.NDArray[Any]
#: Words, weights and starts of many documents.
Bags: TypeAlias = tuple[Words, FloatArray, IntArray]


@njit(**FINITE_ONLY)
def one_against_many(
    table: FloatArray,
    place: Words,
    other_weights: FloatArray,
    words: Words,
    weights: FloatArray,
    starts: IntArray,
    far: float,
    result: FloatArray,
) -> None:
    """Write the distance of every document to one landmark.

    Parameters
    ----------
    table : ndarray of shape (n_words, k)
        Ground distances of all words to the k words of the landmark.
    place : ndarray of shape (n_words,)
        Which of these k words each word is, or -1 if it is none of them.
    other_weights : ndarray of shape (k,)
    words, weights, starts : bags of words
    far : float
        The distance where one of the two documents is empty; it is 0 where both are.
    result : ndarray
        One distance for each document.
    """
    rows, columns = longest(starts), len(other_weights)
    owner = make_workspace(max(rows, columns), rows * padded(columns))
    # A function of its own, because only arguments can be borrowed without counting references.
    _walk(table, place, other_weights, words, weights, starts, far, result, owner)


@njit(**INLINED)
def _walk(
    table: FloatArray,
    place: Words,
    other_weights: FloatArray,
    words: Words,
    weights: FloatArray,
    starts: IntArray,
    far: float,
    result: FloatArray,
    owner: Workspace,
) -> None:
    """Solve document after document in one workspace."""
    space, table = borrowed(owner), uncounted(table)
    size = len(other_weights)
    for p in range(len(starts) - 1):
        first, last = starts[p], starts[p + 1]
        if first == last or size == 0:
            result[p] = 0.0 if first == last and size == 0 else far
            continue
        n_rows, n_columns = reduce_pair(words, weights, first, last, place, other_weights, space)
        result[p] = transport(table, n_rows, n_columns, space)


@njit(**FINITE_ONLY)
def pair_by_pair(
    vectors: FloatArray, left: Bags, right: Bags, cosine: bool, far: float, result: FloatArray
) -> None:
    """Write the distance of document k on the left to document k on the right.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, dimensions)
        Of length one if `cosine`.
    left, right : bags of words
        Words are rows of `vectors`, increasing within a document.
    cosine : bool
        1 − x·y instead of |x − y|.
    far : float
        As for `one_against_many`.
    result : ndarray
        One distance for each pair.
    """
    most = max(longest(left[2]), longest(right[2]))
    owner = make_workspace(most, most * padded(most))
    _walk_pairs(vectors, left, right, cosine, far, result, most, owner)


@njit(**INLINED)
def _walk_pairs(
    vectors: FloatArray,
    left: Bags,
    right: Bags,
    cosine: bool,
    far: float,
    result: FloatArray,
    most: int,
    owner: Workspace,
) -> None:
    """Solve pair after pair in one workspace, for documents of up to `most` words."""
    space = borrowed(owner)
    words, weights, starts = left
    other_words, other_weights, other_starts = right
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
        # 1 − cosine is no metric: there shared mass may have to move.
        _find_shared(words[first:last], other_words[begin:end], not cosine, place)
        n_rows, n_columns = reduce_pair(
            own, weights[first:last], 0, n, place, other_weights[begin:end], space
        )
        result[p] = transport(table, n_rows, n_columns, space)


@njit(**REORDERED)
def _fill_costs(
    vectors: FloatArray, words: Words, others: Words, cosine: bool, table: FloatArray
) -> None:
    """Compare the words of two documents directly, without a table for the whole corpus."""
    for i in range(len(words)):
        for j in range(len(others)):
            x, y = vectors[words[i]], vectors[others[j]]
            table[i, j] = cosine_distance(x, y) if cosine else distance(x, y)
    # Seldom, and therefore not in the loop above, which would be slower for it.
    for i in range(len(words)):
        for j in range(len(others)):
            if cosine and table[i, j] == 1.0:
                if both_zero(vectors[words[i]], vectors[others[j]]):
                    table[i, j] = 0.0
            elif not cosine and table[i, j] < VANISHING:
                table[i, j] = tiny_distance(vectors[words[i]], vectors[others[j]])


@njit(**FINITE_ONLY)
def _find_shared(words: Words, others: Words, wanted: bool, place: IntArray) -> None:
    """Write where each word stands among the others, or -1; both are in increasing order."""
    k = 0
    for i in range(len(words)):
        while k < len(others) and others[k] < words[i]:
            k += 1
        found = wanted and k < len(others) and others[k] == words[i]
        place[i] = k if found else -1


@njit(**FINITE_ONLY)
def longest(starts: IntArray) -> int:
    """Return the number of words of the longest document."""
    most = 1
    for k in range(len(starts) - 1):
        most = max(most, starts[k + 1] - starts[k])
    return most


@njit(**INLINED)
def reduce_pair(
    words: Words,
    weights: FloatArray,
    first: int,
    last: int,
    place: Words,
    other_weights: FloatArray,
    space: Workspace,
) -> tuple[int, int]:
    """Leave shared mass where it is, and write what remains to be moved into the workspace.

    Parameters
    ----------
    words, weights, first, last
        The one document is ``words[first:last]``.
    place : ndarray
        Where each word stands in the other document, or -1.
    other_weights : ndarray
    space : Workspace
        Gets `supply` and `demand`, and in `rows` and `columns` the words that they belong to.

    Returns
    -------
    n_rows, n_columns : int
        How many supplies and demands there are.
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
def transport(table: FloatArray, n_rows: int, n_columns: int, space: Workspace) -> float:
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
    costs = _copied(table, n_rows, n_columns, space)
    total, coarse = solve(costs, n_rows, n_columns, space)
    return solve_finer(costs, n_rows, n_columns, total, space) if coarse else total


@njit(**INLINED)
def _copied(table: FloatArray, n_rows: int, n_columns: int, space: Workspace) -> FloatArray:
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
