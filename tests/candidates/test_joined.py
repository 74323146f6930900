"""Vectors whose columns lie in several arrays: they read like one array, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.candidates import largest_products
from fewpairs.candidates.joined import Columns, Joined, part_of


def pieces(n, seed=0):
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=shape).astype(np.float32) for shape in ((n, 3), (n,), (n, 2))]
    return [Columns(v, np.float32(w)) for v, w in zip(values, (0.3, 1.0, -1.7), strict=True)]


def array_of(columns):
    return np.column_stack([values * weight for values, weight in columns])


def test_rows_are_those_of_the_array():
    joined, whole = Joined(pieces(20)), array_of(pieces(20))
    assert joined.shape == whole.shape
    assert len(joined) == 20
    for rows in (
        slice(None),
        slice(3, 11),
        slice(0, 20, 7),
        np.array([4, 4, 0]),
        np.array([], int),
    ):
        found = joined[rows]
        assert found.dtype == np.float32
        assert found.flags.c_contiguous
        assert found.tobytes() == whole[rows].tobytes()
    for vectors in (joined, whole):
        np.testing.assert_array_equal(part_of(vectors, slice(5, 9))[:], whole[5:9])


def test_a_part_is_not_read():
    joined = Joined(pieces(20))
    part = part_of(joined, slice(5, 9))
    assert all(
        np.shares_memory(mine.values, all_of.values)
        for mine, all_of in zip(part._pieces, joined._pieces, strict=True)
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("square", [True, False])
def test_the_largest_products_are_those_of_arrays(exact, square):
    left, right = pieces(900), pieces(900, seed=0 if square else 1)
    both = [
        largest_products(*sides, 400, np.random.default_rng(0), square=square, exact=exact)
        for sides in ((Joined(left), Joined(right)), (array_of(left), array_of(right)))
    ]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*both, strict=True))
    assert len(both[0].rows) == 400
