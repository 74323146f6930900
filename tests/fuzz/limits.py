"""How far the fuzzing goes. Every range that may be widened is here."""

from __future__ import annotations

import os

#: Matrices are multiplied by powers of ten between minus this and this.
LARGEST_EXPONENT = 300
#: The largest number of items. Small in pytest; benchmarks/reliability/fuzz.py raises it.
MOST_ITEMS = int(os.environ.get("FEWPAIRS_FUZZ_ITEMS", "40"))
#: Promises that are known to be broken, and are not asked for. Take a line away to ask for it.
BROKEN: frozenset[str] = frozenset()


def kept(promise: str) -> bool:
    """Whether a promise is asked for."""
    return promise not in BROKEN
