"""Lower bounds of Word Mover's Distance, and exact nearest neighbours with their help.

In the relaxed distance every word moves to the nearest word of the other document: never more than
the exact distance, and read off the same table. Candidates are solved in the order of their
bounds, until the next bound is above the k-th distance found: the rest cannot be nearer.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.parallel import count_jobs, one_blas_thread
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.bulk import longest, reduce_pair, transport
from fewpairs.transport.ground import distance_table
from fewpairs.transport.reductions import COMPILED, INLINED, smaller
from fewpairs.transport.wmd import Corpus, Ground, read_documents
from fewpairs.transport.workspace import make_workspace

BOUNDS = ("centroid", "relaxed", "relaxed-both")


class WmdNeighbors(NamedTuple):
    """Nearest documents, best first; and how many exact distances were needed."""

    indices: IntArray
    distances: FloatArray
    solved: int


def wmd_bounds(
    documents: Any,
    others: Any,
    vectors: Any = None,
    *,
    kind: str = "relaxed-both",
    normalize: bool = False,
    **options: Any,
) -> FloatArray:
    """Return lower bounds of Word Mover's Distance.

    Parameters
    ----------
    documents, others, vectors, normalize, **options
        As for `wmd`.
    kind : {"centroid", "relaxed", "relaxed-both"}, default="relaxed-both"
        Between the mean vectors; each word of the document to the nearest of the other; the larger
        of that and of the opposite direction.

    Returns
    -------
    ndarray of shape (n_documents, n_others)
    """
    if kind not in BOUNDS:
        raise UnknownNameError("bound", kind, BOUNDS)
    left, right, ground = read_documents(
        documents, others, vectors, "euclidean", normalize, options
    )
    if kind == "centroid":
        scaled = WordVectors(left.vectors.words, ground.vectors)
        means = [_recast(d, scaled).centroids() for d in (left, right)]
        bounds = distance_table(*means, cosine=False)
        lonely = (np.diff(left.starts) == 0)[:, None] != (np.diff(right.starts) == 0)
        return np.where(lonely, ground.far, bounds)
    corpus = Corpus.of(left)
    result = np.empty((len(left), len(right)))
    for k in range(len(right)):
        table, _ = _table(ground, corpus, right, k)
        result[:, k] = _relaxed(corpus, table, right, k, ground.far, kind == "relaxed-both")
    return result


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
    """
    left, right, ground = read_documents(documents, others, vectors, metric, normalize, options)
    if not is_whole(k) or k < 1:
        raise InputError(f"k is {k!r}.", "It is the number of neighbours.", "Pass 1 or more.")
    count = min(int(k), len(left) - (others is None))
    corpus = Corpus.of(left)
    indices = np.empty((len(right), count), dtype=np.int64)
    distances = np.empty((len(right), count))

    def work(q: int) -> int:
        table, place = _table(ground, corpus, right, q)
        bounds = _relaxed(corpus, table, right, q, ground.far, both=True)
        if others is None:
            bounds[q] = np.inf
        order = np.argsort(bounds, kind="stable")
        begin, end = right.starts[q], right.starts[q + 1]
        return int(
            _search(
                table,
                place,
                right.weights[begin:end],
                (corpus.words, corpus.weights, corpus.starts),
                bounds,
                order[: len(left) - (others is None)],
                ground.far,
                indices[q],
                distances[q],
            )
        )

    with one_blas_thread(), ThreadPoolExecutor(count_jobs(n_jobs)) as pool:
        solved = sum(pool.map(work, range(len(right))))
    return WmdNeighbors(indices, distances, solved)


def _recast(documents: Documents, table: WordVectors) -> Documents:
    return Documents(documents.words, documents.weights, documents.starts, table)


def _table(
    ground: Ground, corpus: Corpus, documents: Documents, k: int
) -> tuple[FloatArray, IntArray]:
    """Return the ground distances of all words to one document's, and where its own words are."""
    words = documents.words[documents.starts[k] : documents.starts[k + 1]]
    table = distance_table(
        ground.vectors[corpus.vocabulary], ground.vectors[words], cosine=ground.cosine
    )
    place = np.full(len(corpus.vocabulary), -1, dtype=np.int64)
    if not ground.cosine:
        mine, at = corpus.find(words)
        place[mine] = at
    return table, place


def _relaxed(
    corpus: Corpus, table: FloatArray, documents: Documents, k: int, far: float, both: bool
) -> FloatArray:
    result = np.empty(len(corpus.starts) - 1)
    weights = documents.weights[documents.starts[k] : documents.starts[k + 1]]
    _relaxed_kernel(table, weights, corpus.words, corpus.weights, corpus.starts, far, both, result)
    return result


@njit(**COMPILED)
def _relaxed_kernel(table, other_weights, words, weights, starts, far, both, result):
    vocabulary, size = table.shape
    nearest = np.empty(vocabulary)
    for w in range(vocabulary):
        low = 1e300
        for k in range(size):
            low = smaller(table[w, k], low)
        nearest[w] = low
    back = np.empty(size)
    for p in range(len(starts) - 1):
        first, last = starts[p], starts[p + 1]
        if first == last or size == 0:
            result[p] = 0.0 if first == last and size == 0 else far
            continue
        total = 0.0
        for k in range(first, last):
            total += weights[k] * nearest[words[k]]
        if both:
            total = max(total, _opposite(table, other_weights, words, first, last, back))
        result[p] = total


@njit(**INLINED)
def _opposite(table, other_weights, words, first, last, nearest):
    """Move each word of the other document to the nearest of this one."""
    for j in range(len(nearest)):
        nearest[j] = 1e300
    for k in range(first, last):
        row = table[words[k]]
        for j in range(len(nearest)):
            nearest[j] = smaller(row[j], nearest[j])
    total = 0.0
    for j in range(len(nearest)):
        total += nearest[j] * other_weights[j]
    return total


@njit(**COMPILED)
def _search(table, place, other_weights, corpus, bounds, order, far, indices, distances):
    """Solve candidates in order; keep the best in a sorted list; return how many were solved."""
    words, weights, starts = corpus
    size, wanted = len(other_weights), len(indices)
    most = max(longest(starts), size)
    space = make_workspace(most)
    found = solved = 0
    for p in order:
        # A bound may lie above the distance by a rounding.
        if found == wanted and bounds[p] > distances[wanted - 1] * (1 + 1e-12):
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
