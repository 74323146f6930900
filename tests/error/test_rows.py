"""Shares stated from whole rows: true as often as they say, whatever the rows are like."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fewpairs.error.rows import Share, share_of_rows

MANY = 10**9


def test_perfect_rows_promise_what_their_number_allows():
    lows = []
    for count in (1, 5, 20, 100):
        share = share_of_rows(np.full(count, 10.0), np.full(count, 10.0), MANY)
        assert share.value == share.high == 1.0
        # Were the truth at the lower end, rows that are all right would be a one in twenty chance.
        assert share.low**count <= 0.052
        lows.append(share.low)
    assert lows == sorted(lows)
    none = share_of_rows(np.zeros(20), np.full(20, 10.0), MANY)
    assert none.low == none.value == 0.0
    assert none.high == pytest.approx(1 - lows[2])


def test_one_row_that_holds_everything_is_one_row():
    sizes = np.array([500.0, *np.zeros(19)])
    assert share_of_rows(sizes, sizes, MANY).low < 1e-6
    even = share_of_rows(np.full(20, 25.0), np.full(20, 25.0), MANY)
    assert even.low > 0.85


def test_the_size_of_rows_does_not_matter_where_all_are_alike():
    hits = np.array([3.0, 5, 9, 10, 4, 7])
    small, large = (share_of_rows(c * hits, np.full(6, c * 10.0), MANY) for c in (1, 100))
    assert small == pytest.approx(large)


def test_all_rows_leave_nothing_open():
    hits, totals = np.array([1.0, 0, 3]), np.array([2.0, 1, 5])
    assert share_of_rows(hits, totals, 3) == Share(0.5, 0.5, 0.5)
    wide, half = share_of_rows(hits, totals, MANY), share_of_rows(hits, totals, 6)
    assert half.high - half.low < wide.high - wide.low


def test_nothing_to_take_a_share_of():
    share = share_of_rows(np.zeros(4), np.zeros(4), 10)
    assert np.isnan(share.value)
    assert share[1:] == (0.0, 1.0)
    assert str(share) == "unknown"


@pytest.mark.parametrize("rows", [5, 10, 20, 50])
def test_rows_that_are_all_right_or_all_wrong_are_covered(rows):
    counts = np.arange(rows + 1)
    shares = [
        share_of_rows(np.repeat([1.0, 0.0], [c, rows - c]), np.ones(rows), MANY) for c in counts
    ]
    rates = []
    for truth in np.linspace(0.01, 0.99, 99):
        held = np.array([s.low <= truth <= s.high for s in shares])
        rates.append(float(stats.binom.pmf(counts, rows, truth) @ held))
    assert min(rates) > 0.93
    assert np.mean(rates) > 0.95


@pytest.mark.parametrize("mean", [0.3, 0.9, 0.98])
@pytest.mark.parametrize("spread", [1.0, 20.0])
def test_rows_of_many_sizes_are_covered(mean, spread):
    rng = np.random.default_rng(0)
    held, trials = 0, 1000
    for _ in range(trials):
        sizes = rng.geometric(0.3, 20)
        hits = rng.binomial(sizes, rng.beta(mean * spread, (1 - mean) * spread, 20))
        share = share_of_rows(hits.astype(float), sizes.astype(float), MANY)
        held += share.low <= mean <= share.high
    assert held >= 0.93 * trials


def test_what_is_printed_is_not_surer_than_what_was_found():
    assert str(Share(1.0, 0.8666, 1.0)) == "1.00 (95 % interval 0.86 to 1.00)"
    assert str(Share(0.5, 0.5, 0.5)) == "0.5"
