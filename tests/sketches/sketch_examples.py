"""Rows and an error that tests of sketches share."""

from __future__ import annotations

import numpy as np


def rows(n=300, d=6, seed=0, scale=0.4):
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def relative(K, exact):
    """The relative Frobenius error of a factored matrix."""
    return np.linalg.norm(K.to_dense() - exact) / np.linalg.norm(exact)


def narrow(n=1500, d=22):
    """Rows near a plane, and γ = 10 over their mean squared distance."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + 0.1 * rng.normal(size=(n, d))
    distances = ((x[:300, None] - x[None, :300]) ** 2).sum(axis=2)
    return x, 10 / distances.mean()
