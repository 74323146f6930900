"""Pairs without a value, equal scores, calls that go on: what an answer may not make up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fewpairs as fp
from fewpairs.tasks.matching.assignment import best_assignment
from fewpairs.tasks.matching.judges import Judges
from fewpairs.tasks.matching.neighbor_rows import NeighborRows
from fewpairs.tasks.matching.universe import Universe

VALUES = np.array([[0.1, 0.9, 0.3, 0.4], [0.9, np.nan, 0.1, 0.05], [0.2, 0.95, 0.4, 0.5]])


def holey(values, **facts):
    return fp.similarity(
        lambda a, b: values[np.ix_(a, b)], kind="block", on_nonfinite="skip", **facts
    )


def test_nothing_stands_in_for_a_skipped_pair_among_neighbours():
    alike = holey(VALUES, symmetric=False)
    near = fp.find_nearest(range(3), alike, others=range(4), k=2, random_state=0)
    assert (1, 1) not in set(zip(near.left.tolist(), near.right.tolist(), strict=True))
    assert np.isfinite(near.similarities).all()
    assert near.similarities[near.left == 1].tolist() == [0.9, 0.1]


def test_nothing_stands_in_for_a_skipped_pair_among_matches():
    alike = holey(VALUES, symmetric=False)
    found = fp.find_pairs(range(3), alike, others=range(4), above=0.6, all_pairs=True)
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (2, 1),
    ]
    assert found.recall.skipped == 1
    assert len(found.one_to_one()) == 2


def test_one_set_with_gaps_is_audited_by_its_answers():
    rng = np.random.default_rng(4)
    values = rng.random((30, 30))
    values = (values + values.T) / 2
    gaps = [(3, 9), (11, 20), (0, 29)]
    for i, j in gaps:
        values[i, j] = values[j, i] = np.nan
    np.fill_diagonal(values, 1.0)
    alike = holey(values, symmetric=True, diagonal=1.0)
    found = fp.find_pairs(range(30), alike, above=0.3, all_pairs=True)
    i, j = np.nonzero(np.triu(np.nan_to_num(values) >= 0.3, 1))
    assert sorted(zip(found.left, found.right, strict=True)) == sorted(zip(i, j, strict=True))
    stated = fp.recall_of([(i[0], j[0])], range(30), alike, above=0.3, all_pairs=True)
    assert stated.value == 1 / len(i)


class Cheap:
    """Cheap, by blocks, and without a value for some pairs."""

    symmetric, cheap, name = True, True, "cheap with gaps"

    def __init__(self, values):
        self.values = values

    def block(self, left, right):
        return self.values[np.ix_(np.asarray(left), np.asarray(right))]


def test_extending_by_all_pairs_has_the_gaps_of_all_pairs():
    rng = np.random.default_rng(5)
    values = rng.random((24, 24))
    values = (values + values.T) / 2
    for i, j in [(1, 4), (2, 22), (19, 23), (5, 20)]:
        values[i, j] = values[j, i] = np.nan
    options = {"above": 0.5, "on_nonfinite": "skip", "random_state": 0}
    found = fp.find_pairs(list(range(18)), Cheap(values), **options)
    assert found.recall.skipped == 1
    grown = found.extend(list(range(18, 24)), random_state=0)
    whole = fp.find_pairs(list(range(24)), Cheap(values), **options)
    for made in (grown, whole):
        assert np.isfinite(made.similarities).all()
        assert made.recall.skipped == 4
    assert set(zip(grown.left, grown.right, strict=True)) == set(
        zip(whole.left, whole.right, strict=True)
    )


def partners(n, seed):
    """Return a similarity of 1 between the two of each couple, 0 elsewhere, and who is whose."""
    order = np.random.default_rng(seed).permutation(n)
    partner = np.empty(n, dtype=int)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    alike = fp.similarity(
        lambda a, b: (partner[np.asarray(a)][:, None] == np.asarray(b)).astype(float),
        kind="block",
        symmetric=True,
    )
    return alike, partner


def true_share(found, partner, k):
    """Share of true neighbours: of the others, all zeros, any will do."""
    held = sum(partner[i] == j for i, j in zip(found.left, found.right, strict=True))
    return (held + len(partner) * (k - 1)) / (len(partner) * k)


def test_equal_scores_do_not_make_up_for_a_nearer_one():
    above = 0
    for seed in range(6):
        alike, partner = partners(600, seed)
        guide = np.random.default_rng(100 + seed).normal(size=(600, 5))
        found = fp.find_nearest(
            list(range(600)), alike, k=2, guide=guide, budget=0.4, random_state=seed
        )
        above += found.recall.low > true_share(found, partner, 2) + 1e-12
    assert above == 0


def test_a_depth_is_that_of_the_nearer_ones_not_of_ties():
    n, m = 400, 12
    values = np.zeros((n, m))
    values[:, 9] = 1.0
    universe = Universe(n, m, square=False, symmetric=False)
    none = np.empty(0, np.int64)
    rows = NeighborRows(None, 2, small_is_near=False)
    judges = Judges(universe, rows, np.arange(n), values, none, none)
    order = np.arange(m, 0, -1, dtype=np.float32)[:, None]  # column 9 comes tenth in every list
    assert judges.promising(np.ones((n, 1), np.float32), order, 0.95) == 10


def test_a_gap_of_a_symmetric_similarity_is_one_in_both_rows():
    values = np.random.default_rng(0).random((12, 12))
    values = (values + values.T) / 2
    values[2, 9] = values[9, 2] = np.nan
    alike = holey(values, symmetric=True, diagonal=1.0)
    near = fp.find_nearest(range(12), alike, k=10, random_state=0)
    held = set(zip(near.left.tolist(), near.right.tolist(), strict=True))
    assert not held & {(2, 9), (9, 2)}


def test_a_check_of_neighbours_knows_equal_scores():
    alike, partner = partners(150, 1)
    matrix = fp.approximate(list(range(150)), alike, budget=0.1, random_state=0)
    near = [matrix.nearest(row, k=5, rerank=0).indices for row in range(150)]
    held = [(4 + (partner[row] in near[row])) / 5 for row in range(150)]
    check = matrix.check(k=5, rows=150, rerank=20, random_state=0)  # rows are known from here on
    assert check.recall.value == pytest.approx(np.mean(held), abs=0.02)
    # Of twenty candidates few are a partner; zeros would make the list perfect.
    assert check.recall.value <= check.reranked.value < 0.95


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


def test_extending_after_skips_says_how_many():
    def judge(a, b):
        if (a + b) % 17 == 0:
            return float("nan")
        return 1.0 / (1 + abs(a - b))

    alike = fp.similarity(judge, kind="pair", symmetric=True, on_nonfinite="skip")
    found = fp.find_pairs(list(range(20)), alike, above=0.4, all_pairs=True)
    skipped = found.recall.skipped
    assert skipped
    grown = found.extend(list(range(20, 30)), random_state=0)
    assert grown.recall.skipped == skipped + len(grown.oracle.skipped)
    assert grown.recall.skipped > skipped


def test_a_small_gain_is_not_given_up_beside_a_huge_one():
    left, right = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 1])
    kept = best_assignment(left, right, np.array([1e9, 100.0, 0.0, 0.0]), (3, 3))
    assert kept.tolist() == [True, True, False, False]


def test_of_equal_sums_the_one_with_more_pairs_is_kept_among_thousands():
    n = 3000
    kept = best_assignment(np.arange(n), np.arange(n), np.r_[5.0, np.zeros(n - 1)], (n, n))
    assert kept.all()


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
