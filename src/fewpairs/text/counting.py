"""Count which words occur near which, compiled.

Tokens are first sorted by word. Then each word walks over its own occurrences and counts their
neighbours in one row-long array that stays in the cache. Nothing is hashed and no pair is stored
twice; threads take different words.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import numpy as np
from numba import njit

from fewpairs.parallel import COMPILED


@njit(**COMPILED)
def occurrences(tokens, n_words):
    """Return where each word occurs: starts (n_words + 1) and positions. Negative codes are none.

    Parameters
    ----------
    tokens : ndarray of int32
    n_words : int

    Returns
    -------
    starts : ndarray of int64
    positions : ndarray of int32
    """
    starts = np.zeros(n_words + 1, np.int64)
    for p in range(len(tokens)):
        if tokens[p] >= 0:
            starts[tokens[p] + 1] += 1
    for i in range(n_words):
        starts[i + 1] += starts[i]
    next_place = starts[:-1].copy()
    positions = np.empty(starts[n_words], np.int32)
    for p in range(len(tokens)):
        if tokens[p] >= 0:
            positions[next_place[tokens[p]]] = p
            next_place[tokens[p]] += 1
    return starts, positions


@njit(**COMPILED)
def count_rows(tokens, starts, positions, first, last, weights, n_contexts, totals):
    """Count the neighbours of the words first … last − 1.

    Parameters
    ----------
    tokens, starts, positions : from `occurrences`; a negative token ends a document
    first, last : int
    weights : ndarray of float32
        ``weights[d]`` is what a neighbour at the distance d + 1 counts.
    n_contexts : int
        Neighbours with a number below this are listed; all enter the totals.
    totals : ndarray of float64
        Gets the sum of all that each word's neighbours count.

    Returns
    -------
    sizes : ndarray of int64
        How many different neighbours each word has.
    contexts : ndarray of int32
        Increasing for each word.
    counts : ndarray of float32
    """
    sizes = np.zeros(last - first, np.int64)
    most = 0
    for i in range(first, last):
        most += min(n_contexts, 2 * len(weights) * (starts[i + 1] - starts[i]))
    contexts, counts = np.empty(most, np.int32), np.empty(most, np.float32)
    row = np.zeros(n_contexts, np.float32)
    begin = 0
    for i in range(first, last):
        end, total = begin, 0.0
        for k in range(starts[i], starts[i + 1]):
            for step in (-1, 1):
                p = positions[k]
                for d in range(len(weights)):
                    p += step
                    if p < 0 or p >= len(tokens) or tokens[p] < 0:
                        break
                    j = tokens[p]
                    total += weights[d]
                    if j < n_contexts:
                        if row[j] == 0:
                            contexts[end] = j
                            end += 1
                        row[j] += weights[d]
        contexts[begin:end].sort()
        for k in range(begin, end):
            counts[k] = row[contexts[k]]
            row[contexts[k]] = 0
        totals[i] += total
        sizes[i - first] = end - begin
        begin = end
    return sizes, contexts[:begin].copy(), counts[:begin].copy()
