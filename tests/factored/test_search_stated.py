"""What a search states of its recall, from pairs drawn blindly among those that it has left."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, symmetric_matrix

import fewpairs as fp
from fewpairs.error.lists import state_lists
from fewpairs.errors import InputError
from fewpairs.factored.blind import Left

N, NEW = 120, 30


def setting(seed=0, **declared):
    """A search that misses many: noise that no landmark tells of."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(N, N))
    matrix = symmetric_matrix(N, rank=6) + 0.3 * (noise + noise.T)
    counter = Counter(matrix)
    similarity = counter.similarity("pairs", **declared)
    K = fp.approximate(
        range(N - NEW), similarity, landmarks=15, error_pairs=0, method="nystrom", random_state=seed
    )
    counter.asked.clear()
    return K, counter, np.arange(N - NEW, N), matrix


def recall_of(near, exact):
    k = near.indices.shape[1]
    last = np.partition(exact, -k, axis=1)[:, -k]
    return float((near.similarities >= last[:, None]).mean())


def test_drawn_pairs_are_different_ones_that_were_not_asked_for():
    rng = np.random.default_rng(0)
    asked = np.stack([rng.permutation(11)[:4] for _ in range(6)])
    left = Left(asked, 11)
    rows, columns = left.draw(left.count, rng)
    drawn = set(zip(rows.tolist(), columns.tolist(), strict=True))
    whole = {(i, j) for i in range(6) for j in range(11)}
    assert drawn == whole - {(i, j) for i in range(6) for j in asked[i].tolist()}
    counts = np.zeros((6, 11))
    for _ in range(3000):
        np.add.at(counts, left.draw(7, rng), 1)
    free = counts[counts > 0]
    assert len(free) == 42
    assert abs(free / 500 - 1).max() < 0.25


def test_blind_pairs_are_paid_beside_the_budget_and_improve_the_answer():
    K, counter, new, matrix = setting()
    exact = matrix[np.ix_(new, range(N - NEW))]
    plain = K.search(new, k=5, budget=20)
    assert plain.recall is None
    counter.asked.clear()
    near = K.search(new, k=5, budget=20, blind=600, random_state=1)
    assert near.evaluations == len(set(counter.asked)) == len(counter.asked) == 20 * NEW + 600
    assert near.recall.blind == 600
    assert near.recall.missed > 0
    assert recall_of(near, exact) > recall_of(plain, exact)
    np.testing.assert_allclose(near.similarities, matrix[new[:, None], near.indices], rtol=1e-12)
    assert (np.diff(near.similarities, axis=1) <= 0).all()
    assert "neighbours among 600 pairs drawn blindly, which had been missed" in str(near.recall)
    assert str(near.recall) in repr(near)
    assert len(repr(near)) < 400


def test_what_is_stated_holds_the_truth():
    held, lows = [], []
    for seed in range(120):
        K, _, new, matrix = setting(seed)
        near = K.search(new, k=5, budget=70, rounds=1, blind=300, random_state=seed)
        truth = recall_of(near, matrix[np.ix_(new, range(N - NEW))])
        stated = near.recall
        assert 0 <= stated.low <= stated.value <= stated.high <= 1
        held.append(stated.low <= truth <= stated.high)
        lows.append(stated.low)
    assert np.mean(held) >= 0.95
    assert np.mean(lows) > 0.3  # which would say nothing at 0


def test_the_lower_end_fails_no_more_often_than_it_may():
    # The worst case: every missed pair belongs to the true neighbours.
    rng = np.random.default_rng(0)
    rest, drawn, wanted = 4000, 400, 500
    for missing in (5, 40, 200):
        met = rng.hypergeometric(missing, rest - missing, drawn, size=2000)
        facts = {"rest": rest, "drawn": drawn, "unread": 0, "deepest": 80, "skipped": 0}
        facts |= {"placed": 0, "empty": 0}
        lows = {m: state_lists(wanted, missed=m, pairs=9000, **facts) for m in set(met.tolist())}
        wrong = [lows[m].low > 1 - (missing - m) / wanted + 1e-12 for m in met.tolist()]
        assert np.mean(wrong) <= 0.055


def test_the_upper_end_knows_that_the_best_may_have_been_drawn():
    # One list of one place: of many better pairs most are drawn, and the best is likely among them.
    truths, highs = [], []
    for seed in range(40):
        K, _, new, matrix = setting(seed)
        near = K.search(new[:1], k=1, budget=1, blind=70, random_state=seed)
        truths.append(recall_of(near, matrix[np.ix_(new[:1], range(N - NEW))]))
        highs.append(near.recall.high)
    assert np.mean(truths) > 0.5
    assert all(truth <= high for truth, high in zip(truths, highs, strict=True))


