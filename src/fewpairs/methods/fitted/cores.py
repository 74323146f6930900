"""Regularised signed cores: a grid of candidates for the small matrix between the columns.

With W the crossing of the landmarks' rows and columns, W − η·gap·I = PΛQᵀ, and λ₀ the largest |λ|
of W, a candidate is Q·diag(λ / (λ² + (δλ₀)²))·Pᵀ. Both signs are kept, and nothing is divided by a
small number. The nugget η takes off the part of the diagonal that no neighbour shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray
from fewpairs.numerics import parts, ridge_inverse

#: Shares of the gap between diagonal and off-diagonal that are taken off the diagonal.
NUGGETS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Ridges, as shares of the largest eigenvalue; the small ones serve exactly low-rank matrices.
RIDGES = np.concatenate([[1e-12, 1e-10, 1e-8, 1e-6, 1e-5], np.geomspace(1e-4, 1.0, 9)])


@dataclass(frozen=True, eq=False)
class Family:
    """All candidates of one nugget: they share their eigenvectors."""

    eta: float  # share of the gap that is taken off the diagonal
    left: FloatArray  # rows of the left factor times this
    right: FloatArray
    filters: FloatArray  # ridges × s


@dataclass(frozen=True, eq=False)
class Cores:
    """The whole grid of candidates for one crossing of landmarks.

    Parameters
    ----------
    families : list of Family
        One for each nugget.
    gap : float
        Mean of the diagonal less mean of the rest, if positive.
    """

    families: list[Family]
    gap: float

    @classmethod
    def of(cls, crossing: FloatArray, gap: float, *, symmetric: bool) -> Cores:
        """Decompose the crossing of landmarks once for each nugget."""
        families = []
        largest = 0.0
        for eta in NUGGETS if gap > 0 else NUGGETS[:1]:
            reduced = crossing - eta * max(gap, 0.0) * np.eye(*crossing.shape)
            left, values, right = _decomposed(reduced, symmetric=symmetric)
            if eta == 0:
                largest = float(np.abs(values).max(initial=0)) or 1.0
            filters = ridge_inverse(values, RIDGES[:, None], largest)
            families.append(Family(eta, left, right, filters))
        return cls(families, max(gap, 0.0))

    @property
    def count(self) -> int:
        """Number of candidates."""
        return len(self.families) * len(RIDGES)

    @property
    def ridge_index(self) -> FloatArray:
        """For each candidate, which ridge it has, smallest first."""
        return np.tile(np.arange(len(RIDGES)), len(self.families))

    def predictions(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return what every candidate says of pairs, given their rows of both factors."""
        result = np.empty((len(left), self.count))
        for part in parts(len(left), 1024):
            for k, f in enumerate(self.families):
                mine = slice(k * len(RIDGES), (k + 1) * len(RIDGES))
                both = (left[part] @ f.left) * (right[part] @ f.right)
                result[part, mine] = both @ f.filters.T
        return result

    def block_predictions(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return what every candidate says of a whole block, candidate by candidate."""
        parts = []
        for f in self.families:
            a, b = left @ f.left, right @ f.right
            parts.append(np.stack([((a * v) @ b.T).ravel() for v in f.filters]))
        return np.vstack(parts)

    def combined(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of all candidates: one core."""
        first = self.families[0]
        total = np.zeros((len(first.left), len(first.right)))
        for f, w in zip(self.families, weights.reshape(-1, len(RIDGES)), strict=True):
            total += (f.left * (w @ f.filters)) @ f.right.T
        return total

    def nugget(self, weights: FloatArray) -> float:
        """Return the mean nugget of a weighted sum, in units of the similarity."""
        positive = np.maximum(weights, 0).reshape(-1, len(RIDGES)).sum(axis=1)
        total = float(positive.sum())
        if total == 0:
            return 0.0
        return float(positive @ [f.eta for f in self.families]) / total * self.gap


def gap_of(square: FloatArray) -> float:
    """Return the mean of the diagonal less the mean of the other entries."""
    s = len(square)
    own = float(np.trace(square)) / s
    return own - (float(square.sum()) - float(np.trace(square))) / max(1, s * s - s)


def _decomposed(
    matrix: FloatArray, *, symmetric: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bases and values such that left·diag(1/values)·rightᵀ is the inverse."""
    if symmetric:
        values, vectors = np.linalg.eigh(matrix)
        return vectors, values, vectors
    u, sizes, vt = scipy.linalg.svd(matrix, full_matrices=False)
    return vt.T, sizes, u
