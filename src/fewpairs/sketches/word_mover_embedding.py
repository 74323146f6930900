"""Word Mover's Embedding: random features of a Word Mover's kernel.

References
----------
Wu, Yen, Xu, Xu, Balakrishnan, Chen, Ravikumar, Witbrock, *Word Mover's Embedding: From Word2Vec to
Document Embedding*, Algorithm 1.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewpairs.arrays import FloatArray, RandomState, check_gamma, generator, is_whole
from fewpairs.errors import InputError
from fewpairs.parallel import count_jobs
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.ground import Ground


class WordMoverEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features exp(−γ·WMD(x, ω)) / √R of a document x, one for each of R random documents ω.

    Random documents are short: a few random points in the space of the word vectors. As R grows,
    inner products of the features converge, like 1/√R, to a positive definite kernel.

    Parameters
    ----------
    vectors : WordVectors, mapping, or gensim's KeyedVectors
    n_features : int, default=256
        R, the number of random documents.
    max_words : int, default=6
        A random document has a uniform number of words between 1 and this.
    gamma : float, default=1.0
        γ, how fast a feature falls with the distance.
    center : bool, default=False
        Draw random words from a box around the mean of the words that occur in the training
        documents, as in the paper's experiments. False takes the box [low, high]ᵈ between the
        smallest and the largest coordinate of these words, as in its algorithm.
    metric, normalize, tokenizer, stop_words, weights : as for `WordMover`
    empty : {"error", "far"}, default="far"
        What to do with a document without known words: refuse it, or take it to be as far from
        every random document as words can be.
    random_state : int, RandomState or None
    n_jobs : int, default=1
        Threads that compute distances; -1 takes all cores.

    Attributes
    ----------
    random_documents_ : Documents
        Whose words are random vectors, in a table of their own.

    Examples
    --------
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> features = WordMoverEmbedding(table, n_features=8, gamma=0.1, random_state=0)
    >>> features.fit_transform(["an ape", "a monkey", "my car"]).shape
    (3, 8)
    """

    def __init__(
        self,
        vectors: Any,
        n_features: int = 256,
        *,
        max_words: int = 6,
        gamma: float = 1.0,
        center: bool = False,
        metric: str = "euclidean",
        normalize: bool = False,
        tokenizer: Any = None,
        stop_words: Any = None,
        weights: str = "nbow",
        empty: str = "far",
        random_state: RandomState = None,
        n_jobs: int = 1,
    ) -> None:
        self.vectors = vectors
        self.n_features = n_features
        self.max_words = max_words
        self.gamma = gamma
        self.center = center
        self.metric = metric
        self.normalize = normalize
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.weights = weights
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Draw random documents in the box that the training documents' words span.

        Parameters
        ----------
        X : sequence of texts or token lists, or Documents
        y : ignored

        Returns
        -------
        self
        """
        self._check()
        table = WordVectors.of(self.vectors)
        self._ground = Ground.of(table, self.metric, normalize=self.normalize)
        documents = self._read(X, table)
        used = self._ground.vectors[np.unique(documents.words)]
        if not len(used):
            raise InputError(
                "no training document has any known word.",
                "Random words are drawn where the known ones lie.",
                "Check the tokenizer (case, language) against the vectors.",
            )
        rng = generator(self.random_state)
        sizes = rng.integers(1, self.max_words + 1, self.n_features)
        low, high = float(used.min()), float(used.max())
        drawn = rng.uniform(low, high, (int(sizes.sum()), table.dimensions))
        if self.center:
            drawn += used.mean(axis=0) - (low + high) / 2
        self.random_documents_ = _documents(drawn, sizes)
        self._random_ground = Ground.of(
            self.random_documents_.vectors, self.metric, normalize=self.normalize
        )
        self._n_features_out = self.n_features
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features of documents, those of `fit` or others.

        Parameters
        ----------
        X : sequence of texts or token lists, or Documents

        Returns
        -------
        ndarray of shape (n_documents, n_features)
        """
        check_is_fitted(self)
        documents = self._read(X, WordVectors.of(self.vectors))
        distances = self._ground.block_to(
            documents, self.random_documents_, self._random_ground, count_jobs(self.n_jobs)
        )
        distances *= -self.gamma
        np.exp(distances, out=distances)
        return np.asarray(distances / np.sqrt(self.n_features))

    def _read(self, X: Any, table: WordVectors) -> Documents:
        return Documents.of(
            X,
            table,
            tokenizer=self.tokenizer,
            stop_words=self.stop_words,
            weights=self.weights,
            empty=self.empty,
        )

    def _check(self) -> None:
        for name in ("n_features", "max_words"):
            value = getattr(self, name)
            if not is_whole(value) or value < 1:
                raise InputError(
                    f"{name} is {value!r}.",
                    "n_features counts random documents, max_words the words of one.",
                    "Pass a positive integer.",
                )
        check_gamma(self.gamma)
        if self.empty == "drop":
            raise InputError(
                'empty="drop" was given to a transformer.',
                "Row i of the features is document i.",
                'Pass empty="far" or empty="error".',
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _documents(vectors: FloatArray, sizes: Any) -> Documents:
    """Make documents of the given numbers of words, each word a vector of its own."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    table = WordVectors([f"random {k}" for k in range(len(vectors))], vectors)
    weights = np.repeat(1 / sizes, sizes)
    return Documents(np.arange(len(vectors), dtype=np.int32), weights, starts, table)
