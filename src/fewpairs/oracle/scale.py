"""One power of two for a run: whatever the size of the numbers, their squares can be summed."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.numerics import exponent
from fewpairs.oracle.known import Known

#: Values whose largest magnitude lies within 2^±100, about 1e±30, are taken as they are.
_ORDINARY = 100
#: Scaled values above 2^240 are too large: of some, fourth powers are summed, over all pairs.
_LARGEST = 240


class OutgrownError(Exception):
    """Values came that are too large for a scale that was found from smaller ones.

    Attributes
    ----------
    scale : Scale
        One that they fit.
    """

    def __init__(self, scale: Scale) -> None:
        super().__init__("values have outgrown the scale of the run")
        self.scale = scale


class Scale:
    """Multiplies values by 2^power, found from the first that are not all zero.

    Scaling by a power of two changes no digit, so that a run on scaled values gives the scaled
    result, bit for bit. Numbers of ordinary size are not touched, and not copied.

    Parameters
    ----------
    power : int or None, default=None
        Even, so that its half can be given to each of two factors. None has it found.
    near_one : bool, default=False
        Whether values of ordinary size, too, are brought near 1: what is compared with vectors of
        length one must not depend on the unit of the similarity.
    """

    def __init__(self, power: int | None = None, *, near_one: bool = False) -> None:
        self._power = power
        self._near_one = near_one

    @property
    def power(self) -> int:
        """The power of two; 0 as long as every value was zero."""
        return self._power or 0

    def of(self, values: FloatArray) -> FloatArray:
        """Return values as the run sees them; they must be finite."""
        if not values.any():
            return values
        size = exponent(values)
        if self._power is None:
            self._power = self._power_for(size)
        if size + self._power > _LARGEST:
            raise OutgrownError(Scale(self._power_for(size), near_one=self._near_one))
        return self._times(values)

    def of_known(self, known: Known) -> Known:
        """Return what is known as the run sees it."""
        if known.diagonal is not None:
            self.of(known.diagonal)  # it may be declared, and never have been read
        return known if self.power == 0 else known.mapped(self._times)

    def _times(self, values: FloatArray) -> FloatArray:
        if self.power == 0:
            return values
        scaled = np.ldexp(values, self.power)
        scaled.flags.writeable = False
        return scaled

    def _power_for(self, size: int) -> int:
        """Return the even power that brings 2^size close to 1; 0 for ordinary sizes."""
        ordinary = 0 if self._near_one else _ORDINARY
        return 0 if abs(size) <= ordinary else -size + size % 2
