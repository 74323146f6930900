"""recall_of, plan_pairs, score_pairs, find_nearest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from examples import Counter
from scipy import sparse

import fewpairs as fp
from fewpairs.errors import InputError, NeighborsCutWarning


def between(matrix):
    """The similarity of two sets of positions."""
    return fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=False)


def smooth(n=200, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 4))
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2)), points


def matches_of(matrix, above):
    i, j = np.nonzero(np.triu(matrix >= above, 1))
    return np.stack([i, j], axis=1)


# ---------------------------------------------------------------------- recall_of


def test_recall_of_half_of_the_matches():
    matrix, _ = smooth()
    every = matches_of(matrix, 0.5)
    half = every[::2]
    false = 0
    for seed in range(30):
        stated = fp.recall_of(
            half, range(200), fp.Precomputed(matrix), above=0.5, budget=0.3, random_state=seed
        )
        false += not stated.low <= len(half) / len(every) <= stated.high
        assert stated.precision == 1.0
        assert stated.found == len(half)
    assert false <= 5


def test_recall_of_names_what_is_missing():
    matrix, _ = smooth(60)
    every = matches_of(matrix, 0.5)
    stated = fp.recall_of(
        every[1:], range(60), fp.Precomputed(matrix), above=0.5, recall=0.999, random_state=0
    )
    assert stated.value == pytest.approx((len(every) - 1) / len(every))
    left, right, scores = stated.examples
    assert [left.tolist(), right.tolist()] == [[every[0, 0]], [every[0, 1]]]
    assert scores[0] == matrix[tuple(every[0])]


def test_recall_of_counts_every_evaluation_and_stays_in_its_budget():
    matrix, _ = smooth(60)
    counter = Counter(matrix)
    stated = fp.recall_of(
        [(0, 1), (1, 0), (2, 3)],
        range(60),
        counter.similarity("pairs"),
        above=0.5,
        budget=100,
        random_state=0,
    )
    assert stated.evaluations == len(counter.asked) == 100
    assert stated.blind == 100 - 16  # eight pairs in both orders, both candidates among them


@pytest.mark.parametrize(
    "form", ["array", "two arrays", "pandas", "polars", "splink", "recordlinkage", "graph"]
)
def test_candidates_come_in_any_form(form):
    matrix, _ = smooth(20)
    left, right = ["a3", "a5"], ["a4", "a6"]
    ids = [f"a{k}" for k in range(20)]
    candidates = {
        "array": lambda: list(zip(left, right, strict=True)),
        "two arrays": lambda: (left, right),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame({"left": left, "right": right}),
        "polars": lambda: pytest.importorskip("polars").DataFrame({"left": left, "right": right}),
        "splink": lambda: pytest.importorskip("pandas").DataFrame(
            {"match_probability": [0.9, 0.8], "unique_id_l": left, "unique_id_r": right}
        ),
        "recordlinkage": lambda: pytest.importorskip("pandas").MultiIndex.from_arrays(
            [left, right]
        ),
        # A stored zero is a pair as well: the distance of a twin.
        "graph": lambda: sparse.csr_array(([0.0, 0.3], ([3, 5], [4, 6])), shape=(20, 20)),
    }[form]()
    stated = fp.recall_of(candidates, range(20), fp.Precomputed(matrix), above=0.0, ids=ids)
    assert (stated.found, stated.precision) == (2, 1.0)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([(0, 0)], "pairs an item with itself"),
        ([(0, 99)], "positions from 0 to 19"),
        ([(0, 1, 2)], "not pairs"),
        (([0, 1], [2]), "2 left and 1 right"),
        ([("x", "y")], "positions"),
        (sparse.eye_array(20), "pairs an item with itself"),
        (sparse.csr_array((20, 19)), "found among"),
    ],
)
def test_wrong_candidates_are_refused(candidates, message):
    with pytest.raises(InputError, match=message):
        fp.recall_of(candidates, range(20), fp.Precomputed(np.eye(20)), above=0.5)


def test_no_candidates_have_no_precision():
    stated = fp.recall_of([], range(20), fp.Precomputed(np.ones((20, 20))), above=0.5)
    assert (stated.value, stated.precision) == (0.0, None)


def grouped(n=400, group=8):
    """Groups of items that match; a group has so many."""
    labels = np.arange(n) // group
    return (labels[:, None] == labels).astype(float)


def test_all_pairs_of_a_cheap_similarity_are_audited_exactly():
    names = ["Ann Lee", "Anne Lee", "Bo Ek", "Bo Eck", "Cy Dahl", "Cy Dal"]
    alike = fp.StringSimilarity("jaro_winkler")
    stated = fp.recall_of([(0, 1), (1, 2)], names, alike, above=0.9)
    assert stated.complete
    assert (stated.value, stated.low, stated.high) == (1 / 3, 1 / 3, 1 / 3)
    assert (stated.precision, stated.missed, stated.evaluations) == (0.5, 2, 15)
    assert [stated.examples[0].tolist(), stated.examples[1].tolist()] == [[2, 4], [3, 5]]
    drawn = fp.recall_of([(0, 1)], names, alike, above=0.9, budget=6, random_state=0)
    assert not drawn.complete
    assert drawn.evaluations == 6


@pytest.mark.parametrize("kind", ["pairs", "block"])
def test_an_audit_never_costs_more_than_all_pairs(kind):
    matrix = grouped(60, 2)
    for asked in (None, True):
        counter = Counter(matrix)
        stated = fp.recall_of(
            [(0, 1), (2, 3)],
            range(60),
            counter.similarity(kind, diagonal=1.0),
            above=0.5,
            all_pairs=asked,
            random_state=0,
        )
        assert stated.complete
        assert stated.value == 2 / 30
        assert stated.evaluations <= 60 * 59 // 2 + 8  # both orders of eight
    counter = Counter(matrix)
    given = {"above": 0.5, "all_pairs": False, "random_state": 0}
    less = fp.recall_of(
        np.stack([np.arange(0, 58, 2), np.arange(1, 58, 2)], axis=1),
        range(60),
        counter.similarity("pairs"),
        **given,
    )
    assert not less.complete


def test_poor_candidates_are_told_from_few_pairs():
    matrix = grouped()
    every = matches_of(matrix, 0.5)  # 1,400
    outside = 0
    for seed in range(20):
        stated = fp.recall_of(
            every[:70], range(400), fp.Precomputed(matrix), above=0.5, random_state=seed
        )
        outside += not stated.low <= 0.05 <= stated.high
        # Thirty of 1,330 among 79,730 come within 1,800 or so; a statement of 0.95 takes 38,000.
        assert stated.evaluations < 6_000
        assert stated.missed >= 30
        assert stated.low > 0.02
        assert "more candidates are needed" in str(stated)
    assert outside <= 3
    whole = fp.recall_of(
        every[:70], range(400), fp.Precomputed(matrix), above=0.5, budget=20_000, random_state=0
    )
    assert whole.evaluations == 20_000  # what somebody wants to spend is spent


# ---------------------------------------------------------------------- plan_pairs, score_pairs


def test_price_does_not_depend_on_the_number_of_items_but_on_matches():
    shares = [fp.plan_pairs(n, matches=10_000).share for n in (10_000, 100_000)]
    assert shares[0] == pytest.approx(shares[1], rel=1e-3)
    assert shares[0] == pytest.approx(59 / 10_000, rel=0.01)
    assert "evaluate all pairs" in str(fp.plan_pairs(100, matches=5))


def test_plan_of_two_sets_and_of_nonsense():
    assert fp.plan_pairs(10, others=20, matches=50).all_pairs == 200
    assert fp.plan_pairs(10, symmetric=False, matches=50).all_pairs == 90
    for wrong in ({"n": 0, "matches": 1}, {"n": 5, "matches": -1}, {"n": 5, "matches": 11}):
        with pytest.raises(InputError):
            fp.plan_pairs(**wrong)


def test_plans_speak_in_money():
    plan = fp.plan_pairs(5_000, matches=6_000, cost="0.002 USD")
    assert plan.money == pytest.approx((0.002 * plan.low, 0.002 * plan.high))
    assert str(plan).endswith(
        f": {0.002 * plan.low:,.2f} USD to {0.002 * plan.high:,.2f} USD, "
        f"where all pairs cost {0.002 * plan.all_pairs:,.2f} USD"
    )
    assert str(plan).startswith(str(fp.plan_pairs(5_000, matches=6_000)))
    assert str(fp.plan_pairs(100, matches=5, cost=0.5)).endswith("all pairs for 2,475.00")
    near = fp.plan_nearest(20_000, cost=0.1)
    assert near.money == pytest.approx((0.1 * near.least, 0.1 * near.all_pairs))
    assert f"at least ({0.1 * near.least:,.2f})" in str(near)
    assert "pairs (495.00) are" in str(fp.plan_nearest(100, cost=0.1))
    assert fp.plan_pairs(5_000).money is fp.plan_nearest(5_000).money is None
    for plan_of in (fp.plan_pairs, fp.plan_nearest):
        with pytest.raises(InputError, match="price of one evaluation"):
            plan_of(5_000, cost=-1)


def test_given_pairs_are_scored_once_each():
    counter = Counter(np.arange(25.0).reshape(5, 5))
    scores = fp.score_pairs(counter.similarity("pairs", symmetric=False), [0, 1, 4], [1, 1, 0])
    assert scores.tolist() == [1.0, 6.0, 20.0]
    assert len(counter.asked) == 3


def test_sides_of_given_pairs_are_as_long():
    with pytest.raises(InputError, match="3 items on the left and 2"):
        fp.score_pairs(fp.StringSimilarity("jaro"), ["a", "b", "c"], ["a", "b"])
    with pytest.raises(InputError, match="nothing on the right"):
        fp.score_pairs("jaro", [("a", "b"), ("c", "d")])
    with pytest.raises(InputError, match="nothing on the right"):
        fp.score_pairs(None, fp.Oracle(["a", "b"], "jaro"))  # of one set of items


# ---------------------------------------------------------------------- find_nearest


def true_recall(found, matrix, k):
    scores = matrix.copy()
    if matrix.shape[0] == matrix.shape[1]:
        np.fill_diagonal(scores, -np.inf)
    least = np.sort(scores, axis=1)[:, -k]
    good = found.similarities >= least[found.left]
    return good.sum() / (len(matrix) * k)


def test_nearest_of_many_items_by_a_guide():
    matrix, points = smooth(600)
    found = fp.find_nearest(range(600), fp.Precomputed(matrix), k=5, guide=points, random_state=0)
    assert found.recall.low >= 0.95
    assert true_recall(found, matrix, 5) >= 0.95
    assert np.bincount(found.left).tolist() == [5] * 600
    assert (found.left != found.right).all()
    np.testing.assert_array_equal(found.similarities, matrix[found.left, found.right])
    assert found.evaluations < 0.8 * 600 * 599 / 2


def test_few_items_are_all_compared():
    matrix, _ = smooth(40)
    found = fp.find_nearest(range(40), fp.Precomputed(matrix), k=3)
    assert found.recall.low == found.recall.high == true_recall(found, matrix, 3) == 1.0
    assert found.evaluations == 40 * 39 / 2


@pytest.mark.parametrize("guide", [True, False])
@pytest.mark.parametrize("budget", [500, 3000, 0.3])
@pytest.mark.parametrize("symmetric", [True, False])
def test_nearest_within_a_budget(guide, budget, symmetric):
    matrix, points = smooth(120)
    counter = Counter(matrix)
    found = fp.find_nearest(
        range(120),
        counter.similarity("pairs", symmetric=symmetric),
        k=4,
        budget=budget,
        guide=points if guide else None,
        random_state=0,
    )
    everything = 120 * 121 // 2 if symmetric else 120 * 120
    allowed = budget if isinstance(budget, int) else int(budget * everything)
    assert len(counter.asked) == found.evaluations <= allowed
    assert found.recall.low <= true_recall(found, matrix, 4) + 1e-12


def test_nearest_of_two_sets_and_of_distances():
    matrix, _ = smooth(90)
    similar = fp.find_nearest(
        range(90), between(matrix[:, :50]), others=range(50), k=2, guide=None, random_state=0
    )
    far = fp.find_nearest(
        range(90),
        between(1 - matrix[:, :50]),
        others=range(50),
        k=2,
        guide=None,
        distance=True,
        random_state=0,
    )
    assert true_recall(similar, matrix[:, :50], 2) >= similar.recall.low
    np.testing.assert_allclose(np.sort(1 - far.similarities), np.sort(similar.similarities))


def test_more_neighbours_than_items_are_all_others():
    with pytest.warns(NeighborsCutWarning, match="k=10 is more than the 2 others"):
        found = fp.find_nearest(range(3), fp.Precomputed(np.eye(3)), k=10)
    assert np.bincount(found.left).tolist() == [2, 2, 2]
    assert len(fp.find_nearest(range(3), fp.Precomputed(np.eye(3)), k=2)) == 6  # no word of it
    with pytest.warns(NeighborsCutWarning, match="the 0 others"):
        alone = fp.find_nearest(range(1), fp.Precomputed(np.eye(1)), k=10)
    assert len(alone) == 0


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_wrong_numbers_of_neighbours(k):
    with pytest.raises(InputError, match="k is"):
        fp.find_nearest(range(5), fp.Precomputed(np.eye(5)), k=k)


def test_judges_judge_the_lists_that_are_evaluated():
    """Items with the same guide, and neighbours that depend on their position."""
    n, size = 600, 100
    label, place = np.arange(n) // size, np.arange(n) % size
    noise = 0.1 * np.random.default_rng(0).random((n, n))
    matrix = (label[:, None] == label) * (1.0 + (place < 10)[None, :]) + noise
    found = fp.find_nearest(
        range(n),
        fp.Precomputed(matrix, symmetric=False),
        k=5,
        guide=np.eye(6)[label],
        recall=0.8,
        random_state=0,
    )
    assert found.recall.low <= true_recall(found, matrix, 5)


def test_added_examples_are_judged_by_other_pairs():
    rng = np.random.default_rng(0)
    rows, columns = np.triu_indices(300, 1)
    chosen = rng.choice(len(rows), 1500, replace=False)
    matrix = np.zeros((300, 300))
    matrix[rows[chosen], columns[chosen]] = matrix[columns[chosen], rows[chosen]] = 1.0
    every = np.stack([rows[chosen], columns[chosen]], axis=1)
    false = 0
    for seed in range(20):
        options = {"above": 0.5, "random_state": seed}
        first = fp.recall_of(every[:1200], range(300), fp.Precomputed(matrix), **options)
        more = np.concatenate([every[:1200], np.stack(first.examples[:2], axis=1)])
        second = fp.recall_of(more, range(300), fp.Precomputed(matrix), **options)
        false += not second.low <= len(more) / 1500 <= second.high
    assert false <= 4


def test_exact_is_said_only_of_what_was_evaluated():
    matrix = np.zeros((40, 40))
    matrix[3, 7] = matrix[7, 3] = matrix[8, 9] = matrix[9, 8] = 1.0
    for seed in range(30):
        stated = fp.recall_of(
            [(3, 7)], range(40), fp.Precomputed(matrix), above=0.5, random_state=seed
        )
        assert stated.complete == (stated.evaluations == 780) == ("exact" in str(stated))
    nothing = fp.recall_of([], range(40), fp.Precomputed(matrix), above=0.5, budget=400)
    assert "exact" not in str(nothing)


def test_two_tuples_are_two_pairs():
    matrix = np.eye(4)
    matrix[0, 1] = matrix[1, 0] = matrix[2, 3] = matrix[3, 2] = 1.0
    for candidates in ([(0, 1), (2, 3)], ((0, 1), (2, 3))):
        assert fp.recall_of(candidates, range(4), fp.Precomputed(matrix), above=0.5).value == 1.0


@pytest.mark.parametrize("wrong", [[1, 2, 3], None, 5])
def test_what_is_no_list_of_pairs_is_told(wrong):
    with pytest.raises(InputError, match="not pairs"):
        fp.recall_of(wrong, range(4), fp.Precomputed(np.eye(4)), above=0.5)


def test_given_pairs_may_be_rows_of_frames():
    pandas = pytest.importorskip("pandas")
    left = pandas.DataFrame({"name": ["ann", "bob"], "city": ["oslo", "rome"]})
    right = pandas.DataFrame({"name": ["ann", "rob"], "city": ["oslo", "rome"]})
    similarity = fp.RecordSimilarity({"name": "levenshtein", "city": "levenshtein"})
    assert fp.score_pairs(similarity, left, right)[0] == 1.0


def test_rows_that_were_read_whole_count_as_found():
    """A useless guide: the rows that judge are right in the answer, and the statement knows it."""
    matrix = np.random.default_rng(0).random((150, 150))
    outside = 0
    for seed in range(10):
        found = fp.find_nearest(
            range(150),
            fp.Precomputed(matrix, symmetric=False),
            k=5,
            budget=0.6,
            guide=np.random.default_rng(seed).normal(size=(150, 3)),
            random_state=seed,
        )
        truth = true_recall(found, matrix, 5)
        outside += not found.recall.low <= truth <= found.recall.high
    assert outside <= 2


# ---------------------------------------------------------------------- prices before the run


def test_a_plan_of_the_whole():
    plan = fp.plan_pairs(5_000, matches=6_000)
    assert plan.blind < plan.blind + 6_000 <= plan.low < plan.high < plan.all_pairs
    assert f"{plan.low:,} to {plan.high:,}" in str(plan)
    few = fp.plan_pairs(100, matches=5)
    assert "all 4,950 pairs" in few.price
    assert few.low == few.high == few.all_pairs
    assert fp.plan_pairs(5_000).matches == 5_000
    assert fp.plan_pairs(5_000, others=40).matches == 40
    assert fp.plan_pairs(2).matches == 1


def test_what_was_spent_lies_within_the_plan():
    points = np.random.default_rng(0).normal(size=(150, 4))
    points = np.concatenate([points + 0.01 * k for k in range(6)])
    matrix = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
    found = fp.find_pairs(
        range(900), fp.Precomputed(matrix), above=0.9, guide=points, random_state=0
    )
    plan = fp.plan_pairs(900, matches=len(found))
    assert plan.low <= found.evaluations <= plan.high


@pytest.mark.parametrize(
    ("n", "matches", "recall", "spent"),
    [(45_747, 75_757, 0.95, 6_545_329), (200_000, 10_000, 0.9, 60_134_872)],
)
def test_the_large_runs_of_our_tables_lie_within_their_plan(n, matches, recall, spent):
    """docs/tables/matching-scale.md: of persons few match, and the search looks long in vain."""
    plan = fp.plan_pairs(n, matches=matches, recall=recall)
    assert plan.low <= spent <= plan.high


def test_a_plan_of_neighbours_is_the_least_that_is_spent():
    matrix, points = smooth(600)
    found = fp.find_nearest(range(600), fp.Precomputed(matrix), k=5, guide=points, random_state=0)
    plan = fp.plan_nearest(600, k=5)
    whole = plan.rows * 599 - plan.rows * (plan.rows - 1) // 2
    assert found.spent["blind"] + found.spent["training"] == whole
    assert whole < plan.least <= found.evaluations
    few = fp.plan_nearest(40, k=3)
    assert few.least == few.all_pairs == 780
    assert "all 780 pairs" in str(few)
    assert "rows read whole" in str(fp.plan_nearest(5_000, others=300))
    for wrong in ({"n": 0}, {"n": 5, "k": 0}, {"n": 5, "others": 0}, {"n": 5, "recall": 2}):
        with pytest.raises(InputError):
            fp.plan_nearest(**wrong)


def test_progress_plans_with_what_is_known():
    """Not all pairs: what the blind ones and the search are expected to take."""
    matrix, points = smooth(600)
    for find, options in ((fp.find_pairs, {"above": 0.5}), (fp.find_nearest, {"k": 3})):
        seen = []
        found = find(
            range(600),
            Counter(matrix).similarity("pairs"),
            guide=points,
            random_state=0,
            progress=lambda done, planned, seen=seen: seen.append((done, planned)),
            **options,
        )
        assert seen[-1] == (found.evaluations, found.evaluations)
        assert max(planned for _, planned in seen) < 0.9 * 600 * 599 / 2
        assert all(done <= planned for done, planned in seen)


def test_an_audit_tells_what_is_missing_by_ids_and_in_words_of_its_own():
    matrix, _ = smooth(60)
    every = matches_of(matrix, 0.5)
    ids = [f"x{k}" for k in range(60)]
    some = [(ids[i], ids[j]) for i, j in every[: len(every) // 2]]
    stated = fp.recall_of(
        some, range(60), fp.Precomputed(matrix), above=0.5, ids=ids, budget=0.7, random_state=0
    )
    left, right, scores = stated.examples
    missing = {(ids[i], ids[j]) for i, j in every} - set(some)
    assert len(scores) == stated.missed > 0
    assert set(zip(left, right, strict=True)) <= missing
    assert f"{len(some):,} matches among the candidates; " in str(stated)
    assert f"pairs drawn blindly outside of them. That is too many to state {0.95}" in str(stated)
    assert "search" not in str(stated)
    assert "examples" not in repr(stated)


def test_what_was_found_is_audited_as_it_is():
    matrix, _ = smooth(60)
    similarity = fp.Precomputed(matrix)
    ids = [f"x{k}" for k in range(60)]
    strict = fp.find_pairs(range(60), similarity, above=0.7, all_pairs=True)
    stated = fp.recall_of(strict, range(60), similarity, above=0.5, ids=ids, random_state=0)
    assert stated.found == len(strict)
    near = fp.find_nearest(range(60), similarity, k=2, all_pairs=True)
    rows = np.stack([near.left, near.right], axis=1)
    both = [fp.recall_of(c, range(60), similarity, above=0.5, random_state=0) for c in (near, rows)]
    assert str(both[0]) == str(both[1])
    with pytest.raises(InputError, match="found among"):
        fp.recall_of(strict, range(50), fp.Precomputed(matrix[:50, :50]), above=0.5)


def test_a_useful_guide_is_never_planned_to_cost_more_than_a_useless_one():
    plan = fp.plan_pairs(300, matches=3_000)
    assert plan.low < plan.high <= plan.blind + plan.all_pairs // 2
    assert fp.plan_pairs(300, matches=40_000).high == 44_850


def test_items_in_place_of_their_number_are_told_in_one_line():
    with pytest.raises(InputError, match=r"n is a list\.\n.*\nPass n=len"):
        fp.plan_pairs(["name"] * 1_000)


def test_progress_is_not_at_its_end_while_blind_pairs_are_evaluated():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 4))
    points[:100] = points[100:200]  # a sixth of what is planned for at first
    near = fp.similarity(
        lambda pairs: [1.0 - np.abs(a - b).max() for a, b in pairs],
        kind="pairs",
        symmetric=True,
        block_size=500,
    )
    seen = []
    found = fp.find_pairs(
        points,
        near,
        above=0.99,
        random_state=0,
        progress=lambda done, planned: seen.append((done, planned)),
    )
    assert 0.5 * found.evaluations < found.spent["blind"] < 0.5 * 600 * 599 / 2
    full = [done for done, planned in seen if done >= planned]
    assert min(full) > 0.9 * found.evaluations


def test_what_was_looked_up_costs_no_money(tmp_path):
    matrix, _ = smooth(40)
    values = {(i, j): matrix[i, j] for i in range(40) for j in range(40)}
    priced = fp.similarity(
        lambda a, b: values[int(a), int(b)],
        kind="pair",
        symmetric=True,
        name="priced",
        version="1",
    )
    options = {"cost": "1 USD", "journal": tmp_path / "paid", "random_state": 0}
    names = [str(k) for k in range(40)]
    first = fp.find_pairs(names[:30], priced, above=0.5, all_pairs=True, **options)
    assert first.price == first.evaluations == 30 * 29 // 2 + 8  # eight pairs in both orders
    assert first.looked_up == 0
    more = fp.find_pairs(names, priced, above=0.5, all_pairs=True, **options)
    assert more.evaluations == 40 * 39 // 2 + 8
    # All that the first has paid for, but for eight pairs that are asked for again as a check.
    assert more.looked_up == 30 * 29 // 2 - 8
    assert more.price == more.paid == more.evaluations - more.looked_up
    assert f"{more.looked_up} of them looked up, for {more.price:.2f} USD" in repr(more)
    near = fp.find_nearest(names, priced, k=3, all_pairs=True, **options)
    assert near.price == near.paid < 30  # checks, and both orders of some pairs
    longer = first.extend(names[30:])
    assert longer.paid == longer.evaluations - longer.looked_up < first.paid + 30


def asked_in_all(call, n, fault, **options):
    """Run until a call fails, go on with its oracle, and count all calls."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 3))
    count = 0

    def judge(a, b):
        nonlocal count
        count += 1
        if count == fault:
            message = "out of order"
            raise RuntimeError(message)
        return float(np.exp(-np.linalg.norm(points[a] - points[b])))

    alike = fp.similarity(judge, kind="pair", symmetric=True)
    with pytest.raises(fp.errors.FewpairsError) as failed:
        call(list(range(n)), alike, **options)
    call(failed.value.oracle, None, **options)
    return count


