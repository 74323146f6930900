"""The CUR family: skeleton, SiCUR, StaCUR. They take asymmetric similarities as they are.

References
----------
Ray, Monath, McCallum, Musco, *Sublinear Time Approximation of Text Similarity Matrices*,
section 3. U = (n/s)(KS₁S₁ᵀK)⁻¹S₁ᵀKS₂ is read as (n/s)(CᵀC)⁺(S₂ᵀC)ᵀ with C = KS₁: only then do
the shapes fit, and it is the estimator of CᵀK from sampled rows that the name refers to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.base import Fit, Method
from fewpairs.methods.inverses import THRESHOLD, general_inverse, symmetric_inverse
from fewpairs.methods.options import FLAG, NUMBER, option
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner


@dataclass(frozen=True)
class Skeleton(Method):
    """C (S₂ᵀKS₁)⁺ R with C = KS₁ and R = S₂ᵀK, two independent halves of the landmarks.

    Parameters
    ----------
    threshold : float, default=1e-12
        Singular values of the core below this share of the largest are dropped.
    """

    threshold: float = option(THRESHOLD, NUMBER)
    streams: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count s/2 columns and s/2 rows."""
        left, right = halves(np.arange(landmarks))
        return planner.price_of_lines(len(left), len(right), landmarks)

    def columns_read(self, landmarks: int) -> int:
        """Count the first half."""
        return len(halves(np.arange(landmarks))[0])

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,  # noqa: ARG002
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Read columns S₁ and rows S₂; their crossing is inverted."""
        s1, s2 = halves(landmarks)
        return crossing(oracle, landmarks, s1, s2, self.threshold)


@dataclass(frozen=True)
class SiCUR(Method):
    """The skeleton with S₁ a random half of S₂: a tall crossing is never nearly singular.

    Parameters
    ----------
    threshold : float, default=1e-12
        Singular values of the core below this share of the largest are dropped.
    """

    threshold: float = option(THRESHOLD, NUMBER)
    streams: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count s rows, and s/2 of their columns."""
        return planner.price_of_lines(self.columns_read(landmarks), landmarks, landmarks)

    def columns_read(self, landmarks: int) -> int:
        """Count half of the landmarks."""
        return max(1, landmarks // 2)

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,  # noqa: ARG002
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Read columns S₁ and rows S₂ ⊃ S₁; their crossing is inverted."""
        # Landmarks come in random order, so the first half is a random half.
        s1 = landmarks[: self.columns_read(len(landmarks))]
        return crossing(oracle, landmarks, s1, landmarks, self.threshold)


@dataclass(frozen=True)
class StaCUR(Method):
    """C U R with U = (n/s)(CᵀC)⁺(S₂ᵀC)ᵀ: no parameter to tune, and no blow-up.

    Parameters
    ----------
    same : bool, default=True
        S₁ = S₂, StaCUR(s); False takes two halves, StaCUR(d).
    threshold : float, default=1e-12
        Eigenvalues of CᵀC below this share of the largest are dropped.
    """

    same: bool = option(True, FLAG)
    threshold: float = option(THRESHOLD, NUMBER)

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count s columns and the same s rows, or s/2 and s/2."""
        if self.same:
            return planner.price_of_lines(landmarks, landmarks, landmarks)
        left, right = halves(np.arange(landmarks))
        return planner.price_of_lines(len(left), len(right), landmarks)

    def columns_read(self, landmarks: int) -> int:
        """Count all landmarks, or the first half."""
        return landmarks if self.same else len(halves(np.arange(landmarks))[0])

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,  # noqa: ARG002
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Read columns S₁ and rows S₂; the core is a sampled least-squares fit."""
        s1, s2 = (landmarks, landmarks) if self.same else halves(landmarks)
        left, right = read(oracle, landmarks, s1, s2)
        scale = oracle.shape[0] / len(s2)
        core = scale * symmetric_inverse(left.T @ left, self.threshold) @ left[s2].T
        return Fit(left, core, right, s1, s2)


def halves(landmarks: IntArray) -> tuple[IntArray, IntArray]:
    """Split landmarks in two; a single one serves on both sides."""
    if len(landmarks) == 1:
        return landmarks, landmarks
    middle = len(landmarks) // 2
    return landmarks[:middle], landmarks[middle:]


def read(
    oracle: Oracle, landmarks: IntArray, s1: IntArray, s2: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return K S₁ and (S₂ᵀK)ᵀ, both tall."""
    if oracle.symmetric:
        oracle.columns(landmarks)  # all at once, so that each half is a view of one array
        return oracle.columns(s1), oracle.columns(s2)
    return oracle.columns(s1), oracle.rows(s2).T


def crossing(
    oracle: Oracle, landmarks: IntArray, s1: IntArray, s2: IntArray, threshold: float
) -> Fit:
    """Return C (S₂ᵀKS₁)⁺ R."""
    left, right = read(oracle, landmarks, s1, s2)
    return Fit(left, general_inverse(left[s2], threshold), right, s1, s2)
