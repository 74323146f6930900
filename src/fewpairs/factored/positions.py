"""Positions of items as NumPy takes them: negative ones count from the end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray


def positions(index: npt.ArrayLike, length: int) -> IntArray:
    """Return checked, non-negative positions; IndexError where there is no such item."""
    array = np.asarray(index)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype == bool and array.shape == (length,):
        array = np.flatnonzero(array)
    if array.dtype.kind not in "iu":
        message = f"indices must be integers, not {array.dtype}"
        raise IndexError(message)
    if array.min() < -length or array.max() >= length:
        wrong = array.max() if array.max() >= length else array.min()
        message = f"index {wrong} is out of range for {length} items"
        raise IndexError(message)
    return np.where(array < 0, array + length, array).astype(np.int64)
