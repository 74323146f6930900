"""Single entries of ``left · core · rightᵀ``, a few thousand at a time."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray

#: Rows of the tall factors are gathered first: this many keep that small.
_AT_A_TIME = 4096


def factored_entries(
    left: FloatArray, core: FloatArray, right: FloatArray, rows: IntArray, columns: IntArray
) -> FloatArray:
    """Return the entries ``rows[k], columns[k]``."""
    values = np.empty(len(rows))
    for start in range(0, len(rows), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        values[part] = np.einsum("kp,kp->k", left[rows[part]] @ core, right[columns[part]])
    return values
