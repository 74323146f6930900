"""Pseudo-inverses of small cores, by decomposition, with a stated threshold."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray

#: Eigenvalues and singular values below this share of the largest count as zero.
THRESHOLD = 1e-12


def symmetric_inverse(matrix: FloatArray, threshold: float = THRESHOLD) -> FloatArray:
    """Invert a symmetric matrix on the eigenvalues with |λ| > threshold · max|λ|."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    keep = np.abs(values) > threshold * np.abs(values).max(initial=0)
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    return np.asarray((inverse + inverse.T) / 2)


def general_inverse(matrix: FloatArray, threshold: float = THRESHOLD) -> FloatArray:
    """Invert any matrix on the singular values with σ > threshold · max σ."""
    left, sizes, right = scipy.linalg.svd(matrix, full_matrices=False)
    keep = sizes > threshold * sizes.max(initial=0)
    return np.asarray((right[keep].T / sizes[keep]) @ left[:, keep].T)
