"""Whether something is a number, and whether a whole one; booleans are neither."""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np


def is_whole(value: object) -> TypeGuard[int]:
    """Say whether this is an integer, Python's or NumPy's."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Say whether this is a finite real number, Python's or NumPy's."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return math.isfinite(value)
