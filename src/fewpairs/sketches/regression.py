"""Coefficients by ridge regression of f on inner products.

f(x) ≈ Σ cⱼ·xʲ on the entries of UVᵀ, where a large coefficient costs something: the sketch of the
power j has a variance, which the coefficient multiplies. The squared error to expect is at most
twice the squared residual of the polynomial plus twice the variance of the sketch (Lemma 4), and
the coefficients that minimise this bound solve a ridge regression.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, equations
3.4 to 3.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.optimize
from numpy.polynomial import chebyshev

from fewpairs.arrays import FloatArray
from fewpairs.numerics import parts, row_squares
from fewpairs.sketches.functions import Function, apply
from fewpairs.sketches.products import dense, longest_length

#: The penalty on the power j is the theorem's for the power j + SHIFT. The paper's Definition 3,
#: and its code, have 1 here, its theorem 0. With 1 the penalty has a factor of a² more, where a =
#: max‖u‖·max‖v‖: where inner products are small, as in wide kernels, little is shrunk.
SHIFT = 1
#: Directions below this share of the largest are taken for rounding. Anything from 1e-5 to 1e-13
#: gives the same errors in benchmarks/sketches/elementwise.py.
_ROUNDING = 1e-9
#: Entries that are summed up at a time, so that their powers stay within a few megabytes.
_STRIP_ENTRIES = 2**16


@dataclass(frozen=True, eq=False)
class Regression:
    """Least squares of f on entries of UVᵀ, as the sums that every solution needs.

    Parameters
    ----------
    gram : ndarray of shape (degree + 1, degree + 1)
        Σ T(y)·T(y)ᵀ over all entries, where T are the Chebyshev polynomials and y = x / radius.
        Unlike powers they stay apart from each other at high degrees.
    moment : ndarray of shape (degree + 1,)
        Σ f·T(y).
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
        """Sum up over the inner products of a few weighted rows with all others.

        Parameters
        ----------
        function : callable of an array
        rows : ndarray or csr_array
        weights : ndarray
            How many rows each stands for.
        others : ndarray or csr_array
        radius : float
            No inner product is larger.
        degree : int

        Returns
        -------
        Regression
        """
        gram, moment, square = np.zeros((degree + 1, degree + 1)), np.zeros(degree + 1), 0.0
        few = dense(rows).T
        for part in parts(others.shape[0], max(1, _STRIP_ENTRIES // few.shape[1])):
            x = np.asarray(others[part] @ few, dtype=np.float64)
            each = np.broadcast_to(weights, x.shape).ravel()
            values = apply(function, x).ravel()
            basis = chebyshev.chebvander(np.clip(x.ravel() / radius, -1, 1), degree)
            weighted = basis * each[:, None]
            gram += weighted.T @ basis
            moment += weighted.T @ values
            square += float(each @ values**2)
        return cls(gram, moment, square)

    def solve(self, penalty: FloatArray, *, nonnegative: bool = False) -> FloatArray:
        """Return the coefficients c of powers of y that minimise Σ(f − p)² + Σ penaltyⱼ·cⱼ².

        The degree is that of the penalty, at most that of the sums.
        """
        # The penalty is diagonal in powers, while the sums are in Chebyshev polynomials. The root
        # of the Gram matrix, R with RᵀR = gram, turns the sums into one small least-squares problem
        # in powers.
        degree = len(penalty) - 1
        values, vectors = la.eigh(self.gram[: degree + 1, : degree + 1])
        root = np.sqrt(np.maximum(values, 0))
        kept = root > root[-1] * np.sqrt(_ROUNDING)
        design = (root[kept, None] * vectors[:, kept].T) @ from_powers(degree)
        target = (vectors[:, kept].T @ self.moment[: degree + 1]) / root[kept]
        return least_squares(
            np.vstack([design, np.diag(np.sqrt(penalty))]),
            np.concatenate([target, np.zeros(degree + 1)]),
            nonnegative=nonnegative,
        )

    def bound(self, penalty: FloatArray) -> float:
        """Return Lemma 4's bound on the relative error, for the coefficients that minimise it."""
        coefficients = self.solve(penalty)
        terms = from_powers(len(coefficients) - 1) @ coefficients
        some = slice(len(terms))
        residual = (
            self.square - 2 * terms @ self.moment[some] + terms @ self.gram[some, some] @ terms
        )
        total = 2 * max(float(residual), 0.0) + 2 * float(penalty @ coefficients**2)
        return float(np.sqrt(total / max(self.square, 1e-300)))


def least_squares(design: FloatArray, target: FloatArray, *, nonnegative: bool) -> FloatArray:
    """Return the least-squares solution; columns are brought to one length first.

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
    """Return the penalty of Definition 3 on the coefficient of each power of y = x / a.

    By Theorem 1 the sketch of xᵏ has a variance of at most (2 + 3ᵏ)·Σ‖u‖²ᵏ·Σ‖v‖²ᵏ / size, and there
    are as many of them as the degree. The definition takes it for k = j + `SHIFT` where x has the
    power j. In lengths û, v̂ that are measured in units of the longest, and for powers of y, that is
    degree·(2 + 3ᵏ)·Σû²ᵏ·Σv̂²ᵏ·a^(2·SHIFT) / size. The power 0 has none.

    Parameters
    ----------
    left, right : ndarray or csr_array
    degree, size : int
        Of the sketch.

    Returns
    -------
    ndarray of shape (degree + 1,)
    """
    longest = [longest_length(left), longest_length(right)]
    u, v = (
        row_squares(side / length) if length > 0 else np.zeros(side.shape[0])
        for side, length in zip((left, right), longest, strict=True)
    )
    powers = np.arange(1, degree + 1) + SHIFT
    sums = np.array([(u**j).sum() * (v**j).sum() for j in powers])
    # Any power within the range of floats is as good as nothing, or as no coefficient at all.
    unit = np.clip(longest[0] * longest[1], 1e-60, 1e60) ** (2 * SHIFT)
    return np.concatenate([[0.0], degree * (2 + 3.0**powers) * sums * unit / size])


@cache
def to_powers(degree: int) -> FloatArray:
    """Return the matrix that turns coefficients of Chebyshev polynomials into those of powers."""
    columns = [
        np.pad(chebyshev.cheb2poly([0] * j + [1]), (0, degree - j)) for j in range(degree + 1)
    ]
    return np.array(columns, dtype=np.float64).T


@cache
def from_powers(degree: int) -> FloatArray:
    """Return the inverse of `to_powers`, without inverting."""
    columns = [
        np.pad(chebyshev.poly2cheb([0] * j + [1]), (0, degree - j)) for j in range(degree + 1)
    ]
    return np.array(columns, dtype=np.float64).T
