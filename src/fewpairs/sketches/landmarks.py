"""Features from landmarks and monomials together: the leading directions in their span.

There are a few times as many terms as features, and of the space that they span only the leading
directions of the matrix are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.span_terms import SpanTerms, WeightedMonomials

#: Directions are found on five rows for each term, but on no more than so many where that is three
#: for each; with three of 100,000 rows, errors are 7 % larger.
_ROWS_PER_TERM, _FEWEST_PER_TERM, _ENOUGH_ROWS = 5, 3, 2500
#: And on at least and at most so many.
_FEWEST_ROWS, _MOST_ROWS = 1000, 5000
#: Directions of the columns that are shorter than such a share of the longest are left out. The
#: first is rounding; where directions are found on a sample of the rows, others may fit the sample
#: alone, and entries that were not in it decide which share is best.
_CUTS = (1e-12, 1e-6, 1e-3)
#: The share of the terms that are monomials.
_MONOMIALS_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class LandmarkFit:
    """Directions in the span of landmark columns, longest first.

    Parameters
    ----------
    terms : pair of SpanTerms
        For rows of U and of V.
    weights : pair of ndarray of shape (m, p)
        What columns are multiplied by for each direction.
    values : ndarray of shape (p,)
        The matrix along these directions; of falling size, with signs where U and V are the same.
    complete : bool
        Whether they were found on all rows: then no matrix of k columns has a smaller error than
        the values after the first k tell.
    """

    terms: tuple[SpanTerms, SpanTerms]
    weights: tuple[FloatArray, FloatArray]
    values: FloatArray
    complete: bool

    def map(self, columns: int, *, nonnegative: bool = False) -> FeatureMap:
        """Return a map of at most so many features, without signs if wanted."""
        values = self.values[:columns]
        kept = values > 0 if nonnegative else np.full(len(values), True)
        roots = np.sqrt(np.abs(values[kept]))
        left, right = (weights[:, :columns][:, kept] * roots for weights in self.weights)
        if self.weights[0] is self.weights[1]:
            right = left
        signs = np.where(values[kept] < 0, -1.0, 1.0)
        return FeatureMap(self.polynomial, self.terms[0], left, right, signs, self.terms[1])

    @property
    def polynomial(self) -> Polynomial | None:
        """Whose monomials are among the terms, if any are."""
        monomials = self.terms[0].monomials
        return None if monomials is None else monomials.polynomial

    @property
    def degree(self) -> int:
        """Of that polynomial; 0 without one."""
        return 0 if self.polynomial is None else self.polynomial.degree

    @property
    def n_landmarks(self) -> int:
        """How many landmarks there are."""
        return int(self.terms[0].landmarks.shape[0])

    @property
    def rank(self) -> int:
        """How many directions there are."""
        return max(1, len(self.values))

    def tail(self, columns: int) -> float:
        """Return the length of all directions after the first few."""
        rest = self.values[columns:]
        unit = float(np.abs(rest).max(initial=0)) or 1.0
        return float(np.linalg.norm(rest / unit)) * unit


def fit_landmarks(
    exact: Exact, count: int, degree: int, rng: np.random.Generator
) -> list[LandmarkFit]:
    """Draw landmarks and find directions, one fit for each share of `_CUTS` that differs.

    Let C be the terms of a sample of rows, C·P = Q·R with orthonormal Q. The
    best matrix in the span of Q is Q·(QᵀKQ)·Qᵀ, where K is the matrix between these rows; its
    leading eigenvectors (singular vectors for U and V) are the directions. Unlike an inverse of the
    landmark square, QᵀKQ is never large where K is not, whatever the signs of K's eigenvalues.

    Parameters
    ----------
    exact : Exact
    count : int
        Terms of each side.
    degree : int
        Of the monomials among them.
    rng : numpy Generator

    Returns
    -------
    list of LandmarkFit
    """
    n_sides = 1 if exact.symmetric else 2
    chances = [exact.chances(side, rng) for side in range(n_sides)]
    monomials = None
    n_monomials = int(_MONOMIALS_SHARE * count)
    if degree and n_monomials and exact.has_polynomial and count < min(exact.shape):
        monomials = WeightedMonomials.heaviest(exact, degree, n_monomials, rng)
        count -= 0 if monomials is None else n_monomials
    chosen = [_draw(0.5 * each + 0.5 / len(each), count, rng) for each in chances]
    n_terms = max(len(mine) for mine in chosen) + (n_monomials if monomials else 0)
    wanted = max(_FEWEST_PER_TERM * n_terms, min(_ROWS_PER_TERM * n_terms, _ENOUGH_ROWS))
    wanted = max(n_terms, min(_MOST_ROWS, max(_FEWEST_ROWS, wanted)))
    drawn = [
        _rows_around(mine, each, wanted, rng) for mine, each in zip(chosen, chances, strict=True)
    ]
    rows, weights = zip(*drawn, strict=True)
    # Landmarks of one side are columns for the other.
    of_left = SpanTerms(exact, exact.right[chosen[-1]], monomials)
    of_right = of_left if exact.symmetric else SpanTerms(exact, exact.left[chosen[0]], monomials)
    terms = of_left, of_right
    samples = [exact.sides[side][rows[side]] for side in range(n_sides)]
    bases = [
        _Basis.of(terms[side](samples[side]) * weights[side][:, None]) for side in range(n_sides)
    ]
    between = exact.between(samples[0], samples[-1])
    between *= weights[0][:, None]
    between *= weights[-1]
    middle = bases[0].q.T @ between @ bases[-1].q
    complete = all(len(rows[side]) == exact.shape[side] for side in range(n_sides))
    fits, seen = [], set()
    for cut in _CUTS[: 1 if complete else None]:
        ranks = tuple(basis.rank(cut) for basis in bases)
        if ranks not in seen:
            seen.add(ranks)
            fits.append(_directions(terms, bases, ranks, middle, complete=complete))
    return fits


@dataclass(frozen=True, eq=False)
class _Basis:
    """Q·R of columns of length 1, in the order `pivots`, in which ever less of them is new."""

    q: FloatArray
    r: FloatArray
    pivots: IntArray
    lengths: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> _Basis:
        lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
        lengths[lengths == 0] = 1.0
        columns /= lengths
        q, r, pivots = la.qr(columns, mode="economic", pivoting=True, check_finite=False)
        return cls(q, r, pivots, lengths)

    def rank(self, cut: float) -> int:
        sizes = np.abs(np.diag(self.r))
        return int((sizes > cut * sizes[0]).sum())

    def signs(self, directions: FloatArray) -> FloatArray:
        """Return ±1 that makes a weighted sum over all rows positive, whatever LAPACK chose."""
        sums = np.linspace(1, 2, len(self.q)) @ self.q[:, : len(directions)] @ directions
        return np.where(sums < 0, -1.0, 1.0)

    def back(self, directions: FloatArray) -> FloatArray:
        """Return what the columns are multiplied by for directions of the first of Q."""
        rank = len(directions)
        weights = np.zeros((len(self.pivots), directions.shape[1]))
        weights[self.pivots[:rank]] = la.solve_triangular(self.r[:rank, :rank], directions)
        return weights / self.lengths[:, None]


def _directions(
    terms: Any, bases: list[_Basis], ranks: tuple[int, ...], middle: FloatArray, *, complete: bool
) -> LandmarkFit:
    middle = middle[: ranks[0], : ranks[-1]]
    if len(bases) == 1:
        values, vectors = la.eigh((middle + middle.T) / 2)
        order = np.argsort(-np.abs(values), kind="stable")
        left = bases[0].back(vectors[:, order] * bases[0].signs(vectors[:, order]))
        return LandmarkFit(terms, (left, left), values[order], complete)
    u, values, v = la.svd(middle, full_matrices=False)
    signs = bases[0].signs(u)
    return LandmarkFit(
        terms, (bases[0].back(u * signs), bases[1].back(v.T * signs)), values, complete
    )


def _draw(chances: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    if count >= len(chances):
        return np.arange(len(chances))
    return np.sort(rng.choice(len(chances), count, replace=False, p=chances))


def _rows_around(
    chosen: IntArray, chances: FloatArray, wanted: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the landmarks of a side and a sample of its other rows, and how much each counts.

    The weight is the square root of the number of rows that one stands for.
    """
    n = len(chances)
    if n <= wanted:
        return np.arange(n), np.ones(n)
    others = np.setdiff1d(np.arange(n), chosen)
    count = wanted - len(chosen)
    of_others = chances[others] / chances[others].sum()
    # A row that was drawn twice counts twice.
    drawn, times = np.unique(rng.choice(len(others), count, p=of_others), return_counts=True)
    stands_for = times / (count * of_others[drawn])
    return (
        np.concatenate([chosen, others[drawn]]),
        np.sqrt(np.concatenate([np.ones(len(chosen)), stands_for])),
    )
