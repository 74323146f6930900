"""A cheap similarity as a guide: vectors whose inner products are close to it."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.guides.basis import Basis
from fewpairs.items.items import Items
from fewpairs.oracle.oracle import Oracle
from fewpairs.similarities.protocol import Similarity

#: Items that all others are compared with: a cheap similarity costs little, and a guide need not be
#: exact.
_ANCHORS = 200
#: Directions below this share of the largest carry next to nothing.
_RANK_TOLERANCE = 1e-6


def cheap_basis(similarity: Similarity, items: Items) -> tuple[FloatArray, Basis]:
    """Return vectors of items, from their similarities with some of them, and how they are made.

    With C these columns and VΛVᵀ the square where they cross, they are C·V·Λ^−½ over the positive
    eigenvalues: the nearest that inner products come to it.

    Parameters
    ----------
    similarity : Similarity
        A symmetric one.
    items : Items

    Returns
    -------
    vectors : ndarray of shape (n, d)
    basis : Basis
    """
    _refuse_asymmetric(similarity)
    oracle = Oracle(items, similarity, resumable=False)
    count = min(_ANCHORS, len(items))
    anchors = np.unique(np.linspace(0, len(items) - 1, count).astype(np.int64))
    columns = oracle.columns(anchors)
    values, vectors = np.linalg.eigh(columns[anchors])
    keep = values > _RANK_TOLERANCE * max(float(values[-1]), np.finfo(float).tiny)
    matrix = np.zeros((len(anchors), 1))
    if keep.any():
        matrix = vectors[:, keep] / np.sqrt(values[keep])
    return np.asarray(columns @ matrix), Basis(anchors, matrix)


def cheap_vectors(similarity: Similarity, new: Items, old: Items, basis: Basis) -> FloatArray:
    """Return vectors of new items, from their similarities with the same old ones."""
    _refuse_asymmetric(similarity)
    oracle = Oracle(new, similarity, others=old.subset(basis.places), resumable=False)
    return np.asarray(oracle.columns(np.arange(len(basis.places))) @ basis.matrix)


def _refuse_asymmetric(similarity: Similarity) -> None:
    if not similarity.symmetric:
        raise InputError(
            "a guide is a similarity that depends on the order.",
            "A guide is made of inner products, which do not.",
            "Pass similarity.symmetrized(), or vectors.",
        )
