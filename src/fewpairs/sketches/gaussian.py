"""The Gaussian kernel as an element-wise exponential: exp(−γ|x − y|²) = z(x)·exp(2γ⟨x, y⟩)·z(y)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, is_number
from fewpairs.errors import InputError
from fewpairs.sketches.elementwise import (
    ElementwiseMatrix,
    check_lengths,
    checked_rows,
    factor,
)
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.products import squares


def rbf_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, **options: Any
) -> ElementwiseMatrix:
    """Factor the Gaussian kernel between rows, by Poly-TensorSketch.

    Rows are centred first, unless they are sparse: the kernel does not care, and the polynomial has
    a smaller range to fit.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    Y : array or sparse matrix of shape (m, d), optional
        By default X.
    gamma : float, optional
        By default one over the number of dimensions, as in scikit-learn.
    **options
        Of `elementwise`: ``degree``, ``sketch_size``, ``columns``, ``target_error``, …

    Returns
    -------
    ElementwiseMatrix

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(500, 5))
    >>> K = rbf_kernel(X, gamma=0.05, target_error=0.01, random_state=0)
    >>> K.left.shape[1] < 100, abs(K[0, 0] - 1) < 0.05
    (True, True)
    """
    left = checked_rows(X, "X")
    right = left if Y is None else checked_rows(Y, "Y")
    check_lengths(left, right)
    gamma = 1 / left.shape[1] if gamma is None else check_gamma(gamma)
    mean: FloatArray = np.zeros(left.shape[1])
    if not sp.issparse(left) and not sp.issparse(right):
        total = left.sum(axis=0, dtype=np.float64) + right.sum(axis=0, dtype=np.float64)
        mean = total / (left.shape[0] + right.shape[0])
    names = {field.name for field in fields(SketchOptions)} & options.keys() - {"columns"}
    sizes = SketchOptions(**{name: options.pop(name) for name in names})
    u, z = scaled_rows(left, mean, gamma)
    if right is left:
        return factor(np.exp, u, u, sizes, (z, z), **options)
    v, w = scaled_rows(right, mean, gamma)
    return factor(np.exp, u, v, sizes, (z, w), **options)


def scaled_rows(rows: Any, mean: FloatArray, gamma: float) -> tuple[Any, FloatArray]:
    """Return √(2γ)·(x − mean) and z(x); sparse rows stay sparse where the mean is zero."""
    if sp.issparse(rows) and mean.any():
        rows = rows.toarray()
    centred = rows if sp.issparse(rows) else rows - mean.astype(rows.dtype)
    scaled = centred * np.sqrt(2 * gamma).astype(rows.dtype)
    return scaled, np.exp(-squares(scaled) / 2)


def check_gamma(gamma: float) -> float:
    """Check that a width is a positive number."""
    if not is_number(gamma) or gamma <= 0:
        raise InputError(
            f"gamma is {gamma!r}.",
            "It says how fast the kernel falls with the distance.",
            "Pass a positive number.",
        )
    return float(gamma)