def test_places_that_cannot_be_filled_are_not_counted_as_found():
    # Four of nine queries have few pairs with a value: of fewer than k, a missing one weighs more.
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        exact = rng.normal(size=(23, 23))
        exact[14:18, :14][rng.random((4, 14)) < 0.85] = np.nan
        similarity = Counter(exact).similarity("pairs", symmetric=False, on_nonfinite="skip")
        K = fp.approximate(range(14), similarity, landmarks=8, error_pairs=0, random_state=seed)
        near = K.search(range(14, 23), k=12, budget=12, blind=5, random_state=seed)
        there = (~np.isnan(near.similarities)).sum()
        wanted = np.minimum((~np.isnan(exact[14:, :14])).sum(axis=1), 12)
        last = [np.sort(-row)[k - 1] for row, k in zip(exact[14:, :14], wanted, strict=True) if k]
        has = [near.similarities[row] for row in np.flatnonzero(wanted)]
        found = sum((row >= -end).sum() for row, end in zip(has, last, strict=True))
        held.append(near.recall.low <= found / wanted.sum() <= near.recall.high)
        assert near.recall.found == there
    assert np.mean(held) >= 0.95


def test_all_pairs_leave_nothing_to_state_but_the_truth():
    K, _, new, matrix = setting()
    near = K.search(new, k=5, budget=20, blind=10**6, random_state=0)
    exact = matrix[np.ix_(new, range(N - NEW))]
    np.testing.assert_array_equal(near.indices, np.argsort(-exact, axis=1)[:, :5])
    assert near.evaluations == exact.size
    assert near.recall.complete
    assert near.recall.low == near.recall.value == 1
    again = K.search(new, k=5, budget=1000, blind=10, random_state=0).recall
    assert again.complete
    assert again.blind == 0


def test_skipped_pairs_are_no_neighbours_and_are_told():
    K, _, new, matrix = setting(on_nonfinite="skip")
    matrix[N - NEW :, ::9] = matrix[::9, N - NEW :] = np.nan
    near = K.search(new, k=5, budget=20, blind=10**6, random_state=0)
    exact = np.nan_to_num(matrix[np.ix_(new, range(N - NEW))], nan=-np.inf)
    np.testing.assert_array_equal(near.indices, np.argsort(-exact, axis=1)[:, :5])
    assert near.recall.skipped == NEW * 10
    assert "skipped pairs count as no neighbours" in str(near.recall)


def test_money_pays_for_blind_pairs_too_and_nonsense_is_refused():
    K, counter, new, _ = setting(cost="0.01 USD")
    near = K.search(new, k=5, budget="8 USD", blind=200, random_state=0)
    assert near.evaluations == 600 + 200
    counter.asked.clear()
    with pytest.raises(InputError, match="0 evaluations of each item pays for fewer"):
        K.search(new, k=5, budget="8 USD", blind=900)
    for blind in (-1, 2.5, "many", None):
        with pytest.raises(InputError, match="drawn to state the recall"):
            K.search(new, k=5, budget=20, blind=blind)
    assert not counter.asked


def test_a_journal_pays_for_all_of_a_stated_search(tmp_path):
    made = []
    for _ in range(2):
        K, counter, new, _ = setting(version="1")
        near = K.search(new, k=5, budget=20, blind=200, random_state=0, journal=tmp_path / "j")
        made.append((near, len(counter.asked)))
    (first, paid), (second, again) = made
    np.testing.assert_array_equal(first.indices, second.indices)
    assert str(first.recall) == str(second.recall)
    assert paid == 800
    assert again < 50  # what is compared


def test_pairs_that_a_journal_left_nothing_to_pay_for_may_be_missing(tmp_path):
    K, counter, new, matrix = setting(version="1")
    K.search(new, k=5, budget=20)
    asked = set(counter.asked)
    last = [(int(i), int(matrix[i, : N - NEW].argmin())) for i in new]
    stored = [pair for pair in last if not {pair, pair[::-1]} & asked]
    left, right = zip(*stored, strict=True)
    fp.score_pairs(K.source.similarity, left, right, journal=tmp_path / "j")
    # A few stored values are compared, within the budget: as many pairs are left unpaid.
    near = K.search(new, k=5, budget=20, blind=10**6, random_state=0, journal=tmp_path / "j")
    assert near.recall.blind == NEW * (N - NEW - 20)  # all that the search has not asked for
    assert not near.recall.complete
    assert near.recall.missing == 3
    assert near.recall.low == pytest.approx(1 - 3 / near.indices.size)
