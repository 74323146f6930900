"""Ground: word vectors, and the exact distances between documents that they give.

One landmark after the other is compared with all documents. A few landmarks at a time share one
table of the distances from their words to all words that occur, which one matrix product gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError, LostWorkersError, UnknownNameError
from fewpairs.numerics import row_squares
from fewpairs.parallel import announce
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.bulk import one_against_many, pair_by_pair
from fewpairs.transport.distances import distance_table
from fewpairs.workers.home import Home, Killed
from fewpairs.workers.threads import Threads

METRICS = ("euclidean", "cosine")
#: One thread, this one.
HERE = Threads()
#: Vectors whose largest number is beyond 2^±400 are scaled by a power of two; squares and the
#: solver's large constants leave room for all others.
_ROOM = 400
#: Floats are below 2^1024.
_LARGEST_EXPONENT = 1024
#: Entries of one table at most: 32 MB, so that every thread can have one. Where one landmark needs
#: more, it has a table of its own.
_TABLE = 2**22
#: Landmarks that share one table at most. On tweets of 6 words a table for one landmark costs 12 %
#: more time than one for 8; more than 8 gain nothing, and leave threads without work.
_LANDMARKS_A_TABLE = 8


@dataclass(frozen=True, eq=False)
class Ground:
    """Word vectors in the form that distances are computed from.

    Parameters
    ----------
    vectors : ndarray of float64
        Of length one for cosines, and where that was asked for; zero vectors stay zero.
    cosine : bool
        1 − x·y instead of |x − y|.
    far : float
        The distance of an empty document to any other: as far as words can be. Between two
        tables, the larger one of both counts.
    exponent : int
        `vectors` and `far` are in units of ``2**exponent``: 0, unless squares of the vectors would
        over- or underflow.
    """

    vectors: FloatArray
    cosine: bool
    far: float
    exponent: int = 0

    @classmethod
    def of(cls, table: WordVectors, metric: str, *, normalize: bool) -> Ground:
        """Prepare the vectors of a table; see `wmd` for `metric` and `normalize`."""
        if metric not in METRICS:
            raise UnknownNameError("metric", metric, METRICS)
        if isinstance(table.array, np.memmap):  # not read, and so not checked, until now
            table.check_finite()
        cosine = metric == "cosine"
        vectors = np.ascontiguousarray(table.array, dtype=np.float64)
        if cosine or normalize:
            vectors = _of_length_one(vectors)
        exponent = int(np.frexp(_largest(vectors).max(initial=0.0))[1])
        if abs(exponent) <= _ROOM:
            exponent = 0
        else:
            vectors = np.ldexp(vectors, -exponent)
        lengths = np.sqrt(row_squares(vectors))
        far = 2.0 if cosine else 2 * float(lengths.max(initial=0.0))
        if exponent + np.frexp(far)[1] >= _LARGEST_EXPONENT:
            word = table.words[int(lengths.argmax())]
            raise InputError(
                f"the vector of {word!r} is too long.",
                "A distance to it may be too large for a number.",
                "Divide all vectors by a large number.",
            )
        return cls(vectors, cosine, far, exponent)

    def in_units(self, distances: FloatArray) -> FloatArray:
        """Turn distances between these vectors into those between the user's, in place."""
        return np.ldexp(distances, self.exponent, out=distances) if self.exponent else distances

    def block(self, left: Documents, right: Documents, home: Home = HERE) -> FloatArray:
        """Return the distances of all documents on the left to all on the right."""
        # The fewer documents are the landmarks: tables are made for them alone.
        if len(left) < len(right):
            return np.ascontiguousarray(self.block(right, left, home).T)
        return self.block_to(left, right, self, home)

    def block_to(
        self, left: Documents, right: Documents, other: Ground, home: Home = HERE
    ) -> FloatArray:
        """Return the distances to documents over another table, with which no word is shared."""
        if other.exponent != self.exponent:
            shift = other.exponent - self.exponent
            scaled = np.ldexp(other.vectors, shift), float(np.ldexp(other.far, shift))
            other = replace(other, vectors=scaled[0], far=scaled[1], exponent=self.exponent)
        result = np.empty((len(right), len(left)))
        parts = [slice(0, len(left))] * len(right)
        self._fill(Corpus.of(left), right, other, parts, result, home)
        return self.in_units(np.ascontiguousarray(result.T))

    def triangle(self, documents: Documents, home: Home = HERE) -> FloatArray:
        """Return the distances within one set, each computed once."""
        n = len(documents)
        result = np.zeros((n, n))
        parts = [slice(k + 1, n) for k in range(n)]
        self._fill(Corpus.of(documents), documents, self, parts, result, home)
        # Row k holds the pairs of document k with later ones, and zeros.
        result += result.T
        return self.in_units(result)

    def aligned(self, left: Documents, right: Documents) -> FloatArray:
        """Return the distance of document k on the left to document k on the right."""
        announce(pair_by_pair, "the transport solver")
        result = np.empty(len(left))
        both = [(d.words, d.weights, d.starts) for d in (left, right)]
        pair_by_pair(self.vectors, both[0], both[1], self.cosine, self.far, result)
        return self.in_units(result)

    def _fill(
        self,
        corpus: Corpus,
        landmarks: Documents,
        other: Ground,
        parts: list[slice],
        result: FloatArray,
        home: Home,
    ) -> None:
        """Write into row k the distances of landmark k to the documents ``parts[k]``."""
        work = _Rows(self, corpus, self.vectors[corpus.vocabulary], landmarks, other, parts)
        announce(one_against_many, "the transport solver")
        groups = _groups(landmarks, len(corpus.vocabulary))
        if not home.elsewhere:
            for _ in home.run(groups, lambda group: work.fill(group, result[group])):
                pass
            return
        for group, rows in home.run(groups, work):
            if isinstance(rows, Killed):
                raise LostWorkersError(
                    f"{rows.deaths} processes have died while they compared documents "
                    f"{group.start} to {group.stop - 1} with others; the last was {rows.where}.",
                    "They may need more memory than there is.",
                    "Look at these documents, or give the workers more memory.",
                )
            result[group] = rows

    def fill_group(
        self,
        corpus: Corpus,
        vectors: FloatArray,
        landmarks: Documents,
        other: Ground,
        parts: list[slice],
        result: FloatArray,
    ) -> None:
        """Write the rows of a few landmarks, from one table for all their words."""
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
    """Documents whose words are numbered anew, so that only words that occur have a number.

    A table of ground distances then has one row for each of them, not for the whole vocabulary.

    Parameters
    ----------
    vocabulary : ndarray of int32
        The words that occur, as rows of the vectors; increasing.
    words : ndarray of int32
        As places in `vocabulary`.
    weights : ndarray of float64
    starts : ndarray of int64
    """

    vocabulary: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    weights: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, documents: Documents) -> Corpus:
        """Find the words that occur."""
        vocabulary, words = np.unique(documents.words, return_inverse=True)
        return cls(vocabulary, words.astype(np.int32), documents.weights, documents.starts)

    def find(self, words: npt.NDArray[np.int32]) -> tuple[IntArray, IntArray]:
        """Look up words by their rows of the vectors.

        Parameters
        ----------
        words : ndarray of int32

        Returns
        -------
        places : ndarray of int64
            Places in `vocabulary` of those that occur.
        which : ndarray of int64
            Which of the given words these are.
        """
        if not len(self.vocabulary):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.vocabulary, words), len(self.vocabulary) - 1)
        there = np.flatnonzero(self.vocabulary[at] == words)
        return at[there], there


