"""SimilarityClassifier: labels of new items by their nearest under an expensive similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from fewpairs.arrays import FloatArray, RandomState
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.estimators.neighbors import SimilarityNeighbors
from fewpairs.estimators.reading import read_items
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption

#: What a neighbour's label counts, by its similarity.
Weights = Literal["uniform", "similarity"] | Callable[[FloatArray], FloatArray]


class SimilarityClassifier(ClassifierMixin, SimilarityNeighbors):
    """Classify items by the labels of their nearest, under an expensive similarity.

    Neighbours are those of `SimilarityNeighbors`: a new item takes `budget` evaluations.

    Parameters
    ----------
    similarity : Similarity
    n_neighbors : int, default=5
    weights : {"uniform", "similarity"} or callable, default="uniform"
        What each neighbour's label counts: the same, its similarity (nothing below 0), or what a
        function of an array of similarities says.
    n_components, budget, guide, method, random_state, journal, n_jobs, progress :
        As for `SimilarityNeighbors`.

    Attributes
    ----------
    classes_ : ndarray
    matrix_, n_samples_fit_, evaluations_ : as for `SimilarityNeighbors`

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> labels = ["mammal", "mammal", "insect", "insect", "mammal", "mammal"]
    >>> model = SimilarityClassifier(fp.StringSimilarity(), 1, random_state=0).fit(words, labels)
    >>> model.predict(["beers", "cut"])
    array(['insect', 'mammal'], dtype='<U6')
    """

    def __init__(
        self,
        similarity: Any,
        n_neighbors: int = 5,
        *,
        weights: Weights = "uniform",
        n_components: int = 100,
        budget: int = 100,
        guide: Any = None,
        method: str = "auto",
        random_state: RandomState = None,
        journal: JournalOption = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
    ) -> None:
        super().__init__(
            similarity,
            n_neighbors,
            n_components=n_components,
            budget=budget,
            guide=guide,
            method=method,
            random_state=random_state,
            journal=journal,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> Self:
        """Approximate the similarities of the training items, and keep their labels.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)
        y : sequence of labels

        Returns
        -------
        self
        """
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None."
            raise ValueError(msg)
        items = read_items(self, X, reset=True)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        check_consistent_length(items, labels)
        if not callable(self.weights) and self.weights not in ("uniform", "similarity"):
            raise UnknownNameError("weights", self.weights, ("uniform", "similarity"))
        self.classes_, self._labels = np.unique(labels, return_inverse=True)
        self._fit_items(items)
        return self

    def predict(self, X: Any) -> Any:
        """Return the label that most neighbours have; of equal ones, the first of `classes_`.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of the neighbours' votes for each of `classes_`.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        similarities, indices = self.kneighbors(X)
        counts = self._counts(similarities)
        rows = np.broadcast_to(np.arange(len(indices))[:, None], indices.shape)
        votes = np.zeros((len(indices), len(self.classes_)))
        np.add.at(votes, (rows, self._labels[indices]), counts)
        total = votes.sum(axis=1, keepdims=True)
        # Nobody near, or nobody who counts: as often as in training.
        usual = np.bincount(self._labels, minlength=len(self.classes_)) / len(self._labels)
        return np.where(total > 0, votes / np.where(total > 0, total, 1.0), usual)

    def _counts(self, similarities: FloatArray) -> FloatArray:
        there = ~np.isnan(similarities)
        if self.weights == "uniform":
            return there.astype(np.float64)
        if self.weights == "similarity":
            return np.where(there, np.maximum(similarities, 0.0), 0.0)
        assert callable(self.weights)  # noqa: S101 - looked at by fit
        # What stands where nobody is counts nothing: 1 is a number that functions can take.
        counts = np.asarray(self.weights(np.where(there, similarities, 1.0)), dtype=np.float64)
        good = counts.shape == similarities.shape
        if not (good and (np.isfinite(counts) & (counts >= 0))[there].all()):
            raise InputError(
                f"weights returned an array of the shape {counts.shape} for similarities of the "
                f"shape {similarities.shape}, or numbers below 0.",
                "Each neighbour's label counts something, or nothing.",
                "Return an array of the same shape, of finite numbers from 0 on.",
            )
        return np.where(there, counts, 0.0)
