"""The only gate: every entry right, counted, asked once, remembered."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.oracle.ledger import unknown_part
from fewpairs.oracle.requests import Rectangle


def distinct(n: int, s: int) -> int:
    return n * s - s * (s - 1) // 2


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("block_size", [None, 1, 7, (5, 3)])
def test_columns_are_right_and_counted(kind, n_jobs, block_size):
    counter = Counter(symmetric_matrix(30))
    oracle = fp.Oracle(range(30), counter.similarity(kind, block_size=block_size), n_jobs=n_jobs)
    landmarks = [4, 17, 9, 0, 29, 12, 8, 3, 21, 11]
    assert np.array_equal(oracle.columns(landmarks), counter.matrix[:, landmarks])
    assert oracle.evaluations == len(counter.asked) == oracle.planner.price_of_columns(10)
    assert len(counter.unordered) == distinct(30, 10)


@pytest.mark.parametrize("kind", ["pair", "pairs"])
def test_pairs_are_never_asked_in_both_orders(kind):
    counter = Counter(symmetric_matrix(25))
    oracle = fp.Oracle(range(25), counter.similarity(kind))
    oracle.columns([3, 1, 7])
    oracle.columns([7, 9, 2, 1])
    oracle.block([5, 6, 7, 8], [5, 6, 7, 8, 9])
    oracle.entries([0, 1, 5, 24], [24, 0, 8, 0])
    oracle.diagonal()
    assert len(counter.asked) == len(counter.unordered) == oracle.evaluations


def test_block_similarity_repeats_only_inside_the_landmark_square():
    counter = Counter(np.eye(600))
    oracle = fp.Oracle(range(600), counter.similarity("block"))
    landmarks = np.arange(20)
    oracle.columns(landmarks)
    asked = set(counter.asked)
    twice = [p for p in counter.asked if p[0] != p[1] and p[::-1] in asked]
    assert all(a in landmarks and b in landmarks for a, b in twice)
    assert distinct(600, 20) < oracle.evaluations < distinct(600, 20) + 4 * 20


def test_block_similarity_of_few_items_is_asked_for_each_pair_once():
    counter = Counter(symmetric_matrix(25))
    oracle = fp.Oracle(range(25), counter.similarity("block"))
    oracle.columns(np.arange(25))
    assert oracle.evaluations == len(counter.asked) == len(counter.unordered) == 25 * 26 // 2


def test_asymmetric_rows_and_columns_share_their_crossing(kind):
    counter = Counter(asymmetric_matrix(20))
    oracle = fp.Oracle(range(20), counter.similarity(kind, symmetric=False))
    assert np.array_equal(oracle.columns([2, 5]), counter.matrix[:, [2, 5]])
    assert np.array_equal(oracle.rows([5, 7, 1]), counter.matrix[[5, 7, 1]])
    assert oracle.evaluations == len(counter.asked) == 20 * 5 - 6
    assert len(set(counter.asked)) == len(counter.asked)


def test_known_diagonal_is_not_asked_for():
    matrix = symmetric_matrix(12)
    np.fill_diagonal(matrix, 1.0)
    counter = Counter(matrix)
    oracle = fp.Oracle(range(12), counter.similarity("pair", diagonal=1.0))
    assert np.array_equal(oracle.columns([0, 5, 7]), matrix[:, [0, 5, 7]])
    assert np.array_equal(oracle.diagonal(), np.ones(12))
    assert not [p for p in counter.asked if p[0] == p[1]]
    assert oracle.evaluations == oracle.planner.price_of_columns(3) == distinct(12, 3) - 3


def test_what_is_remembered_costs_nothing(kind):
    counter = Counter(symmetric_matrix(15))
    oracle = fp.Oracle(range(15), counter.similarity(kind))
    oracle.columns([1, 2])
    spent = oracle.evaluations
    oracle.columns([2, 1])
    oracle.entries([1, 2, 14], [14, 2, 1])
    oracle.block([0, 1, 2], [1, 2])
    assert oracle.evaluations == spent == len(counter.asked)


def test_symmetrized_costs_two_evaluations(kind):
    counter = Counter(asymmetric_matrix(10))
    mean = counter.similarity(kind, symmetric=False).symmetrized()
    oracle = fp.Oracle(range(10), mean)
    exact = (counter.matrix + counter.matrix.T) / 2
    assert np.allclose(oracle.columns([3, 4]), exact[:, [3, 4]], atol=1e-15)
    assert oracle.evaluations == len(counter.asked)
    assert oracle.evaluations >= 2 * distinct(10, 2)


def test_rectangular_oracle(kind):
    counter = Counter(asymmetric_matrix(12))
    sim = counter.similarity(kind, symmetric=True)  # symmetry means nothing between two sets
    oracle = fp.Oracle([0, 1, 2], sim, others=[5, 6, 7, 8])
    assert oracle.shape == (3, 4)
    assert np.array_equal(oracle.columns([0, 3]), counter.matrix[:3][:, [5, 8]])
    assert np.array_equal(oracle.rows([1]), counter.matrix[1:2, 5:9])


def test_one_similarity_may_offer_several_ways():
    counter = Counter(symmetric_matrix(20))
    used = []

    class Both(fp.Similarity):
        symmetric = True

        def block(self, left, right):
            used.append("block")
            return counter.block(left, right)

        def pairs(self, pairs):
            used.append("pairs")
            return counter.pairs(pairs)

    oracle = fp.Oracle(range(20), Both())
    oracle.columns([1, 2, 3])
    assert set(used) == {"block", "pairs"}  # the triangle of the square goes through pairs
    assert oracle.evaluations == len(counter.asked) == distinct(20, 3)
    used.clear()
    oracle.entries([5, 6], [7, 8])
    assert used == ["pairs"]


def test_scattered_pairs_of_a_block_similarity_go_row_by_row():
    counter = Counter(symmetric_matrix(20))
    oracle = fp.Oracle(range(20), counter.similarity("block"))
    values = oracle.entries([3, 5, 3, 9], [4, 6, 8, 9])
    assert np.array_equal(values, counter.matrix[[3, 5, 3, 9], [4, 6, 8, 9]])
    assert sorted(counter.asked) == [(3, 4), (3, 8), (5, 6), (9, 9)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_mixture_of_calls_is_right_and_counted(data):
    n = data.draw(st.integers(1, 14))
    symmetric = data.draw(st.booleans())
    way = data.draw(st.sampled_from(["pair", "pairs", "block"]))
    counter = Counter((symmetric_matrix if symmetric else asymmetric_matrix)(n))
    size = data.draw(st.one_of(st.none(), st.integers(1, 9)))
    oracle = fp.Oracle(range(n), counter.similarity(way, symmetric=symmetric, block_size=size))
    some = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    for _ in range(data.draw(st.integers(1, 5))):
        call = data.draw(st.sampled_from(["columns", "rows", "block", "entries"]))
        i, j = data.draw(some), data.draw(some)
        if call == "columns":
            assert np.array_equal(oracle.columns(i), counter.matrix[:, i])
        elif call == "rows":
            assert np.array_equal(oracle.rows(i), counter.matrix[i])
        elif call == "block":
            assert np.array_equal(oracle.block(i, j), counter.matrix[np.ix_(i, j)])
        else:
            m = min(len(i), len(j))
            assert np.array_equal(oracle.entries(i[:m], j[:m]), counter.matrix[i[:m], j[:m]])
    assert oracle.evaluations == len(counter.asked)
    if way != "block":
        assert len(set(counter.asked)) == len(counter.asked)
        if symmetric:
            assert len(counter.unordered) == len(counter.asked)


def test_progress_reports_up_to_the_plan():
    seen = []
    oracle = fp.Oracle(
        range(50),
        Counter(symmetric_matrix(50)).similarity("pair"),
        progress=lambda done, planned: seen.append((done, planned)),
    )
    oracle.columns(range(10))
    assert seen[-1] == (distinct(50, 10), distinct(50, 10))
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_a_callback_stops_the_run_and_what_was_evaluated_is_kept():
    counter = Counter(symmetric_matrix(60))
    oracle = fp.Oracle(
        range(60), counter.similarity("pair"), progress=lambda done, planned: done < 300
    )
    with pytest.raises(fp.errors.StoppedError) as stop:
        oracle.columns(range(20))
    assert stop.value.oracle is oracle
    assert 300 <= oracle.evaluations < distinct(60, 20)
    oracle.progress = None
    assert np.array_equal(oracle.columns(range(20)), counter.matrix[:, :20])
    assert len(counter.asked) == len(counter.unordered) == distinct(60, 20)


@pytest.mark.parametrize("symmetric", [True, False])
def test_what_a_stopped_run_left_open_is_asked_for_later(kind, symmetric):
    counter = Counter((symmetric_matrix if symmetric else asymmetric_matrix)(60))
    sim = counter.similarity(kind, symmetric=symmetric, block_size=50)
    oracle = fp.Oracle(range(60), sim, progress=lambda done, planned: done < 300)
    with pytest.raises(fp.errors.StoppedError):
        oracle.rows(range(20))
    oracle.progress = None
    assert np.array_equal(oracle.columns([30, 31]), counter.matrix[:, [30, 31]])
    assert np.array_equal(oracle.rows(range(20)), counter.matrix[:20])
    assert np.array_equal(oracle.columns(range(20)), counter.matrix[:, :20])


@pytest.mark.parametrize("indices", [[-1], [99], [0.5], [[1, 2]]])
def test_bad_indices_are_refused(indices):
    oracle = fp.Oracle(range(5), fp.Precomputed(np.eye(5)))
    with pytest.raises(fp.errors.InputError):
        oracle.columns(indices)
    assert oracle.evaluations == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_rows_that_lack_the_same_columns_are_asked_for_together(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 40), rng.integers(1, 8)
    # Few kinds of rows or many, with whole rows and known ones among them.
    kinds = rng.random((rng.integers(1, 12), m)) < rng.choice([0.1, 0.5, 0.9])
    kinds = np.vstack([kinds, np.ones((1, m), dtype=bool), np.zeros((1, m), dtype=bool)])
    unknown = kinds[rng.integers(0, len(kinds), n)]
    request = Rectangle(rng.permutation(100)[:n], rng.permutation(100)[:m])
    some = ~unknown.all(axis=1) & unknown.any(axis=1)
    wanted = [(request.rows[unknown.all(axis=1)], request.columns)]
    wanted += [
        (request.rows[(unknown == kind).all(axis=1)], request.columns[kind])
        for kind in np.unique(unknown[some], axis=0)
    ]
    planner = fp.Oracle(range(100), Counter(np.eye(100)).similarity("block")).planner
    found = list(unknown_part(request, unknown, planner, shared=True))
    wanted = [pair for pair in wanted if len(pair[0])]
    assert len(found) == len(wanted)
    for part, (rows, columns) in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(part.rows, rows)
        np.testing.assert_array_equal(part.columns, columns)
