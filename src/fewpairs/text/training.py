"""Word vectors from a corpus alone, in seconds: counts, PMI, distance geometry."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewpairs.arrays import FloatArray, RandomState, generator
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.parallel import count_jobs
from fewpairs.text.cooccurrence import MAX_PAIRS, WEIGHTINGS, Cooccurrences, new_pmi
from fewpairs.text.corpus import EncodedCorpus
from fewpairs.text.distance_geometry import (
    FIRST_BLOCK,
    OTHER_BLOCKS,
    BuildUp,
    divide_and_conquer,
    from_eigenpairs,
    warn_of_missing,
)
from fewpairs.text.documents import Documents
from fewpairs.text.references import are_named, check_references, count_references
from fewpairs.text.training_options import ALLOWED, check_option
from fewpairs.text.word_order import check_order, word_order
from fewpairs.text.word_vectors import WordVectors

METHODS = ("build-up", "divide", "eigs")


class DistanceGeometryVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Word vectors by distance geometry; documents as means of their words' vectors.

    Parameters
    ----------
    n_components : int, default=100
        Dimensions of the vectors.
    method : {"build-up", "divide", "eigs"}, default="build-up"
        Place reference words first, and all others by them (Geometric Build-up); place overlapping
        blocks of words, and turn each onto the one before (Divide and Conquer); or take the
        eigenvectors of the whole matrix.
    references : int, "paper", sequence of str, or None
        For build-up: how many words, or which. By default 80 for each dimension, at least 16,000;
        "paper" is 4 for each.
    order : {"frequency", "coreness"} or sequence of str, default="frequency"
        Which words come first: they are the references, or the first block of "divide". Words that
        a given sequence does not name follow by frequency.
    window, weighting, subsample, max_pairs : as for `Cooccurrences.of`
    min_count, max_words, tokenizer : as for `EncodedCorpus.of`
    positive, smoothing, shift : as for `Cooccurrences.pmi`
    blocks : tuple of int, default=(20000, 800)
        For divide: the sizes of the first block and of the others.
    n_jobs : int, default=1
        Threads; vectors do not depend on it.
    random_state : int, Generator, RandomState or None, default=0
        For the eigensolver's first block, and for subsampling.

    Attributes
    ----------
    vectors_ : WordVectors
        By decreasing frequency.
    reference_words_ : list of str
        Of build-up only.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = DistanceGeometryVectors(n_components=2).fit(texts)
    >>> model.transform(["cat and dog"]).shape
    (1, 2)
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        method: str = "build-up",
        references: Any = None,
        order: Any = "frequency",
        window: int = 10,
        weighting: str = "windows",
        subsample: float | None = None,
        max_pairs: int = MAX_PAIRS,
        min_count: int = 5,
        max_words: int | None = None,
        tokenizer: Any = None,
        positive: bool = False,
        smoothing: float = 1.0,
        shift: float = 0.0,
        blocks: tuple[int, int] = (FIRST_BLOCK, OTHER_BLOCKS),
        n_jobs: int = 1,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.references = references
        self.order = order
        self.window = window
        self.weighting = weighting
        self.subsample = subsample
        self.max_pairs = max_pairs
        self.min_count = min_count
        self.max_words = max_words
        self.tokenizer = tokenizer
        self.positive = positive
        self.smoothing = smoothing
        self.shift = shift
        self.blocks = blocks
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Train on texts.

        Parameters
        ----------
        X : iterable of texts or token lists, or Path of a file of lines
        y : ignored

        Returns
        -------
        self
        """
        self._check()
        corpus = EncodedCorpus.of(
            X, tokenizer=self.tokenizer, min_count=self.min_count, max_words=self.max_words
        )
        counts = self._counts(corpus)
        self._place(counts, self._pmi(counts))
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the mean vector of each text's known words; zero where there is none.

        Parameters
        ----------
        X : sequence of texts or token lists

        Returns
        -------
        ndarray of shape (n_texts, n_components)
        """
        check_is_fitted(self)
        documents = Documents.of(X, self.vectors_, tokenizer=self.tokenizer, empty="far")
        return documents.centroids()

    def new_words(self, texts: Any, *, min_count: int = 1) -> WordVectors:
        """Place words that training did not know, from their neighbours in new texts.

        A new word is one more point of the build-up: its PMI with the references says where it is.
        The frequencies of the references are those of training; `smoothing` is not applied.

        Parameters
        ----------
        texts : iterable of texts or token lists
        min_count : int, default=1
            How often a word must occur in them.

        Returns
        -------
        WordVectors
            Of the new words alone.
        """
        check_is_fitted(self)
        check_option("min_count", min_count)
        if self._builder is None:
            raise InputError(
                f'new words were asked of method="{self.method}".',
                "Only build-up places a word by its references alone.",
                'Train with method="build-up".',
            )
        corpus = EncodedCorpus.of(texts, tokenizer=self.tokenizer, min_count=min_count)
        counts = self._counts(corpus, everything=True)
        new = np.flatnonzero([word not in self.vectors_ for word in corpus.words])
        if not len(new):
            raise InputError(
                "the texts hold no new word.",
                "Known words have their vectors.",
                "Pass texts in which new words occur.",
            )
        gram = new_pmi(
            counts,
            new,
            self.reference_words_,
            self._reference_shares,
            shift=self.shift,
            positive=self.positive,
        )
        return WordVectors([corpus.words[k] for k in new], self._builder.place(gram))

    def _counts(self, corpus: EncodedCorpus, *, everything: bool = False) -> Cooccurrences:
        """Count neighbours; only the references, if these are the most frequent words."""
        by_frequency = isinstance(self.order, str) and self.order == "frequency"
        named = are_named(self.references)
        contexts = None
        if self.method == "build-up" and by_frequency and not named and not everything:
            contexts = count_references(self.references, self.n_components, len(corpus.words))
        return Cooccurrences.of(
            corpus,
            window=self.window,
            weighting=self.weighting,
            contexts=contexts,
            subsample=self.subsample,
            max_pairs=self.max_pairs,
            n_jobs=count_jobs(self.n_jobs),
            random_state=self.random_state,
        )

    def _pmi(self, counts: Cooccurrences) -> sp.csr_array:
        return counts.pmi(positive=self.positive, smoothing=self.smoothing, shift=self.shift)

    def _place(self, counts: Cooccurrences, gram: sp.csr_array) -> None:
        """Find the vectors whose inner products are the PMI in `gram`."""
        order = word_order(counts, self.references if are_named(self.references) else self.order)
        if not np.array_equal(order, np.arange(len(order))):
            gram = sp.csr_array(gram[order][:, order])
        rng, jobs = generator(self.random_state), count_jobs(self.n_jobs)
        self._builder: BuildUp | None = None
        points: npt.NDArray[Any]
        if self.method == "build-up":
            m = count_references(self.references, self.n_components, len(order))
            self._builder = BuildUp(gram[:m, :m], self.n_components, rng, jobs)
            points = np.empty((len(order), self.n_components), dtype=gram.dtype)
            points[:m] = self._builder.references
            points[m:] = self._builder.place(gram[m:, :m])
            self.reference_words_ = [counts.words[k] for k in order[:m]]
            self._reference_shares = counts.shares[order[:m]]
        elif self.method == "divide":
            first, others = self.blocks
            points = divide_and_conquer(
                gram, self.n_components, rng, jobs, first=first, others=others
            )
        else:
            points = from_eigenpairs(gram, self.n_components, rng, jobs)
        warn_of_missing(points)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        self.vectors_ = WordVectors(counts.words, points[back])

    def _check(self) -> None:
        if self.method not in METHODS:
            raise UnknownNameError("method", self.method, METHODS)
        check_references(self.references)
        if not are_named(self.references):
            check_order(self.order)
        if self.weighting not in WEIGHTINGS:
            raise UnknownNameError("weighting", self.weighting, WEIGHTINGS)
        count_jobs(self.n_jobs)
        for name in ALLOWED:
            if name != "blocks" or self.method == "divide":
                check_option(name, getattr(self, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def train_word_vectors(
    texts: Any, dimensions: int = 100, method: str = "build-up", **options: Any
) -> WordVectors:
    """Train word vectors on a corpus, by distance geometry.

    Parameters
    ----------
    texts : iterable of texts or token lists, or Path of a file of lines
        Read once; a file may be larger than the memory.
    dimensions : int, default=100
    method : {"build-up", "divide", "eigs"}, default="build-up"
    **options
        Of `DistanceGeometryVectors`: window, min_count, references, n_jobs, …

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> import fewpairs as fp
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> vectors = fp.train_word_vectors(texts, dimensions=2)
    >>> "cat" in vectors, vectors.dimensions
    (True, 2)
    """
    known = {*DistanceGeometryVectors().get_params(), "dimensions"} - {"n_components"}
    wrong = next((name for name in options if name not in known), None)
    if wrong is not None:
        raise UnknownNameError("option", wrong, sorted(known))
    model = DistanceGeometryVectors(dimensions, method=method, **options)
    return model.fit(texts).vectors_
