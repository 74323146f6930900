"""Communities of found pairs: items with many matches, and whoever is linked to these (DBSCAN)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fewpairs.arrays import IntArray, is_whole
from fewpairs.errors import InputError


def communities(left: IntArray, right: IntArray, n: int, min_samples: int) -> IntArray:
    """Return a number for each item, -1 for those without a community.

    An item with at least `min_samples` items near it, itself included, is a core. Cores that match
    are in one community, and so is whoever matches a core; of several, the first.

    Parameters
    ----------
    left, right : ndarray of int
        Matches, each in one order or in both.
    n : int
        Number of items.
    min_samples : int
    """
    if not is_whole(min_samples) or min_samples < 1:
        raise InputError(
            f"min_samples is {min_samples!r}.",
            "It is how many items, itself included, must be near one that founds a community.",
            "Pass a positive integer, for example 5.",
        )
    both = np.concatenate([left, right]), np.concatenate([right, left])
    links = sp.csr_array((np.ones(2 * len(left)), both), shape=(n, n))
    core = np.diff(links.indptr) + 1 >= min_samples
    rows, columns = links.nonzero()
    inner = core[rows] & core[columns]
    linked = sp.coo_array((np.ones(int(inner.sum())), (rows[inner], columns[inner])), (n, n))
    found = connected_components(linked, directed=False)[1]
    labels = np.full(n, -1, dtype=np.int64)
    # Numbered by their first cores, as scikit-learn does.
    _, first, which = np.unique(found[core], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    labels[core] = rank[which]
    edge = core[rows] & ~core[columns]
    border = np.full(n, len(first), dtype=np.int64)
    np.minimum.at(border, columns[edge], labels[rows[edge]])
    return np.where(border < len(first), border, labels)
