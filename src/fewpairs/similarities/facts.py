"""Facts that a similarity declares, looked at before anything is called."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from fewpairs.arrays import is_whole, unmasked
from fewpairs.errors import InputError


def is_async(function: Any) -> bool:
    """Say whether calling a function gives something to be awaited."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def check_diagonal(diagonal: Any) -> float:
    """Return a declared Δ(x, x) if it is a finite number."""
    plain = unmasked(diagonal, "diagonal")
    try:
        value = float(plain)
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not np.isfinite(value):
        raise InputError(
            f"diagonal is {diagonal!r}.",
            "It stands for the similarity of every item with itself, and is never evaluated.",
            "Pass a finite number, or None to have it evaluated.",
        )
    return value


def check_block_size(size: Any) -> int | tuple[int, int] | None:
    """Check a preferred block size: None, a number of entries, or (rows, columns)."""
    pair = isinstance(size, tuple) and len(size) == 2  # noqa: PLR2004 - rows and columns
    parts: Sequence[Any] = size if pair else (size,)
    if size is None or all(is_whole(part) and part > 0 for part in parts):
        checked: int | tuple[int, int] | None = size
        return checked
    raise InputError(
        f"block_size is {size!r}.",
        "It is the number of entries that one call of the similarity gets.",
        "Pass a positive integer, or a pair (rows, columns).",
    )


def check_value_range(ends: Any) -> tuple[float, float] | None:
    """Check a declared range: None, or the smallest and the largest value."""
    if ends is None:
        return None
    try:
        low, high = (float("nan") if isinstance(end, str) else float(end) for end in ends)
    except (TypeError, ValueError, OverflowError):
        low, high = 1.0, 0.0
    if low <= high:  # either may be infinite
        return low, high
    raise InputError(
        f"value_range is {ends!r}.",
        "It has the smallest and the largest value; a threshold outside of them is refused.",
        "Pass a pair such as (0.0, 1.0), or None where they are not known.",
    )
