"""Nearest neighbours among profiles: exact by blocks, or by a forest of random splits."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray

#: Up to this many items every pair of profiles is compared (n² work, no evaluations).
EXACT_UP_TO = 50_000
_LEAF = 512
_TREES = 4
_GROUP = 64
_ROWS = 512


def look_alikes(
    profiles: SingleArray, per_item: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return pairs of items with similar profiles, most similar first, each once.

    Parameters
    ----------
    profiles : ndarray of shape (n, d), float32
        Unit vectors.
    per_item : int
        Neighbours of each item.
    rng : numpy.random.Generator
        Used above 50,000 items only, where the search is approximate.

    Returns
    -------
    first, second : ndarray of int
    """
    n = len(profiles)
    per_item = min(per_item, n - 1)
    if per_item < 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if n <= EXACT_UP_TO:
        keys, scores = _once(*_within(profiles, np.arange(n), per_item, n))
    else:
        keys, scores = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        for _ in range(_TREES):
            leaves = _leaves(profiles, np.arange(n), rng)
            found = [_within(profiles[leaf], leaf, per_item, n) for leaf in leaves]
            keys, scores = _once(
                np.concatenate([keys, *(k for k, _ in found)]),
                np.concatenate([scores, *(s for _, s in found)]),
            )
    order = np.argsort(-scores, kind="stable")
    return keys[order] // n, keys[order] % n


def _once(keys: IntArray, scores: SingleArray) -> tuple[IntArray, SingleArray]:
    """Keep each pair once."""
    keys, first = np.unique(keys, return_index=True)
    return keys, scores[first]


def _within(
    profiles: SingleArray, names: IntArray, per_item: int, total: int
) -> tuple[IntArray, SingleArray]:
    """Compare all pairs of one set; return the neighbours of each as smaller·total + larger."""
    n = len(profiles)
    per_item = min(per_item, n - 1)
    groups = -(-n // _GROUP)
    padded = np.full((min(_ROWS, n), groups * _GROUP), -2.0, dtype=profiles.dtype)
    keys, scores = [], []
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, n))
        block = padded[: len(rows)]
        np.matmul(profiles[rows], profiles.T, out=block[:, :n])
        block[np.arange(len(rows)), rows] = -2.0
        near = _largest(block, groups, per_item)
        scores.append(np.take_along_axis(block, near, axis=1).ravel())
        i, j = np.repeat(names[rows], per_item), names[near.ravel()]
        keys.append(np.minimum(i, j) * total + np.maximum(i, j))
    return np.concatenate(keys), np.concatenate(scores)


def _largest(block: SingleArray, groups: int, count: int) -> IntArray:
    """Return the places of the `count` largest of each row.

    They lie in the `count` groups with the largest maxima, and a maximum is much cheaper than a
    partial sort of the whole row.
    """
    if groups <= 2 * count:
        return np.argpartition(-block, count - 1, axis=1)[:, :count]
    maxima = block.reshape(len(block), groups, _GROUP).max(axis=2)
    best = np.argpartition(-maxima, count - 1, axis=1)[:, :count]
    places = (best[:, :, None] * _GROUP + np.arange(_GROUP)).reshape(len(block), -1)
    values = np.take_along_axis(block, places, axis=1)
    inside = np.argpartition(-values, count - 1, axis=1)[:, :count]
    return np.take_along_axis(places, inside, axis=1)


def _leaves(profiles: SingleArray, members: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Split at the median along a random difference until the sets are small: n log n work."""
    done, open_sets = [], [members]
    while open_sets:
        current = open_sets.pop()
        if len(current) <= _LEAF:
            done.append(current)
            continue
        one, other = rng.choice(current, 2, replace=False)
        direction = profiles[one] - profiles[other]
        along = np.concatenate(
            [profiles[current[k : k + 4096]] @ direction for k in range(0, len(current), 4096)]
        )
        # Equal profiles must split too, or the sets would never become small.
        order = np.lexsort((rng.random(len(current)), along))
        half = len(current) // 2
        open_sets += [current[order[:half]], current[order[half:]]]
    return done
