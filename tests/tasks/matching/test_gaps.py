"""Pairs without a value: nothing stands in for them in an answer."""

from __future__ import annotations

import numpy as np

import fewpairs as fp

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


def test_a_gap_of_a_symmetric_similarity_is_one_in_both_rows():
    values = np.random.default_rng(0).random((12, 12))
    values = (values + values.T) / 2
    values[2, 9] = values[9, 2] = np.nan
    alike = holey(values, symmetric=True, diagonal=1.0)
    near = fp.find_nearest(range(12), alike, k=10, random_state=0)
    held = set(zip(near.left.tolist(), near.right.tolist(), strict=True))
    assert not held & {(2, 9), (9, 2)}


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
