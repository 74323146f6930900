"""CountSketch and TensorSketch: inner products and their powers from short random projections.

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
from fewpairs.parallel import announce

#: Rows whose terms are worked on at a time; and numbers of a single power, whose transforms then
#: stay in the cache.
_ROWS, _NUMBERS = 1024, 2**17
_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "boundscheck": False}


@dataclass(frozen=True, eq=False)
class CountSketch:
    """Adds every coordinate, with a random sign, to one of few places.

    Parameters
    ----------
    places : ndarray of int64, one for each coordinate
    signs : ndarray of ±1
    size : int
        Number of places.
    """

    places: IntArray
    signs: npt.NDArray[np.int8]
    size: int

    @classmethod
    def draw(cls, dimensions: int, size: int, rng: np.random.Generator) -> CountSketch:
        """Draw hashes and signs."""
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


@njit(**_COMPILED)
def _count_dense(rows, places, signs, result):
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            result[i, places[k]] += signs[k] * rows[i, k]


@njit(**_COMPILED)
def _count_sparse(data, columns, pointers, places, signs, result):
    for i in range(len(pointers) - 1):
        for p in range(pointers[i], pointers[i + 1]):
            k = columns[p]
            result[i, places[k]] += signs[k] * data[p]


class TensorSketch:
    """Sketches of the powers 1 … degree of the tensor u ⊗ … ⊗ u.

    ⟨T⁽ʲ⁾u, T⁽ʲ⁾v⟩ is ⟨u, v⟩ʲ in the mean, for the same sketch of both. Degrees share their work:
    the next one is the last one, convolved with one more CountSketch.

    Parameters
    ----------
    dimensions : int
        Of the vectors.
    size : int
        Of each sketch.
    degree : int
    rng : numpy Generator

    Examples
    --------
    >>> sketch = TensorSketch(3, 64, 2, np.random.default_rng(0))
    >>> [power.shape for power in sketch.powers(np.eye(3))]
    [(3, 64), (3, 64)]
    """

    def __init__(self, dimensions: int, size: int, degree: int, rng: np.random.Generator) -> None:
        self.size = size
        self.counts = [CountSketch.draw(dimensions, size, rng) for _ in range(degree)]

    def powers(self, rows: Any, workers: int = 1) -> Iterator[npt.NDArray[Any]]:
        """Give the sketches of degree 1, 2, …, for each row of an array or a csr_array."""
        transform = None
        for count in self.counts:
            counted = count(rows)
            if len(self.counts) == 1:
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
        """Return the sketch of the highest degree alone: one transform back for all degrees."""
        result = np.empty((rows.shape[0], self.size), dtype=rows.dtype)
        for part in parts(rows.shape[0], max(128, min(4 * _ROWS, _NUMBERS // self.size))):
            some = rows[part]
            if len(self.counts) == 1:
                result[part] = self.counts[0](some)
                continue
            transform = scipy.fft.rfft(self.counts[0](some), axis=1, workers=workers)
            for count in self.counts[1:]:
                transform *= scipy.fft.rfft(count(some), axis=1, workers=workers)
            result[part] = scipy.fft.irfft(transform, n=self.size, axis=1, workers=workers)
        return result


def parts(n: int, size: int = _ROWS) -> list[slice]:
    """Cut rows into parts of a fixed size."""
    return [slice(k, min(k + size, n)) for k in range(0, n, size)]