def _largest(vectors: FloatArray) -> FloatArray:
    """Return the largest number of each vector, without its sign."""
    high, low = vectors.max(axis=1, initial=0.0), vectors.min(axis=1, initial=0.0)
    return np.asarray(np.maximum(high, -low))


def _of_length_one(vectors: FloatArray) -> FloatArray:
    """Scale each vector to length one; a zero vector stays zero."""
    # By a power of two first, so that no square over- or underflows; it changes no digit.
    scaled = np.ldexp(vectors, -np.frexp(_largest(vectors))[1][:, None])
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(np.divide(scaled, lengths, out=scaled, where=lengths > 0))


def _groups(landmarks: Documents, n_words: int) -> Iterator[slice]:
    """Cut the landmarks into groups that share one table of `n_words` rows.

    The landmarks alone decide, never the number of threads: the width of a matrix product changes
    the order in which its sums are taken, and so their last bits.
    """
    widest = max(1, _TABLE // max(1, n_words))
    begin = 0
    for k in range(1, len(landmarks)):
        too_wide = landmarks.starts[k + 1] - landmarks.starts[begin] > widest
        if too_wide or k - begin == _LANDMARKS_A_TABLE:
            yield slice(begin, k)
            begin = k
    yield slice(begin, len(landmarks))


@dataclass(frozen=True, eq=False)
class _Rows:
    """What makes the distances of some landmarks to a corpus, here or wherever it is sent."""

    ground: Ground
    corpus: Corpus
    vectors: FloatArray
    landmarks: Documents
    other: Ground
    parts: list[slice]

    def __call__(self, group: slice) -> FloatArray:
        rows = np.zeros((group.stop - group.start, len(self.corpus.starts) - 1))
        self.fill(group, rows)
        return rows

    def fill(self, group: slice, rows: FloatArray) -> None:
        """Write the rows of a group of landmarks."""
        self.ground.fill_group(
            self.corpus, self.vectors, self.landmarks[group], self.other, self.parts[group], rows
        )
