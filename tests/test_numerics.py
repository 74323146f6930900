"""Small computations that several rooms need."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fewpairs.numerics import median

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=9), min_size=1, max_size=6))
def test_the_median_of_blocks_is_that_of_all(blocks):
    arrays = [np.array(block) for block in blocks]
    with np.errstate(over="ignore"):
        assert median(lambda: iter(arrays)) == np.median(np.concatenate(arrays))
