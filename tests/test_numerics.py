"""Small computations that several rooms need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewpairs import numerics
from fewpairs.numerics import median

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=9), min_size=1, max_size=6))
def test_the_median_of_blocks_is_that_of_all(blocks):
    arrays = [np.array(block) for block in blocks]
    with np.errstate(over="ignore"):
        assert median(lambda: iter(arrays)) == np.median(np.concatenate(arrays))


@settings(deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=9), min_size=1, max_size=6))
def test_the_median_is_found_digit_by_digit_where_many_values_begin_alike(blocks):
    arrays = [np.array(block) for block in blocks]
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        patch.setattr(numerics, "_FEW_TO_ORDER", 0)
        assert median(lambda: iter(arrays)) == np.median(np.concatenate(arrays))


@pytest.mark.parametrize("few", [0, 50, 2**20])
@pytest.mark.parametrize("size", [1000, 1001])
def test_the_median_of_close_values_of_both_signs(monkeypatch, few, size):
    rng = np.random.default_rng(size)
    values = 1e-3 * rng.normal(size=size)
    values[::3] = -0.0
    values[1::7] = 1 + 1e-15 * rng.integers(0, 9, len(values[1::7]))
    monkeypatch.setattr(numerics, "_FEW_TO_ORDER", few)
    for shifted in (values, values + 1, -1 - values, values.round(3)):
        assert median(lambda: iter(np.array_split(shifted, 7))) == np.median(shifted)  # noqa: B023
