"""The best assignment of two sets: no item is matched twice."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from fewpairs.arrays import BoolArray, FloatArray, IntArray

#: What it costs a row to stay without a partner, where the best match gains 1: next to nothing,
#: and still far above rounding. Gains below it would be given up for one more pair.
_ALONE = 1e-10


def best_assignment(
    left: IntArray, right: IntArray, quality: FloatArray, shape: tuple[int, int]
) -> BoolArray:
    """Say which pairs are kept, so that the sum of their qualities is as large as possible.

    Parameters
    ----------
    left, right : ndarray of int
        Rows and columns of pairs.
    quality : ndarray
        Not negative; 0 for a pair that is just worth it.
    shape : (int, int)
        Numbers of rows and of columns.

    Returns
    -------
    ndarray of bool
        For each pair. Of equal sums, the one with more pairs.
    """
    n, m = shape
    scaled = quality / (quality.max() or 1.0)
    # Every row may stay alone, which is a little worse than a match at the threshold.
    rows, itself = np.unique(left), np.arange(n)
    cost = np.concatenate([2.0 - scaled, np.full(len(rows), 2.0 + _ALONE)])
    down = np.searchsorted(rows, np.concatenate([left, rows]))
    across = np.concatenate([right, m + itself[rows]])
    graph = sp.coo_array((cost, (down, across)), shape=(len(rows), m + n))
    down, across = min_weight_full_bipartite_matching(sp.csr_array(graph))
    return np.isin(left * (m + n) + right, rows[down] * (m + n) + across)
