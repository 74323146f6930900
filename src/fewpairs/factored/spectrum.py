"""The spectrum of a factored matrix, from its factors alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.factored.embedding import triangular_factor
from fewpairs.factored.matrix import FactoredMatrix

#: Multiplications up to which a spectrum is had at once, in about a second.
_AT_ONCE = 10**9


class Spectrum(NamedTuple):
    """Eigenvalues of the factored part, or singular values where it is not symmetric."""

    values: FloatArray
    signed: bool

    @property
    def negative_share(self) -> float:
        """Σ|negative| / Σ|all|."""
        mass = float(np.abs(self.values).sum())
        return float(np.abs(self.values[self.values < 0]).sum()) / mass if mass else 0.0


def spectrum_of(matrix: FactoredMatrix) -> Spectrum:
    """Return the eigenvalues of the factored part, largest magnitude first; nothing is evaluated.

    Parameters
    ----------
    matrix : FactoredMatrix

    Returns
    -------
    Spectrum
    """
    if matrix.symmetric:
        vectors, signature = matrix.embedding(psd=False)
        values = signature * np.einsum("ik,ik->k", vectors, vectors)
    else:
        inner = triangular_factor(matrix.left) @ matrix.core @ triangular_factor(matrix.right).T
        values = np.asarray(np.linalg.svd(inner, compute_uv=False), dtype=np.float64)
    return Spectrum(values[np.argsort(-np.abs(values), kind="stable")], matrix.symmetric)


def is_quick(matrix: FactoredMatrix) -> bool:
    """Say whether the spectrum takes no time to speak of, as what is printed must not."""
    return bool(len(matrix.left) * min(matrix.core.shape) ** 2 <= _AT_ONCE)
