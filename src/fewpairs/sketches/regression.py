"""Which coefficients: ridge regression on entries of UVᵀ, or on a coreset of them.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, equations
3.4 to 3.9, Algorithms 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.optimize
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.sketches.products import Function, evaluated, squares

#: The penalty on a power is the theorem's for the power this much higher.
SHIFT = 1
#: Directions smaller than this, relative to the largest, carry no information.
_ROUNDING = 1e-9
#: Entries that are summed up at a time.
_ENTRIES = 2**16


@dataclass(frozen=True, eq=False)
class Regression:
    """Least squares of f on entries of UVᵀ, summed up in Chebyshev's basis: equations 3.5 and 3.9.

    Parameters
    ----------
    gram, moment : ndarray
        Of the basis with itself, and with f.
    square : float
        Σ f².
    """

    gram: FloatArray
    moment: FloatArray
    square: float

    @classmethod
    def of(
        cls,
        function: Function,
        rows: Any,
        weights: FloatArray,
        others: Any,
        radius: float,
        degree: int,
    ) -> Regression:
        """Sum up the entries of weighted rows with all others."""
        gram, moment, square = np.zeros((degree + 1, degree + 1)), np.zeros(degree + 1), 0.0
        few = rows.toarray().T if sp.issparse(rows) else rows.T
        # In strips, so that what is worked on stays small whatever the number of rows.
        strip = max(1, _ENTRIES // few.shape[1])
        for start in range(0, others.shape[0], strip):
            x = np.asarray(others[start : start + strip] @ few, dtype=np.float64)
            each = np.broadcast_to(weights, x.shape).ravel()
            values = evaluated(function, x).ravel()
            basis = chebyshev.chebvander(np.clip(x.ravel() / radius, -1, 1), degree)
            weighted = basis * each[:, None]
            gram += weighted.T @ basis
            moment += weighted.T @ values
            square += float(each @ values**2)
        return cls(gram, moment, square)

    def solve(self, variances: FloatArray, *, nonnegative: bool = False) -> FloatArray:
        """Return coefficients of powers that minimise the miss and the penalty together."""
        # In powers the penalty is diagonal, and with it the problem is well conditioned; entries
        # are summed up in Chebyshev's basis, where they stay of one size.
        degree = len(variances) - 1
        values, vectors = la.eigh(self.gram[: degree + 1, : degree + 1])
        root = np.sqrt(np.maximum(values, 0))
        kept = root > root[-1] * np.sqrt(_ROUNDING)
        design = (root[kept, None] * vectors[:, kept].T) @ from_powers(degree)
        target = (vectors[:, kept].T @ self.moment[: degree + 1]) / root[kept]
        return solved(
            np.vstack([design, np.diag(np.sqrt(variances))]),
            np.concatenate([target, np.zeros(degree + 1)]),
            nonnegative=nonnegative,
        )

    def bound(self, variances: FloatArray) -> float:
        """Return Lemma 4's bound on the relative error, at its best coefficients."""
        coefficients = self.solve(variances)
        terms = from_powers(len(coefficients) - 1) @ coefficients
        some = slice(len(terms))
        miss = self.square - 2 * terms @ self.moment[some] + terms @ self.gram[some, some] @ terms
        total = 2 * max(float(miss), 0.0) + 2 * float(variances @ coefficients**2)
        return float(np.sqrt(total / max(self.square, 1e-300)))


def solved(design: FloatArray, target: FloatArray, *, nonnegative: bool) -> FloatArray:
    """Return the least-squares solution, with columns brought to one length first.

    Parameters
    ----------
    design : ndarray of shape (n, p)
    target : ndarray of shape (n,)
    nonnegative : bool

    Returns
    -------
    ndarray of shape (p,)
    """
    lengths = np.linalg.norm(design, axis=0)
    lengths[lengths == 0] = 1.0
    scaled = design / lengths
    if nonnegative:
        return np.asarray(scipy.optimize.nnls(scaled, target)[0] / lengths)
    return np.asarray(la.lstsq(scaled, target, cond=_ROUNDING)[0] / lengths)


def variances(left: Any, right: Any, degree: int, size: int) -> FloatArray:
    """W²: what a unit coefficient of each power costs in squared error, by Theorem 1.

    The theorem has 2 + 3ʲ and Σ‖u‖²ʲ for the power j. The paper's definition, and its code, take
    the next higher power's, which shrinks high powers more; in nearly all cases that we tried this
    is better or level (`benchmarks/elementwise.py`): the bound for low powers is the looser one.
    """
    lengths = [squares(rows) for rows in (left, right)]
    u, v = (x / max(float(x.max(initial=0)), 1e-300) for x in lengths)  # y is relative as well
    powers = np.arange(1, degree + 1) + SHIFT
    sums = np.array([(u**j).sum() * (v**j).sum() for j in powers])
    return np.concatenate([[0.0], degree * (2 + 3.0**powers) * sums / size])


def coreset(
    left: Any, right: Any, n_centers: int, rng: np.random.Generator
) -> tuple[Any, FloatArray, Any]:
    """Centres of the side that they stand for better, their sizes, and the other side."""
    chosen, counts, miss = k_centers(left, n_centers, rng)
    if right is left:
        return left[chosen], counts, right
    others, other_counts, other_miss = k_centers(right, n_centers, rng)
    lengths = np.sqrt(squares(left)).sum(), np.sqrt(squares(right)).sum()
    if miss * lengths[1] < other_miss * lengths[0]:
        return left[chosen], counts, right
    return right[others], other_counts, left


def k_centers(
    rows: Any, count: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, float]:
    """Greedy k-centre: take the farthest row, again and again.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
    count : int
    rng : numpy Generator

    Returns
    -------
    chosen : ndarray of int64
    sizes : ndarray of float64
        How many rows are nearest to each.
    miss : float
        Sum of the distances to the nearest.
    """
    n = rows.shape[0]
    lengths = squares(rows)
    chosen = [int(rng.integers(n))]
    nearest, owner = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    for k in range(min(count, n)):
        if k:
            chosen.append(int(np.argmax(nearest)))
        row = rows[[chosen[-1]]]
        product = rows @ (row.toarray().ravel() if sp.issparse(row) else row.ravel())
        distance = np.maximum(lengths + lengths[chosen[-1]] - 2 * np.asarray(product), 0)
        closer = distance < nearest
        nearest[closer], owner[closer] = distance[closer], k
    sizes = np.bincount(owner, minlength=len(chosen)).astype(np.float64)
    return np.array(chosen), sizes, float(np.sqrt(nearest).sum())


def to_powers(degree: int) -> FloatArray:
    """Return R: coefficients of powers are R times those of Chebyshev polynomials."""
    columns = [
        np.pad(chebyshev.cheb2poly([0] * j + [1]), (0, degree - j)) for j in range(degree + 1)
    ]
    return np.array(columns, dtype=np.float64).T


def from_powers(degree: int) -> FloatArray:
    """Return the inverse of `to_powers`, without inverting."""
    columns = [
        np.pad(chebyshev.poly2cheb([0] * j + [1]), (0, degree - j)) for j in range(degree + 1)
    ]
    return np.array(columns, dtype=np.float64).T
