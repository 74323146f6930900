"""One run: what is decided before the draw, how many pairs are drawn, and what hides from whom."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from examples import Counter
from scipy import stats

import fewpairs as fp
from fewpairs.error.recall import SECOND_TAIL, blind_pairs, leave_to_miss
from fewpairs.guides.guides import Guide
from fewpairs.tasks.matching import drawing, running
from fewpairs.tasks.matching.blind import Blind
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.running import Run
from fewpairs.tasks.matching.search import Search
from fewpairs.tasks.matching.steering import Steering
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

MATCH = Threshold(0.5, above=True)


def groups(n=160, count=16, vague=2.0):
    """Items that match within their groups, a guide that hardly knows these, and a counter."""
    rng = np.random.default_rng(0)
    label = rng.integers(count, size=n)
    hints = np.eye(count)[label] + vague * rng.normal(size=(n, count))
    hints = (hints / np.linalg.norm(hints, axis=1, keepdims=True)).astype(np.float32)
    return Counter((label[:, None] == label) * 1.0), [Guide("hints", hints, hints)]


def run_of(counter, *, seed=0, allowed=None, diagonal=1.0, **options):
    n = len(counter.matrix)
    oracle = fp.Oracle(range(n), counter.similarity("pairs", diagonal=diagonal))
    universe = Universe(n, n, square=True, symmetric=True)
    rng = np.random.default_rng(seed)
    return Run(oracle, universe, MATCH, allowed or universe.size, 0.95, rng, **options)


@pytest.fixture
def drawn(monkeypatch):
    """Every draw of blind pairs, with what was asked for."""
    draws = []

    class Noted(Blind):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            draws.append(SimpleNamespace(blind=self, count=args[4], **options))

    monkeypatch.setattr(drawing, "Blind", Noted)
    return draws


class Early(Steering):
    """Draws 400 pairs after a hundred, and buys no landmarks."""

    price, may_miss = 400, 0

    @property
    def is_time_to_draw(self):
        return self.ranked >= 100

    def wants_landmarks(self, *, drawn):
        return False


# ---------------------------------------------------------------------- before the draw


def test_leave_to_miss_is_fixed_before_the_draw(monkeypatch, drawn):
    """What the search may miss must not grow while it looks for what was drawn."""

    class Greedy(Early):
        @property
        def may_miss(self):
            return 1_000 if drawn else 2

    monkeypatch.setattr(running, "Steering", Greedy)
    monkeypatch.setattr(Blind, "allow_for", lambda *_: None)  # but by what it finds
    counter, guides = groups(100)
    run = run_of(counter)
    stated, _ = run.carry_out(guides)
    assert [draw.may_miss for draw in drawn] == [2]
    missed = len(drawn[0].blind.missed)
    assert stated.missed == missed <= 2
    # What is stated rests on the two that might have been missed, were it one or none in the end.
    chances = [
        stats.hypergeom.cdf(2, drawn[0].blind.rest, most, drawn[0].count)
        for most in (round(stated.found / stated.low - stated.found) + missed + k for k in (0, 1))
    ]
    assert chances[0] > 0.045 >= chances[1]


def test_leave_to_miss_grows_with_what_the_search_finds(monkeypatch, drawn):
    class Wide(Early):
        price = 2_500

    monkeypatch.setattr(running, "Steering", Wide)
    counter, guides = groups(240, vague=3.0)
    run_of(counter).carry_out(guides)
    blind = drawn[0].blind
    found = blind._labels.found
    wanted = leave_to_miss(0.95, found, rest=blind.rest, drawn=len(blind.keys), most=40)
    assert blind.may_miss == wanted > 0


def test_a_second_draw_gives_less_leave_to_miss():
    counter, _ = groups()
    universe = Universe(160, 160, square=True, symmetric=True)
    oracle = fp.Oracle(range(160), counter.similarity("pairs", diagonal=1.0))
    labels = Labels()
    may_miss = []
    for taken in (None, np.arange(5)):
        rng = np.random.default_rng(0)
        blind = Blind(oracle, universe, MATCH, labels, 3_000, rng, taken=taken)
        blind.allow_for(0.9, 600)
        may_miss.append(blind.may_miss)
        tail = 0.045 if taken is None else SECOND_TAIL
        facts = {"rest": blind.rest, "drawn": 3_000, "most": 40, "tail": tail}
        assert blind.may_miss == leave_to_miss(0.9, 600, **facts)
    assert may_miss[1] < may_miss[0]


def test_the_search_and_the_draw_have_generators_of_their_own(monkeypatch):
    """However many numbers a draw takes, landmarks that are bought after it are the same."""

    class Twice(Early):
        """Ten landmarks at once, and ten more after the draw."""

        bought = 0

        def wants_landmarks(self, *, drawn):
            wanted = self.bought == int(drawn)
            self.bought += wanted
            return wanted

    monkeypatch.setattr(running, "Steering", Twice)
    bought = []
    for wasted in (0, 1000):

        class Wasteful(Blind):
            def __init__(self, *args, wasted=wasted, **options):
                args[5].random(wasted)
                super().__init__(*args, **options)

        class Noted(Search):
            def buy_landmarks(self, count, kept=bought):
                super().buy_landmarks(count)
                kept.append(self.landmarks[0].tolist())

        monkeypatch.setattr(drawing, "Blind", Wasteful)
        monkeypatch.setattr(running, "Search", Noted)
        run_of(groups(60)[0]).carry_out([])
    assert [len(landmarks) for landmarks in bought] == [10, 20, 10, 20]
    assert bought[:2] == bought[2:]


def test_both_generators_say_different_things():
    run = run_of(groups()[0])
    assert not np.array_equal(run._rng.random(9), run._drawing._rng.random(9))


# ---------------------------------------------------------------------- how many are drawn


@pytest.mark.parametrize(
    ("left", "reached", "count", "unasked", "expected"),
    [
        (1_000_000, 10, 500_000, True, 1_000_000),  # half of the rest or more: all of it
        (1_000_001, 10, 500_001, True, 40_000),  # but of more than a million ten of each item
        (1_000_001, 250_001, 500_001, True, 1_000_001),  # or four times what was evaluated
        (1_000_005, 250_001, 500_003, True, 250_001),
        (1_000_000, 10, 499_999, True, 499_999),
        (1_000_000, 10, 500_000, False, 500_000),  # whoever sets a budget has decided
    ],
)
def test_all_pairs_are_drawn_unasked_only_where_they_are_few(
    monkeypatch, left, reached, count, unasked, expected
):
    counts, plans = [], []
    nothing = np.empty(0, dtype=np.int64)

    def counting(*args, **options):
        counts.append(args[4])
        return SimpleNamespace(keys=nothing, rest=1)

    monkeypatch.setattr(drawing, "Blind", counting)
    planner = SimpleNamespace(per_entry=1)
    oracle = SimpleNamespace(spent=0, planner=planner, replan=plans.append)
    universe = Universe(2000, 2000, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    run = Run(oracle, universe, MATCH, universe.size, 0.95, rng, unasked=unasked)
    labels = Labels()
    labels.keys = np.arange(reached)
    run._draw(SimpleNamespace(left=left, labels=labels), count)
    assert counts == plans == [expected]


def test_a_second_draw_is_as_large_as_the_first_says(monkeypatch, drawn):
    asked = []

    def further(self, recall, found):
        asked.append((recall, found, len(self._labels), len(self.missed)))
        return 10**9 if len(asked) == 1 else 300

    monkeypatch.setattr(Blind, "further", further)
    monkeypatch.setattr(running, "Steering", Early)
    counter, guides = groups(100, vague=9.0)
    run = run_of(counter)
    stated, keys = run.carry_out(guides)
    first, second = drawn
    assert second.count == len(second.blind.keys) == stated.blind == 300
    np.testing.assert_array_equal(second.taken, first.blind.keys)
    assert second.may_miss == 0
    assert {recall for recall, *_ in asked} == {0.95}
    # The first answer was too dear, so that the search went on, and asked anew.
    at_draw, once, twice = first.blind._reached_at_draw, asked[0][2], asked[1][2]
    assert once - at_draw >= max(first.count, at_draw)
    assert len(asked) == 2
    assert twice > once
    labels = set(first.blind._labels.matches().tolist())
    assert asked[1][1] == len(labels) + asked[1][3]
    # All that is known is in the answer, and the histogram is that of the first draw alone, with
    # as large a share of what was reached before it: the second is one of fewer pairs.
    assert set(keys.tolist()) == labels | {*first.blind.matches, *second.blind.matches}
    values = run.blind_values()
    share = len(first.blind.keys) / first.blind.rest
    assert len(run._drawing._reached_before) == round(share * first.blind._reached_at_draw)
    shown = np.sort(np.concatenate([first.blind.keys, run._drawing._reached_before]))
    np.testing.assert_array_equal(values, counter.matrix[run._universe.places(shown)].ravel())


@pytest.mark.parametrize(("more", "draws"), [(0.9, 2), (1.1, 1)])
def test_a_second_draw_is_made_where_going_on_would_cost_more(monkeypatch, drawn, more, draws):
    asked = []

    def going_on(self):
        asked.append(None)
        return 300 if len(asked) == 1 else 0

    monkeypatch.setattr(Run, "_going_on", going_on)
    monkeypatch.setattr(Blind, "further", lambda *_: 300 * more)
    monkeypatch.setattr(running, "Steering", Early)
    monkeypatch.setattr(Run, "_draw", as_whole_numbers(Run._draw))
    counter, guides = groups(100, vague=9.0)
    run_of(counter).carry_out(guides)
    assert len(drawn) == draws


def as_whole_numbers(draw):
    return lambda self, search, count, may_miss=0: draw(self, search, int(count), may_miss)


def test_going_on_is_expected_to_bring_what_the_latter_half_has_brought():
    run = run_of(groups()[0])
    run._ranked_at_draw = 100
    run._drawing._draws.append(SimpleNamespace(may_miss=1))
    run._trail = [(100, 64), (200, 32), (300, 16), (400, 8), (500, 4)]
    # From 300 to 500 a quarter is left, so that 1.5 of 4 are after log₄(4 / 1.5) times as many.
    assert run._going_on() == pytest.approx(200 * np.log(4 / 1.5) / np.log(4))
    run._trail = [(100, 64), (300, 4), (500, 4)]
    assert run._going_on() == np.inf


def test_a_second_draw_that_would_state_nothing_is_not_made(monkeypatch, drawn):
    monkeypatch.setattr(Blind, "further", lambda *_: None)
    monkeypatch.setattr(running, "Steering", Early)
    counter, guides = groups(100, vague=9.0)
    run_of(counter).carry_out(guides)
    assert len(drawn) == 1


@pytest.mark.parametrize("missed", [0, 1, 4, 7])
def test_further_pairs_are_as_many_as_state_the_recall_if_as_many_are_missed(missed):
    """With the share of the first draw missed, give or take the root of the number."""
    n, found, count = 300, 2000, 4000
    matrix = np.zeros((n, n))
    universe = Universe(n, n, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    keys = universe.draw(count, np.empty(0, dtype=np.int64), np.random.default_rng(1))
    rows, columns = universe.places(rng.choice(keys, missed, replace=False))
    matrix[rows, columns] = matrix[columns, rows] = 1.0
    oracle = fp.Oracle(range(n), fp.Precomputed(matrix))
    blind = Blind(oracle, universe, MATCH, Labels(), count, np.random.default_rng(1))
    assert len(blind.missed) == missed
    more = blind.further(0.95, found)
    rest = universe.size - count
    may_lack = int(found * 0.05 / 0.95)

    def states(drawn, lacking):
        share = stats.beta.ppf(1 - 0.0025, lacking + 1, may_lack + 1)
        return drawn >= share * rest

    expected = missed / count * more
    lacking = int(np.ceil(expected + np.sqrt(expected)))
    assert states(more, lacking)
    assert not states(more - 2, lacking)  # and no more than that


def test_further_pairs_are_not_drawn_where_too_many_are_missed():
    universe = Universe(50, 50, square=True, symmetric=True)
    oracle = fp.Oracle(range(50), fp.Precomputed(np.ones((50, 50))))
    blind = Blind(oracle, universe, MATCH, Labels(), 600, np.random.default_rng(0))
    assert blind.further(0.95, 600) is None


# ---------------------------------------------------------------------- what it will take


@pytest.fixture
def steered(monkeypatch):
    """The steering of each run: draws early, and buys ten landmarks first if asked to."""
    kept = []

    class Kept(Early):
        landmarks = False

        def __init__(self, **facts):
            super().__init__(**facts)
            kept.append(self)

        def wants_landmarks(self, *, drawn):
            wanted, self.landmarks = self.landmarks, False
            return wanted

    monkeypatch.setattr(running, "Steering", Kept)
    kept.append(Kept)
    return kept


def test_what_a_run_will_take_is_said_anew_before_each_step(monkeypatch, steered):
    """First the blind pairs and a batch; after the draw no more blind ones."""
    counter, guides = groups()
    run = run_of(counter)
    said = []

    def replanned(planned):
        said.append((run._drawing.done, planned - run._oracle.spent))

    monkeypatch.setattr(run._oracle, "replan", replanned)
    run.carry_out(guides)
    size = run._universe.size
    assert said[0] == (False, blind_pairs(0.95, 160, size) + 100)
    assert len(steered) == 2
    after = [ahead for done, ahead in said if done]
    assert after[0] == 100  # the next batch alone
    assert all(ahead <= size for ahead in after)
    # Within a budget the plan is the budget.
    said.clear()
    limited = run_of(counter, allowed=2_000)
    monkeypatch.setattr(limited._oracle, "replan", said.append)
    limited.carry_out(guides)
    assert said == []


@pytest.mark.parametrize("allowed", [4_000, 10**6])
def test_landmarks_with_themselves_are_paid_for_out_of_the_budget(steered, allowed):
    """Ten landmarks ask for ten entries that are no pairs: so much less is left to steer with."""
    steered[0].landmarks = True
    counter, guides = groups()
    run = run_of(counter, allowed=allowed, diagonal=None)
    run.carry_out(guides)
    price = run._oracle.planner.price_of_lines(10, 10, 10)
    pairs = 10 * 160 - 10 - 45  # each with all others, and with each other once
    assert run.spent["landmarks"] == price == pairs + 10
    size = run._universe.size
    left = allowed - run.spent["symmetry"] - 10
    assert steered[1].allowed == (left if allowed < size else size)
    assert len(counter.asked) <= allowed


@pytest.mark.parametrize("checked", [True, False])
def test_the_end_of_a_search_does_not_depend_on_where_blind_pairs_lie(monkeypatch, checked):
    # Eight pairs were asked for in both orders before: to draw some of these costs less.
    counter, guides = groups()
    run = run_of(counter, allowed=3000)
    oracle, universe = run._oracle, run._universe
    with oracle.run(3000, np.random.default_rng(0)):
        run._check_symmetry(run._pairs_to_check())
        asked = np.unique(universe.keys(*np.array(counter.asked).T))
        assert len(asked) == 8
        search = Search(oracle, universe, MATCH, guides, np.random.default_rng(1))
        others = np.setdiff1d(universe.everything(), asked)
        keys = np.sort(np.r_[asked if checked else others[:8], others[100:192]])
        monkeypatch.setattr(Universe, "draw", lambda *_: keys)
        run._draw(search, 100)
        assert run._left_to_reach(search) == 3000 - 100 - run.spent["symmetry"]
