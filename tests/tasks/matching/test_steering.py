"""When to draw, when to buy landmarks, and how many blind matches the search need not reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fewpairs.error.recall import blind_pairs
from fewpairs.tasks.matching.steering import Steering


def steering(*, guided=True, allowed=None, n=1000, price=9_955):
    pairs = n * (n - 1) // 2
    return Steering(n, pairs, pairs if allowed is None else allowed, 0.95, guided, price)


def after(batches, **options):
    """A steering that was told of batches (size, matches)."""
    result = steering(**options)
    for size, matches in batches:
        result.ranked_batch(size, matches)
    return result


# ---------------------------------------------------------------------- leave to miss


@pytest.mark.parametrize("ranked", [1_000, 5_000, 20_000, 60_000])
@pytest.mark.parametrize("last", [0, 20, 200])
def test_as_many_may_be_missed_as_make_drawing_and_ranking_cheapest(ranked, last):
    """Unreached matches fall with the square of what was ranked, and end at a gamma's median."""
    state = after([(3 * ranked // 4, min(3_000, ranked // 2)), (ranked - 3 * ranked // 4, last)])
    rest = state.all_pairs - ranked
    unreached = last / (ranked - 3 * ranked // 4) * ranked / 2

    def cost(missed):
        blind = blind_pairs(0.95, state.found, rest, missed=missed)
        ends = unreached * blind / rest / stats.gamma.ppf(0.5, missed + 1)
        return blind + min(max(ranked * (np.sqrt(ends) - 1), 0), rest - blind)

    costs = [cost(missed) for missed in range(9)]
    assert costs[state.may_miss] < 1.01 * min(costs)  # the median is rounded
    assert state.price == blind_pairs(0.95, state.found, rest, missed=state.may_miss)


def test_an_expensive_search_may_miss_some_and_a_cheap_one_none():
    assert after([(500, 500), (500, 10)]).may_miss == 0
    assert after([(20_000, 3_000), (5_000, 200)]).may_miss > 0


def test_within_a_budget_nothing_may_be_missed():
    assert after([(20_000, 3_000)], allowed=200_000).may_miss == 0


# ---------------------------------------------------------------------- landmarks


def test_without_a_guide_landmarks_come_first():
    state = steering(guided=False)
    assert state.wants_landmarks(drawn=False)
    state.bought_landmarks(9_945, 10)
    assert not state.wants_landmarks(drawn=False)
    # Once as much was ranked as they have cost in all.
    state.ranked_batch(9_900, 10)
    assert not state.wants_landmarks(drawn=False)
    state.ranked_batch(100, 10)
    assert state.wants_landmarks(drawn=False)
    assert state.wants_landmarks(drawn=True)


def test_a_guide_that_leads_nowhere_is_joined_by_landmarks():
    state = after([(400, 19)])  # below one in twenty
    assert not state.wants_landmarks(drawn=False)
    state.ranked_batch(100, 0)
    assert state.wants_landmarks(drawn=False)


def test_a_guide_that_leads_somewhere_is_followed_until_it_does_not():
    state = after([(400, 20), (20_000, 0)])
    assert not state.wants_landmarks(drawn=False)
    assert state.wants_landmarks(drawn=True)
    state.ranked_batch(600, 60)  # matches again
    assert not state.wants_landmarks(drawn=True)


def test_landmarks_leave_two_fifths_of_a_budget_to_others():
    price = 9_955
    just = int(np.ceil(price / 0.6))
    assert steering(guided=False, allowed=just).wants_landmarks(drawn=False)
    assert not steering(guided=False, allowed=just - 10).wants_landmarks(drawn=False)


# ---------------------------------------------------------------------- the draw


def test_it_is_time_to_draw_when_the_search_no_longer_pays():
    """A tenth of the price of a statement brings less than 3 % more matches."""
    state = after([(2_000, 1_500)])
    window = int(0.1 * state.price)
    assert window > 1_000
    assert not state.is_time_to_draw
    state.ranked_batch(window, 60)  # four per cent
    assert not state.is_time_to_draw
    state.ranked_batch(window, 10)
    assert state.is_time_to_draw


def test_within_a_budget_the_draw_comes_while_there_is_room_for_it():
    state = after([(5_000, 4_000)], allowed=20_000)
    price = blind_pairs(0.95, 4_000, state.all_pairs - 5_000)
    assert state.price == price < 0.6 * 20_000
    assert not state.is_time_to_draw
    while not state.is_time_to_draw:
        state.ranked_batch(state.batch, state.batch)
    assert state.reached + state.price <= 20_000 < state.reached + state.price + state.batch


def test_a_budget_that_allows_for_no_statement_is_mostly_for_finding():
    state = after([(100, 10)], allowed=1_000)
    assert state.price == 300
