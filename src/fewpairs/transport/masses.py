"""What may be moved: masses that are finite, not negative, and equal in sum on both sides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError

#: Sums that differ by a larger share are a mistake; by a smaller one, rounding of weights that were
#: divided by their sum.
_SAME_MASS = 1e-8


def read_masses(masses: npt.ArrayLike, name: str) -> FloatArray:
    """Return masses as an array; refuse what is no mass, by the argument's name and the place."""
    array = np.array(masses, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(
            f"{name} has the shape {array.shape}.",
            "There is one mass for each place.",
            "Pass a list of masses.",
        )
    bad = np.flatnonzero(~(array >= 0) | ~np.isfinite(array))
    if len(bad):
        raise InputError(
            f"{name}[{bad[0]}] is {array[bad[0]]}, which is no mass.",
            "A mass is a finite number, 0 or more.",
            "Remove or repair it.",
        )
    return array


def refuse_unequal(a: FloatArray, b: FloatArray) -> None:
    """Refuse masses whose sums differ by more than rounding."""
    if abs(a.sum() - b.sum()) > _SAME_MASS * max(a.sum(), b.sum()):
        raise InputError(
            f"a sums to {a.sum():.9g} and b to {b.sum():.9g}.",
            "All that leaves must arrive.",
            "Divide each by its sum.",
        )
