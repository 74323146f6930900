"""Checks of the rows that a caller passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, unmasked
from fewpairs.errors import InputError


def check_rows(rows: Any, name: str) -> Any:
    """Return rows as a finite array or csr_array of float32 or float64.

    Parameters
    ----------
    rows : array or sparse matrix
    name : str
        What the caller knows it by, for messages.

    Returns
    -------
    ndarray or csr_array
    """
    if sp.issparse(rows):
        array = sp.csr_array(rows)
        values: FloatArray = array.data
    else:
        array = values = np.asarray(unmasked(rows, name))
    if array.ndim != 2 or 0 in array.shape or values.dtype.kind not in "fiub":  # noqa: PLR2004
        raise InputError(
            f"{name} has the shape {array.shape} and the dtype {values.dtype}.",
            "Its rows are vectors whose inner products f is applied to.",
            "Pass an array of numbers of shape (rows, dimensions).",
        )
    if values.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if not np.isfinite(values).all():
        bad = np.flatnonzero(~np.isfinite(values))[0]
        row = bad // array.shape[1]
        if sp.issparse(array):
            row = np.searchsorted(array.indptr, bad, side="right") - 1
        raise InputError(
            f"{name} has a number that is not finite, first in row {row}.",
            "No entry of the matrix in that row can be computed.",
            "Remove or repair the row.",
        )
    return array


def check_dimensions(left: Any, right: Any) -> None:
    """Check that the rows of both sides are vectors of one length, as inner products need."""
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"the rows have {left.shape[1]} dimensions on one side and {right.shape[1]} on the "
            "other.",
            "Inner products need vectors of one length.",
            "Pass two arrays with the same number of columns.",
        )
