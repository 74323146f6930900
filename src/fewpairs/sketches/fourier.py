"""Random Fourier features: the usual way to features of the Gaussian kernel, as a rival.

References
----------
Rahimi, Recht, *Random features for large-scale kernel machines*.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, RandomState, generator


def fourier_features(
    X: npt.ArrayLike, n_features: int, gamma: float, random_state: RandomState = None
) -> FloatArray:
    """Return cosines and sines along random directions, for exp(−γ·|x − y|²).

    Parameters
    ----------
    X : array of shape (n, d)
    n_features : int
        Half of them cosines, half sines, which has the smaller variance.
    gamma : float
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ndarray of shape (n, n_features), n_features rounded down to an even number
    """
    rows = np.asarray(X, dtype=np.float64)
    half = max(1, n_features // 2)
    directions = generator(random_state).normal(size=(rows.shape[1], half)) * np.sqrt(2 * gamma)
    angles = rows @ directions
    return np.asarray(np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(half))
