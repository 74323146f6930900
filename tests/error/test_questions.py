"""The questions that evaluated columns are asked, one by one, on columns written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.error.shown import Direction, EvaluatedLines
from fewpairs.error.tails import NOTHING, DrawnPairs, Tails

#: From 0.025: none of m is of a kind, so at most 3.7/m of all are.
THREE = -np.log(0.025)


def ask(
    block,
    drawn,
    residuals=None,
    *,
    rows=None,
    bought=(),
    largest=None,
    stands_for=None,
    middle=0.0,
    **facts,
):
    """Columns of a matrix whose middle is 0; 10,000 unseen pairs in 100 columns, 200 rows."""
    block, drawn = np.asarray(block, dtype=float), np.asarray(drawn, dtype=float)
    residuals = np.zeros(len(drawn)) if residuals is None else np.asarray(residuals, dtype=float)
    stands_for = np.full(len(drawn), 100.0) if stands_for is None else np.asarray(stands_for)
    facts = {"n_pairs": 10_000, "orders": 2} | facts
    directions = [Direction(block, np.arange(len(block)), 100, 0.0)]
    if rows is not None:
        lines = np.asarray(rows, dtype=float)
        directions.append(Direction(lines, np.arange(len(lines)), 200, 0.0))
    return Tails(
        lines=EvaluatedLines(directions, middle),
        drawn=DrawnPairs(drawn, stands_for, residuals),
        drawn_far=np.abs(drawn),
        bought_far=np.abs(np.asarray(bought, dtype=float)),
        largest=float(np.abs(block).max()) if largest is None else largest,
        **facts,
    )


def ones_in(columns: int, rows: int = 50, each: int = 2) -> np.ndarray:
    """Columns of noughts, each with a few ones."""
    block = np.zeros((rows, columns))
    block[:each] = 1.0
    return block


def test_lines_are_looked_at_only_in_items_that_have_none():
    lines = np.arange(20_000.0).reshape(10_000, 2)
    without = np.delete(np.arange(10_000), [0, 4096, 9_999])
    direction = Direction(lines, without, 5, 0.1)
    blocks = list(direction.blocks())
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks), lines[without])
    assert EvaluatedLines([direction], 10.0).farthest == 19_997.0 - 10.0


def test_chance_shrinks_with_the_share_of_lines_that_were_evaluated():
    block = ones_in(20)
    none, most, every = (
        EvaluatedLines([Direction(block, np.arange(50), 100, share)], 0.0).beyond(0.5)
        for share in (0.0, 0.75, 1.0)
    )
    assert none.low < none.mass < none.high
    assert most.high - most.mass == pytest.approx((none.high - none.mass) / 2)
    assert most.mass - most.low == pytest.approx((none.mass - none.low) / 2)
    assert every.low == every.mass == every.high


def test_columns_and_pairs_that_agree_leave_nothing_to_ask():
    values = np.random.default_rng(0).normal(size=(200, 20))
    tails = ask(values, values[:50].ravel())
    assert tails.beyond_most() == NOTHING._replace(squares=tails.beyond_most().squares)


def test_what_columns_show_and_no_pair_does_is_missing_unless_it_was_bought():
    block = ones_in(20)
    everywhere = 40 * 100 / 20
    missed = ask(block, np.zeros(100)).beyond_most()
    assert missed.mass == pytest.approx(everywhere)
    assert everywhere < missed.high < 2 * everywhere
    assert not missed.unknown
    # A pair that was bought is two entries of a symmetric matrix, and one of another.
    bought = ask(block, np.zeros(100), bought=np.ones(30)).beyond_most()
    assert bought.mass == pytest.approx(everywhere - 60)
    assert bought.high == pytest.approx(missed.high - 60)
    single = ask(block, np.zeros(100), bought=np.ones(30), orders=1).beyond_most()
    assert single.mass == pytest.approx(everywhere - 30)


def test_where_few_of_the_tail_were_drawn_the_value_stays_and_the_interval_widens():
    drawn = np.zeros(100)
    drawn[:2] = 1.0
    missed = ask(ones_in(20, each=8), drawn).beyond_most()
    assert missed.mass == 0
    # Two of a hundred are two hundred of ten thousand pairs, in two orders or one.
    other = ask(ones_in(20, each=8), drawn, orders=1).beyond_most()
    assert 0 < missed.high == pytest.approx(other.high - 200)


def test_fewer_than_five_lumps_say_nothing():
    block = np.zeros((50, 20))
    block[0, 0] = 3.0
    missed = ask(block, np.zeros(100)).beyond_most()
    assert missed.unknown
    assert missed.high == 10_000 * 2 * 9


def test_mass_beyond_everything_drawn_is_telling_if_it_is_more_than_chance_explains():
    drawn = np.full(100, 0.1)
    _, telling = ask(ones_in(20), drawn).beyond_all()
    assert telling
    # The lines show a mass of 200, and by chance 143 at the least: 120 do not explain it.
    _, telling = ask(ones_in(20), drawn, bought=np.ones(60)).beyond_all()
    assert telling
    _, telling = ask(ones_in(20), drawn, bought=np.ones(75)).beyond_all()
    assert not telling
    # 3.7 of a hundred pairs may be a little larger than the largest.
    slightly = np.where(ones_in(20) > 0, 0.11, 0.0)
    missed, telling = ask(slightly, drawn).beyond_all()
    assert missed.high > 0
    assert not telling


def test_values_of_another_kind_than_all_that_was_drawn_are_telling():
    drawn = np.full(100, 0.5)
    # One value a hundred times is within chance; but not at more than twice the largest drawn.
    alike, other = (np.where(ones_in(20, each=1) > 0, size, 0.0) for size in (0.9, 1.1))
    alike[:, 1:] = other[:, 1:] = 0
    assert not ask(alike, drawn).beyond_all()[1]
    missed, telling = ask(other, drawn).beyond_all()
    assert telling
    assert missed.high > 1.1**2 * 100 / 20
    # It is 6 in all by one lump, which may be nearly none; a sixth of it explains nothing.
    assert ask(other, drawn, bought=[1.0], orders=1).beyond_all()[1]
    assert not ask(other, drawn, bought=[1.1, 1.1], orders=1).beyond_all()[1]


def test_rows_are_asked_as_well_as_columns():
    none, some = np.zeros((50, 20)), ones_in(20, each=2)
    assert ask(none, np.zeros(100)).beyond_all() == (NOTHING, False)
    missed, telling = ask(none, np.zeros(100), rows=some).beyond_all()
    assert telling
    assert missed.high > 0
    # A fifth of all columns and a tenth of all rows: 80 ones in 0.3 of what there is.
    both = ask(some, np.zeros(100), rows=some).beyond_most()
    assert both.mass == pytest.approx(80 / 0.3)
    seen = ask(some / 10, np.zeros(9), rows=some / 10, largest=2.0)
    assert seen.unlike_lines() == pytest.approx(THREE / 0.3 * 4)


def test_a_value_that_no_column_shows_may_be_one_partner_of_few_items():
    low = np.full((50, 20), 0.1)
    assert ask(low, np.zeros(9), largest=2.0).unlike_lines() == pytest.approx(THREE * 5 * 4)
    assert ask(low, np.zeros(9), largest=0.15).unlike_lines() == 0


def test_no_drawn_pair_that_is_badly_wrong_is_no_proof():
    block = ones_in(20)
    ten = np.full(1000, 10.0)
    by_pairs = ask(block, np.zeros(1000), stands_for=ten).unlike_landmarks()
    assert by_pairs == pytest.approx(THREE * 9 * 2)
    # Pairs with the smallest chance of being drawn: more of them may be wrong.
    ten[7] = 30.0
    by_pairs = ask(block, np.zeros(1000), stands_for=ten).unlike_landmarks()
    assert by_pairs == pytest.approx(THREE * 29 * 2)
    by_items = ask(block, np.zeros(10)).unlike_landmarks()
    assert by_items == pytest.approx((THREE / 20) ** 2 * 10_000 * 2)
    wrong = np.zeros(1000)
    wrong[0] = 2 * 0.06**2  # both orders
    assert ask(block, np.zeros(1000), wrong).unlike_landmarks() == 0


def test_one_value_alone_is_measured_from_zero():
    lines = np.full((50, 20), 2.0)
    tails = ask(lines, np.zeros(1000), middle=2.0, stands_for=np.full(1000, 10.0))
    assert tails.unlike_landmarks() == pytest.approx(THREE * 9 * 2 * 4)


def test_pairs_that_are_left_over_may_be_wrong():
    stands_for = np.full(5000, 2.0)
    stands_for[0] = 4.0
    tails = ask(ones_in(20), np.zeros(5000), np.full(5000, 0.02), stands_for=stands_for)
    assert tails.left_over() == pytest.approx(THREE * 3 * 2)
    few = ask(ones_in(20), np.zeros(5000), np.full(5000, 0.02), n_pairs=5005, stands_for=stands_for)
    assert few.left_over() == 5 * 2
    assert ask(ones_in(20), np.zeros(1000), np.full(1000, 0.02)).left_over() == 0
    wrong = np.full(5000, 2 * 0.4**2)
    assert ask(ones_in(20), np.zeros(5000), wrong, stands_for=stands_for).left_over() == 0


def test_what_was_missed_is_predicted_no_better_than_what_was_drawn():
    drawn = np.full(100, 0.5)
    by_middle = 2 * 0.5**2  # both orders
    block = ones_in(20)
    assert ask(block, drawn, np.full(100, by_middle)).residuals_of(1.5) == 1.0
    worse = ask(block, drawn, np.full(100, 1.2 * by_middle))
    assert worse.residuals_of(1.5) == pytest.approx(1.2)
    assert worse.residuals_of(1.1) == 1.1
    assert worse.residuals_of(0.9) == 1.0
    # A middle that is right everywhere.
    assert ask(block, np.zeros(100), np.full(100, 0.1)).residuals_of(1.5) == 1.5
    assert ask(block, np.zeros(100), np.zeros(100)).residuals_of(1.5) == 1.0
