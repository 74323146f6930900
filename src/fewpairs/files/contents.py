"""What the arrays of a file may hold. What does not fit raises; `archive.unpacking` says where."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.numerics import parts


def require(fits: Any, otherwise: str) -> None:
    """Raise ValueError, to be told with the name of the file, unless something fits."""
    if not fits:
        raise ValueError(otherwise)


def are_positions(index: npt.NDArray[Any], length: int) -> bool:
    """Say whether an array holds positions among `length` things."""
    whole = index.ndim == 1 and index.dtype == np.int64
    return whole and bool(np.all((index >= 0) & (index < length)))


def are_numbers(values: npt.NDArray[Any], shape: tuple[int, ...]) -> bool:
    """Say whether an array holds finite numbers, and so many of them."""
    plain = values.shape == shape and values.dtype.kind == "f"
    return plain and all_finite(values)


def all_finite(values: npt.NDArray[Any]) -> bool:
    """Say whether all numbers are finite; some rows at a time, for there may be many."""
    if not values.ndim:
        return bool(np.isfinite(values))
    return all(bool(np.isfinite(values[part]).all()) for part in parts(len(values), 2**16))
