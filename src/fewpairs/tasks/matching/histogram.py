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
        Pairs of all, as the blind ones show them: each stands for as many as it was drawn from.
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
    every = np.concatenate([found, blind])
    edges = np.histogram_bin_edges(every if len(every) else np.array([0.0, 1.0]), int(bins))
    return Histogram(
        edges,
        np.histogram(found, edges)[0].astype(np.float64),
        np.histogram(blind, edges)[0] * stands_for,
    )
