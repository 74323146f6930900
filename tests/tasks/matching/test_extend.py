"""Found.extend: new items are paid for alone, and what is stated of all pairs is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from examples import Counter

import fewpairs as fp
from fewpairs.error.recall import Recall, blind_pairs, blind_pairs_for
from fewpairs.errors import (
    BudgetError,
    InputError,
    NotAttachedError,
    RecallMissedWarning,
    SimilarityError,
)
from fewpairs.numerics import contains
from fewpairs.similarities.symmetrized import Symmetrized
from fewpairs.tasks.matching import all_pairs, running
from fewpairs.tasks.matching.earlier import Earlier
from fewpairs.tasks.matching.found import Found
from fewpairs.tasks.matching.proposals import propose
from fewpairs.tasks.matching.universe import Universe


def grouped(n, m=None, seed=0):
    """Similarities of items in groups, 1 within a group, and a guide that tells the groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(n // 2, size=n)
    others = groups if m is None else rng.integers(n // 2, size=m)
    rough = rng.normal(size=(n // 2, 8))
    matrix = np.where(groups[:, None] == others, 1.0, 0.1)
    return matrix, rough[groups], rough[others]


def truth_of(matrix, *, square=True, symmetric=True):
    rows, columns = np.nonzero(matrix >= 0.5)
    keep = rows < columns if symmetric else rows != columns if square else rows >= 0
    return set(zip(rows[keep].tolist(), columns[keep].tolist(), strict=True))


def pairs_of(found):
    return set(zip(found.left.tolist(), found.right.tolist(), strict=True))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("guided", [True, False])
def test_only_pairs_with_a_new_item_are_evaluated_each_once(symmetric, guided):
    matrix, hints, _ = grouped(90)
    counter = Counter(matrix)
    found = fp.find_pairs(
        range(60),
        counter.similarity("pair", symmetric=symmetric),
        above=0.5,
        guide=hints[:60] if guided else None,
        random_state=0,
    )
    before = len(counter.asked)
    more = found.extend(range(60, 90), guide=hints if guided else None, random_state=0)
    asked = counter.asked[before:]
    assert more.evaluations - found.evaluations == len(asked)
    assert all(max(pair) >= 60 for pair in asked)
    checked = more.spent["symmetry"] - found.spent["symmetry"]
    each = {tuple(sorted(pair)) for pair in asked} if symmetric else set(asked)
    itself = sum(a == b for a, b in asked)
    assert len(asked) - len(each) <= checked
    assert (itself == 0) == guided  # landmarks are compared with themselves
    truth = truth_of(matrix, symmetric=symmetric)
    assert pairs_of(found) <= pairs_of(more) <= truth
    assert more.recall.low <= len(more) / len(truth)
    assert more.recall.reached
    assert more.recall.pairs == 90 * 89 // (2 if symmetric else 1)
    assert more.recall.found == len(more)
    assert more.shape == (90, 90)
    assert (np.diff(more.similarities) <= 0).all()


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("sides", ["left", "right", "both"])
def test_two_sets_grow_on_either_side(sides, guided):
    matrix, hints, across = grouped(70, 60)
    counter = Counter(matrix)
    found = fp.find_pairs(
        range(50),
        counter.similarity("pairs", symmetric=False),
        above=0.5,
        others=range(40),
        ids=([f"a{k}" for k in range(50)], [f"b{k}" for k in range(40)]),
        guide=(hints[:50], across[:40]) if guided else None,
        random_state=0,
    )
    before = len(counter.asked)
    n, m = 50 if sides == "right" else 70, 40 if sides == "left" else 60
    names = [f"a{k}" for k in range(50, n)], [f"b{k}" for k in range(40, m)]
    more = found.extend(
        None if sides == "right" else range(50, 70),
        others=None if sides == "left" else range(40, 60),
        ids=names if sides == "both" else names[sides == "right"],
        guide=(hints[:n], across[:m]) if guided else None,
        random_state=0,
    )
    asked = counter.asked[before:]
    assert len(asked) == len(set(asked)) == more.evaluations - found.evaluations
    assert all(a >= 50 or b >= 40 for a, b in asked)
    truth = truth_of(matrix[:n, :m], square=False, symmetric=False)
    assert pairs_of(found) < pairs_of(more) <= truth
    assert more.recall.low <= len(more) / len(truth)
    assert more.recall.pairs == n * m
    assert more.left_ids == [f"a{k}" for k in more.left]
    assert more.right_ids == [f"b{k}" for k in more.right]


def test_statements_are_true_whatever_the_guide():
    """The guide tells nothing, so that each part misses matches, and chance decides how many."""
    matrix, _, _ = grouped(60, seed=1)
    truth = len(truth_of(matrix))
    similarity, stated, false = fp.Precomputed(matrix), 0, 0
    for seed in range(100):
        noise = np.random.default_rng(seed).normal(size=(60, 2))
        options = {"random_state": seed, "budget": 0.7}
        found = fp.find_pairs(range(40), similarity, above=0.5, guide=noise[:40], **options)
        found = found.extend(range(40, 52), guide=noise[:52], **options)
        found = found.extend(range(52, 60), guide=noise, **options)
        assert found.recall.low <= found.recall.value <= found.recall.high
        stated += found.recall.low > 0.3
        false += found.recall.low > len(found) / truth
    assert stated > 60
    assert false <= 2  # 5 are allowed; bounds that are added hold together more often than that


def test_bounds_of_old_and_new_pairs_add_up():
    old = Recall(0.95, 0.9, 1.0, 90, 500, 9, 0, 1000, target=0.9, missing=10)
    new = Recall(0.9, 0.8, 1.0, 40, 300, 4, 1, 700, target=0.9, missing=10)
    nothing = np.empty(0, dtype=int)
    both = Earlier(nothing, nothing, old, 1).joined(new)
    assert (both.found, both.missing, both.pairs, both.blind) == (130, 20, 1700, 800)
    assert both.low == 130 / 150
    assert both.value == 130 / (130 + 5 + 4)
    assert both.high == 1.0
    assert (both.met, both.missed, both.reached) == (13, 1, False)
    exact = replace(new, complete=True)
    assert not Earlier(nothing, nothing, old, 1).joined(exact).complete
    assert Earlier(nothing, nothing, exact, 1).joined(exact).complete
    # What it would take is told with the chance that an extension has, not that of a first call.
    assert both.needed == blind_pairs(0.9, 40, 700, tail=0.9 * 0.0025 / 2)
    chances = [sum(Earlier(nothing, nothing, old, k).tails) for k in range(1, 60)]
    assert sum(chances) <= 0.0025 * (1 + 1e-12)


def test_exact_answers_stay_exact_and_duplicates_of_old_items_are_found():
    names = ["Anna Berg", "Bob Stone", "Carl May"]
    found = fp.find_pairs(names, fp.StringSimilarity("jaro_winkler"), above=0.95, ids=list("abc"))
    more = found.extend(["Carl May", "Bob Stone", "Carl May"], ids=list("xyz"))
    pairs = {frozenset(pair) for pair in zip(more.left_ids, more.right_ids, strict=True)}
    assert pairs == {frozenset(p) for p in ("cx", "cz", "xz", "by")}
    assert more.recall.complete
    assert more.recall.low == 1.0
    assert more.evaluations == 15
    assert len(set(more.groups().tolist())) == 3


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("sides", [None, (6, 0), (0, 5), (6, 5)])
def test_new_pairs_of_a_cheap_similarity_are_all_evaluated(symmetric, sides):
    rng = np.random.default_rng(0)
    matrix = (rng.random((60, 60)) < 0.1) * 1.0
    matrix = np.maximum(matrix, matrix.T) if symmetric else matrix
    counter = Counter(matrix)
    similarity = counter.similarity("pair", symmetric=symmetric)
    similarity.cheap = True
    options = {} if sides is None else {"others": range(45)}
    found = fp.find_pairs(range(50), similarity, above=0.5, random_state=0, **options)
    before = len(counter.asked)
    n, m = (60, 60) if sides is None else (50 + sides[0], 45 + sides[1])
    options = {} if sides is None else {"others": range(45, m)}
    more = found.extend(range(50, n), random_state=0, **options)
    asked = counter.asked[before:]
    assert all(max(a, b) >= 50 if sides is None else a >= 50 or b >= 45 for a, b in asked)
    square = sides is None
    truth = truth_of(matrix[:n, :m], square=square, symmetric=symmetric and square)
    assert pairs_of(more) == truth
    assert more.recall.complete
    assert len(more.blind) == more.recall.pairs
    limited = found.extend(range(50, n), random_state=0, budget=100, **options)
    assert not limited.recall.complete


def test_no_new_items_cost_nothing():
    counter = Counter(np.eye(8))
    found = fp.find_pairs(range(8), counter.similarity("pair"), above=0.5, random_state=0)
    before = len(counter.asked)
    assert found.extend([]) is found.extend() is found.extend(np.empty(0, dtype=int)) is found
    assert len(counter.asked) == before


def test_vectors_and_their_own_guide_go_on():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(80, 3))
    points[60:] = points[:20] + 0.01 * rng.normal(size=(20, 3))
    similarity = fp.VectorSimilarity("rbf", gamma=1.0)
    found = fp.find_pairs(points[:60], similarity, above=0.9, random_state=0)
    more = found.extend(points[60:].tolist(), random_state=0)
    assert {(k, 60 + k) for k in range(20)} <= pairs_of(more)
    assert more.oracle.items.kind == "vectors"
    assert (np.diff(more.similarities) <= 0).all()
    squares = ((points[more.left] - points[more.right]) ** 2).sum(axis=1)
    np.testing.assert_allclose(more.similarities, np.exp(-squares))


@pytest.mark.parametrize("budget", [1, 30, 200, 0.2])
def test_a_budget_is_for_the_new_items_and_never_exceeded(budget):
    matrix, hints, _ = grouped(80)
    counter = Counter(matrix)
    similarity = counter.similarity("pair")
    found = fp.find_pairs(range(60), similarity, above=0.5, guide=hints[:60], random_state=0)
    before = len(counter.asked)
    more = found.extend(range(60, 80), guide=hints, budget=budget, random_state=0)
    new_pairs = 80 * 79 // 2 - 60 * 59 // 2
    allowed = budget if isinstance(budget, int) else int(budget * new_pairs)
    assert 0 < len(counter.asked) - before <= allowed
    assert more.recall.low <= len(more) / len(truth_of(matrix))


def test_a_budget_counts_evaluations_where_an_entry_takes_two():
    matrix, hints, _ = grouped(40)
    counter = Counter(matrix)
    both_orders = Symmetrized(counter.similarity("pair", symmetric=False))
    found = fp.find_pairs(range(30), both_orders, above=0.5, guide=hints[:30], random_state=0)
    before = len(counter.asked)
    found.extend(range(30, 40), guide=hints, budget=60, random_state=0)
    assert 40 < len(counter.asked) - before <= 60


def test_what_could_not_be_stated_before_is_not_told_again():
    """Warnings are errors here; the new pairs alone cannot mend what the old ones lack."""
    matrix, hints, _ = grouped(80)
    similarity = fp.Precomputed(matrix)
    found = fp.find_pairs(range(60), similarity, above=0.5, guide=None, budget=50, random_state=0)
    more = found.extend(range(60, 80), guide=hints, random_state=0)
    assert not found.recall.reached
    assert not more.recall.reached


def test_each_call_draws_anew_with_the_same_seed_and_knows_what_was_found(monkeypatch):
    drawn, noted = [], []
    make, note = running.Run.__init__, running.Search.note

    def making(self, *args, **options):
        make(self, *args, **options)
        drawn.append(self._drawing._rng.bit_generator.state["state"]["state"])

    def noting(self, rows, columns):
        noted.append(set(zip(rows.tolist(), columns.tolist(), strict=True)))
        note(self, rows, columns)

    monkeypatch.setattr(running.Run, "__init__", making)
    monkeypatch.setattr(running.Search, "note", noting)
    matrix, hints, _ = grouped(60)
    similarity = fp.Precomputed(matrix)
    calls = [fp.find_pairs(range(40), similarity, above=0.5, guide=hints[:40], random_state=0)]
    for n in (50, 60):
        calls.append(calls[-1].extend(range(n - 10, n), guide=hints[:n], random_state=0))
    assert len(set(drawn)) == 3
    assert noted == [pairs_of(found) for found in calls[:2]]


def test_a_histogram_shows_old_and_new_pairs_in_proportion():
    matrix = np.full((120, 120), 0.1)
    matrix[80:], matrix[:, 80:] = 0.2, 0.2  # whatever has a new item
    found = fp.find_pairs(range(80), fp.Precomputed(matrix), above=0.9, budget=0.5, guide=None)
    more = found.extend(range(80, 120), budget=0.2)
    shares = np.array([80 * 79, 120 * 119 - 80 * 79]) / (120 * 119)
    counts = np.array([(more.blind == 0.1).sum(), (more.blind == 0.2).sum()])
    assert counts.sum() == len(more.blind) > 300
    np.testing.assert_allclose(counts / counts.sum(), shares, atol=0.01)


def test_after_a_fault_only_the_rest_is_paid_for():
    matrix, hints, _ = grouped(80)
    counter = Counter(matrix)
    broken = [False]

    def failing(a, b):
        if broken[0] and len(counter.asked) == stop:
            broken[0] = False
            raise OSError
        return counter.pair(a, b)

    similarity = fp.similarity(failing, kind="pair", symmetric=True, name="failing")
    found = fp.find_pairs(range(60), similarity, above=0.5, guide=hints[:60], random_state=0)
    before = len(counter.asked)
    options = {"guide": hints, "random_state": 1}
    whole = found.extend(range(60, 80), **options)
    price = len(counter.asked) - before
    broken[0], stop = True, len(counter.asked) + price // 2
    with pytest.raises(SimilarityError) as caught:
        found.extend(range(60, 80), **options)
    with pytest.raises(InputError, match="beside an oracle"):
        found.extend(caught.value.oracle, others=[1], **options)
    done = []
    again = found.extend(
        caught.value.oracle, progress=lambda now, _: done.append(now) or True, **options
    )
    assert done[-1] > 0
    np.testing.assert_array_equal(again.left, whole.left)
    assert str(again.recall) == str(whole.recall)
    assert len(counter.asked) <= before + 2 * price + 1


def test_what_cannot_be_extended_says_why():
    matrix, hints, _ = grouped(30)
    similarity = fp.Precomputed(matrix)
    found = fp.find_pairs(range(20), similarity, above=0.5, guide=hints[:20], random_state=0)
    for wrong, message in (
        ({}, "guide was an array"),
        ({"guide": None, "others": [1]}, "within one set"),
        ({"guide": "auto", "ids": ["x"]}, "the old ones have none"),
        ({"guide": "auto", "recall": 2}, "recall is 2"),
    ):
        with pytest.raises(InputError, match=message):
            found.extend([20], **wrong)
    with pytest.raises(BudgetError, match="budget is 0"):
        found.extend([20], guide="auto", budget=0)
    with pytest.raises(InputError, match="neighbours cannot be extended"):
        fp.find_nearest(range(20), similarity, k=2, random_state=0).extend([20])
    bare = Found(found.left, found.right, found.similarities, found.recall, found.spent, (20, 20))
    with pytest.raises(NotAttachedError, match="no similarity"):
        bare.extend([20])
    with pytest.raises(InputError, match="oracle of"):
        found.extend(fp.Oracle(range(5), similarity), guide="auto")
    points = np.random.default_rng(0).normal(size=(20, 3))
    vectors = fp.find_pairs(points, fp.VectorSimilarity("rbf", gamma=1.0), above=0.9)
    for ragged in ([[1.0, 2.0]], np.ones((2, 4)), [[1.0], [1.0, 2.0]], np.ones(3)):
        with pytest.raises(InputError, match="do not fit to the old ones"):
            vectors.extend(ragged)


def test_sparse_items_go_on():
    rows = sp.csr_array(np.eye(12))
    found = fp.find_pairs(rows, fp.VectorSimilarity("cosine"), above=0.9)
    more = found.extend(rows[:2]).extend(rows[:0])
    assert pairs_of(more) == {(0, 12), (1, 13)}
    assert more.oracle.items.kind == "sparse"


def test_names_and_assignments_that_do_not_fit_are_refused():
    matrix, _, _ = grouped(30)
    similarity = fp.Precomputed(matrix)
    named = fp.find_pairs(range(20), similarity, above=0.5, ids=range(20), random_state=0)
    for ids, message in ((None, "none were given"), ([5], "5 more than once"), ([1, 2], "2 ent")):
        with pytest.raises(InputError, match=message):
            named.extend([20], ids=ids)
    both = fp.find_pairs(range(20), similarity, above=0.5, others=range(30), random_state=0)
    with pytest.raises(InputError, match="are left of them"):
        both.one_to_one().extend([20])
    assert len(both.extend([20]).one_to_one()) >= len(both.one_to_one())


def test_a_recall_that_new_items_cannot_state_is_told(monkeypatch):
    matrix = np.eye(260)
    matrix[0, 1] = matrix[1, 0] = 1.0
    hints = np.random.default_rng(0).normal(size=(260, 4))
    found = fp.find_pairs(
        range(200), fp.Precomputed(matrix), above=0.5, guide=hints[:200], random_state=0
    )
    monkeypatch.setattr(all_pairs, "_FEW", 100)
    monkeypatch.setattr(all_pairs, "_TIMES", 1)
    with pytest.warns(RecallMissedWarning, match=r"0\.95 cannot be stated"):
        more = found.extend(range(200, 260), guide=hints, random_state=0)
    assert pairs_of(more) == {(0, 1)}
    assert more.recall.missing > 0


KINDS = [
    Universe(12, 12, square=True, symmetric=True, old=(7, 7)),
    Universe(12, 12, square=True, symmetric=False, old=(7, 7)),
    Universe(9, 11, square=False, symmetric=False, old=(6, 11)),
    Universe(9, 11, square=False, symmetric=False, old=(9, 4)),
    Universe(9, 11, square=False, symmetric=False, old=(6, 4)),
]


@pytest.mark.parametrize("universe", KINDS)
def test_new_pairs_are_all_pairs_but_those_of_two_old_items(universe):
    whole = Universe(universe.n, universe.m, universe.square, universe.symmetric)
    rows, columns = whole.places(whole.everything())
    new = (rows >= universe.old[0]) | (columns >= universe.old[1])
    keys = universe.everything()
    np.testing.assert_array_equal(keys, whole.everything()[new])
    assert universe.size == len(keys)
    rng = np.random.default_rng(0)
    counts = np.zeros(universe.n * universe.m)
    for _ in range(1500):
        drawn = universe.draw(4, keys[::5], rng)
        assert len(set(drawn.tolist())) == 4
        counts[drawn] += 1
    free = keys[~contains(keys[::5], keys)]
    assert counts.sum() == counts[free].sum()
    expected = 6000 / len(free)
    chi2 = ((counts[free] - expected) ** 2 / expected).sum()
    assert abs(chi2 - len(free)) < 5 * np.sqrt(2 * len(free))


@pytest.mark.parametrize("universe", KINDS)
def test_proposals_are_the_largest_products_of_new_pairs(universe):
    rng = np.random.default_rng(0)
    left = rng.normal(size=(universe.n, 3)).astype(np.float32)
    right = left if universe.square else rng.normal(size=(universe.m, 3)).astype(np.float32)
    keys = universe.everything()
    skip = keys[::4]
    free = keys[~contains(skip, keys)]
    rows, columns = universe.places(free)
    products = np.einsum("ij,ij->i", left[rows], right[columns])
    wanted = free[np.argsort(-products, kind="stable")[:10]]
    found = propose(universe, left, right, 10, rng, skip=skip)
    assert set(found.tolist()) == set(wanted.tolist())


def test_ids_of_new_records_by_the_name_of_their_field():
    alike = fp.RecordSimilarity({"name": "levenshtein"})
    old = [{"key": f"o{k}", "name": name} for k, name in enumerate(("Anna", "Bob"))]
    new = [{"key": "n0", "name": "Anna"}]
    grown = fp.find_pairs(old, alike, above=0.9, ids="key").extend(new, ids="key")
    assert (grown.left_ids, grown.right_ids) == (["o0"], ["n0"])
    both = fp.find_pairs(old, alike, others=old, above=0.9, ids="key")
    right = both.extend(others=new, ids="key")
    assert set(zip(right.left_ids, right.right_ids, strict=True)) == {
        ("o0", "o0"),
        ("o1", "o1"),
        ("o0", "n0"),
    }
    more = [{"key": "m0", "name": "Bob"}]
    sides = both.extend(more, others=new, ids="key")
    assert ("m0", "o1") in set(zip(sides.left_ids, sides.right_ids, strict=True))


def test_nothing_new_needs_no_names():
    found = fp.find_pairs(["Ann", "Anne"], fp.StringSimilarity(), above=0.5, ids=["a", "b"])
    assert found.extend() is found
    assert found.extend([]) is found


@pytest.mark.parametrize("new", [np.ones((2, 3)), np.ones(4)])
def test_new_vectors_of_another_shape_are_refused(new):
    points = np.random.default_rng(0).normal(size=(6, 4))
    found = fp.find_pairs(points, fp.VectorSimilarity("cosine"), above=0.9)
    with pytest.raises(InputError, match=r"the new items do not fit"):
        found.extend(new)


NOBODY = np.empty(0, dtype=np.int64)


def stated_of(found, missing, pairs, blind, target=0.95, missed=0):
    low = found / (found + missing)
    return Recall(low, low, 1.0, found, blind, 0, missed, pairs, target, missing=missing)


def test_what_an_extension_takes_is_said_of_the_new_pairs():
    """Old pairs keep what is stated of them: no draw among new ones makes that surer."""
    new = stated_of(100, 40, 5_000, blind=200)
    unsure = Earlier(NOBODY, NOBODY, stated_of(1_000, 400, 100_000, blind=100), 1)
    assert "old pairs, of which up to 400 matches may be missing" in str(unsure.joined(new))
    sure = Earlier(NOBODY, NOBODY, stated_of(1_000, 30, 100_000, blind=9_000, missed=3), 1)
    joined = sure.joined(new)
    # 57 of 1,157 may be missing in all, so 27 of the new ones.
    needed = blind_pairs_for(27, 5_000, tail=sure.tails.low)
    assert joined.needed == needed < 5_000
    assert f"To state 0.95, draw {needed:,} of the new pairs blindly" in str(joined)
    missed = sure.joined(stated_of(100, 40, 5_000, blind=200, missed=4))
    assert "the search must go deeper" in str(missed)
    barely = Earlier(NOBODY, NOBODY, stated_of(1_000, 57, 100_000, blind=9_000), 1)
    assert "all 30 new pairs" in str(barely.joined(stated_of(100, 40, 30, blind=2)))
    assert "To state" not in str(sure.joined(stated_of(100, 5, 5_000, blind=2_000)))
