"""A cheap similarity as a guide: vectors whose inner products are close to it."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.oracle.oracle import Oracle
from fewpairs.similarities.protocol import Similarity

#: Items that all others are compared with: a cheap similarity costs little, and a guide need not be
#: exact.
_ANCHORS = 200
#: Directions below this share of the largest carry next to nothing.
_RANK_TOLERANCE = 1e-6


def cheap_vectors(similarity: Similarity, items: Items) -> FloatArray:
    """Return vectors of items, from their similarities with some of them.

    With C these columns and VΛVᵀ the square where they cross, they are C·V·Λ^−½ over the positive
    eigenvalues: the nearest that inner products come to it.

    Parameters
    ----------
    similarity : Similarity
        A symmetric one.
    items : Items

    Returns
    -------
    ndarray of shape (n, d)
    """
    if not similarity.symmetric:
        raise InputError(
            "a guide is a similarity that depends on the order.",
            "A guide is made of inner products, which do not.",
            "Pass similarity.symmetrized(), or vectors.",
        )
    oracle = Oracle(items, similarity, resumable=False)
    count = min(_ANCHORS, len(items))
    anchors = np.unique(np.linspace(0, len(items) - 1, count).astype(np.int64))
    columns = oracle.columns(anchors)
    values, vectors = np.linalg.eigh(columns[anchors])
    keep = values > _RANK_TOLERANCE * max(float(values[-1]), np.finfo(float).tiny)
    if not keep.any():
        return np.zeros((len(items), 1))
    return np.asarray(columns @ (vectors[:, keep] / np.sqrt(values[keep])))
