"""Embeddings: one short vector for each item, from the factors of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import exponent, fix_signs, parts

#: Directions of the tall factor below this share of the largest carry nothing but rounding.
_RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class EmbeddingMap:
    """Turns rows of the left factor into embeddings: ``rows @ matrix``.

    Parameters
    ----------
    matrix : ndarray of shape (s, r)
    signature : ndarray of shape (r,)
        +1 and -1: Z·diag(signature)·Zᵀ is the symmetric matrix. All +1 for a one-sided factor.
    """

    matrix: FloatArray
    signature: FloatArray

    def first(self, count: int) -> EmbeddingMap:
        """Keep the largest directions."""
        return EmbeddingMap(self.matrix[:, :count], self.signature[:count])

    def positive(self) -> EmbeddingMap:
        """Drop the negative part: what is left is the nearest positive semidefinite matrix."""
        keep = self.signature > 0
        return EmbeddingMap(self.matrix[:, keep], self.signature[keep])


def symmetric_map(
    left: FloatArray, core: FloatArray, nugget: float = 0.0, landmarks: IntArray | None = None
) -> EmbeddingMap:
    """Return the map to Z with Z·diag(±1)·Zᵀ = left·core·leftᵀ, largest directions first.

    With left = QR̂ and R̂·core·R̂ᵀ = VΘVᵀ, Z = QV|Θ|^½. Only R̂ is computed, from row blocks. A
    nugget is first taken off each landmark's own entry of `left`.
    """
    triangle = triangular_factor(left, nugget, landmarks)
    # The map is the same for any multiple of it, and products of three must not overflow.
    triangle = np.ldexp(triangle, -exponent(triangle))
    # R̂ = AΣBᵀ; directions without weight are left out rather than divided by.
    a, sizes, bt = scipy.linalg.svd(triangle, full_matrices=False)
    keep = sizes > _RANK_TOLERANCE * max(float(sizes.max(initial=0)), np.finfo(float).tiny)
    a, sizes, bt = a[:, keep], sizes[keep], bt[keep]
    inner = (sizes[:, None] * bt) @ core @ (sizes[:, None] * bt).T
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    values, vectors = values[order], vectors[:, order]
    large = np.abs(values) > _RANK_TOLERANCE * np.abs(values).max(initial=0)
    values, vectors = values[large], vectors[:, large]
    matrix = (bt.T / sizes) @ (vectors * np.sqrt(np.abs(values)))
    return EmbeddingMap(fix_signs(matrix), np.sign(values))


def one_sided_map(core: FloatArray) -> EmbeddingMap:
    """Return the papers' map for a CUR factorisation: left·W·Σ^½ with core = WΣVᵀ."""
    w, sizes, _ = scipy.linalg.svd(core, full_matrices=False)
    keep = sizes > _RANK_TOLERANCE * sizes.max(initial=0)
    matrix = w[:, keep] * np.sqrt(sizes[keep])
    return EmbeddingMap(fix_signs(matrix), np.ones(int(keep.sum())))


def triangular_factor(
    tall: FloatArray, nugget: float = 0.0, landmarks: IntArray | None = None
) -> FloatArray:
    """Return R of a QR decomposition, reading the tall matrix in blocks of rows."""
    stacked = np.empty((0, tall.shape[1]))
    for part in parts(len(tall)):
        block = np.vstack([stacked, tall[part]])
        if landmarks is not None:
            here = np.flatnonzero((landmarks >= part.start) & (landmarks < part.stop))
            block[len(stacked) + landmarks[here] - part.start, here] -= nugget
        stacked = np.asarray(np.linalg.qr(block, mode="r"))
    return stacked
