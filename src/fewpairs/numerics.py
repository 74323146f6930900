"""Small computations that several rooms need, each written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import BoolArray, FloatArray, IntArray

#: Pairs of a long list that are looked up or asked for at a time: some megabytes meanwhile.
PAIRS_AT_A_TIME = 2**20
#: So many values are put in order at once, in place of being counted again.
_FEW_TO_ORDER = 2**20


def parts(length: int, size: int = 4096) -> Iterator[slice]:
    """Cut ``range(length)`` into slices of at most `size`, so that temporary arrays stay small."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def tall_times(
    tall: npt.NDArray[Any], small: FloatArray, out: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Return tall · small in double precision; one of single precision is read in parts.

    They are written to `out`, if it is given, in its precision.
    """
    if tall.dtype == np.float64 and out is None:
        return np.asarray(tall @ small)
    result = np.empty((len(tall), *small.shape[1:])) if out is None else out
    for part in parts(len(tall)):
        result[part] = double(tall[part]) @ small
    return result


def times_tall(tall: npt.NDArray[Any], x: FloatArray) -> FloatArray:
    """Return tallᵀ · x in double precision; one of single precision is read in parts."""
    if tall.dtype == np.float64:
        return np.asarray(tall.T @ x)
    result = np.zeros((tall.shape[1], *x.shape[1:]))
    for part in parts(len(tall)):
        result += double(tall[part]).T @ x[part]
    return result


def double(block: npt.NDArray[Any]) -> FloatArray:
    """Return a block in double precision, for sums over what is kept in single precision."""
    return block.astype(np.float64, copy=False)


def largest(values: npt.NDArray[Any], count: int) -> IntArray:
    """Return the places of the `count` largest values, best first, ties by place."""
    count = min(count, len(values))
    if count < 1:
        return np.empty(0, dtype=np.int64)
    best = np.argpartition(-values, count - 1)[:count]
    return np.asarray(best[np.lexsort((best, -values[best]))])


def contains(keys: IntArray, wanted: IntArray) -> BoolArray:
    """Say which of `wanted` are among `keys`, which are in order."""
    found = np.zeros(len(wanted), dtype=bool)
    if len(keys):
        for part in parts(len(wanted), PAIRS_AT_A_TIME):
            place = np.minimum(np.searchsorted(keys, wanted[part]), len(keys) - 1)
            found[part] = keys[place] == wanted[part]
    return found


def distinct(*values: IntArray) -> IntArray:
    """Return all different integers of some arrays, in order.

    By sorting: NumPy's own ``unique`` and ``union1d`` of large integers take ten times as long.
    """
    ordered = np.concatenate(values)
    ordered.sort()
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return np.asarray(ordered[first])


def exponent(values: npt.NDArray[Any]) -> int:
    """Return e with 2^(e-1) <= the largest magnitude < 2^e; 0 where all values are zero.

    Times 2^-e they lie within 1, no digit is changed, and squares can be summed.
    """
    return frexp(max(float(values.max(initial=0)), -float(values.min(initial=0))))[1]


def median(blocks: Callable[[], Iterator[FloatArray]]) -> float:
    """Return the median of all values, exactly, from blocks that are read several times.

    It is found digit by digit: of whole numbers in the same order as the values, the first 16 bits
    of the middle one are known once they are counted, then the next. Once few values begin like
    it, they are put in order.

    Parameters
    ----------
    blocks : callable
        Returns an iterator over arrays of finite numbers, the same ones each time.

    Returns
    -------
    float
    """
    total = sum(block.size for block in blocks())
    first, last = (total - 1) // 2, total // 2
    values = _ordered_as(blocks, first, last)
    return float(np.mean(values[: 1 + last - first]))


def _ordered_as(blocks: Callable[[], Iterator[FloatArray]], first: int, last: int) -> list[float]:
    """Return the values at two neighbouring places, from 0, in the order of size."""
    found, below, shift = np.uint64(0), 0, 64
    while shift:
        shift -= 16
        counts = np.zeros(2**16, dtype=np.int64)
        for keys in _beginning_like(blocks, found, shift + 16):
            digits = (keys >> np.uint64(shift)) & np.uint64(0xFFFF)
            counts += np.bincount(digits.astype(np.int64), minlength=2**16)
        ends = below + np.cumsum(counts)
        digit = int(np.searchsorted(ends, first, side="right"))
        if ends[digit] <= last:  # they differ here: each is found alone
            return [_ordered_as(blocks, place, place)[0] for place in (first, last)]
        below = int(ends[digit] - counts[digit])
        found |= np.uint64(digit) << np.uint64(shift)
        if counts[digit] <= _FEW_TO_ORDER:
            few = np.sort(np.concatenate(list(_beginning_like(blocks, found, shift))))
            return [_from_key(few[place - below]) for place in (first, last)]
    return [_from_key(found)] * 2


def _beginning_like(
    blocks: Callable[[], Iterator[FloatArray]], found: np.uint64, shift: int
) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield whole numbers in the order of the values, of those that begin with the same bits."""
    for block in blocks():
        bits = np.ascontiguousarray(block + 0.0).view(np.uint64).ravel()  # -0.0 becomes 0.0
        if shift < 64:  # noqa: PLR2004 - a shift by all bits is undefined
            bits = bits[bits >> np.uint64(shift) == _bits_of(found) >> np.uint64(shift)]
        negative = bits >> np.uint64(63) == 1
        yield np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _bits_of(key: np.uint64) -> np.uint64:
    """Return the bits of the value that a whole number in the order of values stands for."""
    return np.uint64(key ^ np.uint64(1 << 63) if key >> np.uint64(63) == 1 else ~key)


def _from_key(key: np.uint64) -> float:
    return float(np.array([_bits_of(key)], dtype=np.uint64).view(np.float64)[0])


def row_squares(rows: Any) -> FloatArray:
    """Return the squared length of each row, of an array or a sparse matrix."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))


def ridge_inverse(
    values: FloatArray, shares: npt.ArrayLike, largest_value: float | None = None
) -> FloatArray:
    """Return λ / (λ² + (δλ₀)²): an inverse that is never larger than 1 / (2δλ₀).

    Parameters
    ----------
    values : ndarray
        Eigenvalues or singular values λ.
    shares : float or array that broadcasts
        δ, the ridge as a share of λ₀.
    largest_value : float, optional
        λ₀; by default the largest |λ|, or 1 where all are zero.

    Returns
    -------
    ndarray
    """
    scale = largest_value or float(np.abs(values).max(initial=0)) or 1.0
    # Scaled first, so that no square over- or underflows.
    scaled = values / scale
    return np.asarray(scaled / (scaled**2 + np.asarray(shares) ** 2) / scale)


def fix_signs(columns: FloatArray) -> FloatArray:
    """Make the largest entry of each column positive.

    An eigenvector is determined up to its sign, which otherwise depends on the LAPACK in use.
    """
    if columns.size == 0:
        return columns
    largest_entry = np.abs(columns).argmax(axis=0)
    signs = np.sign(columns[largest_entry, np.arange(columns.shape[1])])
    return columns * np.where(signs == 0, 1.0, signs)


def most_affordable(price: Callable[[int], int], most: int, room: int, *, least: int = 0) -> int:
    """Return the largest count from `least` to `most` whose price is within `room`.

    Prices must not fall as the count grows; `least` itself is not priced.
    """
    low, high = least, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if price(middle) <= room else (low, middle - 1)
    return low
