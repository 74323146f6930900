"""The Nyström family: classic, submatrix-shifted (SMS), and rescaled.

References
----------
Ray, Monath, McCallum, Musco, *Sublinear Time Approximation of Text Similarity Matrices*:
equation 1, Algorithm 1, and section 4.3 for the rescaling.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.base import Fit, Method
from fewpairs.methods.inverses import THRESHOLD, symmetric_inverse
from fewpairs.methods.options import FACTOR, FLAG, NUMBER, option
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner

#: From this size on, the smallest eigenvalue comes from Lanczos iterations, n/300 rounds of them at
#: most: so many take as long as a full decomposition, whose time grows like n³. Where many
#: eigenvalues lie near the smallest, they would go on ten times as long.
_LARGE, _SIZE_PER_ROUND = 1500, 300


@dataclass(frozen=True)
class Nystrom(Method):
    """K S (SᵀKS)⁺ SᵀK.

    Parameters
    ----------
    threshold : float, default=1e-12
        Eigenvalues of the core below this share of the largest are dropped.
    """

    threshold: float = option(THRESHOLD, NUMBER)
    needs_symmetric: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    streams: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count s columns."""
        return planner.price_of_columns(landmarks)

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,  # noqa: ARG002
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Read the landmarks' columns; the core is the inverse of their square."""
        columns = oracle.columns(landmarks)
        core = symmetric_inverse(columns[landmarks], self.threshold)
        return Fit(columns, core, left_landmarks=landmarks)


@dataclass(frozen=True)
class SMSNystrom(Method):
    """Nyström of K + shift·I, where the shift makes the landmarks' square positive definite.

    Parameters
    ----------
    alpha : float, default=1.5
        Shift = max(0, −alpha · λmin(S₂ᵀKS₂)).
    oversampling : float, default=2.0
        |S₂| / |S₁|.
    shift_columns : bool, default=True
        Add the shift to the landmark's own entry of each column too, as in Algorithm 1; the
        authors' code adds it to the core only.
    rescaled : bool
        Multiply the shifted core, before it is inverted, by β = ‖S₁ᵀKS₁‖₂ / ‖S₁ᵀKS₁ + shift·I‖₂;
        where that is 0, the result is zero, as that of the unshifted method.
    threshold : float, default=1e-12
        Eigenvalues of the core below this share of the largest are dropped.
    """

    alpha: float = option(1.5, NUMBER)
    oversampling: float = option(2.0, FACTOR)
    shift_columns: bool = option(True, FLAG)
    threshold: float = option(THRESHOLD, NUMBER)
    rescaled: ClassVar[bool] = False
    needs_symmetric: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count s₁ columns, and what the larger square adds to them."""
        more = self._square_size(planner.n, landmarks) - landmarks
        return planner.price_of_columns(landmarks) + planner.price_of_square(more)

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Read s₁ columns and the S₂ × S₂ square; shift by its smallest eigenvalue."""
        n = oracle.shape[0]
        columns = oracle.columns(landmarks)
        others = np.setdiff1d(np.arange(n), landmarks)
        more = self._square_size(n, len(landmarks)) - len(landmarks)
        sample = np.concatenate([landmarks, rng.permutation(others)[:more]])
        shift = max(0.0, -self.alpha * smallest_eigenvalue(oracle.block(sample, sample)))
        square = columns[landmarks]
        shifted = square + shift * np.eye(len(landmarks))
        core = symmetric_inverse(shifted, self.threshold)
        if self.rescaled and shift > 0:
            core = core * _rescaling(shifted, square)
        if self.shift_columns and shift > 0:
            columns = columns.copy()
            columns[landmarks, np.arange(len(landmarks))] += shift
        return Fit(columns, core, left_landmarks=landmarks)

    def memory(self, planner: Planner, landmarks: int) -> int:
        """Count the columns, and a copy of them with the shift on their own entries."""
        return 2 * super().memory(planner, landmarks)

    def _square_size(self, n: int, landmarks: int) -> int:
        return max(landmarks, min(n, ceil(self.oversampling * landmarks)))


@dataclass(frozen=True)
class RescaledSMSNystrom(SMSNystrom):
    """SMS-Nyström with its core brought back to the size of the unshifted one."""

    rescaled: ClassVar[bool] = True


def _rescaling(shifted: FloatArray, square: FloatArray) -> float:
    """Return 1/β; 0 for landmarks without similarities, whose unshifted core has no inverse."""
    size = float(np.linalg.norm(square, 2))
    return float(np.linalg.norm(shifted, 2)) / size if size > 0 else 0.0


def smallest_eigenvalue(matrix: FloatArray) -> float:
    """Return λmin of a symmetric matrix, by Lanczos iterations when it is large and they end."""
    n = len(matrix)
    if n >= _LARGE:
        start = np.cos(np.arange(n))  # fixed, so that the same run gives the same bits
        try:
            found = eigsh(
                matrix,
                k=1,
                which="SA",
                v0=start,
                tol=1e-8,
                maxiter=n // _SIZE_PER_ROUND,
                return_eigenvectors=False,
            )
            return float(found[0])
        except ArpackNoConvergence:
            pass
    return float(np.linalg.eigvalsh(matrix)[0])
