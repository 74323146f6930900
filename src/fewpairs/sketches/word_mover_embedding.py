"""Word Mover's Embedding: random features of a Word Mover's kernel.

References
----------
Wu, Yen, Xu, Xu, Balakrishnan, Chen, Ravikumar, Witbrock, *Word Mover's Embedding: From Word2Vec to
Document Embedding*, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewpairs.arrays import FloatArray, IntArray, RandomState, check_gamma, generator, is_whole
from fewpairs.errors import ConstantFeaturesWarning, InputError, UnknownNameError, warn
from fewpairs.parallel import count_jobs, require_memory
from fewpairs.sketches.random_documents import (
    check_drawing,
    draw_words,
    features_needed,
    make_documents,
)
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.ground import Ground
from fewpairs.workers.threads import Threads

#: Training documents whose distances to the random ones are measured by `fit`: their mean and their
#: spread are then known to a tenth, for a tenth of the time that features of a thousand take.
_MEASURED = 100
#: Random documents that are measured where only a warning depends on it.
_FEW_RANDOM = 50
#: Random documents from which the number for a wanted error is worked out.
_PILOT = 128
#: γ in units of one over the spread: the best of five in cross-validation over seven data sets;
#: 0.25 is level, a third or three times as much lose three points (docs/tables/wme-defaults.md).
_SHARE_OF_SPREAD = 0.15
#: A spread below this share of the distances is taken for it, so that no exponential overflows.
_LEAST_SPREAD = 1e-3
#: Below this share of the distances a spread is rounding, and features that vary less are constant
#: to a learner that regularises.
_ROUNDING, _CONSTANT = 1e-12, 1e-6
#: Bytes of the name, the number and the weight of a random word.
_NAMED = 200
_SCALE_OR_SCALER = 'Leave gamma out (gamma="scale"), or put a scaler behind.'


class WordMoverEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features of documents, each by the distance to one of R short random documents ω.

    Random documents are a few random points in the space of the word vectors. A document x has the
    features exp(−γ·(WMD(x, ω) − d_ω)) − 1, d_ω being the mean distance of training documents to ω:
    0 where x is as far from ω as most, positive where it is nearer, never below −1. They are of
    order one whatever the length of the vectors, and ready for a linear model.

    With a number as `gamma` they are the paper's exp(−γ·WMD(x, ω)) / √R. Inner products of both
    kinds (the first divided by R) converge, like 1/√R, to a positive definite kernel.

    Parameters
    ----------
    vectors : WordVectors, mapping, or gensim's KeyedVectors
    n_components : int or float, default=256
        R, the number of random documents. A float below 1 is the relative Frobenius error of the
        kernel that is wanted: R is then worked out from 128 random documents of their own and up
        to 100 training documents, and halving the error takes four times as many. With a number as
        `gamma` that is a rough estimate, refused where 128 of them cannot tell.
    max_words : int, default=6
        A random document has a uniform number of words between 1 and this.
    gamma : "scale" or float, default="scale"
        γ, how fast a feature falls with the distance. "scale" takes 0.15 over the standard
        deviation of distances to one random document, measured on up to 100 training documents.
        A number gives the paper's features, which are as large as they are: where γ·WMD is beyond
        ten, put a `StandardScaler` behind them.
    drawing : {"box", "centred-box", "words"}, default="box"
        Where random words lie: in the box [low, high]ᵈ between the smallest and the largest
        coordinate of the words that occur in training documents, as in the paper's algorithm; in
        that box around the mean of these words, as in its experiments; or where these words lie,
        each drawn as often as documents have it.
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
    gamma_ : float
        The γ in use.
    mean_distances_ : ndarray of shape (n_components,) or None
        d_ω; None where `gamma` is a number.

    Examples
    --------
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> features = WordMoverEmbedding(table, n_components=8, random_state=0)
    >>> features.fit_transform(["an ape", "a monkey", "my car"]).shape
    (3, 8)
    """

    def __init__(
        self,
        vectors: Any,
        n_components: float = 256,
        *,
        max_words: int = 6,
        gamma: float | str = "scale",
        drawing: str = "box",
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
        self.n_components = n_components
        self.max_words = max_words
        self.gamma = gamma
        self.drawing = drawing
        self.metric = metric
        self.normalize = normalize
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.weights = weights
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Draw random documents where the words of the training documents lie.

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
        if not len(documents.words):
            raise InputError(
                "no training document has any known word.",
                "Random words are drawn where the known ones lie.",
                "Check the tokenizer (case, language) against the vectors.",
            )
        rng = generator(self.random_state)
        count = self._pilot(documents, rng) if self.n_components < 1 else int(self.n_components)
        self._draw(documents, count, rng)
        self._n_features_out = count
        self._set_scale(documents)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features of documents, those of `fit` or others.

        Parameters
        ----------
        X : sequence of texts or token lists, or Documents

        Returns
        -------
        ndarray of shape (n_documents, n_components)
        """
        check_is_fitted(self)
        documents = self._read(X, WordVectors.of(self.vectors))
        count = len(self.random_documents_)
        require_memory(
            2 * 8 * len(documents) * count,
            f"{count:,} features of {len(documents):,} documents",
            "Transform fewer documents at a time",
        )
        features = self._features(self._distances(documents, self.random_documents_))
        return features / np.sqrt(count) if self.mean_distances_ is None else features

    def _features(self, distances: FloatArray) -> FloatArray:
        """Return features that are not divided by √R."""
        if self.mean_distances_ is None:
            return np.asarray(np.exp(-self.gamma_ * distances))
        return np.asarray(np.expm1((self.mean_distances_ - distances) / self._reach))

    def _draw(self, documents: Documents, count: int, rng: np.random.Generator) -> None:
        """Draw so many random documents."""
        most = int(self.max_words)
        words = count * (most + 1) / 2
        numbers = 2 * words * self._ground.vectors.shape[1] + count * min(_MEASURED, len(documents))
        require_memory(
            8 * numbers + _NAMED * words,
            f"{count:,} random documents, and distances to them,",
            "Take fewer, or a larger error",
        )
        sizes = rng.integers(1, most + 1, count)
        vectors = self._ground.vectors
        drawn = draw_words(
            self.drawing, vectors, documents.words.astype(np.int64), int(sizes.sum()), rng
        )
        # Drawn in the unit of the words' ground, so that both are in the same one.
        exponent = self._ground.exponent
        random = make_documents(drawn, sizes)
        ground = Ground.of(random.vectors, self.metric, normalize=self.normalize)
        self._random_ground = replace(ground, exponent=exponent)
        self.random_documents_ = make_documents(np.ldexp(drawn, exponent), sizes)

    def _pilot(self, documents: Documents, rng: np.random.Generator) -> int:
        """Return how many features the wanted error takes, from a draw for that alone."""
        self._draw(documents, _PILOT, rng)
        self._set_scale(documents)
        distances = self._distances(documents[_evenly(documents)], self.random_documents_)
        return features_needed(self._features(distances), float(self.n_components))

    def _set_scale(self, documents: Documents) -> None:
        """Measure a few distances: they say how far a feature reaches, and whether it varies."""
        chosen = _evenly(documents)
        by_scale = isinstance(self.gamma, str)
        random = self.random_documents_ if by_scale else self.random_documents_[:_FEW_RANDOM]
        distances = self._distances(documents[chosen], random)
        if by_scale:
            means = distances.mean(axis=0)
            typical = float(means.mean()) or 1.0
            # Relative to the distances, so that squares of any vectors are in range.
            spread = float(np.sqrt((distances / typical).var(axis=0).mean()))
            self._reach = max(spread, _LEAST_SPREAD) * typical / _SHARE_OF_SPREAD
            self.gamma_, self.mean_distances_ = 1 / self._reach, means
            constant = spread < _ROUNDING
        else:
            self.gamma_, self.mean_distances_ = check_gamma(self.gamma), None
            features = np.exp(-self.gamma_ * distances)
            constant = bool(np.sqrt(features.var(axis=0).mean()) < _CONSTANT)
        if constant and len(chosen) > 1:
            advice = "Check that documents and vectors differ." if by_scale else _SCALE_OR_SCALER
            warn(
                ConstantFeaturesWarning(
                    "the features hardly differ between training documents: distances to random "
                    f"documents are about {distances.mean():.3g}, and γ is {self.gamma_:.3g}. A "
                    f"learner may see a constant. {advice}"
                )
            )

    def _distances(self, documents: Documents, random: Documents) -> FloatArray:
        return self._ground.block_to(
            documents, random, self._random_ground, Threads(count_jobs(self.n_jobs))
        )

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
        check_drawing(self.drawing)
        wanted = self.n_components
        by_error = isinstance(wanted, float) and 0 < wanted < 1
        for name in ("n_components", "max_words"):
            value = getattr(self, name)
            if (not is_whole(value) or value < 1) and not (name == "n_components" and by_error):
                raise InputError(
                    f"{name} is {value!r}.",
                    "n_components counts random documents, max_words the words of one.",
                    "Pass a positive integer; for n_components also the error that is wanted, as a "
                    "float between 0 and 1.",
                )
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise UnknownNameError("gamma", self.gamma, ["scale"])
        if not isinstance(self.gamma, str):
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


def _evenly(documents: Documents) -> IntArray:
    """Return some documents that have words, evenly: they often come in order of their classes."""
    filled = np.flatnonzero(np.diff(documents.starts))
    return filled[np.linspace(0, len(filled) - 1, min(_MEASURED, len(filled))).astype(np.int64)]
