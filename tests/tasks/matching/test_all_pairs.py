"""All pairs evaluated: where a similarity is cheap, or where it was asked for."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from examples import Counter

import fewpairs as fp
from fewpairs.errors import InputError, NeighborsCutWarning, SimilarityError
from fewpairs.numerics import distinct
from fewpairs.tasks.matching import all_pairs as module
from fewpairs.tasks.matching import drawing, running
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

NAMES = [
    f"{first} {last}"
    for first in ("Ann", "Anne", "Bob", "Rob", "Cleo", "Leo")
    for last in ("Smith", "Smyth", "Jones", "Johns", "Müller", "Miller", "")
]
ALIKE = fp.StringSimilarity("jaro_winkler")


def exact(similarity, left, right):
    return np.asarray(similarity.pairs([(a, b) for a in left for b in right])).reshape(
        len(left), len(right)
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda **more: fp.find_pairs(NAMES, ALIKE, above=0.9, **more),
        lambda **more: fp.find_nearest(NAMES, ALIKE, k=2, **more),
    ],
)
def test_a_search_that_takes_longer_than_all_pairs_says_so_beside_its_bar(
    answer, monkeypatch, capsys
):
    clock = SimpleNamespace(perf_counter=itertools.count(step=1000).__next__)
    monkeypatch.setattr("fewpairs.run.timing.time", clock)
    search = {"random_state": 0, "budget": 200}
    answer(progress=True, **search)
    assert "and miss none: all_pairs=True, or --all-pairs" in capsys.readouterr().err
    answer(progress=True, cost=0.1, **search)
    answer(progress=True)  # all pairs are evaluated
    assert "miss none" not in capsys.readouterr().err


@pytest.mark.parametrize("scorer", ["jaro_winkler", "partial_ratio"])
@pytest.mark.parametrize("others", [None, NAMES[:20]])
def test_a_cheap_similarity_is_evaluated_everywhere(scorer, others):
    similarity = fp.StringSimilarity(scorer)
    matrix = exact(similarity, NAMES, others or NAMES)
    i, j = np.nonzero(matrix >= 0.8)
    if others is None:
        kept = i < j if similarity.symmetric else i != j
        i, j = i[kept], j[kept]
    found = fp.find_pairs(NAMES, similarity, others=others, above=0.8)
    assert set(zip(found.left, found.right, strict=True)) == set(zip(i, j, strict=True))
    np.testing.assert_array_equal(found.similarities, matrix[found.left, found.right])
    assert found.recall.complete
    assert found.recall.low == 1.0
    assert found.spent["all_pairs"] == found.evaluations
    assert str(found.recall).startswith("recall 1 (exact: every pair was evaluated)")


@pytest.mark.parametrize("others", [None, NAMES[:20]])
def test_nearest_of_a_cheap_similarity(others):
    matrix = exact(ALIKE, NAMES, others or NAMES)
    if others is None:
        np.fill_diagonal(matrix, -np.inf)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :3]
    found = fp.find_nearest(NAMES, ALIKE, others=others, k=3)
    np.testing.assert_array_equal(found.right.reshape(-1, 3), order)
    np.testing.assert_array_equal(found.left, np.repeat(np.arange(len(NAMES)), 3))
    assert found.recall.complete
    assert found.spent["all_pairs"] == found.evaluations


def test_a_search_can_be_asked_for_and_is_what_a_budget_means():
    options = {"above": 0.9, "random_state": 0}
    assert "all_pairs" not in fp.find_pairs(NAMES, ALIKE, all_pairs=False, **options).spent
    assert fp.find_pairs(NAMES, ALIKE, budget=200, **options).evaluations <= 200
    assert fp.find_nearest(NAMES, ALIKE, budget=200, random_state=0).evaluations <= 200


def test_of_many_pairs_a_search_is_made(monkeypatch):
    pairs = len(NAMES) * (len(NAMES) - 1) // 2
    for most, all_of_them in ((pairs, True), (pairs - 1, False)):
        monkeypatch.setattr(module, "MANY", most)
        found = fp.find_pairs(NAMES, ALIKE, above=0.9, random_state=0)
        assert ("all_pairs" in found.spent) is all_of_them


def test_who_is_cheap():
    own = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True)
    assert fp.VectorSimilarity("rbf").cheap
    assert ALIKE.cheap
    assert fp.StringSimilarity("partial_ratio").symmetrized().cheap
    assert fp.RecordSimilarity({"name": "jaro", "city": "ratio"}).cheap
    assert not fp.RecordSimilarity({"name": "jaro", "city": own}).cheap
    assert not own.cheap
    assert not fp.Precomputed(np.eye(3)).cheap


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_all_pairs_of_any_similarity_if_asked_for(kind, symmetric):
    matrix = np.random.default_rng(0).random((30, 30))
    matrix = (matrix + matrix.T) / 2 if symmetric else matrix
    counter = Counter(matrix)
    similarity = counter.similarity(kind, symmetric=symmetric)
    found = fp.find_pairs(range(30), similarity, above=0.7, all_pairs=True, random_state=0)
    i, j = np.nonzero(matrix >= 0.7)
    kept = i < j if symmetric else i != j
    assert set(zip(found.left, found.right, strict=True)) == {*zip(i[kept], j[kept], strict=True)}
    assert found.evaluations == len(counter.asked)
    assert found.recall.complete
    # Nobody asks for an item with itself; one order of the pairs that were checked is known.
    checks = found.spent["symmetry"] // 2
    assert found.evaluations == 870 // (2 if symmetric else 1) + checks


@pytest.mark.parametrize("ask", ["find_pairs", "find_nearest", "two sets", "extend"])
def test_whole_blocks_are_asked_for_where_they_cost_nothing_more(ask):
    """Thousands of pairs in a few calls; but none where an item would be compared with itself."""
    matrix = np.random.default_rng(0).random((60, 60))
    calls = []

    def block(left, right):
        calls.append((len(left), len(right)))
        return ((matrix + matrix.T) / 2)[np.ix_(left, right)]

    def pairs(some):
        return [(matrix[a, b] + matrix[b, a]) / 2 for a, b in some]

    class Both(fp.Similarity):
        name, symmetric, symmetry_proven = "both", True, True

    for diagonal in (0.5, None):
        calls.clear()
        both = Both()
        both.block, both.pairs, both.diagonal = block, pairs, diagonal
        every = {"all_pairs": True, "random_state": 0}
        if ask == "find_pairs":
            found = fp.find_pairs(range(60), both, above=0.7, **every)
        elif ask == "find_nearest":
            found = fp.find_nearest(range(60), both, k=3, **every)
        elif ask == "two sets":
            found = fp.find_pairs(range(60), both, others=range(60), above=0.7, **every)
        else:
            both.cheap = True
            found = fp.find_pairs(range(40), both, above=0.7, random_state=0)
            calls.clear()
            found = found.extend(range(40, 60), random_state=0)
        asked = sum(rows * columns for rows, columns in calls)
        if diagonal is None and ask.startswith("find"):
            assert not calls
            assert found.evaluations == 60 * 59 // 2
        else:
            assert 0 < len(calls) < 20
            assert asked >= 20 * 40


def test_a_declared_symmetry_is_still_checked():
    matrix = np.random.default_rng(0).random((30, 30))
    similarity = Counter(matrix).similarity("pair", symmetric=True)
    with pytest.raises(SimilarityError, match="symmetric"):
        fp.find_pairs(range(30), similarity, above=0.5, all_pairs=True, random_state=0)


def test_after_a_fault_only_the_rest_is_evaluated():
    matrix = np.random.default_rng(0).random((40, 40))
    counter = Counter((matrix + matrix.T) / 2)

    def failing(a, b):
        if len(counter.asked) == 500:
            counter.asked.append((-1, -1))
            raise OSError
        return counter.pair(a, b)

    similarity = fp.similarity(failing, kind="pair", symmetric=True, name="counter")
    options = {"above": 0.7, "all_pairs": True, "random_state": 0}
    with pytest.raises(SimilarityError) as caught:
        fp.find_pairs(range(40), similarity, **options)
    found = fp.find_pairs(caught.value.oracle, **options)
    whole = fp.find_pairs(range(40), Counter((matrix + matrix.T) / 2).similarity("pair"), **options)
    np.testing.assert_array_equal(found.left, whole.left)
    assert len(counter.asked) == whole.evaluations + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"all_pairs": True, "budget": 0.5}, "beside budget"), ({"all_pairs": "yes"}, "'yes'")],
)
def test_what_makes_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        fp.find_pairs(NAMES, ALIKE, above=0.9, **options)
    with pytest.raises(InputError, match=message):
        fp.find_nearest(NAMES, ALIKE, **options)


def test_no_pairs_at_all():
    assert len(fp.find_pairs(["alone"], ALIKE, above=0.5)) == 0
    with pytest.warns(NeighborsCutWarning, match="the 0 others"):
        assert len(fp.find_nearest(["alone"], ALIKE, k=2)) == 0


@pytest.mark.parametrize("most", [100, 2000])
def test_a_histogram_shows_what_was_evaluated(monkeypatch, most):
    monkeypatch.setattr(drawing, "_SHOWN", most)
    found = fp.find_pairs(NAMES, ALIKE, above=0.9, random_state=0)
    assert len(found.blind) == min(most, len(NAMES) * (len(NAMES) - 1) // 2)


@pytest.mark.parametrize(("most", "shown"), [(400, 400), (399, 200), (150, 134)])
def test_of_many_blind_pairs_every_so_many_th_is_shown(monkeypatch, most, shown):
    monkeypatch.setattr(drawing, "_SHOWN", most)
    oracle = fp.Oracle(range(60), fp.Precomputed(np.arange(3600.0).reshape(60, 60)))
    universe = Universe(60, 60, square=True, symmetric=False)
    run = running.Run(
        oracle, universe, Threshold.of(0.5, None), 10_000, 0.95, np.random.default_rng(0)
    )
    keys = universe.everything()[:400]
    run._drawing._draws = [SimpleNamespace(keys=keys)]
    values = run.blind_values()
    assert len(values) == shown
    # From first to last, as far as a step reaches.
    assert values[0] == keys[0]
    assert values[-1] >= keys[-3]


def test_different_integers_in_order():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50, 40), rng.integers(0, 50, 30)
    np.testing.assert_array_equal(distinct(a, b), np.union1d(a, b))
    assert len(distinct(np.empty(0, dtype=np.int64))) == 0


def test_a_low_ceiling_does_not_refuse_after_all_pairs_were_bought():
    exact = np.random.default_rng(0).random((300, 300))
    similarity = fp.Precomputed((exact + exact.T) / 2)
    found = fp.find_pairs(
        range(300), similarity, above=0.5, all_pairs=True, max_memory="1 MB", random_state=0
    )
    assert len(found) == (np.triu((exact + exact.T) / 2, 1) > 0.5).sum()
