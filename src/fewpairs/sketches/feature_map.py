"""A map from rows to features whose signed inner products are f of the rows' inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.parallel import one_blas_thread
from fewpairs.sketches.monomials import Monomials
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.tensor_sketch import TensorSketch, parts


@dataclass(frozen=True, eq=False)
class Terms:
    """Blocks of columns, one for each coefficient: 1, monomials by degree, sketches by degree.

    Parameters
    ----------
    radius : float
        Rows are divided by its square root.
    monomials : Monomials or None
        None sketches everything.
    sketch : TensorSketch
    first : int
        The lowest degree that is sketched.
    """

    radius: float
    monomials: Monomials | None
    sketch: TensorSketch
    first: int = 1

    @property
    def widths(self) -> list[int]:
        """Columns of each block."""
        exact = [] if self.monomials is None else [int(k) for k in self.monomials.counts if k]
        return [1, *exact, *[self.sketch.size] * (len(self.sketch.counts) - self.first + 1)]

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Return all columns of rows, dense or sparse; float32 stays float32."""
        # A column is contiguous: monomials are built one column at a time.
        columns = np.empty((sum(self.widths), rows.shape[0]), dtype=rows.dtype)
        scaled = rows * (1 / np.sqrt(self.radius)).astype(rows.dtype)
        columns[0] = 1
        end = 1
        if self.monomials is not None:
            end += len(self.monomials.parents)
            self.monomials.fill(columns[1:end], scaled)
        if self.first <= len(self.sketch.counts):
            for degree, power in enumerate(self.sketch.powers(scaled), 1):
                if degree >= self.first:
                    start, end = end, end + self.sketch.size
                    columns[start:end] = power.T
        return columns.T


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Rows x ↦ terms of x, times a vector of scales or a matrix of leading directions.

    Parameters
    ----------
    polynomial : Polynomial
        That the coefficients come from, or started from.
    terms : Terms
    left, right : ndarray of shape (p,) or (p, k)
        For the rows of U and of V; one and the same array where they are the same.
    signs : ndarray of shape (k,)
        ±1 of each feature.
    """

    polynomial: Polynomial
    terms: Terms
    left: FloatArray
    right: FloatArray
    signs: FloatArray

    def __call__(self, rows: Any, *, side: str = "left", n_jobs: int = 1) -> npt.NDArray[Any]:
        """Return the features of rows, dense or sparse; float32 stays float32."""
        weights = (self.left if side == "left" else self.right).astype(rows.dtype)
        result = np.empty((rows.shape[0], len(self.signs)), dtype=rows.dtype)

        def fill(part: slice) -> None:
            columns = self.terms(rows[part])
            if weights.ndim == 1:
                np.multiply(columns, weights, out=result[part])
            else:
                np.matmul(columns, weights, out=result[part])

        with one_blas_thread():
            joblib.Parallel(n_jobs, require="sharedmem")(
                joblib.delayed(fill)(part) for part in parts(rows.shape[0])
            )
        return result
