"""Types that pass between rooms, what counts as a number, and the one source of randomness."""

from __future__ import annotations

import math
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError, MaskedError

FloatArray: TypeAlias = npt.NDArray[np.float64]
SingleArray: TypeAlias = npt.NDArray[np.float32]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def is_whole(value: object) -> TypeGuard[int]:
    """Say whether this is an integer, Python's or NumPy's; booleans are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Say whether this is a finite real number, Python's or NumPy's; booleans are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return math.isfinite(value)


def is_masked(value: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Say whether this is one of NumPy's masked arrays or scalars."""
    # An array of NumPy's own class is none; only the others are worth loading numpy.ma for.
    subclass = isinstance(value, np.ndarray) and type(value) is not np.ndarray
    return subclass and isinstance(value, np.ma.MaskedArray)


def unmasked(value: Any, name: str) -> Any:
    """Return what a user passes as an array; refuse one with masked values, by its name.

    Nothing in fewpairs could leave single values out, and `numpy.asarray` would show what is under
    the mask. Wherever arrays come in, they come through here.
    """
    parts = value if isinstance(value, (list, tuple)) else (value,)
    count = sum(int(np.sum(np.ma.getmaskarray(part))) for part in parts if is_masked(part))
    if count:
        raise MaskedError(
            f"{name} has {count:,} masked values.",
            "A masked value is missing, and what is stored under the mask would be used for it.",
            "Fill them with array.filled(…), or leave their rows out.",
        )
    return value.data if is_masked(value) else value


def check_gamma(gamma: object) -> float:
    """Return a kernel's γ, the factor of the distance, if it is a positive number."""
    if not is_number(gamma) or gamma <= 0:
        raise InputError(
            f"gamma is {gamma!r}.",
            "It says how fast the similarity falls with the distance.",
            "Pass a positive number, for example 1.0.",
        )
    return float(gamma)


def generator(random_state: RandomState) -> np.random.Generator:
    """Make the one generator of a run; global random state is neither read nor changed.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        The same integer gives the same run; None gives a fresh one.

    Returns
    -------
    numpy.random.Generator
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None:
        return np.random.default_rng()
    if is_whole(random_state):
        if random_state >= 0:
            return np.random.default_rng(int(random_state))
        raise InputError(
            f"random_state is {random_state}.",
            "A seed must be a non-negative integer.",
            "Pass for example random_state=0, or None for a fresh run.",
        )
    raise InputError(
        f"random_state is a {type(random_state).__name__}.",
        "The same seed must give the same result, so it must be something that can be repeated.",
        "Pass an integer, a numpy Generator, a RandomState, or None.",
    )