@pytest.mark.parametrize("audit", [False, True])
def test_a_call_without_a_seed_goes_on_as_the_same_run(audit):
    def call(items, similarity, **options):
        if audit:
            candidates = [(i, i + 1) for i in range(40)]
            return fp.recall_of(candidates, items, similarity, **options)
        return fp.find_pairs(items, similarity, **options)

    asked = asked_in_all(call, 70, 700, above=0.6, budget=800)
    assert asked <= 801


def test_columns_of_the_same_name_are_refused_in_our_words():
    table = pd.DataFrame([[0, 1]], columns=["left", "left"])
    with pytest.raises(fp.errors.InputError, match="same name"):
        fp.recall_of(table, ["a", "b", "c"], fp.StringSimilarity("ratio"), above=0.5)


def test_a_plan_of_one_item_says_that_it_has_no_pairs():
    with pytest.raises(fp.errors.InputError, match="1 items have no pairs"):
        fp.plan_pairs(1)


def test_what_was_looked_up_is_told_without_a_stray_comma(tmp_path):
    alike = fp.similarity(
        lambda a, b: 1.0 / (1 + abs(a - b)), kind="pair", symmetric=True, name="near", version="1"
    )
    call = {"above": 0.4, "journal": tmp_path / "paid", "random_state": 0}
    fp.find_pairs(list(range(30)), alike, **call)
    again = fp.find_pairs(list(range(30)), alike, **call)
    assert again.looked_up
    assert again.paying == f", {again.looked_up:,} of them looked up"
    priced = fp.find_pairs(list(range(30)), alike, cost="0.01 USD", **call)
    assert priced.paying.startswith(f", {priced.looked_up:,} of them looked up, for ")
