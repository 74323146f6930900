"""A weighted mean of several similarities, some of which are missing here and there."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError


class Mean:
    """A weighted mean, to which fields are added one by one.

    Parameters
    ----------
    shape : tuple of int
    missing : "skip" or float
        What takes the place of a field that is missing.
    nothing : float, default=0.0
        The mean where there is no field at all.
    """

    def __init__(self, shape: tuple[int, ...], missing: str | float, nothing: float = 0.0) -> None:
        self._total, self._weights = np.zeros(shape), np.zeros(shape)
        self._missing, self._nothing = missing, nothing

    def add(self, weight: float, places: tuple[Any, ...], values: FloatArray | float) -> None:
        """Add one field's similarities at `places`; elsewhere it is missing."""
        if isinstance(self._missing, float):
            part = np.full(self._total.shape, weight * self._missing)
            part[places] = weight * np.asarray(values)
            self._total += part
            self._weights += weight
        else:
            self._total[places] += weight * np.asarray(values)
            self._weights[places] += weight

    @property
    def values(self) -> FloatArray:
        """The mean, or what stands for it where there is nothing."""
        nothing: FloatArray = np.full(self._total.shape, self._nothing)
        return np.divide(self._total, self._weights, out=nothing, where=self._weights > 0)


def scaled_weights(weights: list[float]) -> list[float]:
    """Return weights whose sum is below 1, times a power of two: no digit of a mean changes."""
    largest = np.frexp(max(weights))[1] + len(weights).bit_length()
    scaled = [float(np.ldexp(weight, -largest)) for weight in weights]
    if min(scaled) < np.finfo(float).tiny:
        raise InputError(
            f"the weights of the fields lie between {min(weights)!r} and {max(weights)!r}.",
            "The smallest would count for nothing beside the largest.",
            "Pass weights of similar size, such as 1 and 2.",
        )
    return scaled
