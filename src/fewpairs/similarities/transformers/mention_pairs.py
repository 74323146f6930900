"""Mentions with their clusters, and pairs of them to learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray, unmasked
from fewpairs.errors import InputError
from fewpairs.similarities.mentions import LARGEST, numbers


class Mentions:
    """Vectors with clusters and topics, from which pairs are drawn.

    Parameters
    ----------
    vectors : array of shape (mentions, dimensions)
    clusters, topics : sequences of labels
        Without topics all mentions have the same one.
    """

    def __init__(self, vectors: Any, clusters: Any, topics: Any = None) -> None:
        self.vectors: SingleArray = numbers(vectors, "vectors")
        n = len(self.vectors) if self.vectors.ndim else 0
        self.clusters = numbered(clusters, "clusters")
        self.topics = np.zeros(n, dtype=np.int64) if topics is None else numbered(topics, "topics")
        if self.vectors.ndim != 2 or len(self.clusters) != n or len(self.topics) != n:  # noqa: PLR2004
            raise InputError(
                f"there are vectors of shape {self.vectors.shape}, {len(self.clusters)} clusters "
                f"and {len(self.topics)} topics.",
                "Each mention has one vector, one cluster and one topic.",
                "Pass as many of each.",
            )
        if not (np.abs(self.vectors) <= LARGEST).all():
            raise InputError(
                f"some vectors hold NaN, infinity, or numbers beyond {LARGEST:g}.",
                "The scorer would learn nothing from them but NaN.",
                "Leave such mentions out, or scale them.",
            )
        # A cluster counts as another one in each topic: pairs are of one topic.
        self._groups = self.topics * (int(self.clusters.max(initial=0)) + 1) + self.clusters
        sizes = np.bincount(np.unique(self._groups, return_inverse=True)[1])
        self.positives = int((sizes * (sizes - 1)).sum())
        #: Whether some mentions of one topic are of different clusters.
        self.differ = len(sizes) > len(np.unique(self.topics))

    def draw(self, same: int, different: int, rng: np.random.Generator) -> tuple[IntArray, ...]:
        """Draw pairs of one cluster, and of different clusters of one topic; and which is which."""
        _, group, sizes = np.unique(self._groups, return_inverse=True, return_counts=True)
        counts = sizes[group]
        share = np.maximum(counts - 1, 0) / max((counts - 1).sum(), 1)
        left = rng.choice(len(counts), same, p=share) if same else np.empty(0, dtype=np.int64)
        right = _partners(left, self._groups, rng)
        far = rng.integers(0, len(counts), 2 * different)
        near = _partners(far, self.topics, rng)
        apart = np.flatnonzero(self.clusters[far] != self.clusters[near])[:different]
        left, right = np.append(left, far[apart]), np.append(right, near[apart])
        return left, right, np.repeat([1, 0], [same, len(apart)])

    def judges(
        self, most: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Return pairs of one topic, whether they are of one cluster, how many each stands for.

        All of them where they are not more than `most`; of more, so many of each kind are drawn.
        """
        _, which, sizes = np.unique(self.topics, return_inverse=True, return_counts=True)
        pairs = int((sizes * (sizes - 1)).sum())
        if pairs <= 2 * most:  # each is counted in both orders
            order = np.argsort(self.topics, kind="stable")
            starts = np.cumsum(sizes) - sizes
            each = [
                start + np.array(np.triu_indices(n, 1))
                for start, n in zip(starts, sizes, strict=True)
            ]
            left, right = order[np.concatenate(each, axis=1)]
            labels = (self.clusters[left] == self.clusters[right]).astype(np.int64)
            return left, right, labels, np.ones(len(labels))
        left, right, labels = self.draw(min(self.positives, most), most, rng)
        # A mention is drawn before its partner: one of a large topic stands for more pairs.
        stands_for = np.where(labels == 1, 1.0, sizes[which[left]] - 1.0)
        for kind, there in ((0, pairs - self.positives), (1, self.positives)):
            some = labels == kind
            stands_for[some] *= there / max(stands_for[some].sum(), 1.0)
        return left, right, labels, stands_for


def _partners(left: IntArray, groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw another member of the group of each; of a group of one, itself."""
    order = np.argsort(groups, kind="stable")
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(groups), dtype=np.int64)
    place[order] = np.arange(len(groups)) - starts[group[order]]
    size = sizes[group[left]]
    step = 1 + (rng.random(len(left)) * np.maximum(size - 1, 1)).astype(np.int64)
    return np.asarray(order[starts[group[left]] + (place[left] + step) % size])


def listed(labels: Iterable[Any]) -> list[Any]:
    """Return labels one after the other, of an array as plain values."""
    return np.asarray(labels).ravel().tolist() if hasattr(labels, "dtype") else list(labels)


def numbered(labels: Any, name: str) -> IntArray:
    """Return labels as numbers from 0 on; a label that is missing would join what is not one."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InputError(
            f"{name} is a {type(labels).__name__}.",
            "Each mention has a label.",
            "Pass a sequence of numbers or texts.",
        )
    number: dict[Any, int] = {}
    found = []
    for k, label in enumerate(listed(unmasked(labels, name))):
        try:
            missing = label is None or bool(label != label)  # noqa: PLR0124 - NaN differs
            found.append(number.setdefault(label, len(number)))
        except TypeError:  # pandas.NA, and what cannot be a key
            missing = True
        if missing:
            raise InputError(
                f"{name} holds {label!r} at position {k}.",
                "Mentions without a label would make one cluster.",
                "Pass numbers or texts; a label of its own for a mention that is alone.",
            )
    return np.array(found, dtype=np.int64)


def average_precision(
    labels: IntArray, scores: FloatArray, weights: FloatArray | None = None
) -> float:
    """Return the mean precision at the places of pairs of one cluster, the highest scores first.

    A pair with a weight stands for so many.
    """
    order = np.argsort(-scores, kind="stable")
    counts = np.ones(len(labels)) if weights is None else weights[order]
    right = labels[order] * counts
    precision = np.cumsum(right) / np.cumsum(counts)
    return float((precision * right).sum() / max(right.sum(), np.finfo(float).tiny))
