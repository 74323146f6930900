"""How similarities are spread: those of matches exactly, all others as blind pairs show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError


class Histogram(NamedTuple):
    """Numbers of pairs by similarity.

    Attributes
    ----------
    edges : ndarray
        Of the bins, one more than there are bins.
    found : ndarray
        Pairs in the answer, exactly counted.
    expected : ndarray
        Pairs of all, as blind ones and a like share of those reached before show them.
        Zero where none was drawn.
    """

    edges: FloatArray
    found: FloatArray
    expected: FloatArray


def histogram_of(found: FloatArray, blind: FloatArray, stands_for: float, bins: int) -> Histogram:
    """Count similarities of pairs that were found, and of pairs that were drawn blindly."""
    if not is_whole(bins) or bins < 1:
        raise InputError(
            f"bins is {bins!r}.", "It is a number of intervals.", "Pass a positive integer."
        )
    edges = _edges(np.concatenate([found, blind]), int(bins))
    return Histogram(
        edges,
        np.histogram(found, edges)[0].astype(np.float64),
        np.histogram(blind, edges)[0] * stands_for,
    )


def _edges(values: FloatArray, bins: int) -> FloatArray:
    """Return evenly spaced edges around all values, different ones however close these are."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    # Each bin must be wider than the distance of neighbouring numbers. In halves, because the
    # width of all of them may be larger than any number.
    half = 2 * bins * float(np.spacing(max(abs(low), abs(high)) / 2))
    if high / 2 - low / 2 < half:
        limit = float(np.finfo(np.float64).max)
        low, high = max(low - half, -limit), min(high + half, limit)
    halves = np.clip(np.linspace(low / 2, high / 2, bins + 1), low / 2, high / 2)
    edges = 2 * halves
    edges[0], edges[-1] = low, high  # half of the smallest number is zero
    return np.asarray(edges)
