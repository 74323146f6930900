"""A map from rows to features, whose signed inner products are f of inner products of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.numerics import parts
from fewpairs.parallel import one_blas_thread, require_memory
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.monomials import Monomials
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.sampling import Entries
from fewpairs.sketches.tensor_sketch import TensorSketch

#: Rows whose terms are computed at a time: with 400 terms 3 MB, which stay in the cache.
_STRIP_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns of which features are made, in blocks: one coefficient belongs to each block.

    The first block is the constant 1; then come exact monomials, one block for each degree; then
    sketches of the degrees from `first` on, one block for each.

    Parameters
    ----------
    radius : float
        Rows are divided by its square root, so that inner products lie in [−1, 1].
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
        return [1, *exact, *[self.sketch.size] * (self.sketch.degree - self.first + 1)]

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Return all columns of rows, dense or sparse; float32 stays float32."""
        # Columns are contiguous in memory, because monomials are built one column at a time.
        columns = np.empty((sum(self.widths), rows.shape[0]), dtype=rows.dtype)
        scaled = rows * (1 / np.sqrt(self.radius)).astype(rows.dtype)
        columns[0] = 1
        end = 1
        if self.monomials is not None:
            end += len(self.monomials.parents)
            self.monomials.fill(columns[1:end], scaled)
        if self.first <= self.sketch.degree:
            for degree, power in enumerate(self.sketch.powers(scaled), 1):
                if degree >= self.first:
                    start, end = end, end + self.sketch.size
                    columns[start:end] = power.T
        return columns.T


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Features of a row: its terms, each times a number, or all times a matrix.

    Parameters
    ----------
    polynomial : Polynomial or None
        That the coefficients are, or that tuning them started from; None where terms are columns
        of landmarks.
    terms : Terms, or another callable of rows
    left, right : ndarray of shape (p,) or (p, k)
        What the p terms of rows of U and of V are multiplied by; one and the same array where U and
        V are the same.
    signs : ndarray of shape (k,)
        ±1 of each feature, for inner products.
    right_terms : callable of rows, optional
        Terms of rows of V, where they are others than those of U.
    scale : callable of rows, optional
        Returns what all features of a row are multiplied by, or None for 1.
    """

    polynomial: Polynomial | None
    terms: Any
    left: FloatArray
    right: FloatArray
    signs: FloatArray
    right_terms: Callable[[Any], npt.NDArray[Any]] | None = None
    scale: Callable[[Any], FloatArray | None] | None = None

    def __call__(self, rows: Any, *, side: str = "left", n_jobs: int = 1) -> npt.NDArray[Any]:
        """Return the features of rows, dense or sparse; float32 stays float32."""
        weights = self.left if side == "left" else self.right
        terms = self.terms if side == "left" else self.right_terms or self.terms
        shape = rows.shape[0], len(self.signs)
        require_memory(
            rows.dtype.itemsize * shape[0] * shape[1],
            f"{shape[1]:,} features of {shape[0]:,} rows",
            "Ask for fewer columns, or for fewer rows at a time",
        )
        result = np.empty(shape, dtype=rows.dtype)

        def fill(part: slice) -> None:
            some = rows[part]
            columns = terms(some)
            of_type = weights.astype(columns.dtype, copy=False)
            result[part] = columns * of_type if weights.ndim == 1 else columns @ of_type
            scales = None if self.scale is None else self.scale(some)
            if scales is not None:
                result[part] *= scales[:, None].astype(rows.dtype)

        strips = list(parts(rows.shape[0], _STRIP_ROWS))
        with one_blas_thread():
            if n_jobs == 1 or len(strips) == 1:
                for part in strips:
                    fill(part)
            else:
                joblib.Parallel(n_jobs, require="sharedmem")(
                    joblib.delayed(fill)(part) for part in strips
                )
        return result

    def of_both(self, exact: Exact, n_jobs: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return the features of all rows of both sides of a matrix, as float64."""
        left = self(exact.left, n_jobs=n_jobs).astype(np.float64, copy=False)
        if exact.symmetric:
            return left, left
        right = self(exact.right, side="right", n_jobs=n_jobs)
        return left, right.astype(np.float64, copy=False)


def feature_products(
    entries: Entries,
    sides: tuple[Any, Any],
    of_left: Callable[[Any], npt.NDArray[Any]],
    of_right: Callable[[Any], npt.NDArray[Any]],
) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Multiply the features of each entry's row by those of its column, feature by feature.

    Many entries share rows, whose features are computed once.

    Parameters
    ----------
    entries : Entries
    sides : tuple
        U and V.
    of_left, of_right : callable
        From rows of U and of V to features.

    Yields
    ------
    tuple
        A slice of the entries, and its products: one row for each entry, one column for each
        feature.
    """
    rows, row = np.unique(entries.rows, return_inverse=True)
    columns, column = np.unique(entries.columns, return_inverse=True)
    u, v = of_left(sides[0][rows]), of_right(sides[1][columns])
    for part in parts(len(row), _STRIP_ROWS):
        yield part, u[row[part]] * v[column[part]]
