"""Exact nearest neighbours under Word Mover's Distance, with few pairs solved.

Candidates are solved in the order of their lower bounds, until the next bound is above the k-th
distance found so far: no other document can be nearer.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import InputError
from fewpairs.parallel import announce, count_jobs, one_blas_thread, require_memory
from fewpairs.text.documents import Documents
from fewpairs.transport.bounds import relaxed
from fewpairs.transport.bulk import Bags, Words, longest, reduce_pair, transport
from fewpairs.transport.distances import distance_table
from fewpairs.transport.ground import Corpus, Ground
from fewpairs.transport.reductions import FINITE_ONLY
from fewpairs.transport.wmd import read_documents
from fewpairs.transport.workspace import make_workspace, padded

#: A bound may lie above the distance by a rounding, of which this is some thousand times.
_ROUNDING = 1e-12


class WmdNeighbors(NamedTuple):
    """Nearest documents, best first; and how many exact distances were computed to find them."""

    indices: IntArray
    distances: FloatArray
    solved: int


def wmd_neighbors(
    documents: Any,
    others: Any = None,
    vectors: Any = None,
    *,
    k: int = 10,
    metric: str = "euclidean",
    normalize: bool = False,
    n_jobs: int = 1,
    **options: Any,
) -> WmdNeighbors:
    """Find the k nearest documents of each other one, exactly, solving as few pairs as possible.

    Parameters
    ----------
    documents : sequence of texts or token lists, or Documents
        Where to look.
    others : the same, optional
        What to look for; by default each of the documents, which is left out of its own result.
    vectors, metric, normalize, n_jobs, **options
        As for `wmd`.
    k : int, default=10

    Returns
    -------
    WmdNeighbors
        Named tuple ``(indices, distances, solved)``.

    Examples
    --------
    >>> import fewpairs as fp
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> fp.wmd_neighbors(["an ape", "a car", "a monkey"], vectors=table, k=1).indices.ravel()
    array([2, 0, 0])
    """
    if not is_whole(k) or k < 1:
        raise InputError(f"k is {k!r}.", "It is the number of neighbours.", "Pass 1 or more.")
    left, right, ground = read_documents(
        documents, others, vectors, metric=metric, normalize=normalize, options=options
    )
    count = min(int(k), len(left) - (others is None))
    require_memory(
        (8 + 8) * len(right) * count,
        f"{count:,} neighbours of each of {len(right):,} documents",
        "Ask for fewer of them",
    )
    corpus = Corpus.of(left)
    word_vectors = ground.vectors[corpus.vocabulary]
    indices = np.empty((len(right), count), dtype=np.int64)
    distances = np.empty((len(right), count))

    def work(q: int) -> int:
        itself = q if others is None else None
        found = indices[q], distances[q]
        return _find_nearest(corpus, word_vectors, right[q], itself, ground, *found)

    announce(_search, "the transport solver")
    with one_blas_thread(), ThreadPoolExecutor(count_jobs(n_jobs)) as pool:
        solved = sum(pool.map(work, range(len(right))))
    return WmdNeighbors(indices, ground.in_units(distances), solved)


def _find_nearest(
    corpus: Corpus,
    word_vectors: FloatArray,
    other: Documents,
    itself: int | None,
    ground: Ground,
    indices: IntArray,
    distances: FloatArray,
) -> int:
    """Write the documents nearest to another one, without `itself`; return the number of solved."""
    table = distance_table(word_vectors, ground.vectors[other.words], cosine=ground.cosine)
    place = np.full(len(corpus.vocabulary), -1, dtype=np.int64)
    if not ground.cosine:  # which is no metric: there shared mass may have to move
        mine, at = corpus.find(other.words)
        place[mine] = at
    bounds = relaxed(corpus, table, other, ground.far, both=True)
    order = np.argsort(bounds, kind="stable")
    order = order if itself is None else order[order != itself]
    bags = (corpus.words, corpus.weights, corpus.starts)
    found = indices, distances
    return int(_search(table, place, other.weights, bags, bounds, order, ground.far, *found))


@njit(**FINITE_ONLY)
def _search(
    table: FloatArray,
    place: Words,
    other_weights: FloatArray,
    bags: Bags,
    bounds: FloatArray,
    order: IntArray,
    far: float,
    indices: IntArray,
    distances: FloatArray,
) -> int:
    """Solve candidates in order, and keep the best in a sorted list.

    Parameters
    ----------
    table, place, other_weights, far
        As for `one_against_many`.
    bags : words, weights and starts of all documents
    bounds : ndarray
        Lower bounds of all documents.
    order : ndarray
        The candidates, by increasing bounds.
    indices, distances : ndarray
        Get the nearest documents and their distances; ties by index.

    Returns
    -------
    int
        How many pairs were solved.
    """
    words, weights, starts = bags
    size, wanted = len(other_weights), len(indices)
    rows = longest(starts)
    space = make_workspace(max(rows, size), rows * padded(size))
    found = solved = 0
    for p in order:
        if found == wanted and bounds[p] > distances[wanted - 1] * (1 + _ROUNDING):
            break
        first, last = starts[p], starts[p + 1]
        if first == last or size == 0:
            value = 0.0 if first == last and size == 0 else far
        else:
            n_rows, n_columns = reduce_pair(
                words, weights, first, last, place, other_weights, space
            )
            value = transport(table, n_rows, n_columns, space)
            solved += 1
        # Larger ones move up by one place; the last of a full list falls out.
        at = min(wanted, found)
        while at > 0 and (
            distances[at - 1] > value or (distances[at - 1] == value and indices[at - 1] > p)
        ):
            if at < wanted:
                distances[at], indices[at] = distances[at - 1], indices[at - 1]
            at -= 1
        if at < wanted:
            distances[at], indices[at] = value, p
            found = min(found + 1, wanted)
    return solved
