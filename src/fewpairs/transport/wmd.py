"""Exact Word Mover's Distances between sets of documents."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.parallel import MEMORY_CEILING, announce, count_jobs, one_blas_thread, refuse_above
from fewpairs.text.documents import Documents
from fewpairs.text.tokens import read_stop_words
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.bulk import one_against_many, pair_by_pair
from fewpairs.transport.ground import distance_table

METRICS = ("euclidean", "cosine")
#: Entries of one table of ground distances: large enough for a fast product, within the cache's
#: reach, and small enough that every thread can have one.
_TABLE = 2**22
#: Landmarks that share one table at most. On tweets of 6 words a table for one landmark costs 12 %
#: more time than one for 8; more than 8 gain nothing, and leave threads without work.
_LANDMARKS_A_TABLE = 8


def wmd(
    documents: Any,
    others: Any = None,
    vectors: Any = None,
    *,
    metric: str = "euclidean",
    normalize: bool = False,
    n_jobs: int = 1,
    **options: Any,
) -> FloatArray:
    """Return the Word Mover's Distance of every document to every other one, exactly.

    Parameters
    ----------
    documents : sequence of texts or token lists, or Documents
    others : the same, optional
        By default the documents themselves; then only one triangle is computed.
    vectors : WordVectors, mapping, or gensim's KeyedVectors
        May be left out where `documents` are prepared `Documents`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Of the vectors as they are, as in the paper; or 1 − cosine.
    normalize : bool, default=False
        Scale vectors to length one first, as gensim's ``wmdistance`` does.
    n_jobs : int, default=1
        Threads; results do not depend on it.
    **options
        Of `Documents.of`: tokenizer, stop_words, weights, empty. With ``empty="drop"`` rows and
        columns are those of the documents that remain.

    Returns
    -------
    ndarray of shape (n_documents, n_others)

    Examples
    --------
    >>> import fewpairs as fp
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> fp.wmd(["ape", "the ape car"], ["monkey"], table).round(2)
    array([[1.  ],
           [5.03]])
    """
    left, right, ground = read_documents(documents, others, vectors, metric, normalize, options)
    if others is None:
        refuse_above(MEMORY_CEILING, len(left), len(left), "Use fewpairs.approximate,")
        return ground.triangle(left, count_jobs(n_jobs))
    refuse_above(MEMORY_CEILING, len(left), len(right), "Ask for fewer documents at a time,")
    return ground.block(left, right, count_jobs(n_jobs))


def read_documents(
    documents: Any,
    others: Any,
    vectors: Any,
    metric: str,
    normalize: bool,
    options: dict[str, Any],
) -> tuple[Documents, Documents, Ground]:
    """Prepare the arguments that `wmd`, `wmd_bounds` and `wmd_neighbors` have in common.

    Parameters
    ----------
    documents, others, vectors, metric, normalize : as for `wmd`
    options : dict
        Of `Documents.of`.

    Returns
    -------
    left, right : Documents
        The same object if there are no others.
    ground : Ground
    """
    if vectors is None and not isinstance(documents, Documents):
        raise InputError(
            f"the documents are a {type(documents).__name__}, and vectors were not given.",
            "A distance between texts is one between the vectors of their words.",
            "Pass vectors=, for example fewpairs.WordVectors.load(path) or "
            "fewpairs.train_word_vectors(texts); or documents from fewpairs.Documents.of.",
        )
    table = WordVectors.of(documents.vectors if vectors is None else vectors)
    # Both sides are read with the same options, so an iterator of stop words must not run dry.
    options = options | {"stop_words": read_stop_words(options.get("stop_words"))}
    left = Documents.of(documents, table, **options)
    right = left if others is None else Documents.of(others, table, **options)
    return left, right, Ground.of(table, metric, normalize=normalize)


@dataclass(frozen=True, eq=False)
class Ground:
    """Word vectors in the form that distances are computed from.

    Parameters
    ----------
    vectors : ndarray of float64
        Of length one for cosines, and where that was asked for.
    cosine : bool
    far : float
        The distance of an empty document to any other: as far as words can be. Between two
        tables, the larger one of both counts.
    """

    vectors: FloatArray
    cosine: bool
    far: float

    @classmethod
    def of(cls, table: WordVectors, metric: str, *, normalize: bool) -> Ground:
        """Prepare the vectors of a table."""
        if metric not in METRICS:
            raise UnknownNameError("metric", metric, METRICS)
        if isinstance(table.array, np.memmap):
            table.check_finite()
        cosine = metric == "cosine"
        if cosine or normalize:
            table = table.normalized()
        vectors = np.ascontiguousarray(table.array, dtype=np.float64)
        longest = float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)))
        return cls(vectors, cosine, 2.0 if cosine else 2 * longest)

    def block(self, left: Documents, right: Documents, n_jobs: int = 1) -> FloatArray:
        """Return the distances of all documents on the left to all on the right."""
        # The longer side is walked through, the shorter one gets the tables.
        if len(left) < len(right):
            return np.ascontiguousarray(self.block(right, left, n_jobs).T)
        return self._columns(left, right, n_jobs, self)

    def block_to(
        self, left: Documents, right: Documents, other: Ground, n_jobs: int = 1
    ) -> FloatArray:
        """Return the distances to documents over another table, with which no word is shared."""
        return self._columns(left, right, n_jobs, other)

    def _columns(self, left: Documents, right: Documents, n_jobs: int, other: Ground) -> FloatArray:
        result = np.empty((len(right), len(left)))
        parts = [slice(0, len(left))] * len(right)
        self._run(Corpus.of(left), right, other, parts, result, n_jobs)
        return np.ascontiguousarray(result.T)

    def triangle(self, documents: Documents, n_jobs: int = 1) -> FloatArray:
        """Return the distances within one set, each computed once."""
        n = len(documents)
        result = np.zeros((n, n))
        parts = [slice(k + 1, n) for k in range(n)]
        self._run(Corpus.of(documents), documents, self, parts, result, n_jobs)
        # Row k holds its pairs with later documents.
        result += result.T
        return result

    def aligned(self, left: Documents, right: Documents) -> FloatArray:
        """Return the distance of document k on the left to document k on the right."""
        announce(pair_by_pair, "the transport solver")
        result = np.empty(len(left))
        both = [(d.words, d.weights, d.starts) for d in (left, right)]
        pair_by_pair(self.vectors, both[0], both[1], self.cosine, self.far, result)
        return result

    def _run(
        self,
        corpus: Corpus,
        landmarks: Documents,
        other: Ground,
        parts: list[slice],
        result: FloatArray,
        n_jobs: int,
    ) -> None:
        vectors = self.vectors[corpus.vocabulary]

        def work(chunk: slice) -> None:
            self._rows(corpus, vectors, landmarks[chunk], other, parts[chunk], result[chunk])

        announce(one_against_many, "the transport solver")
        with one_blas_thread():
            chunks = _chunks(landmarks, len(corpus.vocabulary))
            if n_jobs == 1:
                for chunk in chunks:
                    work(chunk)
                return
            with ThreadPoolExecutor(n_jobs) as pool:
                for done in [pool.submit(work, chunk) for chunk in chunks]:
                    done.result()

    def _rows(
        self,
        corpus: Corpus,
        vectors: FloatArray,
        landmarks: Documents,
        other: Ground,
        parts: list[slice],
        result: FloatArray,
    ) -> None:
        """Compute the rows of a few landmarks, from one table for all their words."""
        table = distance_table(vectors, other.vectors[landmarks.words], cosine=self.cosine)
        # 1 − cosine is no metric: there shared mass may have to move.
        shares = other is self and not self.cosine
        place = np.full(len(corpus.vocabulary), -1, dtype=np.int32)
        for k, part in enumerate(parts):
            begin, end = landmarks.starts[k], landmarks.starts[k + 1]
            mine, at = corpus.find(landmarks.words[begin:end] if shares else landmarks.words[:0])
            place[mine] = at
            one_against_many(
                np.ascontiguousarray(table[:, begin:end]),
                place,
                landmarks.weights[begin:end],
                corpus.words,
                corpus.weights,
                corpus.starts[part.start : part.stop + 1],
                max(self.far, other.far),
                result[k, part],
            )
            place[mine] = -1


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents whose words are numbered by the words that occur in them."""

    vocabulary: npt.NDArray[np.int32]  # rows of the vectors, increasing
    words: npt.NDArray[np.int32]
    weights: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, documents: Documents) -> Corpus:
        """Find the words that occur."""
        vocabulary, words = np.unique(documents.words, return_inverse=True)
        return cls(vocabulary, words.astype(np.int32), documents.weights, documents.starts)

    def find(self, words: npt.NDArray[np.int32]) -> tuple[IntArray, IntArray]:
        """Return the places in the vocabulary of those words that occur, and which those are."""
        if not len(self.vocabulary):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.vocabulary, words), len(self.vocabulary) - 1)
        there = np.flatnonzero(self.vocabulary[at] == words)
        return at[there], there


def _chunks(landmarks: Documents, vocabulary: int) -> Iterator[slice]:
    """Cut the landmarks into groups that share one table of ground distances.

    A group is cut by the landmarks alone, never by the number of threads: the width of a matrix
    product decides in which order its sums are taken, and so their last bits.
    """
    widest = max(1, _TABLE // max(1, vocabulary))
    begin = 0
    for k in range(1, len(landmarks)):
        too_wide = landmarks.starts[k + 1] - landmarks.starts[begin] > widest
        if too_wide or k - begin == _LANDMARKS_A_TABLE:
            yield slice(begin, k)
            begin = k
    yield slice(begin, len(landmarks))
