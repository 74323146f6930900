"""FactoredAgglomerative: average linkage as scikit-learn spells it, of factored matrices."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from fewpairs.arrays import RandomState, is_number, is_whole
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.estimators.reading import patient, read_items, tag_input
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.items.items import Items
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption
from fewpairs.run.approximate import approximate
from fewpairs.tasks.clustering.linkage import average_linkage, require_sums
from fewpairs.tasks.clustering.sums import sums_of
from fewpairs.tasks.clustering.tree import Tree


class FactoredAgglomerative(ClusterMixin, BaseEstimator):
    """Agglomerative clustering by average linkage, without the n × n matrix.

    The tree is that of ``AgglomerativeClustering(metric="precomputed", linkage="average")`` on
    ``1 - K.to_dense()``, from O(n·s) memory.

    Parameters
    ----------
    n_clusters : int, optional
        How many clusters to make.
    threshold : float, optional
        Instead: merge while the average similarity is at least this (or, of distances, the average
        distance at most this). Give one of both.
    linkage : {"average"}, default="average"
    small_is_near : bool, default=False
        Whether the matrix holds distances.
    similarity : Similarity, optional
        For `fit` on items instead of a matrix, which is then approximated.
    landmarks : int, default=100
        For that: number of columns that are evaluated, at most the number of items.
    guide : as for `approximate`
    random_state, journal, n_jobs, progress : as for `approximate`

    Attributes
    ----------
    labels_ : ndarray of int
        Numbered by the clusters' first items.
    n_clusters_, n_leaves_ : int
    n_connected_components_ : int
        Always 1, as scikit-learn has it where no graph is given.
    children_ : ndarray of shape (n_merges, 2)
        What is merged, best first: an item, or n + i for the result of merge i. With a threshold,
        only merges that reach it are made.
    similarities_ : ndarray of shape (n_merges,)
        Their average similarities (or distances), as the matrix has them.
    distances_ : ndarray of shape (n_merges,)
        ``top_ - similarities_``: they never fall and are never negative. Of distances,
        ``similarities_ - top_``.
    top_ : float
        1, or the largest of `similarities_` if that is more: so it is 1 - similarity where
        similarities are at most 1. Of distances 0, or the smallest if that is less.
    linkage_matrix_ : ndarray of shape (n_merges, 4)
        For ``scipy.cluster.hierarchy``; a whole tree only without a threshold.
    matrix_ : FactoredMatrix

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> K = fp.approximate(words, fp.StringSimilarity(), landmarks=6)
    >>> FactoredAgglomerative(threshold=0.7).fit(K).labels_
    array([0, 0, 1, 1, 2, 2])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: float | None = None,
        linkage: str = "average",
        small_is_near: bool = False,
        similarity: Any = None,
        landmarks: int = 100,
        guide: Any = None,
        random_state: RandomState = None,
        journal: JournalOption = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.linkage = linkage
        self.small_is_near = small_is_near
        self.similarity = similarity
        self.landmarks = landmarks
        self.guide = guide
        self.random_state = random_state
        self.journal = journal
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Make the tree, and cut it.

        Parameters
        ----------
        X : FactoredMatrix, sequence of items, or array of shape (n_samples, n_features)
            Items need a `similarity`.
        y : ignored

        Returns
        -------
        self
        """
        self._check()
        items = None if isinstance(X, FactoredMatrix) else self._checked(X)
        n = X.shape[0] if items is None else len(items)
        require_sums(n)  # before anything is bought
        if self.n_clusters is not None and self.n_clusters > n:
            raise InputError(
                f"{self.n_clusters:,} clusters were asked for of {n:,} items.",
                "No cluster is empty.",
                f"Pass at most {n:,}.",
            )
        matrix = X if items is None else self._approximated(items)
        sign = -1 if self.small_is_near else 1
        least = -np.inf if self.threshold is None else sign * self.threshold
        tree = Tree.of(n, average_linkage(sums_of(matrix, sign=sign), least))
        done = len(tree.children) if self.n_clusters is None else n - self.n_clusters
        at = tree.similarity
        top = max(float(at.max(initial=-np.inf)), 0.0 if self.small_is_near else 1.0)
        self.labels_ = tree.labels(done)
        self.n_clusters_ = n - done
        self.n_leaves_ = n
        self.n_connected_components_ = 1
        self.children_ = tree.children
        self.similarities_ = sign * at
        self.distances_ = top - at
        self.top_ = sign * top
        self.linkage_matrix_ = tree.linkage_matrix(top)
        self.matrix_ = matrix
        return self

    def _check(self) -> None:
        if self.linkage != "average":
            raise UnknownNameError("linkage", self.linkage, ("average",))
        if (self.n_clusters is None) == (self.threshold is None):
            both = "neither" if self.threshold is None else "both"
            raise InputError(
                f"{both} of n_clusters and threshold were given.",
                "The tree is cut at a number of clusters, or at a similarity.",
                "Pass one of them, for example threshold=0.8.",
            )
        count = self.n_clusters
        if count is not None and not (is_whole(count) and count >= 1):
            raise InputError(
                f"n_clusters is {count!r}.",
                "It is how many clusters are made.",
                "Pass a positive integer, or a threshold instead.",
            )
        if not (is_whole(self.landmarks) and self.landmarks >= 1):
            raise InputError(
                f"landmarks is {self.landmarks!r}.",
                "It is the number of columns that are read of the similarities of items.",
                "Pass a positive integer.",
            )
        if self.threshold is not None and not is_number(self.threshold):
            raise InputError(
                f"the threshold is {self.threshold!r}.",
                "It is what the average similarity of a merge is at least.",
                "Pass a finite number, for example 0.8.",
            )

    def _approximated(self, items: Items) -> FactoredMatrix:
        return approximate(
            items,
            self.similarity,
            landmarks=min(self.landmarks, len(items)),
            guide=self.guide,
            error_pairs=0,
            random_state=self.random_state,
            journal=patient(self.journal),
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

    def _checked(self, X: Any) -> Items:
        if self.similarity is None:
            raise InputError(
                f"{type(self).__name__} was fitted on {type(X).__name__}, and has no similarity.",
                "A factored matrix needs none; items are compared by one.",
                "Pass the matrix that fewpairs.approximate returns, or similarity=….",
            )
        return read_items(self, X, reset=True, fewest=2)

    def __sklearn_tags__(self) -> Any:
        return tag_input(super().__sklearn_tags__(), self.similarity)
