"""Regularised signed cores: a grid of candidates for the small matrix between the columns.

With W the crossing of the landmarks' rows and columns, W − η·gap·I = PΛQᵀ, and λ₀ the largest |λ|
of W, a candidate is Q·diag(λ / (λ² + (δλ₀)²))·Pᵀ. Both signs are kept, and nothing is divided by a
small number. The nugget η takes off the part of the diagonal that no neighbour shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import parts, ridge_inverse

#: Shares of the gap between diagonal and off-diagonal that are taken off the diagonal.
NUGGETS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: From many landmarks on, of a matrix that is not symmetric, where each takes a decomposition.
FEW_NUGGETS = (0.0, 0.5, 1.0)
#: Ridges, as shares of the largest eigenvalue; the small ones serve exactly low-rank matrices.
RIDGES = np.concatenate([[1e-12, 1e-10, 1e-8, 1e-6, 1e-5], np.geomspace(1e-4, 1.0, 9)])
#: From this many landmarks on products with the bases of every nugget take most of the time, and no
#: item is taken there twice; with fewer, results keep their last bits.
_MANY = 1000


@dataclass(frozen=True, eq=False)
class Family:
    """All candidates of one nugget: they share their eigenvectors."""

    eta: float  # share of the gap that is taken off the diagonal
    left: FloatArray  # rows of the left factor times this
    right: FloatArray
    values: FloatArray  # λ
    filters: FloatArray  # ridges × s


class Basis(NamedTuple):
    """Candidates of one nugget or of several that share their eigenvectors."""

    left: FloatArray
    right: FloatArray
    filters: FloatArray  # candidates × s


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
    def of(
        cls,
        crossing: FloatArray,
        gap: float,
        *,
        symmetric: bool,
        least_ridge: float = 0.0,
        nuggets: tuple[float, ...] = NUGGETS,
    ) -> Cores:
        """Decompose the crossing of landmarks, once for each nugget unless it is symmetric.

        Smaller ridges than `least_ridge` become it: they would divide by the rounding of lines that
        are kept in single precision.
        """
        ridges = np.maximum(RIDGES, least_ridge)
        left, values, right = _decomposed(crossing, symmetric=symmetric)
        largest = float(np.abs(values).max(initial=0)) or 1.0
        families = []
        for eta in nuggets if gap else nuggets[:1]:
            shifted = values - eta * gap  # of a symmetric matrix; its eigenvectors stay
            if not symmetric and eta:
                reduced = crossing - eta * gap * np.eye(*crossing.shape)
                left, shifted, right = _decomposed(reduced, symmetric=False)
            filters = ridge_inverse(shifted, ridges[:, None], largest)
            families.append(Family(eta, left, right, shifted, filters))
        return cls(families, gap)

    @cached_property
    def bases(self) -> list[Basis]:
        """The candidates, in order, by the eigenvectors that they share."""
        first = self.families[0]
        if all(f.left is first.left for f in self.families):
            return [Basis(first.left, first.right, np.vstack([f.filters for f in self.families]))]
        return [Basis(f.left, f.right, f.filters) for f in self.families]

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
        both = [((left @ f.left) * (right @ f.right)) @ f.filters.T for f in self.bases]
        return np.hstack(both)

    def pair_predictions(
        self, left: FloatArray, right: FloatArray, rows: IntArray, columns: IntArray
    ) -> FloatArray:
        """Return what every candidate says of the entries ``rows[k], columns[k]``."""
        result = np.empty((len(rows), self.count))
        basis = self.bases[0]
        if left is right and basis.left is basis.right and len(left) <= len(rows):
            # The same items again and again: each is taken to the eigenvectors once.
            names, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
            tall = left[names] @ basis.left
            i, j = places[: len(rows)], places[len(rows) :]
            for part in parts(len(rows), 1024):
                result[part] = (tall[i[part]] * tall[j[part]]) @ basis.filters.T
            return result
        if len(self.bases) > 1 and len(basis.left) >= _MANY:
            return self._by_items(left, right, rows, columns)
        for part in parts(len(rows), 1024):
            result[part] = self.predictions(left[rows[part]], right[columns[part]])
        return result

    def _by_items(
        self, left: FloatArray, right: FloatArray, rows: IntArray, columns: IntArray
    ) -> FloatArray:
        """Return the same, taking each item to the bases of every nugget once."""
        some, i = np.unique(rows, return_inverse=True)
        others, j = np.unique(columns, return_inverse=True)
        tall_left, tall_right = left[some], right[others]
        results = []
        for f in self.bases:
            along, across = tall_left @ f.left, tall_right @ f.right
            mine = np.empty((len(rows), len(f.filters)))
            for part in parts(len(rows), 1024):
                mine[part] = (along[i[part]] * across[j[part]]) @ f.filters.T
            results.append(mine)
        return np.hstack(results)

    def block_sums(
        self, left: FloatArray, right: FloatArray, values: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return sums over a whole block of predictions' products with each other and with values.

        A candidate f predicts Σ f_p·a_p·b_p, a and b being the rows of both factors times the
        eigenvectors. Products of two candidates summed over all rows a and b are therefore
        fᵀ(AᵀA ∘ BᵀB)g, and no prediction needs to be written down.

        Parameters
        ----------
        left, right : ndarray
            Rows of both factors.
        values : ndarray of shape (len(left), len(right))

        Returns
        -------
        gram : ndarray of shape (candidates, candidates)
        target : ndarray of shape (candidates,)
        """
        along = [left @ f.left for f in self.bases]
        across = [right @ f.right for f in self.bases]
        filters = [f.filters for f in self.bases]
        # Four factors are multiplied before the filters make up for two of them: a power of two
        # keeps them in range, and changes no digit.
        unit = np.ldexp(1.0, int(np.frexp(max(np.abs(a).max(initial=0) for a in along))[1]))
        along, filters = [a / unit for a in along], [f * unit for f in filters]
        gram = [
            [
                f @ ((a.T @ c) * (b.T @ d)) @ g.T
                for c, d, g in zip(along, across, filters, strict=True)
            ]
            for a, b, f in zip(along, across, filters, strict=True)
        ]
        target = [
            f @ np.einsum("kp,kp->p", a, values @ b)
            for a, b, f in zip(along, across, filters, strict=True)
        ]
        return np.block(gram), np.concatenate(target)

    def combined(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of all candidates: one core, which is not to be changed.

        The last one is kept: that which is found sane is asked for again.
        """
        asked = weights.tobytes()
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = self._sum_of(weights)
        return self._last[asked]

    @cached_property
    def _last(self) -> dict[bytes, FloatArray]:
        return {}

    def _sum_of(self, weights: FloatArray) -> FloatArray:
        first = self.families[0]
        total = np.zeros((len(first.left), len(first.right)))
        start = 0
        for f in self.bases:
            mine = weights[start : start + len(f.filters)]
            start += len(f.filters)
            if mine.any():  # most weights are zero, and a product of s³ takes a while
                total += (f.left * (mine @ f.filters)) @ f.right.T
        return total

    def nugget(self, weights: FloatArray) -> float:
        """Return the mean nugget of a weighted sum, in units of the similarity."""
        positive = np.maximum(weights, 0).reshape(-1, len(RIDGES)).sum(axis=1)
        total = float(positive.sum())
        if total == 0:
            return 0.0
        return float(positive @ [f.eta for f in self.families]) / total * self.gap


def nuggets_for(landmarks: int, *, symmetric: bool) -> tuple[float, ...]:
    """Return the nuggets that so many landmarks are tried with.

    Candidates are mixed, so that two nuggets make up for one between them: with a thousand
    landmarks three leave nearly the errors that five do (docs/fitted.md).
    """
    return NUGGETS if symmetric or landmarks < _MANY else FEW_NUGGETS


def least_ridge(lines: FloatArray) -> float:
    """Return the ridge below which lines hold but their rounding; 0 in double precision."""
    return 0.0 if lines.dtype == np.float64 else float(np.finfo(lines.dtype).eps)


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
