"""Rows and an error that tests of sketches share."""

from __future__ import annotations

import numpy as np


def rows(n=300, d=6, seed=0, scale=0.4):
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def relative(K, exact):
    """The relative Frobenius error of a factored matrix."""
    return np.linalg.norm(K.to_dense() - exact) / np.linalg.norm(exact)
