"""Count which words occur near which, compiled.

Tokens are first sorted by word. Then each word walks over its own occurrences and counts their
neighbours in one array, as long as the vocabulary, that stays in the cache. Nothing is hashed, and
no pair is stored twice; threads take different words.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.parallel import COMPILED, announce

#: Codes of words in a text; a negative code ends a document.
Tokens = npt.NDArray[np.int32]
#: Pairs that one task of a thread may find, at most: 32 MB. There are then enough tasks for any
#: number of threads, and their borders do not depend on that number.
_TASK = 2**22


def count_neighbours(
    tokens: Tokens,
    n_words: int,
    n_contexts: int,
    weights: SingleArray,
    totals: FloatArray,
    n_jobs: int,
) -> sp.csr_array:
    """Count the neighbours of all words in a piece of a corpus.

    Parameters
    ----------
    tokens : ndarray of int32
        Words as numbers; a negative one ends a document.
    n_words, n_contexts : int
        Neighbours with a number below `n_contexts` are listed; all enter the totals.
    weights : ndarray of float32
        ``weights[d]`` is what a neighbour at the distance d + 1 counts.
    totals : ndarray of float64
        Gets the sum of all that each word's neighbours count.
    n_jobs : int

    Returns
    -------
    csr_array of shape (n_words, n_contexts), float32
    """
    announce(_count_rows, "the counting of neighbours")
    starts, positions = _occurrences(tokens, n_words)

    def work(part: tuple[int, int]) -> Any:
        return _count_rows(tokens, starts, positions, *part, weights, n_contexts, totals)

    most = np.minimum(n_contexts, 2 * len(weights) * np.diff(starts))
    with ThreadPoolExecutor(n_jobs) as pool:
        parts = list(pool.map(work, _tasks(most)))
    sizes, contexts, counts = (np.concatenate(x) for x in zip(*parts, strict=True))
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    return sp.csr_array((counts, contexts, pointers), (n_words, n_contexts))


def _tasks(most: IntArray) -> Iterator[tuple[int, int]]:
    """Cut the words into runs that may have about `_TASK` neighbours; `most` has each word's."""
    ends = np.cumsum(most)
    cuts = np.searchsorted(ends, np.arange(_TASK, ends[-1] + _TASK, _TASK))
    edges = np.unique(np.concatenate([[0], cuts + 1, [len(most)]]).clip(0, len(most)))
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


@njit(**COMPILED)
def _occurrences(tokens: Tokens, n_words: int) -> tuple[IntArray, Tokens]:
    """Return where each word occurs.

    Word i is at ``positions[starts[i]:starts[i + 1]]``; negative tokens are nowhere.
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
def _count_rows(
    tokens: Tokens,
    starts: IntArray,
    positions: Tokens,
    first: int,
    last: int,
    weights: SingleArray,
    n_contexts: int,
    totals: FloatArray,
) -> tuple[IntArray, Tokens, SingleArray]:
    """Count the neighbours of the words first … last − 1.

    Parameters
    ----------
    tokens, weights, n_contexts, totals
        As for `count_neighbours`.
    starts, positions
        Of `_occurrences`.
    first, last : int

    Returns
    -------
    sizes : ndarray of int64
        How many different neighbours each word has.
    contexts : ndarray of int32
        Which, word after word; increasing for each word.
    counts : ndarray of float32
        What each of them counts.
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
