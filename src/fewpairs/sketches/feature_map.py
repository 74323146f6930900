"""Poly-TensorSketch as a map: rows to features whose signed inner products are f of theirs.

Beyond the paper, three things are exact or fitted where it sketches: the constant; the linear term,
on the leading principal axes of the data; and the coefficients, which are tuned to the sketch that
was drawn, on sampled entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as la
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.sketches.polynomial import (
    Function,
    Polynomial,
    evaluated,
    fit_polynomial,
    solved,
    squares,
)
from fewpairs.sketches.tensor_sketch import TensorSketch, parts

#: Sampled entries on which coefficients are tuned, for each of them.
_ENTRIES = 500


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Rows x ↦ (1, A·x, T⁽²⁾x, …, T⁽ʳ⁾x), scaled by √|cⱼ|, with the signs of cⱼ beside.

    Parameters
    ----------
    polynomial : Polynomial
    sketch : TensorSketch
    axes : ndarray of shape (d, p) or None
        For the linear term; None where it is sketched as well.
    """

    polynomial: Polynomial
    sketch: TensorSketch
    axes: FloatArray | None

    @property
    def widths(self) -> list[int]:
        """Columns of each degree."""
        linear = self.sketch.size if self.axes is None else self.axes.shape[1]
        degree = self.polynomial.degree
        return [1, linear, *[self.sketch.size] * (degree - 1)][: degree + 1]

    @property
    def signs(self) -> FloatArray:
        """±1 of each column."""
        signs = np.where(self.polynomial.coefficients < 0, -1.0, 1.0)
        return np.repeat(signs, self.widths)

    def __call__(self, rows: Any, workers: int = 1) -> npt.NDArray[Any]:
        """Return the features of rows, dense or sparse; float32 stays float32."""
        scales = np.sqrt(np.abs(self.polynomial.coefficients))
        ends = np.cumsum(self.widths)
        result = np.empty((rows.shape[0], ends[-1]), dtype=rows.dtype)
        for part in parts(rows.shape[0]):
            for degree, block in enumerate(self._powers(rows[part], workers)):
                columns = slice(ends[degree] - self.widths[degree], ends[degree])
                result[part, columns] = scales[degree] * block
        return result

    def _powers(self, rows: Any, workers: int) -> Any:
        """Give 1, then the linear term, then the sketches, of rows over the square root of a."""
        scaled = rows * (1 / np.sqrt(self.polynomial.radius)).astype(rows.dtype)
        yield np.ones((rows.shape[0], 1))
        for degree, power in enumerate(self.sketch.powers(scaled, workers), 1):
            linear = degree == 1 and self.axes is not None
            yield np.asarray(scaled @ self.axes) if linear else power

    def tuned(
        self,
        function: Function,
        left: Any,
        right: Any,
        rng: np.random.Generator,
        *,
        nonnegative: bool,
        weights: FloatArray | None,
    ) -> FeatureMap:
        """Choose the coefficients again, for the sketch as it was drawn.

        Least squares on sampled entries: as many unknowns as degrees, hundreds of entries for
        each. Bounds on variances are not needed when the values themselves are at hand.
        """
        count = _ENTRIES * (self.polynomial.degree + 1)
        i, j = rng.integers(0, left.shape[0], count), rng.integers(0, right.shape[0], count)
        matter = np.ones(count) if weights is None else weights[i] * weights[j]
        if left is right:
            # Entries of the diagonal are the largest: some must be there, at their due weight.
            some = count // 50
            j[:some] = i[:some]
            matter[:some] = 1.0 if weights is None else weights[i[:some]] ** 2
            matter[:some] *= np.sqrt(min(1.0, 50 / left.shape[0]))
        one = replace(self, polynomial=replace(self.polynomial, coefficients=self._ones))
        left_rows, right_rows = left[i], right[j]
        products = one(left_rows) * one(right_rows)
        starts = np.cumsum([0, *self.widths[:-1]])
        design = np.add.reduceat(products, starts, axis=1).astype(np.float64)
        exact = evaluated(function, row_products(left_rows, right_rows))
        found = solved(design * matter[:, None], exact * matter, nonnegative=nonnegative)
        return replace(self, polynomial=self.polynomial.with_coefficients(found, function))

    @property
    def _ones(self) -> FloatArray:
        return np.ones_like(self.polynomial.coefficients)


def row_products(left: Any, right: Any) -> FloatArray:
    """Return the inner product of row k with row k."""
    if sp.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right, dtype=np.float64))


def make_map(
    function: Function,
    left: Any,
    right: Any,
    *,
    degree: int,
    size: int,
    choice: str,
    n_centers: int,
    exact_linear: bool,
    nonnegative: bool,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> FeatureMap:
    """Fit the polynomial, draw the sketch, and divide the columns.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
    degree, size : int
        At most degree·size + 1 columns come out.
    choice : str
        As for `fit_polynomial`, or "tuned".
    n_centers : int
    exact_linear : bool
        Take the linear term on principal axes instead of sketching it.
    nonnegative : bool
    rng : numpy Generator
    weights : ndarray, optional
        How much each row's entries matter, for "tuned"; left and right are the same then.

    Returns
    -------
    FeatureMap
    """
    tune = choice == "tuned"
    axes = None
    if exact_linear and degree >= 1:
        # At most half of the columns, and at least one is left for every other power.
        most = min(max(size, degree * size // 2), degree * (size - 1) + 1)
        axes = principal_axes(left, right, most)
        if degree > 1:
            size = max(1, (degree * size - axes.shape[1]) // (degree - 1))
    polynomial = fit_polynomial(
        function, left, right, degree, size,
        choice="coreset" if tune else choice, n_centers=n_centers, nonnegative=nonnegative,
        exact=0 if axes is None else 1, rng=rng,
    )  # fmt: skip
    sketch = TensorSketch(left.shape[1], size, degree, rng)
    made = FeatureMap(polynomial, sketch, axes)
    if not tune:
        return made
    return made.tuned(function, left, right, rng, nonnegative=nonnegative, weights=weights)


def principal_axes(left: Any, right: Any, most: int) -> FloatArray:
    """Return orthonormal axes on which the linear term is kept; all of them if there are few."""
    d = left.shape[1]
    if d <= most:
        return np.eye(d)
    both = [left] if right is left else [left, right]
    gram = np.zeros((d, d))
    for rows in both:
        product = rows.T @ rows
        product = product.toarray() if sp.issparse(product) else product
        gram += product / max(float(squares(rows).sum()), 1e-300)
    _, vectors = la.eigh(gram, subset_by_index=[d - most, d - 1])
    return np.asarray(vectors[:, ::-1])
