"""The stated recall: against simulation, and where it must be exact."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

from fewpairs.error.audited import state_given
from fewpairs.error.recall import blind_pairs, check_recall, leave_to_miss, state_recall
from fewpairs.error.shares import least_mean, mean_of_others, most_mean, rows_for
from fewpairs.errors import InputError


def stated(found, rest, drawn, missed, **more):
    facts = {"left": rest - drawn, "pairs": rest + found, "met": missed, "target": 0.95}
    return state_recall(found, rest=rest, drawn=drawn, missed=missed, **(facts | more))


@cache
def low_end(found, rest, drawn, missed, may_miss=0):
    """The same again and again in a simulation, and slow."""
    return stated(found, rest, drawn, missed, may_miss=may_miss).low


@pytest.mark.parametrize("rest", [5_000, 20_000_000])
def test_low_end_is_the_clopper_pearson_of_unreached_matches(rest):
    drawn, found = rest // 50, 1000
    low = stated(found, rest, drawn, missed=2).low
    most = round(found / low - found) + 2
    chances = [
        stats.hypergeom.cdf(2, rest, most + more, drawn)
        if rest < 10**7
        else stats.binom.cdf(2, most + more, drawn / rest)
        for more in (0, 1)
    ]
    assert chances[0] > 0.045 >= chances[1]


@pytest.mark.parametrize(
    ("rest", "drawn", "missed"), [(5_000, 400, 0), (5_000, 400, 3), (900, 90, 7)]
)
def test_value_is_the_median_of_what_may_be_missing(rest, drawn, missed):
    """As many unreached matches as would show so few, or fewer, every second time."""
    found = 1000
    value = stated(found, rest, drawn, missed).value
    middle = round(found / value - found) + missed
    chances = [stats.hypergeom.cdf(missed, rest, middle + more, drawn) for more in (0, 1)]
    assert chances[0] > 0.5 >= chances[1]


def test_nothing_missed_is_no_proof_of_nothing_missing():
    recall = stated(100, 10_000, 500, missed=0)
    assert recall.high == 1.0
    assert recall.low == pytest.approx(100 / (100 + 3.1 / 0.05), abs=0.02)
    assert recall.low < recall.value < 1


def test_everything_drawn_is_exact():
    recall = stated(7, 50, 50, missed=3)
    assert recall.low == recall.value == recall.high == 1.0
    assert "exact" in str(recall)


def test_nothing_drawn_says_nothing_but_that_a_match_may_be_anywhere():
    recall = stated(3, 100, 0, missed=0)
    assert recall.low == pytest.approx(3 / 103)
    assert recall.high == 1.0


def test_no_match_at_all_is_not_called_complete():
    recall = stated(0, 1000, 100, missed=0)
    assert (recall.low, recall.high) == (0.0, 1.0)


def test_pairs_that_are_left_bound_what_is_missing():
    assert stated(90, 1000, 10, missed=0, left=5).low == pytest.approx(90 / 95)


@pytest.mark.parametrize("matches", [50, 1000, 100_000])
@pytest.mark.parametrize("recall", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("missed", [0, 2])
def test_blind_pairs_state_what_they_are_drawn_for_and_hardly_more(matches, recall, missed):
    rest = 100_000_000
    count = blind_pairs(recall, matches, rest, missed=missed)
    if count == rest:
        assert (1 - recall) / recall * matches < 20
        return
    assert stated(matches + missed, rest, count, missed).low >= recall
    assert stated(matches + missed, rest, int(0.85 * count), missed).low < recall


def test_price_of_a_recall_is_that_of_the_formula():
    assert blind_pairs(0.95, 100_000, 10**9) / 10**9 == pytest.approx(59 / 100_000, rel=0.01)


def test_a_search_that_stops_at_the_last_blind_match_is_not_flattered():
    """The order-statistic rule: stop once every drawn match is reached, then state."""
    rng = np.random.default_rng(0)
    matches, rest, drawn = 300, 3000, 600
    false = 0
    for _ in range(1500):
        # Matches in the order of the search; which of them are drawn is all that matters.
        blind = rng.permutation(rest)[:drawn]
        mine = np.flatnonzero(np.isin(np.arange(matches), blind))
        reached = int(mine.max()) + 1 if len(mine) else 0
        false += low_end(reached, rest, drawn, 0) > reached / matches
    assert false / 1500 < 0.045 + 3 * np.sqrt(0.045 / 1500)
    assert false / 1500 > 0.015  # no wider than it must be


def test_fewer_missed_than_allowed_is_no_merit():
    """A search that stops between two batches may have missed fewer than it had leave to."""
    rng = np.random.default_rng(1)
    matches, rest, drawn, may_miss = 500, 25_000, 500, 2
    # Batches that end where a count of one or none would flatter most.
    ends = [0, 260, 350, 500]
    false = careless = 0
    for _ in range(2000):
        mine = np.flatnonzero(np.isin(np.arange(matches), rng.permutation(rest)[:drawn]))
        for reached in ends:
            missed = int((mine >= reached).sum())
            if missed <= may_miss:
                break
        known = reached + missed
        truth = known / matches
        false += low_end(known, rest, drawn, missed, may_miss if reached else 0) > truth
        careless += low_end(known, rest, drawn, missed) > truth
    assert false / 2000 < 0.045 + 3 * np.sqrt(0.045 / 2000)
    assert careless > false


@pytest.mark.parametrize("total", [400, 800, 1600])
@pytest.mark.parametrize("step", [1, 37])
def test_leave_to_miss_that_grows_with_what_is_found_is_no_flattery(total, step):
    """Drawn when 400 were found, with leave to miss none; then found are more."""
    rng = np.random.default_rng(2)
    rest, found = 20_000, 400
    drawn = blind_pairs(0.95, found, rest)
    leave = {
        reached: leave_to_miss(0.95, reached, rest=rest, drawn=drawn, most=40)
        for reached in range(found, found + total + 1, step)
    }
    assert list(leave.values()) == sorted(leave.values())
    assert leave[found] == 0
    if total == 1600:
        assert leave[max(leave)] > 5
    stops, may_miss = np.array([*leave.items()]).T
    false, runs = 0, 3000
    for _ in range(runs):
        # The matches beyond the first 400 in the order of the search.
        mine = np.flatnonzero(rng.random(total) < drawn / rest)
        missed = len(mine) - np.searchsorted(mine, stops - found)
        # Where all is reached none is missed, so that there is a stop that may be made.
        at = int(np.argmax(missed <= may_miss)) if (missed <= may_miss).any() else -1
        known = int(stops[at] + missed[at])
        low = low_end(known, rest, drawn, int(missed[at]), int(may_miss[at]) if at else 0)
        false += low > known / (found + total)
    assert false / runs < 0.045 + 3 * np.sqrt(0.045 / runs)


@pytest.mark.parametrize("found", [100, 700, 5_000])
def test_leave_to_miss_is_the_most_that_states_the_recall(found):
    rest, drawn = 30_000, 2_400
    may_miss = leave_to_miss(0.9, found, rest=rest, drawn=drawn, most=60)
    missing = int(found / 9)
    assert may_miss == 0 or stats.hypergeom.cdf(may_miss, rest, missing + 1, drawn) <= 0.045
    assert may_miss == 60 or stats.hypergeom.cdf(may_miss + 1, rest, missing + 1, drawn) > 0.045
    assert leave_to_miss(0.9, found, rest=rest, drawn=drawn, before=60, most=60) == 60


@pytest.mark.parametrize("wrong", [0, 1, 1.5, -0.1, "0.9", None, True, float("nan")])
def test_a_wanted_recall_is_a_share(wrong):
    with pytest.raises(InputError, match="recall is"):
        check_recall(wrong)


def test_sentence_says_what_more_it_takes():
    assert "draw" in str(stated(500, 10**6, 10, missed=0))
    assert "all" in str(stated(2, 1000, 10, missed=0))
    assert "too many to state" in str(stated(500, 10**6, 10**5, missed=40))


@pytest.mark.parametrize("kind", ["all or nothing", "ten each", "mostly perfect"])
def test_least_mean_holds_for_any_spread(kind):
    rng = np.random.default_rng(1)
    draws = {
        "all or nothing": lambda: (rng.random(60) < 0.9).astype(float),
        "ten each": lambda: rng.binomial(10, 0.9, 60) / 10,
        "mostly perfect": lambda: np.where(rng.random(60) < 0.8, 1.0, 0.5),
    }[kind]
    lows = [least_mean(draws(), 0.045) for _ in range(1000)]
    assert np.mean(np.array(lows) > 0.9) <= 0.045


def test_perfect_rows_state_what_their_number_allows():
    assert least_mean(np.ones(60), 0.045) == pytest.approx(0.045 ** (1 / 60), abs=1e-6)
    assert most_mean(np.ones(60), 0.005) == 1.0
    assert rows_for(1.0, 0.95, 0.045) == 61
    assert least_mean(np.empty(0), 0.045) == 0.0


def test_a_draw_without_matches_is_told_without_counting_them():
    assert str(stated(500, 10**6, 200_000, missed=0)).endswith(
        "; no match among 200,000 pairs drawn blindly"
    )
    assert "; no pairs were drawn blindly" in str(stated(500, 10**6, 0, missed=0))


@pytest.mark.parametrize(("everyone", "drawn"), [(95, 39), (515, 126), (20, 3), (50, 49)])
def test_what_is_said_of_others_holds_whatever_was_drawn(everyone, drawn):
    """Exactly: rows are right or wrong, and lucky draws leave the wrong ones to the others."""
    others = everyone - drawn
    ends = [
        mean_of_others(np.repeat([1.0, 0.0], [drawn - wrong, wrong]), others, (0.045, 0.0025))
        for wrong in range(drawn + 1)
    ]
    for wrong in range(everyone + 1):
        met = np.arange(max(0, wrong - others), min(wrong, drawn) + 1)
        chances = stats.hypergeom.pmf(met, everyone, wrong, drawn)
        truths = 1 - (wrong - met) / others
        low, high = np.array([ends[count] for count in met]).T
        assert chances[low > truths + 1e-7].sum() <= 0.045
        assert chances[high < truths - 1e-7].sum() <= 0.0025


def test_of_others_nothing_is_known_without_a_draw():
    assert mean_of_others(np.empty(0), 10, (0.045, 0.0025)) == (0.0, 1.0)
    assert mean_of_others(np.ones(4), 0, (0.045, 0.0025)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("missing", "draws"), [(3_000, 4_000), (900, 4_000), (120, 4_000), (60, 8_000)]
)
def test_a_draw_that_ends_with_a_match_states_as_surely_as_any_other(missing, draws):
    """Thirty missed matches end it; of few it ends by itself. Either way the truth is inside."""
    rest, found, enough, runs = 20_000, 500, 30, 2_000
    truth = found / (found + missing)
    rng = np.random.default_rng(missing)

    @cache
    def ends(drawn, met, last):
        recall = state_given(
            found,
            rest=rest,
            drawn=drawn,
            missed=met,
            left=rest - drawn,
            pairs=rest + found,
            target=0.95,
            last=last,
        )
        assert recall.low <= recall.value <= recall.high
        return recall.low, recall.high

    low = high = 0
    for _ in range(runs):
        at = np.sort(rng.choice(rest, missing, replace=False))
        place = at[enough - 1] + 1 if len(at) >= enough else rest
        if place <= draws:
            under_way = min(place - place % -256, draws)  # as many as are evaluated at a time
            met = int(np.searchsorted(at, under_way))
            state = ends(under_way, met, (int(place), enough))
        else:
            state = ends(draws, int(np.searchsorted(at, draws)), None)
        low, high = low + (truth < state[0]), high + (truth > state[1])
    assert low <= stats.binom.ppf(0.999, runs, 0.045)
    assert high <= stats.binom.ppf(0.999, runs, 0.0025)
    assert low > 0  # no wider than it has to be


def test_candidates_that_lack_nothing_that_was_drawn_are_stated_as_an_answer_is():
    facts = {"rest": 5_000, "drawn": 400, "missed": 0, "left": 4_600, "pairs": 6_000}
    given, own = state_given(1_000, target=0.95, **facts), state_recall(1_000, met=0, **facts)
    assert (given.value, given.low, given.high) == (own.value, own.low, own.high)


def test_what_an_audit_has_met_is_missing_whatever_the_draw_that_ended_it_says():
    """The thirtieth match came late, and ten more with the last pairs: all are known by then."""
    facts = {"rest": 2_000, "pairs": 2_200, "target": 0.95, "last": (1_779, 30)}
    every = state_given(100, drawn=2_000, missed=40, left=0, **facts)
    assert every.complete
    assert every.low == every.value == every.high == 100 / 140
    assert every.missing == 40
    nearly = state_given(100, drawn=1_990, missed=40, left=10, **facts)
    assert 100 / 150 <= nearly.low <= nearly.value <= nearly.high <= 100 / 140
