"""What all coreference metrics are made of: sums over two clusterings of mentions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from fewpairs.arrays import FloatArray, IntArray

#: The cluster of a mention that one side does not have.
ABSENT = -1
#: Added to every weight of a matching: all edges are then used or not by their weight alone, and
#: none is dropped as a zero.
_EDGE = 1.0


@dataclass(frozen=True)
class Side:
    """What is counted once for the gold clusters and once for the predicted ones.

    Parameters
    ----------
    mentions, clusters : float
    joined : float
        Links that a tree in each cluster needs (MUC).
    joined_right : float
        Those of them that the other side has, too.
    shared : float
        Of each mention, the share of its cluster that the other side gives it, too (B³).
    links, non_links : float
        Pairs of mentions in one cluster, and in two (BLANC).
    resolved : float
        Of each mention, the share of its cluster's links that the other side has (LEA).
    """

    mentions: float = 0
    clusters: float = 0
    joined: float = 0
    joined_right: float = 0
    shared: float = 0
    links: float = 0
    non_links: float = 0
    resolved: float = 0

    def __add__(self, other: Side) -> Side:
        return Side(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Counts:
    """Sums of one document; those of several documents add up.

    Parameters
    ----------
    gold, predicted : Side
    aligned_mentions, aligned_entities : float
        What the best one-to-one alignment of clusters has in common, by mentions and as a share of
        each pair's mentions (CEAF).
    links, non_links : float
        Those of both sides (BLANC).
    """

    gold: Side = Side()
    predicted: Side = Side()
    aligned_mentions: float = 0
    aligned_entities: float = 0
    links: float = 0
    non_links: float = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def count(gold: IntArray, predicted: IntArray) -> Counts:
    """Count what two clusterings have in common.

    Parameters
    ----------
    gold, predicted : int arrays of one length
        The cluster of each mention, from 0 on; `ABSENT` where a side does not have it.

    Returns
    -------
    Counts
    """
    sizes = [np.bincount(side[side >= 0]).astype(np.float64) for side in (gold, predicted)]
    both = (gold >= 0) & (predicted >= 0)
    common = sp.csr_array(
        (np.ones(int(both.sum())), (gold[both], predicted[both])),
        shape=(len(sizes[0]), len(sizes[1])),
    )
    common.sum_duplicates()
    overlap = common.tocoo()
    row, column, size = overlap.coords[0], overlap.coords[1], overlap.data
    entities = 2 * size / (sizes[0][row] + sizes[1][column])
    left, right = (np.bincount(k, size, len(s)) for k, s in ((row, sizes[0]), (column, sizes[1])))
    links = float(_pairs(size).sum())
    apart = _pairs(size.sum()) - _pairs(left).sum() - _pairs(right).sum() + links
    return Counts(
        _side(sizes[0], row, size, sizes[1][column]),
        _side(sizes[1], column, size, sizes[0][row]),
        _best_alignment(row, column, size, common.shape),
        _best_alignment(row, column, entities, common.shape),
        links,
        float(apart),
    )


def positions(sides: Sequence[Sequence[Sequence[Hashable]]]) -> list[IntArray]:
    """Return the cluster of each mention on each side, of clusters that list their mentions."""
    place: dict[Any, int] = {}
    for clusters in sides:
        for cluster in clusters:
            for mention in cluster:
                place.setdefault(mention, len(place))
    found = [np.full(len(place), ABSENT, dtype=np.int64) for _ in sides]
    for labels, clusters in zip(found, sides, strict=True):
        for k, cluster in enumerate(clusters):
            labels[[place[mention] for mention in cluster]] = k
    return found


def _side(sizes: FloatArray, own: IntArray, overlap: FloatArray, theirs: FloatArray) -> Side:
    """Sum over one side's clusters, of `sizes`, and their overlaps with clusters of `theirs`."""
    n = len(sizes)
    parts = np.bincount(own, minlength=n) + sizes - np.bincount(own, overlap, n)
    links = _pairs(sizes)
    alone = sizes[own] == 1
    # A link of a mention with itself is what a cluster of one has.
    resolved = np.where(
        alone, theirs == 1, sizes[own] * _pairs(overlap) / np.maximum(links[own], 1)
    )
    mentions = sizes.sum()
    return Side(
        float(mentions),
        n,
        float((sizes - 1).sum()),
        float((sizes - parts).sum()),
        float((overlap**2 / sizes[own]).sum()),
        float(links.sum()),
        float(_pairs(mentions) - links.sum()),
        float(resolved.sum()),
    )


def _pairs(size: Any) -> Any:
    return size * (size - 1) / 2


def _best_alignment(
    row: IntArray, column: IntArray, weight: FloatArray, shape: tuple[int, int]
) -> float:
    """Return the largest sum of weights with each row and column used at most once."""
    if not len(weight):
        return 0.0
    n, m = shape
    # Each row has a column of its own that weighs nothing, so that it may stay without another.
    graph = sp.csr_array(
        (
            np.concatenate([weight + _EDGE, np.full(n, _EDGE)]),
            (np.concatenate([row, np.arange(n)]), np.concatenate([column, m + np.arange(n)])),
        ),
        shape=(n, m + n),
    )
    rows, columns = min_weight_full_bipartite_matching(graph, maximize=True)
    return float(np.sum(graph[rows, columns] - _EDGE))
