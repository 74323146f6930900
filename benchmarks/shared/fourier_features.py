"""Random Fourier features: the usual way to features of the Gaussian kernel, and the rival here.

References
----------
Rahimi, Recht, *Random features for large-scale kernel machines*.
"""

from __future__ import annotations

import numpy as np


def fourier_features(X: np.ndarray, n_features: int, gamma: float, random_state: int) -> np.ndarray:
    """Cosines and sines along random directions, for exp(−γ·|x − y|²).

    Half of the features are cosines and half are sines, which has a smaller variance than single
    cosines with random phases; an odd number of features is rounded down.
    """
    half = max(1, n_features // 2)
    normal = np.random.default_rng(random_state).normal(size=(X.shape[1], half))
    angles = X @ (normal * np.sqrt(2 * gamma))
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(half)
