"""Pseudo-inverses of small cores, by decomposition, with a stated threshold."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray

#: Eigenvalues and singular values below this share of the largest count as zero.
THRESHOLD = 1e-12


def symmetric_inverse(matrix: FloatArray, threshold: float = THRESHOLD) -> FloatArray:
    """Invert a symmetric matrix on the eigenvalues with |λ| > threshold · max|λ|."""
    matrix, threshold = _double(matrix, threshold)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    keep = np.abs(values) > threshold * np.abs(values).max(initial=0)
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    return np.asarray((inverse + inverse.T) / 2)


def general_inverse(matrix: FloatArray, threshold: float = THRESHOLD) -> FloatArray:
    """Invert any matrix on the singular values with σ > threshold · max σ."""
    matrix, threshold = _double(matrix, threshold)
    left, sizes, right = scipy.linalg.svd(matrix, full_matrices=False)
    keep = sizes > threshold * sizes.max(initial=0)
    return np.asarray((right[keep].T / sizes[keep]) @ left[:, keep].T)


def _double(matrix: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """Return a matrix in double precision; of a rounded one, small values are but rounding."""
    if matrix.dtype == np.float64:
        return matrix, threshold
    rounding = len(matrix) * float(np.finfo(matrix.dtype).eps)
    return matrix.astype(np.float64), max(threshold, rounding)
