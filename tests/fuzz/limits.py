"""How far the fuzzing goes. Every range that may be widened is here."""

from __future__ import annotations

import os

#: Matrices are multiplied by powers of ten between minus this and this.
LARGEST_EXPONENT = 60
#: The largest number of items. Small in pytest; benchmarks/reliability/fuzz.py raises it.
MOST_ITEMS = int(os.environ.get("FEWPAIRS_FUZZ_ITEMS", "40"))
#: Promises that are known to be broken, and are not asked for. Take a line away to ask for it.
BROKEN = frozenset(
    {
        "budget: a selection that reads columns of an asymmetric matrix",
        "budget: a target",
        "plan: a similarity that is written as a block",
        "plan: a target",
        "statement: nothing is exact if a block similarity was asked for pairs twice",
        "statement: no error in a few pairs is no error at all",
        "methods: sms-rescaled where landmarks have no similarities among themselves",
        "faults: what a call had evaluated before Ctrl-C is counted and kept",
        "faults: what a block similarity has answered of a list of pairs is kept",
        "faults: what is answered between a wrong answer and an exception is kept",
        "faults: a masked answer is refused",
    }
)


def kept(promise: str) -> bool:
    """Whether a promise is asked for."""
    return promise not in BROKEN
