"""All pairs: counted, named and drawn uniformly."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.numerics import contains
from fewpairs.tasks.matching.universe import Universe

KINDS = [
    Universe(7, 7, square=True, symmetric=True),
    Universe(7, 7, square=True, symmetric=False),
    Universe(5, 9, square=False, symmetric=False),
]


@pytest.mark.parametrize("universe", KINDS, ids=["symmetric", "asymmetric", "two sets"])
def test_every_pair_has_one_key(universe):
    keys = universe.everything()
    assert len(np.unique(keys)) == len(keys) == universe.size
    rows, columns = universe.places(keys)
    np.testing.assert_array_equal(universe.keys(rows, columns), keys)
    assert not universe.square or (rows != columns).all()
    assert not universe.symmetric or (rows < columns).all()


@pytest.mark.parametrize("universe", KINDS, ids=["symmetric", "asymmetric", "two sets"])
def test_lines_are_all_pairs_of_some_items(universe):
    rows, columns = np.array([1, 3]), np.array([2])
    keys = universe.lines(rows, columns)
    i, j = universe.places(universe.everything())
    wanted = np.isin(i, rows) | np.isin(j, columns)
    if universe.symmetric:
        wanted |= np.isin(j, rows) | np.isin(i, columns)
    np.testing.assert_array_equal(keys, universe.everything()[wanted])


@pytest.mark.parametrize("n", [12, 90])
@pytest.mark.parametrize("symmetric", [True, False])
def test_draws_are_uniform_different_and_not_taken(n, symmetric):
    """Both ways of drawing: from a list of all pairs, and by chance from many."""
    universe = Universe(n, n, square=True, symmetric=symmetric)
    every = universe.everything()
    taken = every[::3]
    free = every[~contains(taken, every)]
    counts = np.zeros(n * n, dtype=int)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        drawn = universe.draw(20, taken, rng)
        assert len(np.unique(drawn)) == len(drawn) == 20
        assert (np.diff(drawn) > 0).all()
        counts[drawn] += 1
    assert counts.sum() == counts[free].sum() == 40_000
    expected = 40_000 / len(free)
    chi2 = ((counts[free] - expected) ** 2 / expected).sum()
    assert abs(chi2 - len(free)) < 5 * np.sqrt(2 * len(free))


def test_no_more_are_drawn_than_there_are():
    universe = KINDS[0]
    assert len(universe.draw(1000, np.empty(0, int), np.random.default_rng(0))) == 21
    assert len(universe.draw(5, universe.everything(), np.random.default_rng(0))) == 0
