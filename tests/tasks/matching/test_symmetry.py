"""A similarity that is declared symmetric and is not: refused, at a known price."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter

import fewpairs as fp
from fewpairs.errors import AsymmetryError
from fewpairs.tasks.matching.symmetry import check_symmetry, pairs_to_check
from fewpairs.tasks.matching.universe import Universe

ANSWERS = {
    "find_pairs": lambda items, how, **more: fp.find_pairs(items, how, above=0.5, **more),
    "find_nearest": lambda items, how, **more: fp.find_nearest(items, how, k=3, **more),
    "recall_of": lambda items, how, **more: fp.recall_of(
        [(0, 1), (2, 3)], items, how, above=0.5, **more
    ),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("n", [60, 600])  # of few items a block is cut in other ways
def test_what_is_not_symmetric_is_refused_before_much_is_paid(answer, kind, n):
    counter = Counter(np.random.default_rng(0).random((n, n)))
    options = {} if answer == "recall_of" else {"guide": np.arange(n)[:, None] + 0.0}
    with pytest.raises(AsymmetryError, match="declared symmetric") as caught:
        ANSWERS[answer](range(n), counter.similarity(kind), random_state=0, **options)
    assert len(counter.asked) == caught.value.oracle.evaluations == 16


@pytest.mark.parametrize("answer", ["find_nearest", "recall_of"])
@pytest.mark.parametrize("budget", [1, 3, 4, 10, 40, 200, 779, 780, 820])
def test_the_check_is_counted_and_within_the_budget(answer, budget):
    matrix = np.random.default_rng(0).random((40, 40))
    counter = Counter(matrix + matrix.T)
    if answer == "recall_of" and budget == 1:
        budget = 2  # both candidates must be paid for
    stated = ANSWERS[answer](range(40), counter.similarity("pairs"), random_state=0, budget=budget)
    assert len(counter.asked) == stated.evaluations <= budget
    twice = len(counter.asked) - len(counter.unordered)
    room = budget - (2 if answer == "recall_of" else 0)
    # Where all pairs can be paid for, other orders are asked for only from what is left then.
    assert twice == min(8, room // 4 if room < 780 else room - 780)
    if answer == "find_nearest":
        assert stated.spent["symmetry"] == 2 * twice


def test_pairs_that_are_evaluated_anyway_cost_their_other_order_alone():
    counter = Counter(np.ones((30, 30)))
    oracle = fp.Oracle(range(30), counter.similarity("pair"))
    universe = Universe(30, 30, square=True, symmetric=True)
    candidates = universe.everything()[:5]
    keys = pairs_to_check(oracle, universe, 400, np.random.default_rng(0), candidates)
    assert check_symmetry(oracle, universe, keys) == 16
    assert set(zip(*universe.places(candidates), strict=True)) <= counter.unordered
    oracle.entries(*universe.places(candidates))
    assert oracle.evaluations == 16


def test_what_is_proven_or_not_declared_is_not_asked_twice():
    universe = Universe(30, 30, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    proven = fp.Oracle(range(30), fp.Precomputed(np.eye(30)))
    assert not len(pairs_to_check(proven, universe, 400, rng))
    counter = Counter(np.random.default_rng(0).random((30, 30)))
    undeclared = fp.Oracle(range(30), counter.similarity("pair", symmetric=False))
    nothing = pairs_to_check(undeclared, universe, 400, rng)
    assert check_symmetry(undeclared, universe, nothing) == 0
    assert not counter.asked
