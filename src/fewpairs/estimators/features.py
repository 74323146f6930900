"""SimilarityFeatures: features whose inner products stand for an expensive similarity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewpairs.arrays import FloatArray, RandomState, is_whole
from fewpairs.errors import InputError
from fewpairs.estimators.reading import patient, read_items, tag_input
from fewpairs.items.items import Items
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.run.approximate import approximate


class SimilarityFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose inner products approximate an expensive similarity.

    Parameters
    ----------
    similarity : Similarity
    n_components : int, default=100
        Number of landmarks, and the largest number of features.
    method : str, default="auto"
        As in `approximate`.
    psd : bool, default=True
        Keep the positive part only. False also returns the negative part; `signature_` tells
        which features count negatively.
    selection : str or Selector, default="uniform"
    guide : encoder, or list of these, optional
        Something cheap that makes vectors of items, as for `approximate`; an array serves
        `fit_transform` only.
    options : mapping, optional
        Options of the method.
    random_state : int, RandomState or None
    journal : str, Path, Journal or None, default=None
        As for `approximate`; `transform` uses it too. Fits in several processes, as of a grid
        search, take turns at one folder: each waits up to an hour, unless a `Journal` says else.
    n_jobs : int, default=1
    progress : bool, callable or None, default=None

    Attributes
    ----------
    landmarks_ : list or ndarray
        The items that others are compared with.
    landmark_indices_ : ndarray of int
        Their positions in the training items.
    components_ : ndarray of shape (n_landmarks, n_features_out)
        Similarities with the landmarks times this matrix are the features. With a guide that is
        worth following, the guide's vectors, and products with them, come after the similarities.
    signature_ : ndarray of shape (n_features_out,)
    matrix_ : FactoredMatrix
        The approximated similarity matrix of the training items.
    evaluations_ : int
        What the fit has spent.

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> features = SimilarityFeatures(fp.StringSimilarity(), n_components=3, random_state=0)
    >>> features.fit_transform(words).shape[0]
    6
    """

    def __init__(
        self,
        similarity: Any,
        n_components: int = 100,
        *,
        method: str = "auto",
        psd: bool = True,
        selection: Any = "uniform",
        guide: Any = None,
        options: Mapping[str, Any] | None = None,
        random_state: RandomState = None,
        journal: JournalOption = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
    ) -> None:
        self.similarity = similarity
        self.n_components = n_components
        self.method = method
        self.psd = psd
        self.selection = selection
        self.guide = guide
        self.options = options
        self.random_state = random_state
        self.journal = journal
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Choose landmarks among the items and learn the map to features.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fit(read_items(self, X, reset=True))
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:  # noqa: ARG002
        """Fit, and return the features of the training items without evaluating them again.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)
        y, **fit_params : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        items = read_items(self, X, reset=True)
        oracle = self._fit(items)
        # The columns as evaluated, not as a method may have shifted them: the same formula as for
        # new items.
        return self._features(oracle.columns(self.landmark_indices_), items, self.guide)

    def transform(self, X: Any) -> FloatArray:
        """Compare items with the landmarks, and return their features.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        items = read_items(self, X, reset=False)
        oracle = Oracle(
            items,
            self.similarity,
            others=self.landmarks_,
            n_jobs=self.n_jobs,
            progress=self.progress,
            resumable=False,
            journal=patient(self.journal),
        )
        columns = oracle.columns(np.arange(len(self.landmark_indices_)))
        return self._features(columns, items)

    def _fit(self, items: Items) -> Oracle:
        if not is_whole(self.n_components) or self.n_components < 1:
            raise InputError(
                f"n_components is {self.n_components!r}.",
                "It is the number of landmarks that every item is compared with.",
                "Pass a positive integer.",
            )
        oracle = Oracle(
            items,
            self.similarity,
            n_jobs=self.n_jobs,
            progress=self.progress,
            journal=patient(self.journal),
        )
        matrix = approximate(
            oracle,
            landmarks=self.n_components,
            method=self.method,
            selection=self.selection,
            guide=self.guide,
            error_pairs=0,
            random_state=self.random_state,
            **self._method_options(),
        )
        chosen = matrix.source.left_landmarks
        if chosen is None:
            msg = f'method="{self.method}" has no landmarks to compare new items with'
            raise ValueError(msg)
        whole = matrix.embedding_map
        kept = whole.positive() if self.psd else whole
        if matrix.source.guide is not None:  # which has more directions than landmarks, best first
            kept = kept.first(self.n_components)
        self.landmark_indices_ = chosen
        self.landmarks_ = items.take(chosen)
        self.components_ = kept.matrix
        if matrix.source.guide is None:
            # The factors' columns are similarities times a power of two, which new ones are not.
            self.components_ = np.ldexp(kept.matrix, matrix.source.power)
        self.signature_ = kept.signature
        self.matrix_ = matrix
        self.evaluations_ = matrix.evaluations
        self._n_features_out = kept.matrix.shape[1]
        return oracle

    def _features(self, columns: FloatArray, items: Items, guide: Any = None) -> FloatArray:
        """Return features of items with these similarities with the landmarks."""
        if self.matrix_.source.guide is not None:
            columns = self.matrix_.features_of(columns, items, guide)
        return np.asarray(columns @ self.components_)

    def _method_options(self) -> dict[str, Any]:
        """Leave out what single entries cost: features come from the factors alone."""
        smooth = {"known": None} if self.method in ("auto", "fitted") else {}
        return smooth | dict(self.options or {})

    def __sklearn_tags__(self) -> Any:
        tags = tag_input(super().__sklearn_tags__(), self.similarity)
        tags.transformer_tags.preserves_dtype = []
        return tags
