"""The Gaussian kernel, factored: exp(−γ|x − y|²) = z(x)·exp(2γ⟨x, y⟩)·z(y), z(x) = exp(−γ|x|²)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, check_gamma
from fewpairs.errors import UnknownNameError
from fewpairs.sketches.elementwise import ElementwiseMatrix, sketch_matrix
from fewpairs.sketches.exact import GaussianKernel
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.rows import check_dimensions, check_rows

#: Options of `elementwise`: those that say how a map is made, and all others.
_MAP_OPTIONS = {field.name for field in fields(SketchOptions)} - {"columns"}
_OTHER_OPTIONS = {"columns", "target_error", "error_pairs", "random_state", "n_jobs"}


#: From here on, coordinates in units of the kernel's width grow like logarithms only. Rows that far
#: out are similar to their copies alone.
_FAR = {"float64": 1e60, "float32": 1e15}


def rbf_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, **options: Any
) -> ElementwiseMatrix:
    """Factor the Gaussian kernel between rows, by landmarks and monomials or by Poly-TensorSketch.

    Rows are centred first, unless they are sparse: the kernel stays the same, and a polynomial has
    a smaller range to fit. Of a kernel too narrow for any polynomial, landmarks alone are taken.

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
    for name in sorted(options.keys() - _MAP_OPTIONS - _OTHER_OPTIONS):
        raise UnknownNameError("option", name, _MAP_OPTIONS | _OTHER_OPTIONS, where="of rbf_kernel")
    left = check_rows(X, "X")
    right = left if Y is None else check_rows(Y, "Y")
    check_dimensions(left, right)
    gamma = 1 / left.shape[1] if gamma is None else check_gamma(gamma)
    mean: FloatArray = np.zeros(left.shape[1])
    if not sp.issparse(left) and not sp.issparse(right):
        mean = mean_of(left, right)
    of_map = SketchOptions(**{name: options.pop(name) for name in options.keys() & _MAP_OPTIONS})
    u = scaled_rows(left, mean, gamma)
    v = u if right is left else scaled_rows(right, mean, gamma)
    if sp.issparse(u) != sp.issparse(v):
        u, v = sp.csr_array(u), sp.csr_array(v)
    return sketch_matrix(GaussianKernel(u, v), of_map, **options)


def scaled_rows(rows: Any, mean: FloatArray, gamma: float) -> Any:
    """Return u = √(2γ)·(x − mean) for each row x, so that the kernel is exp(−|u − v|²/2).

    Sparse rows stay sparse where the mean is zero.
    """
    if sp.issparse(rows) and mean.any():
        rows = rows.toarray()
    with np.errstate(over="ignore"):
        centred = rows if sp.issparse(rows) else rows - mean.astype(rows.dtype)
        factor = np.sqrt(2) * np.sqrt(gamma)
        scaled = centred * factor.astype(rows.dtype)
    far = _FAR[scaled.dtype.name]
    new, old = (x.data if sp.issparse(x) else x for x in (scaled, centred))
    out = ~(np.abs(new) < far)
    if out.any():
        # Squares would overflow. Logarithms keep what differs apart, and far from all else.
        sizes = np.log(np.minimum(np.abs(old[out]), np.finfo(rows.dtype).max)) + np.log(factor)
        new[out] = np.sign(old[out]) * far * (1 + sizes - np.log(far))
    return scaled


def mean_of(*sides: FloatArray) -> FloatArray:
    """Return the mean of all rows; of numbers so large that their sum overflows too."""
    count = sum(side.shape[0] for side in sides)
    with np.errstate(over="ignore"):
        mean = sum(side.sum(axis=0, dtype=np.float64) for side in sides) / count
        if np.isfinite(mean).all():
            return np.asarray(mean)
    return np.asarray(sum((side / count).sum(axis=0, dtype=np.float64) for side in sides))
