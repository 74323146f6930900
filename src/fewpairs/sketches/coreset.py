"""A coreset: a few rows that stand for all of a side, so that regression needs few entries.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, equation
3.7, Algorithms 3 and 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import row_squares
from fewpairs.sketches.products import dense


def coreset(
    left: Any, right: Any, n_centers: int, rng: np.random.Generator
) -> tuple[Any, FloatArray, Any]:
    """Replace one side by its centres: the side where that changes inner products less.

    Parameters
    ----------
    left, right : ndarray or csr_array
        One and the same object for a symmetric matrix.
    n_centers : int
    rng : numpy Generator

    Returns
    -------
    centers : ndarray or csr_array
    sizes : ndarray of float64
        How many rows each centre stands for.
    others : ndarray or csr_array
        All rows of the other side.
    """
    chosen, sizes, distance = k_centers(left, n_centers, rng)
    if right is left:
        return left[chosen], sizes, right
    other_chosen, other_sizes, other_distance = k_centers(right, n_centers, rng)
    # Moving u to its centre c changes ⟨u, v⟩ by at most |u − c|·|v|; summed over all u and v.
    lengths = np.sqrt(row_squares(left)).sum(), np.sqrt(row_squares(right)).sum()
    if distance * lengths[1] < other_distance * lengths[0]:
        return left[chosen], sizes, right
    return right[other_chosen], other_sizes, left


def k_centers(
    rows: Any, count: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, float]:
    """Choose centres greedily: each is the row farthest from all centres before it.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
    count : int
    rng : numpy Generator
        For the first centre.

    Returns
    -------
    chosen : ndarray of int64
    sizes : ndarray of float64
        How many rows are nearest to each centre.
    distance : float
        Sum over all rows of the distance to the nearest centre.
    """
    n = rows.shape[0]
    squares = row_squares(rows)
    chosen = [int(rng.integers(n))]
    nearest, owner = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    for k in range(min(count, n)):
        if k:
            chosen.append(int(np.argmax(nearest)))
        products = rows @ dense(rows[[chosen[-1]]]).ravel()
        distances = np.maximum(squares + squares[chosen[-1]] - 2 * np.asarray(products), 0)
        closer = distances < nearest
        nearest[closer], owner[closer] = distances[closer], k
    sizes = np.bincount(owner, minlength=len(chosen)).astype(np.float64)
    return np.array(chosen), sizes, float(np.sqrt(nearest).sum())
