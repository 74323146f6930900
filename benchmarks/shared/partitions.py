"""How alike two partitions of the same items are."""

from __future__ import annotations

import numpy as np


def _counts(gold: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes of the intersections, and of the gold and the found cluster of each."""
    gold, found = (np.unique(labels, return_inverse=True)[1] for labels in (gold, found))
    keys, both = np.unique(gold * (found.max() + 1) + found, return_counts=True)
    sizes = np.bincount(gold), np.bincount(found)
    return both, sizes[0][keys // (found.max() + 1)], sizes[1][keys % (found.max() + 1)]


def _f1(precision: float, recall: float) -> tuple[float, float, float]:
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-300)


def pairwise(gold: np.ndarray, found: np.ndarray) -> tuple[float, float, float]:
    """Precision, recall and F1 of pairs within clusters."""
    both, _, _ = _counts(gold, found)
    ours, theirs = (np.unique(labels, return_counts=True)[1] for labels in (found, gold))
    common, within, wanted = (float((c * (c - 1)).sum()) for c in (both, ours, theirs))
    return _f1(common / within if within else 1.0, common / wanted if wanted else 1.0)


def b_cubed(gold: np.ndarray, found: np.ndarray) -> tuple[float, float, float]:
    """Precision, recall and F1 of B³: the mean over items of their clusters' overlap."""
    both, wanted, ours = _counts(gold, found)
    n = float(both.sum())
    return _f1(float((both**2 / ours).sum()) / n, float((both**2 / wanted).sum()) / n)
