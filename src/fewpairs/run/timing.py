"""How long one evaluation takes, from a few of them; and durations for people."""

from __future__ import annotations

from math import isqrt

import numpy as np

from fewpairs.oracle.oracle import Oracle

#: Timed samples grow until they have taken this long: enough to see past one call's overhead. They
#: end earlier at this share of all pairs, within these numbers: little beside any run that is worth
#: planning.
_SAMPLE_SECONDS, _SAMPLE_SHARE, _SMALLEST_SAMPLE, _LARGEST_SAMPLE = 0.05, 0.02, 512, 20_000


def seconds_per_evaluation(oracle: Oracle) -> float | None:
    """Time growing blocks; the fastest was disturbed least. None if every pair was known."""
    n, planner = min(oracle.shape), oracle.planner
    share = int(_SAMPLE_SHARE * planner.price_of_everything)
    most = oracle.evaluations + min(_LARGEST_SAMPLE, max(_SMALLEST_SAMPLE, share))
    oracle.block([0], [n - 1])  # a first call may load or compile something, which is not timed
    rates = []
    passed, row, side = 0.0, 0, 1
    while side and row < n and passed < _SAMPLE_SECONDS:
        # New rows for each block, so that nothing is asked twice.
        rows, columns = np.arange(row, min(n, row + 4 * side)), np.arange(n - side, n)
        # By the oracle's own clock: to open a journal for one block may take longer than the block.
        before, start = oracle.evaluations, oracle.seconds
        oracle.block(rows, columns)
        took, asked = oracle.seconds - start, oracle.evaluations - before
        if asked:
            rates.append(took / asked)
        passed, row = passed + took, row + len(rows)
        left = max(0, most - oracle.evaluations) // planner.per_entry
        side = min(2 * side, isqrt(left // 4), n)
    return min(rates, default=None)


def format_seconds(seconds: float) -> str:
    """Write a duration for people: ``3.2 s``, ``4 min``, ``1.5 h``."""
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.2g} s"
    if seconds < 3600:  # noqa: PLR2004 - an hour
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
