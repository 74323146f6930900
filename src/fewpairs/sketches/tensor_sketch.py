"""CountSketch and TensorSketch: random projections that keep inner products and their powers.

References
----------
Pham, Pagh, *Fast and scalable polynomial kernels via explicit feature maps*; Han, Avron, Shin,
*Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, Algorithms 1 and 2.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.fft
import scipy.sparse as sp
from numba import njit

from fewpairs.arrays import IntArray
from fewpairs.numerics import parts
from fewpairs.parallel import COMPILED, announce

#: Numbers of a sketch that are transformed at a time: with their transform about 2 MB, which stay
#: in the cache. Fewer rows than 128 at a time would be slow for what each call costs besides.
_STRIP_NUMBERS, _FEWEST_ROWS, _MOST_ROWS = 2**17, 128, 4096


@dataclass(frozen=True, eq=False)
class CountSketch:
    """A random projection that adds each coordinate, with a random sign, to one of a few places.

    Parameters
    ----------
    places : ndarray of int64
        Where each coordinate is added.
    signs : ndarray of int8
        ±1 of each coordinate.
    size : int
        Number of places.
    """

    places: IntArray
    signs: npt.NDArray[np.int8]
    size: int

    @classmethod
    def draw(cls, dimensions: int, size: int, rng: np.random.Generator) -> CountSketch:
        """Draw places and signs."""
        signs = (2 * rng.integers(0, 2, dimensions) - 1).astype(np.int8)
        return cls(rng.integers(0, size, dimensions), signs, size)

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        """Sketch each row of an array or a csr_array; float32 stays float32."""
        result = np.zeros((rows.shape[0], self.size), dtype=rows.dtype)
        if sp.issparse(rows):
            announce(_count_sparse, "the sketch")
            _count_sparse(rows.data, rows.indices, rows.indptr, self.places, self.signs, result)
        else:
            announce(_count_dense, "the sketch")
            _count_dense(rows, self.places, self.signs, result)
        return result


@njit(**COMPILED)
def _count_dense(rows, places, signs, result):
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            result[i, places[k]] += signs[k] * rows[i, k]


@njit(**COMPILED)
def _count_sparse(data, columns, pointers, places, signs, result):
    for i in range(len(pointers) - 1):
        for p in range(pointers[i], pointers[i + 1]):
            k = columns[p]
            result[i, places[k]] += signs[k] * data[p]


class TensorSketch:
    """Sketches T⁽ʲ⁾u of the tensors u ⊗ … ⊗ u of every degree j up to the highest.

    The inner product ⟨T⁽ʲ⁾u, T⁽ʲ⁾v⟩ is ⟨u, v⟩ʲ in the mean over all draws. The sketch of a degree
    is that of the degree before, convolved with one more CountSketch of u.

    Parameters
    ----------
    dimensions : int
        Of the vectors.
    size : int
        Of the sketch of each degree.
    degree : int
        The highest.
    rng : numpy Generator

    Attributes
    ----------
    size, degree : int
    counts : list of CountSketch

    Examples
    --------
    >>> sketch = TensorSketch(3, 64, 2, np.random.default_rng(0))
    >>> [power.shape for power in sketch.powers(np.eye(3))]
    [(3, 64), (3, 64)]
    """

    def __init__(self, dimensions: int, size: int, degree: int, rng: np.random.Generator) -> None:
        self.size, self.degree = size, degree
        self.counts = [CountSketch.draw(dimensions, size, rng) for _ in range(degree)]

    def powers(self, rows: Any, workers: int = 1) -> Iterator[npt.NDArray[Any]]:
        """Yield the sketches of degree 1, 2, … of the rows of an array or a csr_array."""
        transform = None
        for count in self.counts:
            counted = count(rows)
            if self.degree == 1:
                yield counted
                return
            spectrum = scipy.fft.rfft(counted, axis=1, workers=workers)
            if transform is None:
                transform = spectrum
                yield counted
            else:
                transform *= spectrum
                yield scipy.fft.irfft(transform, n=self.size, axis=1, workers=workers)

    def power(self, rows: Any, workers: int = 1) -> npt.NDArray[Any]:
        """Return the sketch of the highest degree alone, which takes one inverse transform."""
        result = np.empty((rows.shape[0], self.size), dtype=rows.dtype)
        strip = max(_FEWEST_ROWS, min(_MOST_ROWS, _STRIP_NUMBERS // self.size))
        for part in parts(rows.shape[0], strip):
            some = rows[part]
            if self.degree == 1:
                result[part] = self.counts[0](some)
                continue
            transform = scipy.fft.rfft(self.counts[0](some), axis=1, workers=workers)
            for count in self.counts[1:]:
                transform *= scipy.fft.rfft(count(some), axis=1, workers=workers)
            result[part] = scipy.fft.irfft(transform, n=self.size, axis=1, workers=workers)
        return result
