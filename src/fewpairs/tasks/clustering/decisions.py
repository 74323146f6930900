"""The decisions behind clusters: merges, made or not, and how near to the threshold they were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.oracle.known import Known
from fewpairs.tasks.clustering.linkage import Merges
from fewpairs.tasks.clustering.tree import Tree

#: Of two clusters with more pairs than this, so many pairs tell how many are known.
_LOOKED_AT = 64
#: A decision is undecided if its average is so many deviations from the threshold, or fewer.
DEVIATIONS = 2.0


class Noise(NamedTuple):
    """What entries that were not evaluated are off by.

    Attributes
    ----------
    size : float
        Of one entry, typically.
    common : float
        The share of its square that all entries between the same two clusters have in common.
    """

    size: float
    common: float

    def of_average(self, unseen: FloatArray, pairs: FloatArray) -> FloatArray:
        """Return what averages of so many pairs are off by."""
        alone = (1 - self.common) / np.maximum(unseen, 1)
        return np.asarray(self.size * unseen / pairs * np.sqrt(self.common + alone))


class Decisions(NamedTuple):
    """Two clusters each, merged or not, nearest to the threshold first.

    Attributes
    ----------
    order : ndarray of shape (n,)
        All items, so that those of a cluster are neighbours.
    left, right : ndarray of shape (k, 2)
        The items of both clusters are ``order[left[0] : left[1]]``, and so on.
    average : ndarray of shape (k,)
    deviation : ndarray of shape (k,)
        What the average may be off by.
    """

    order: IntArray
    left: IntArray
    right: IntArray
    average: FloatArray
    deviation: FloatArray

    def open_at(self, threshold: float) -> BoolArray:
        """Say which are undecided."""
        within = np.abs(self.average - threshold) <= DEVIATIONS * self.deviation
        return np.asarray(within & (self.deviation > 0))


def decisions_of(
    tree: Tree,
    merges: Merges,
    known: Known,
    threshold: float,
    noise: Noise,
    most: int,
    rng: np.random.Generator,
) -> Decisions:
    """Return the decisions that lie nearest to the threshold, for their noise.

    Parameters
    ----------
    tree : Tree
        Of merges that reach the threshold.
    merges : Merges
        The same, with what was nearly merged.
    known : Known
        What was evaluated, of a symmetric matrix.
    threshold : float
    noise : Noise
    most : int
        As many of them as this are looked at.
    rng : numpy.random.Generator
        Draws pairs of large clusters, to see how many are known.
    """
    order, start, sizes = _intervals(tree)
    name = np.arange(tree.n)
    name[tree.members[:, 0]] = tree.n + np.arange(len(tree.members))  # the last merge of each
    both = np.vstack([tree.children, name[merges.apart]])
    average = np.concatenate([tree.similarity, merges.apart_similarity])
    pairs = (sizes[both[:, 0]] * sizes[both[:, 1]]).astype(np.float64)
    away = np.abs(average - threshold)
    guess = _ratio(away, noise.of_average(pairs, pairs))
    some = np.argsort(guess, kind="stable")[:most]
    both, average, pairs, away = both[some], average[some], pairs[some], away[some]
    left, right = (np.stack([start[side], start[side] + sizes[side]], axis=1) for side in both.T)
    unseen = _unseen(order, left, right, pairs, known, rng)
    deviation = noise.of_average(unseen, pairs)
    nearest = np.argsort(_ratio(away, deviation), kind="stable")
    return Decisions(order, left[nearest], right[nearest], average[nearest], deviation[nearest])


def _ratio(away: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return how many deviations away averages are; infinitely many where nothing is uncertain."""
    ratio = np.full(len(away), np.inf)
    with np.errstate(over="ignore"):
        np.divide(away, deviation, out=ratio, where=deviation > 0)
    return ratio


def _unseen(
    order: IntArray,
    left: IntArray,
    right: IntArray,
    pairs: FloatArray,
    known: Known,
    rng: np.random.Generator,
) -> FloatArray:
    """Return how many pairs of two clusters were not evaluated; of many, an estimate."""
    which, i, j = pairs_between(order, left, right, _LOOKED_AT, rng)
    unknown = np.isnan(known.find(i, j))
    counts = np.bincount(which, minlength=len(pairs))
    return pairs * np.bincount(which, unknown, minlength=len(pairs)) / np.maximum(counts, 1)


def pairs_between(
    order: IntArray, left: IntArray, right: IntArray, most: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Return pairs of two clusters each: all, or as many as are wanted, some of them twice.

    Parameters
    ----------
    order, left, right : as in `Decisions`
    most : int
        For each two clusters.
    rng : numpy.random.Generator

    Returns
    -------
    which, rows, columns : ndarray of int
        Which two clusters, and both items.
    """
    across = right[:, 1] - right[:, 0]
    sizes = (left[:, 1] - left[:, 0]) * across
    counts = np.minimum(sizes, most)
    which = np.repeat(np.arange(len(sizes)), counts)
    places = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    drawn = sizes[which] > most
    places[drawn] = rng.integers(sizes[which[drawn]])
    rows = order[left[which, 0] + places // across[which]]
    return which, rows, order[right[which, 0] + places % across[which]]


def _intervals(tree: Tree) -> tuple[IntArray, IntArray, IntArray]:
    """Return the items in the order of the tree; where every cluster starts; how large it is."""
    n, count = tree.n, len(tree.children)
    sizes = np.append(np.ones(n, dtype=np.int64), tree.sizes)
    start = np.zeros(n + count, dtype=np.int64)
    is_root = np.ones(n + count, dtype=bool)
    is_root[tree.children.ravel()] = False
    roots = np.flatnonzero(is_root)
    start[roots] = np.cumsum(sizes[roots]) - sizes[roots]
    for step, (left, right) in reversed(list(enumerate(tree.children.tolist()))):
        start[left] = start[n + step]
        start[right] = start[left] + sizes[left]
    order = np.empty(n, dtype=np.int64)
    order[start[:n]] = np.arange(n)
    return order, start, sizes
