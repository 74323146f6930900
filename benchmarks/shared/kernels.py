"""Gaussian kernels of real rows, and their errors, for the benchmarks of f(UVᵀ)."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.shared.fourier_features import fourier_features
from benchmarks.shared.measures import relative
from fewpairs import datasets
from fewpairs.sketches import regression
from fewpairs.sketches.exact import GaussianKernel
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.sampling import Sampler

#: Errors of a kernel: the mean squared relative error of an entry (that of the authors' code), and
#: the relative Frobenius error.
Errors = tuple[float, float]
#: Names of the rows; `synthetic` are normal.
DATA = ("synthetic", "segment", "usps")
#: γ times the mean squared distance: entries are around 0.9 at 0.1, and around 0.4 at 1.
BANDWIDTHS = (0.1, 1.0)


def rows(name: str, count: int = 1000) -> np.ndarray:
    """So many rows of a data set."""
    rng = np.random.default_rng(0)
    if name == "synthetic":
        return rng.normal(size=(count, 50)) / np.sqrt(50)
    with np.load(datasets.benchmark_folder() / name / "data.npz") as file:
        x = file["X"].astype(np.float64)
    return x[rng.permutation(len(x))[:count]]


class Kernel:
    """An exact Gaussian kernel, and its form Z·exp(UUᵀ)·Z with a diagonal Z."""

    def __init__(self, x: np.ndarray, bandwidth: float) -> None:
        self.x = x - x.mean(axis=0)
        distances = ((self.x[:300, None] - self.x[None, :300]) ** 2).sum(axis=2)
        self.gamma = bandwidth / distances.mean()
        self.u = self.x * np.sqrt(2 * self.gamma)
        self.z = np.exp(-(self.u**2).sum(axis=1) / 2)
        self.exact = self.z[:, None] * np.exp(self.u @ self.u.T) * self.z

    def errors(self, guess: np.ndarray) -> Errors:
        """How far a whole matrix is from the kernel."""
        return float(np.mean((guess / self.exact - 1) ** 2)), relative(guess, self.exact)

    def sketched(
        self, degree: int, size: int, seed: int, *, unshifted: bool = False, **options: Any
    ) -> Errors:
        """Errors of one draw of a polynomial sketch.

        `unshifted` takes the weights that the paper's theorem gives to each power as they are.
        """
        how = SketchOptions(degree, size, **{"exact_terms": False} | options)
        rng = np.random.default_rng(seed)
        shift = 0 if unshifted else regression.SHIFT
        with patch.object(regression, "SHIFT", shift):
            sampler = Sampler(GaussianKernel(self.u, self.u), rng)
            made = make_map(np.exp, self.u, self.u, how, rng=rng, sampler=sampler)
        features = made(self.u)
        guess = (features * made.signs) @ features.T
        return self.errors(self.z[:, None] * guess * self.z)

    def by_fourier_features(self, columns: int, seed: int) -> Errors:
        """Errors of one draw of random Fourier features."""
        features = fourier_features(self.x, columns, self.gamma, seed)
        return self.errors(features @ features.T)
