"""Lower bounds of Word Mover's Distance.

In the relaxed distance every word moves to the nearest word of the other document, whatever mass is
wanted there. That never costs more than the exact way, and is read off the same table of ground
distances.
"""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import UnknownNameError
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.bulk import Words
from fewpairs.transport.distances import distance_table
from fewpairs.transport.ground import Corpus, Ground
from fewpairs.transport.reductions import FINITE_ONLY, INFINITE, INLINED, smaller
from fewpairs.transport.wmd import read_documents

BOUNDS = ("centroid", "relaxed", "relaxed-both")


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
        The distance between the mean vectors of the two documents; the relaxed distance, in which
        each word of the one document moves to the nearest of the other; or the larger of the
        relaxed distances in both directions.

    Returns
    -------
    ndarray of shape (n_documents, n_others)
    """
    if kind not in BOUNDS:
        raise UnknownNameError("bound", kind, BOUNDS)
    left, right, ground = read_documents(
        documents, others, vectors, metric="euclidean", normalize=normalize, options=options
    )
    if kind == "centroid":
        return ground.in_units(_between_centroids(left, right, ground))
    corpus = Corpus.of(left)
    word_vectors = ground.vectors[corpus.vocabulary]
    result = np.empty((len(left), len(right)))
    for k, other in enumerate(right):
        table = distance_table(word_vectors, ground.vectors[other.words], cosine=False)
        result[:, k] = relaxed(corpus, table, other, ground.far, both=kind == "relaxed-both")
    return ground.in_units(result)


def _between_centroids(left: Documents, right: Documents, ground: Ground) -> FloatArray:
    table = WordVectors(left.vectors.words, ground.vectors)  # scaled, where that was asked for
    means = [
        Documents(d.words, d.weights, d.starts, table).centroids()  # of the same words
        for d in (left, right)
    ]
    bounds = distance_table(*means, cosine=False)
    one_is_empty = (np.diff(left.starts) == 0)[:, None] != (np.diff(right.starts) == 0)
    return np.where(one_is_empty, ground.far, bounds)


def relaxed(
    corpus: Corpus, table: FloatArray, other: Documents, far: float, *, both: bool
) -> FloatArray:
    """Return the relaxed distance of every document to another one.

    Parameters
    ----------
    corpus : Corpus
    table : ndarray of shape (n_words, k)
        Ground distances of the corpus's words to the k words of the other document.
    other : Documents
        One document.
    far : float
        Where one of the two is empty; 0 where both are.
    both : bool
        The larger one of both directions.

    Returns
    -------
    ndarray of shape (n_documents,)
    """
    result = np.empty(len(corpus.starts) - 1)
    _relaxed(table, other.weights, corpus.words, corpus.weights, corpus.starts, far, both, result)
    return result


@njit(**FINITE_ONLY)
def _relaxed(
    table: FloatArray,
    other_weights: FloatArray,
    words: Words,
    weights: FloatArray,
    starts: IntArray,
    far: float,
    both: bool,
    result: FloatArray,
) -> None:
    """Write the relaxed distances; see `relaxed`."""
    n_words, size = table.shape
    nearest = np.empty(n_words)
    for w in range(n_words):
        low = INFINITE
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
def _opposite(
    table: FloatArray,
    other_weights: FloatArray,
    words: Words,
    first: int,
    last: int,
    nearest: FloatArray,
) -> float:
    """Move each word of the other document to the nearest one of ``words[first:last]``."""
    for j in range(len(nearest)):
        nearest[j] = INFINITE
    for k in range(first, last):
        row = table[words[k]]
        for j in range(len(nearest)):
            nearest[j] = smaller(row[j], nearest[j])
    total = 0.0
    for j in range(len(nearest)):
        total += nearest[j] * other_weights[j]
    return total
