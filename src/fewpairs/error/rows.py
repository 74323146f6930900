"""A share stated from whole rows: the rows are what chance has drawn, not the entries in them.

`K.check` reports by it: a ratio, for rows that hold different numbers of entries, with an interval
by Student's t that is about half as wide as what holds for any rows, and may fail where few rows
hold most of what is wrong. Nothing is claimed by it. Where a search stops because its statement is
good enough, as that of `find_nearest` does, only the bound of shares.py will do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import CONFIDENCE


class Share(NamedTuple):
    """A share with its 95 % interval.

    Attributes
    ----------
    value : float
        NaN where the rows hold nothing to take a share of.
    low, high : float
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "unknown"
        if self.low == self.high:
            return f"{self.value:.3g}"
        # Rounded outwards, so that what is printed is not surer than what was found.
        low, high = np.floor(100 * self.low) / 100, np.ceil(100 * self.high) / 100
        return f"{self.value:.2f} (95 % interval {low:.2f} to {high:.2f})"


def share_of_rows(hits: FloatArray, totals: FloatArray, rows: int) -> Share:
    """State Σ hits / Σ totals of all rows from some that were drawn at random.

    What lies in one row is found or missed together, so that n_eff = (Σt)²/Σt² rows tell, however
    many entries they hold. Two more of their size w = Σt²/Σt are imagined, one all hits and one
    none: where every drawn row is perfect, the next need not be. With R and the residuals
    e = h − R·t of these n_eff + 2, se² = Σe²·(n_eff + 2)/(n_eff + 1)/(Σt + 2w)²; the interval is
    R ± t·se with Student's t at n_eff + 1 degrees of freedom, narrowed by √(1 − drawn/rows).

    Parameters
    ----------
    hits, totals : ndarray
        For each drawn row: how many of its entries count, of how many.
    rows : int
        Rows that could be drawn.

    Returns
    -------
    Share
    """
    size = float(totals.sum())
    if size == 0:
        return Share(float("nan"), 0.0, 1.0)
    value = float(hits.sum()) / size
    weight = float(totals @ totals) / size
    counted = size / weight + 2
    whole = size + 2 * weight
    middle = (float(hits.sum()) + weight) / whole
    residuals = hits - middle * totals
    squares = float(residuals @ residuals) + weight**2 * (middle**2 + (1 - middle) ** 2)
    deviation = float(scipy.special.stdtrit(counted - 1, (1 + CONFIDENCE) / 2)) * float(
        np.sqrt(squares * counted / (counted - 1)) / whole
    )
    left = float(np.sqrt(max(1 - len(totals) / rows, 0)))
    low = min(max(middle - deviation, 0.0), value)
    high = max(min(middle + deviation, 1.0), value)
    return Share(value, value - (value - low) * left, value + (high - value) * left)
