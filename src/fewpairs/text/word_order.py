"""The order of words: the first are the references of build-up, or the first block of divide."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import IntArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.parallel import COMPILED
from fewpairs.text.cooccurrence import Cooccurrences

ORDERS = ("frequency", "coreness")


def check_order(order: Any) -> None:
    """Refuse an unknown name of an order, and what is no sequence of words."""
    if isinstance(order, str) and order not in ORDERS:
        raise UnknownNameError("order", order, ORDERS)
    if not isinstance(order, Iterable) or isinstance(order, (set, frozenset, bytes, Iterator)):
        raise InputError(
            f"order is a {type(order).__name__}.",
            "It says which words come first, each time that vectors are trained.",
            f"Pass a list of words, or one of {', '.join(ORDERS)}.",
        )


def word_order(counts: Cooccurrences, order: str | Iterable[str]) -> IntArray:
    """Return the numbers of all words, in the order asked for.

    Parameters
    ----------
    counts : Cooccurrences
        Its words are in the order of their frequency.
    order : {"frequency", "coreness"} or sequence of str
        Words that a sequence does not name follow by frequency.

    Returns
    -------
    ndarray of int64
    """
    if not isinstance(order, str):
        return _first(order, counts.words)
    if order == "coreness":
        depth = coreness(counts.counts.indptr, counts.counts.indices)
        return np.argsort(-depth, kind="stable")
    return np.arange(len(counts.words))


def _first(given: Iterable[str], words: list[str]) -> IntArray:
    """Put some words first, and the others behind them as they were."""
    chosen = list(given)
    place = {word: k for k, word in enumerate(words)}
    unknown = [word for word in chosen if word not in place]
    if unknown:
        raise InputError(
            f"{len(unknown)} of the words that should come first are not in the vocabulary, such "
            f"as {unknown[0]!r}.",
            "Every word must occur often enough to be counted.",
            "Leave them out, or lower min_count.",
        )
    again = [word for word, times in Counter(chosen).items() if times > 1]
    if again:
        raise InputError(
            f"{len(again)} of the words that should come first are named twice, such as "
            f"{again[0]!r}.",
            "Each word has one place.",
            "Name it once.",
        )
    front = np.array([place[word] for word in chosen], dtype=np.int64)
    return np.concatenate([front, np.setdiff1d(np.arange(len(words)), front)])


@njit(**COMPILED)
def coreness(  # noqa: C901 - one algorithm, in one piece
    pointers: npt.NDArray[Any], neighbours: npt.NDArray[Any]
) -> IntArray:
    """Return for each node the largest k such that it lies in a subgraph of degrees ≥ k.

    Nodes are taken away in the order of their degrees, which are kept sorted in buckets: linear in
    the number of edges (Batagelj and Zaveršnik).

    Parameters
    ----------
    pointers, neighbours : ndarray
        Of a CSR matrix (`indptr`, `indices`) whose pattern is symmetric; loops do not count.

    Returns
    -------
    ndarray of int64
    """
    n = len(pointers) - 1
    degree = np.zeros(n, np.int64)
    for i in range(n):
        for k in range(pointers[i], pointers[i + 1]):
            if neighbours[k] != i:
                degree[i] += 1
    most = degree.max() if n else 0
    # Bucket d of `order` starts at begin[d]; place[i] is where node i stands.
    begin = np.zeros(most + 2, np.int64)
    for i in range(n):
        begin[degree[i] + 1] += 1
    for d in range(most + 1):
        begin[d + 1] += begin[d]
    order, place = np.empty(n, np.int64), np.empty(n, np.int64)
    free = begin.copy()
    for i in range(n):
        place[i] = free[degree[i]]
        order[place[i]] = i
        free[degree[i]] += 1
    for position in range(n):
        i = order[position]
        for k in range(pointers[i], pointers[i + 1]):
            j = neighbours[k]
            if degree[j] > degree[i]:
                # Swap j with the first of its bucket, and let the bucket begin one later.
                first = order[begin[degree[j]]]
                if first != j:
                    order[place[j]], order[begin[degree[j]]] = first, j
                    place[first], place[j] = place[j], begin[degree[j]]
                begin[degree[j]] += 1
                degree[j] -= 1
    return degree
