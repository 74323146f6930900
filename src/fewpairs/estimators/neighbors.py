"""SimilarityNeighbors: the nearest of new items under an expensive similarity."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewpairs.arrays import FloatArray, IntArray, RandomState, is_whole
from fewpairs.errors import InputError
from fewpairs.estimators.reading import patient, read_items, tag_input
from fewpairs.items.items import Items
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption
from fewpairs.run.approximate import approximate


class _Own(NamedTuple):
    """What was spent on the neighbours of a training item, and what they are."""

    spent: int = 0
    places: IntArray = np.empty(0, dtype=np.int64)
    values: FloatArray = np.empty(0)


class SimilarityNeighbors(BaseEstimator):
    """The nearest items under an expensive similarity, from a few evaluations of each.

    `fit` approximates the matrix of the training items. A new item is compared with `budget` of
    them, the most promising ones, in rounds (`FactoredMatrix.search`); its neighbours are those of
    them with the largest similarities, which are exact. Larger is nearer.

    Parameters
    ----------
    similarity : Similarity
    n_neighbors : int, default=5
    n_components : int, default=100
        Number of landmarks; at most as many as there are training items.
    budget : int, default=100
        Evaluations of each new item. With as many as there are training items neighbours are exact.
    guide : encoder, or list of these, optional
        Something cheap that makes vectors of items, as for `approximate`.
    method : str, default="auto"
        As for `approximate`.
    random_state, n_jobs, progress : as for `approximate`
    journal : as for `SimilarityFeatures`

    Attributes
    ----------
    matrix_ : FactoredMatrix
        The approximated similarity matrix of the training items.
    n_samples_fit_ : int
    evaluations_ : int
        What the fit has spent.

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> near = SimilarityNeighbors(fp.StringSimilarity(), n_neighbors=2, random_state=0).fit(words)
    >>> near.kneighbors(["beers"])[1]
    array([[3, 2]])
    """

    def __init__(
        self,
        similarity: Any,
        n_neighbors: int = 5,
        *,
        n_components: int = 100,
        budget: int = 100,
        guide: Any = None,
        method: str = "auto",
        random_state: RandomState = None,
        journal: JournalOption = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
    ) -> None:
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.budget = budget
        self.guide = guide
        self.method = method
        self.random_state = random_state
        self.journal = journal
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Approximate the similarities of the training items.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fit_items(read_items(self, X, reset=True))
        return self

    def _fit_items(self, items: Items) -> None:
        self._check()
        self.matrix_ = approximate(
            items,
            self.similarity,
            landmarks=min(self.n_components, len(items)),
            method=self.method,
            guide=self.guide,
            error_pairs=0,
            random_state=self.random_state,
            journal=patient(self.journal),
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        self.n_samples_fit_ = len(items)
        self._own = [_Own()] * len(items)
        self.evaluations_ = self.matrix_.evaluations

    def _check(self) -> None:
        for name in ("n_neighbors", "n_components", "budget"):
            value = getattr(self, name)
            if not is_whole(value) or value < 1:
                raise InputError(
                    f"{name} is {value!r}.", "It is a number of items.", "Pass a positive integer."
                )

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Return each item's nearest training items, best first.

        Parameters
        ----------
        X : sequence of items, or array of shape (n_samples, n_features), optional
            By default the training items, each without itself; these are paid for once, however
            often they are asked for.
        n_neighbors : int, optional

        Returns
        -------
        similarities : ndarray of shape (n_samples, n_neighbors)
            Exact; NaN for pairs without a value, where the similarity may skip them.
        indices : ndarray of int of shape (n_samples, n_neighbors)
            Positions in the training items; -1 beside NaN.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        others = self.n_samples_fit_ - (X is None)
        if not is_whole(k) or not 1 <= k <= others:
            raise InputError(
                f"n_neighbors is {k!r}, and there are {others:,} training items to choose from.",
                "Each neighbour is one of them.",
                f"Pass a whole number from 1 to {others:,}.",
            )
        price = self.matrix_.source.price_of_entry
        budget = max(self.budget, k * price)
        if X is None:
            return self._of_training_items(k, budget, price)
        found = self.matrix_.search(
            read_items(self, X, reset=False),
            k,
            budget=budget,
            n_jobs=self.n_jobs,
            progress=self.progress,
            journal=patient(self.journal),
        )
        return found.similarities, found.indices

    def _of_training_items(self, k: int, budget: int, price: int) -> tuple[FloatArray, IntArray]:
        """Return neighbours of the training items; what was spent on them before is not again."""
        n = self.n_samples_fit_
        similarities, indices = np.full((n, k), np.nan), np.full((n, k), -1, dtype=np.int64)
        for row in range(n):
            spent, places, values = self._own[row]
            if spent < budget:
                # All that a budget pays for is kept, so that another k is free; and row by row, so
                # that after Ctrl-C the rest is left to pay for.
                places, values = self.matrix_.nearest(
                    row, budget // price, budget=budget - spent, journal=patient(self.journal)
                )
                self._own[row] = _Own(budget, places, values)
            there = min(k, len(places))
            similarities[row, :there], indices[row, :there] = values[:there], places[:there]
        return similarities, indices

    def __sklearn_tags__(self) -> Any:
        return tag_input(super().__sklearn_tags__(), self.similarity)
