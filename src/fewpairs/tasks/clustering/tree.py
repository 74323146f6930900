"""A tree of merges, as SciPy and scikit-learn write it, and the clusters at a cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.tasks.clustering.linkage import Merges


@dataclass(frozen=True, eq=False)
class Tree:
    """Merges of n items, best first.

    Attributes
    ----------
    n : int
    children : ndarray of shape (k, 2)
        What is merged: an item, or n + i for the result of merge i.
    similarity : ndarray of shape (k,)
        Average similarities of what is merged; they never rise.
    sizes : ndarray of shape (k,)
        Items in the result.
    members : ndarray of shape (k, 2)
        An item of each of both.
    """

    n: int
    children: IntArray
    similarity: FloatArray
    sizes: IntArray
    members: IntArray

    @classmethod
    def of(cls, n: int, merges: Merges) -> Tree:
        """Sort merges by their similarity; a part always comes before what is made of it."""
        order = np.argsort(-merges.similarity, kind="stable")
        members = merges.pairs[order]
        name, size = np.arange(n), np.ones(n, dtype=np.int64)
        children = np.empty((len(order), 2), dtype=np.int64)
        sizes = np.empty(len(order), dtype=np.int64)
        for step, (a, b) in enumerate(members.tolist()):
            children[step] = sorted((name[a], name[b]))
            size[a] += size[b]
            name[a] = n + step
            sizes[step] = size[a]
        return cls(n, children, merges.similarity[order], sizes, members)

    @classmethod
    def none(cls, n: int) -> Tree:
        """No merges."""
        pairs = np.empty((0, 2), dtype=np.int64)
        return cls(n, pairs, np.empty(0), np.empty(0, dtype=np.int64), pairs)

    def labels(self, n_merges: int) -> IntArray:
        """Return a number for each item after the first so many merges, by their first items."""
        left, right = self.members[:n_merges].T
        links = sp.coo_array((np.ones(len(left)), (left, right)), shape=(self.n, self.n))
        found = connected_components(links, directed=False)[1]
        _, first, back = np.unique(found, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        return np.asarray(rank[back])

    def above(self, threshold: float) -> int:
        """Return how many merges have at least this similarity."""
        return int(np.searchsorted(-self.similarity, -threshold, side="right"))

    def linkage_matrix(self, top: float) -> FloatArray:
        """Return SciPy's linkage matrix, with top - similarity as the height."""
        height = top - self.similarity
        return np.column_stack([self.children, height, self.sizes]).astype(np.float64)
