"""How alike two partitions of the same items are, pair by pair."""

from __future__ import annotations

import numpy as np


def pairwise(gold: np.ndarray, found: np.ndarray) -> tuple[float, float, float]:
    """Precision, recall and F1 of pairs within clusters."""
    both = np.stack([gold, found], axis=1)
    common, within, wanted = (
        float((counts * (counts - 1)).sum())
        for counts in (
            np.unique(labels, axis=0, return_counts=True)[1] for labels in (both, found, gold)
        )
    )
    precision = common / within if within else 1.0
    recall = common / wanted if wanted else 1.0
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-300)
