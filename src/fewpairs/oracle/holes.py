"""Stand-ins for pairs without a value, so that a column that lacks a few can be used.

An item's similarities with the landmarks tell of each other: a missing one is predicted from those
that are there, by the best linear rule that the other items show. Stand-ins are no evaluations:
nothing is stated of them, and the error of a result is that of all other pairs.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray

#: Added to the covariances, as a share of their mean variance: columns that nearly repeat each
#: other would otherwise be trusted to the last digit.
_RIDGE = 1e-3
#: The covariances are worked out with what stands in so far. Four rounds are far better than one,
#: and more are no better.
_ROUNDS = 4


def stand_ins(values: FloatArray) -> FloatArray:
    """Return columns with every NaN replaced by what the rest of its row suggests.

    With the means μ and covariances Σ of the columns, the missing part m of a row z with the other
    part o has the expectation μ_m − P_mm⁻¹·P_mo·(z_o − μ_o), where P = Σ⁻¹.

    Parameters
    ----------
    values : ndarray of shape (n, s)

    Returns
    -------
    ndarray of shape (n, s)
    """
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    scale = float(np.max(np.abs(values), initial=0.0, where=~gaps)) or 1.0
    plain = np.where(gaps, 0.0, values) / scale
    present = np.maximum((~gaps).sum(axis=0), 1)
    means = plain.sum(axis=0) / present
    seen = np.where(gaps, 0.0, plain - means)
    centred = seen.copy()
    for _ in range(_ROUNDS):
        covariance = centred.T @ centred / len(centred)
        variance = float(np.trace(covariance)) / len(means) or 1.0
        precision = scipy.linalg.inv(covariance + _RIDGE * variance * np.eye(len(means)))
        for row in np.flatnonzero(gaps.any(axis=1)):
            missing = np.flatnonzero(gaps[row])
            among = precision[np.ix_(missing, missing)]
            # What was seen is zero where it is missing, so that only the other part counts.
            centred[row, missing] = -np.linalg.solve(among, precision[missing] @ seen[row])
    filled: FloatArray = np.where(gaps, (centred + means) * scale, values)
    # No prediction leaves the range of what was seen.
    low = np.min(values, initial=np.inf, where=~gaps)
    high = np.max(values, initial=-np.inf, where=~gaps)
    return np.where(gaps, np.clip(filled, low, high), values) if low <= high else filled
