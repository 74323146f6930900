"""Principal axes of weighted rows, dense or sparse, of few or many dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from fewpairs.arrays import FloatArray
from fewpairs.numerics import fix_signs
from fewpairs.sketches.products import dense

#: Up to this many dimensions, axes come from the d × d matrix of moments, whose decomposition
#: takes some seconds at this size and grows with the cube.
_MOST_DIMENSIONS = 2000
#: Of longer rows, if there are no more than this many, axes come from their inner products.
_MOST_ROWS = 1000
#: Of many long rows, at most this many axes are found, by an iteration whose price grows with
#: them. What these leave of the linear term is sketched.
_MOST_ITERATED = 200
#: Axes whose mean square is below this share of the largest one's are rounding.
_ROUNDING = 1e-14


def principal_axes(
    rows: list[Any], weights: list[FloatArray], most: int
) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal axes, and the weighted mean square of the rows along each.

    Parameters
    ----------
    rows : list of ndarray or csr_array of shape (n, d)
        One or two sides, which count for equally much.
    weights : list of ndarray of shape (n,)
        How much each row counts on its side.
    most : int
        How many axes, at most.

    Returns
    -------
    axes : ndarray of shape (d, p)
    moments : ndarray of shape (p,)
        Largest first.
    """
    weighted = []
    for side, each in zip(rows, weights, strict=True):
        shares = each / max(float(each.sum()), 1e-300) / len(rows)
        weighted.append(sp.diags_array(np.sqrt(shares)) @ side)
    sparse = sp.issparse(weighted[0])
    together: Any = sp.vstack(weighted).tocsr() if sparse else np.vstack(weighted)
    d = rows[0].shape[1]
    if d <= _MOST_DIMENSIONS:
        squares = dense(together.T @ together)
        values, vectors = la.eigh(squares, subset_by_index=[max(0, d - most), d - 1])
        return fix_signs(vectors[:, ::-1]), np.maximum(values[::-1], 0)
    if (together.nnz if sparse else np.count_nonzero(together)) == 0:
        return np.eye(d, 1), np.zeros(1)
    if together.shape[0] <= _MOST_ROWS:
        values, vectors = la.eigh(dense(together @ together.T))
        kept = np.flatnonzero(values > _ROUNDING * values[-1])[::-1][:most]
        axes = (together.T @ vectors[:, kept]) / np.sqrt(values[kept])
        return fix_signs(np.asarray(axes)), np.asarray(values[kept])
    start = np.ones(min(together.shape))  # a fixed start: the same axes each time
    wanted = min(most, _MOST_ITERATED)
    _, lengths, axes = svds(together, wanted, v0=start, return_singular_vectors="vh")
    order = np.argsort(-lengths)
    return fix_signs(axes[order].T), np.asarray(lengths[order] ** 2)
