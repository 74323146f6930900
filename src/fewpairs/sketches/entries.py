"""Sampled entries of f(UVᵀ): what coefficients are fitted to, and errors estimated from.

An entry costs one inner product, so that any may be looked at; but a few long rows can hold most of
the matrix, as they do for exp. So there are three layers: all entries between the longest rows;
the diagonal, where U is compared with itself; and the rest, half drawn uniformly, half where rows
and columns are large. Each entry is weighted by how many it stands for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.error import ErrorEstimate
from fewpairs.sketches.polynomial import Function, evaluated, squares

#: Rows that a row is compared with to guess its size: the longest, and as many at random.
_COMPARED = 16
#: Shares of the entries that are between the longest rows, and on the diagonal.
_LONGEST, _DIAGONAL = 0.25, 0.1


class Entries(NamedTuple):
    """Places, what stands there, how many entries each stands for; the first are all of theirs."""

    rows: IntArray
    columns: IntArray
    exact: FloatArray
    weights: FloatArray
    certain: int

    def error(self, guess: FloatArray) -> ErrorEstimate:
        """Estimate the relative Frobenius error, with a 95 % interval on a log scale."""
        off = self.weights * (guess - self.exact) ** 2
        size = self.weights * self.exact**2
        value = float(np.sqrt(off.sum() / max(size.sum(), 1e-300)))
        # The ratio of two sums, linearised; entries that stand for themselves do not vary.
        ratio = (off - value**2 * size)[self.certain :]
        spread = np.sqrt((ratio**2).sum()) / max(off.sum(), 1e-300)
        factor = float(np.exp(min(0.98 * spread, 50.0)))  # half of 1.96: an error is a square root
        return ErrorEstimate(value, value / factor, value * factor, len(self.rows))


def draw_entries(
    function: Function,
    left: Any,
    right: Any,
    matter: tuple[FloatArray, FloatArray] | None,
    count: int,
    rng: np.random.Generator,
) -> Entries:
    """Draw entries of f(UVᵀ), more of them where they are large.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
        One and the same object for a symmetric matrix.
    matter : pair of ndarray, optional
        Factors of each row and of each column of the matrix.
    count : int
    rng : numpy Generator

    Returns
    -------
    Entries
    """
    n, m = left.shape[0], right.shape[0]
    same = right is left
    z, w = (np.ones(n), np.ones(m)) if matter is None else matter
    p = _probabilities(function, left, right, z, rng)
    q = p if same else _probabilities(function, right, left, w, rng)
    tops = [_longest(side, int(np.sqrt(_LONGEST * count))) for side in (left, right)]
    inner = [np.repeat(tops[0], len(tops[1])), np.tile(tops[1], len(tops[0]))]
    on = rng.choice(n, int(_DIAGONAL * count), p=p) if same else np.zeros(0, dtype=np.int64)
    rest = max(1, count - len(inner[0]) - len(on))
    uniform = rng.random(rest) < 0.5  # noqa: PLR2004
    i = np.where(uniform, rng.integers(0, n, rest), rng.choice(n, rest, p=p))
    j = np.where(uniform, rng.integers(0, m, rest), rng.choice(m, rest, p=q))
    weights = 1 / (rest * (0.5 / (n * m) + 0.5 * p[i] * q[j]))
    # What belongs to another layer stands for nothing here.
    top_row, top_column = np.isin(np.arange(n), tops[0]), np.isin(np.arange(m), tops[1])
    weights[(top_row[i] & top_column[j]) | ((i == j) if same else False)] = 0.0
    on_weights = (
        np.where(top_row[on] & top_column[on], 0.0, 1 / (max(1, len(on)) * p[on]))
        if same
        else np.zeros(0)
    )
    i, j = np.concatenate([inner[0], on, i]), np.concatenate([inner[1], on, j])
    weights = np.concatenate([np.ones(len(inner[0])), on_weights, weights])
    exact = evaluated(function, row_products(left[i], right[j]))
    return Entries(i, j, exact, weights * (z[i] * w[j]) ** 2, len(inner[0]))


def _longest(rows: Any, count: int) -> IntArray:
    return np.sort(np.argsort(-squares(rows), kind="stable")[:count])


def _probabilities(
    function: Function, rows: Any, others: Any, matter: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return how likely each row is: by the size of its entries with a few others."""
    m = others.shape[0]
    longest = _longest(others, _COMPARED)
    some = np.concatenate([longest, rng.integers(0, m, _COMPARED)])
    few = others[some]
    products = rows @ (few.toarray().T if sp.issparse(few) else few.T)
    values = evaluated(function, np.asarray(products, dtype=np.float64)) * matter[:, None]
    energy = (values / max(float(np.abs(values).max()), 1e-300)) ** 2
    # Large entries with the longest rows are few; they count as one row more.
    sizes = energy[:, : len(longest)].mean(axis=1) + energy[:, len(longest) :].mean(axis=1)
    sizes += float(sizes.mean()) * 0.1 + 1e-300  # nothing is impossible
    return np.asarray(sizes / sizes.sum())


def row_products(left: Any, right: Any) -> FloatArray:
    """Return the inner product of row k with row k."""
    if sp.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right, dtype=np.float64))
