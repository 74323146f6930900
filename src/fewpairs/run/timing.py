"""How long one evaluation takes, from a few of them; and durations for people."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import isqrt

import numpy as np

from fewpairs.oracle.oracle import Oracle

#: Timed samples grow until they have taken this long: enough to see past one call's overhead. They
#: end earlier at this share of all pairs, within these numbers: little beside any run that is worth
#: planning.
_SAMPLE_SECONDS, _SAMPLE_SHARE, _SMALLEST_SAMPLE, _LARGEST_SAMPLE = 0.05, 0.02, 512, 20_000
#: Of runs that are over in so many seconds it does not matter whether all pairs would be quicker.
_LONG = 5.0


def largest_sample(all_pairs: int) -> int:
    """Return how many evaluations a timed sample takes at the most."""
    share = int(_SAMPLE_SHARE * all_pairs)
    return min(_LARGEST_SAMPLE, max(_SMALLEST_SAMPLE, share), all_pairs)


def seconds_per_evaluation(oracle: Oracle) -> float | None:
    """Time growing blocks; the fastest was disturbed least. None if every pair was known."""
    n, planner = min(oracle.shape), oracle.planner
    most = oracle.evaluations + largest_sample(planner.price_of_everything)
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


@contextmanager
def beside_all_pairs(oracle: Oracle, all_pairs: int, call: str) -> Iterator[None]:
    """Say at the end of a run, beside its bar, if all pairs would have been quicker.

    A warning would come by chance, as the machine is busy or not. Whoever has said what an
    evaluation costs is not told: time is not all that counts.

    Parameters
    ----------
    oracle : Oracle
    all_pairs : int
        Evaluations that all pairs take.
    call : str
        How to ask for them.
    """
    started, asked, passed = time.perf_counter(), oracle.evaluations, oracle.seconds
    yield
    took, bought = time.perf_counter() - started, oracle.evaluations - asked
    expected = (oracle.seconds - passed) / max(bought, 1) * all_pairs
    if took < _LONG or oracle.planner.cost is not None or not 0 < expected < took:
        return
    oracle.tell(
        f"all {all_pairs:,} pairs would take about {format_seconds(expected)} of the "
        f"{format_seconds(took)} that this run has taken, and {call}"
    )


def format_seconds(seconds: float) -> str:
    """Write a duration for people: ``3.2 s``, ``4 min``, ``1.5 h``."""
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.2g} s"
    if seconds < 3600:  # noqa: PLR2004 - an hour
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
