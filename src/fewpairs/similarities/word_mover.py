"""Word Mover's similarity: exp(−γ·WMD), exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from fewpairs.arrays import FloatArray, check_gamma
from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.items.keys import framed
from fewpairs.similarities.base import Pair, Similarity
from fewpairs.text.documents import Documents, word_weights
from fewpairs.text.tokens import StopWords, Tokenizer, read_stop_words
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.ground import Ground

#: Vectors beyond 2^±100 are scaled before they become single precision, for a checksum.
_SINGLE = 100


class WordMover(Similarity):
    """exp(−γ·WMD(x, y)) of texts, token lists, or prepared `Documents`.

    Parameters
    ----------
    vectors : WordVectors, mapping, or gensim's KeyedVectors
    gamma : float, default=1.0
    metric : {"euclidean", "cosine"}, default="euclidean"
        Between word vectors: |x − y|, as in the papers; or 1 − cosine. Zero vectors are as for
        `wmd`.
    normalize : bool, default=False
        Scale word vectors to length one first, as gensim does; the papers do not.
    tokenizer, stop_words : as for `Documents.of`
    weights : {"nbow", "tfidf", "sif"}, default="nbow"
        As for `Documents.of`; "sif" does best on sentences.
    corpus : sequence of texts, optional
        By which "tfidf" and "sif" are counted. Without it these depend on which items are read
        together, and new items, or exact scores of a matrix that is there, are weighed otherwise
        than in its run: pass all texts.
    empty : {"error", "far"}, default="error"
        Refuse documents without a known word, or keep them far from all others.

    Examples
    --------
    >>> import fewpairs as fp
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> words = fp.WordMover(table, gamma=0.5)
    >>> K = fp.approximate(["an ape", "a monkey", "my car"], words, landmarks=2, random_state=0)
    >>> round(K[0, 1], 3)
    0.607
    """

    name = "word mover"
    symmetric = True
    symmetry_proven = True
    diagonal = 1.0
    value_range = (0.0, 1.0)
    #: Tall blocks of a few landmarks: their tables of ground distances serve the whole corpus.
    block_size = (2**20, 8)

    def __init__(
        self,
        vectors: Any,
        gamma: float = 1.0,
        *,
        metric: str = "euclidean",
        normalize: bool = False,
        tokenizer: Tokenizer | None = None,
        stop_words: StopWords = None,
        weights: str = "nbow",
        empty: str = "error",
        corpus: Any = None,
    ) -> None:
        if empty == "drop":
            raise InputError(
                'empty="drop" was given to a similarity.',
                "Row i of the matrix is item i, so no item can be left out.",
                'Pass empty="far", or drop the items before the run.',
            )
        self.vectors = WordVectors.of(vectors)
        self.gamma = check_gamma(gamma)
        self.metric, self.normalize = metric, normalize
        self.tokenizer, self.weights, self.empty = tokenizer, weights, empty
        self.corpus = corpus
        stopped = read_stop_words(stop_words)  # once: it may be an iterator
        self.stop_words = stop_words if isinstance(stop_words, str | None) else stopped
        self._reading: dict[str, Any] = {
            "tokenizer": tokenizer,
            "stop_words": stopped,
            "weights": weights,
            "empty": empty,
        }
        worth = None
        if corpus is not None:
            worth = word_weights(
                corpus, self.vectors, weights, tokenizer=tokenizer, stop_words=stopped
            )
            self._reading["weights"] = worth
        self.ground = Ground.of(self.vectors, metric, normalize=normalize)
        self._facts: dict[str, Any] = {
            "metric": metric,
            "normalize": bool(normalize),
            "weights": weights,
            "empty": empty,
            "tokenizer": getattr(tokenizer, "__qualname__", "default"),
            "stop_words": stop_words if isinstance(stop_words, str | None) else sorted(stopped),
            "vectors": _digest(self.vectors),
        }
        if worth is not None:
            self._facts["corpus"] = hashlib.sha256(worth.tobytes()).hexdigest()

    @property
    def parameters(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What the values depend on, with γ as it is now."""
        return {"gamma": self.gamma, **self._facts}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; another γ alone costs nothing."""
        if params.keys() == {"gamma"}:
            self.gamma = check_gamma(params["gamma"])
            return self
        return super().set_params(**params)

    def prepare(self, items: Items) -> Items:
        """Tokenise and weigh the texts, once."""
        return Items(Documents.of(items.values, self.vectors, **self._reading))

    def guides(self, items: Items) -> list[tuple[str, FloatArray]]:
        """Return what hints at the distance: means of word vectors bound it from below."""
        documents: Documents = self.prepare(items).values
        return [("centroids", documents.centroids())]

    def block(self, left: Documents, right: Documents) -> FloatArray:
        """Compare every document on the left with every one on the right."""
        return self._similar(self.ground.block(left, right))

    def aligned(self, left: Documents, right: Documents) -> FloatArray:
        """Compare document k on the left with document k on the right."""
        return self._similar(self.ground.aligned(left, right))

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Compare single pairs of prepared documents."""
        left, right = (Documents.joined([pair[side] for pair in pairs]) for side in (0, 1))
        return self.aligned(left, right)

    @property
    def underlying(self) -> Similarity:
        """The distance: in a journal it serves every γ."""
        return WordMoverDistance(self)

    def from_underlying(self, values: FloatArray) -> FloatArray:
        """Return exp(−γ·distance)."""
        return self._similar(values.copy())

    @property
    def identity(self) -> str | None:
        """γ and that of the distance."""
        return f"gamma {self.gamma!r} of {self.underlying.identity}"

    def content(self, items: Items) -> Iterable[bytes]:
        """Return words and weights, whatever text, tokenizer and corpus they come from."""
        documents: Documents = items.values
        starts, words = documents.starts, np.ascontiguousarray(documents.words, dtype="<i4")
        weights = np.ascontiguousarray(documents.weights, dtype="<f8")
        for start, end in pairwise(starts):
            yield framed(b"W", (words[start:end].tobytes(), weights[start:end].tobytes()))

    def _similar(self, distances: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # of γ·distance: then the similarity is 0
            distances *= -self.gamma
        return np.exp(distances, out=distances)


class WordMoverDistance(Similarity):
    """The Word Mover's Distance of prepared documents, as a journal keeps it.

    Parameters
    ----------
    of : WordMover
    """

    name = "word mover distance"
    symmetric = True
    symmetry_proven = True

    def __init__(self, of: WordMover) -> None:
        self._of, self.block_size = of, of.block_size
        self.parameters = {"metric": of.metric, "normalize": bool(of.normalize)}

    @property
    def identity(self) -> str | None:
        """The fingerprint with a checksum of all word vectors."""
        return f"{self.fingerprint} {self._of.vectors.checksum}"

    def prepare(self, items: Items) -> Items:
        """Tokenise and weigh the texts, once."""
        return self._of.prepare(items)

    def content(self, items: Items) -> Iterable[bytes]:
        """Return words and weights."""
        return self._of.content(items)

    def block(self, left: Documents, right: Documents) -> FloatArray:
        """Compare every document on the left with every one on the right."""
        return self._of.ground.block(left, right)

    def aligned(self, left: Documents, right: Documents) -> FloatArray:
        """Compare document k on the left with document k on the right."""
        return self._of.ground.aligned(left, right)

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Compare single pairs of prepared documents."""
        left, right = (Documents.joined([pair[side] for pair in pairs]) for side in (0, 1))
        return self.aligned(left, right)


def _digest(vectors: WordVectors) -> str:
    """Name a table of word vectors in files: its size, and a checksum of a sample of it."""
    step = max(1, len(vectors) // 1000)
    sample = np.asarray(vectors.array[::step], dtype=np.float64)
    exponent = int(np.frexp(np.abs(sample).max(initial=0.0))[1])
    if abs(exponent) <= _SINGLE:
        exponent = 0
    single = np.ascontiguousarray(np.ldexp(sample, -exponent), dtype=np.float32)
    names = "\n".join(vectors.words[::step]).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(names + single.tobytes()).hexdigest()[:16]
    unit = f" ×2^{exponent}" if exponent else ""
    return f"{len(vectors)}×{vectors.dimensions} {digest}{unit}"
