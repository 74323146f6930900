"""Average linkage without the matrix is average linkage of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from examples import asymmetric_matrix, symmetric_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import fewpairs as fp
from fewpairs.factored.squares import Squares
from fewpairs.oracle.known import Known, Lines
from fewpairs.tasks.clustering import linkage
from fewpairs.tasks.clustering.linkage import average_linkage
from fewpairs.tasks.clustering.sums import adds_up_exactly, sums_of
from fewpairs.tasks.clustering.tree import Tree


def tree_of(matrix, least=-np.inf, sign=1):
    return Tree.of(matrix.shape[0], average_linkage(sums_of(matrix, sign=sign), least))


def reference(matrix):
    """Children and distances by scikit-learn, on 1 - the symmetrized dense matrix."""
    dense = matrix.to_dense()
    distances = 1 - (dense + dense.T) / 2
    np.fill_diagonal(distances, 0)
    fitted = AgglomerativeClustering(
        None, metric="precomputed", linkage="average", distance_threshold=0.0
    ).fit(distances)
    return fitted.children_, fitted.distances_


def clusters_of(children, n):
    """All clusters of a tree, each as a number that only the same items give."""
    names = np.random.default_rng(0).integers(2**60, size=n, dtype=np.uint64).tolist()
    for a, b in children.tolist():
        names.append((names[a] + names[b]) % 2**64)
    return set(names)


def assert_same_tree(matrix, tolerance=1e-9):
    n = matrix.shape[0]
    tree = tree_of(matrix)
    children, distances = reference(matrix)
    scale = max(1.0, float(np.abs(distances).max(initial=0)))
    assert np.allclose(1 - tree.similarity, np.sort(distances), atol=tolerance * scale, rtol=0)
    assert clusters_of(tree.children, n) == clusters_of(children, n)


def factors(n, rank, seed, known=0, single=0):
    """A random indefinite matrix, with columns and single entries that it knows better."""
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(n, rank))
    core = np.diag(rng.choice([-1.0, 1.0], rank) * rng.uniform(0.2, 1, rank))
    truth = left @ core @ left.T + 0.5 * symmetric_matrix(n, seed) * n**0.5
    index = rng.choice(n, known, replace=False)
    lines = Lines.of(index, truth[:, index], n)
    what = Known(lines, lines, np.diag(truth).copy())
    if single:
        i, j = rng.integers(n, size=(2, single))
        what = what.with_entries(i[i != j], j[i != j], truth[i[i != j], j[i != j]])
    return fp.FactoredMatrix(left, core, known=what)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("known", "single"), [(0, 0), (9, 0), (0, 400), (9, 400), (60, 2000)])
def test_the_tree_is_that_of_the_dense_matrix(seed, known, single):
    assert_same_tree(factors(120, 6, seed, known, single))


@pytest.mark.parametrize("seed", range(3))
def test_the_tree_of_more_items_than_a_list_holds_many_times(seed):
    assert_same_tree(factors(1200, 12, seed, 40, 5000))


def test_the_tree_of_three_thousand_items():
    assert_same_tree(factors(3000, 20, 7, 50, 20_000))


@pytest.mark.parametrize("method", ["auto", "nystrom", "sms", "sicur", "stacur", "skeleton"])
@pytest.mark.parametrize("known", [None, "exact"])
def test_the_tree_of_approximated_matrices(method, known):
    truth = symmetric_matrix(150, 3, rank=60)
    matrix = fp.approximate(
        range(150), fp.Precomputed(truth), landmarks=25, method=method, known=known, random_state=0
    )
    assert_same_tree(matrix)


def test_the_tree_of_an_asymmetric_matrix_is_that_of_both_orders_mean():
    truth = asymmetric_matrix(90, 2, rank=30)
    similarity = fp.Precomputed(truth, symmetric=False)
    matrix = fp.approximate(range(90), similarity, landmarks=15, random_state=0)
    assert_same_tree(matrix)


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("same", [True, False])
def test_the_tree_of_a_guided_matrix(width, same):
    rng = np.random.default_rng(width)
    n = 110
    guide = rng.normal(size=(n, width)).astype(np.float32) / width**0.5
    scale = rng.uniform(0.5, 1, n)
    other = scale if same else rng.uniform(0.5, 1, n)
    part = Squares(0.7, guide, guide, scale, other)
    base = factors(n, 5, 1, 8, 100)
    matrix = fp.FactoredMatrix(base.left, base.core, known=base.known, squares=[part])
    assert adds_up_exactly(matrix)  # 40 coordinates through anchors, but all items are anchors
    assert_same_tree(matrix)


def test_a_wide_guide_goes_through_anchors_and_says_so():
    rng = np.random.default_rng(0)
    guide = rng.normal(size=(700, 60)).astype(np.float32) / 60**0.5
    base = factors(700, 5, 1, 8, 100)
    part = Squares(0.7, guide, guide)
    matrix = fp.FactoredMatrix(base.left, base.core, known=base.known, squares=[part])
    assert not adds_up_exactly(matrix)
    assert not fp.cluster(matrix, threshold=0.5).exact_sums
    assert fp.cluster(base, threshold=0.5).exact_sums
    # What is known exactly stays so, whatever stands for the rest.
    whole = fp.FactoredMatrix(base.left, base.core, known=_all(base), squares=[part])
    assert_same_tree(whole)


def _all(matrix):
    n = matrix.shape[0]
    i, j = np.triu_indices(n, 1)
    dense = matrix.to_dense()
    return Known(Lines.none(n, n), Lines.none(n, n)).with_entries(
        np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([dense[i, j], dense[i, j]])
    )


def test_single_precision_is_given_up_where_it_decides_nothing(monkeypatch):
    # Products are 1 and a millionth: rounding in single precision is as large as differences.
    undecided = []
    look = linkage._Comparing._look

    def noted(self, rows, means):
        found = look(self, rows, means)
        undecided.append((means.dtype, found.mean()))
        return found

    monkeypatch.setattr(linkage._Comparing, "_look", noted)
    rng = np.random.default_rng(1)
    left = np.hstack([np.ones((400, 1)), 1e-3 * rng.normal(size=(400, 4))])
    assert_same_tree(fp.FactoredMatrix(left, np.eye(5)))
    assert undecided[0][0] == np.float32
    assert undecided[0][1] > 0.5
    assert [dtype for dtype, _ in undecided[1:]] == [np.float64] * (len(undecided) - 1)


def test_a_cluster_is_compared_with_all_others_about_once():
    for n, seed in ((300, 0), (1200, 1)):
        merges = average_linkage(sums_of(factors(n, 12, seed, 40, 5000)))
        assert n <= merges.scans < 2 * n


def test_averages_that_miss_the_threshold_by_rounding_reach_it():
    for value in np.linspace(0.05, 0.95, 19):
        matrix = fp.FactoredMatrix(np.full((6, 2), np.sqrt(value / 2)), np.eye(2))
        assert len(tree_of(matrix, value).children) == 5
        assert len(tree_of(matrix, value * (1 + 1e-10)).children) == 0


@pytest.mark.parametrize("power", [-600, -40, 40, 600])
def test_the_tree_does_not_depend_on_the_size_of_the_numbers(power):
    matrix = factors(80, 5, 2, 6, 150)
    half = float(np.ldexp(1.0, power // 2))
    larger = matrix.scaled(np.full(80, half), np.full(80, half))
    plain, scaled = tree_of(matrix), tree_of(larger)
    assert np.array_equal(plain.children, scaled.children)
    assert np.allclose(np.ldexp(plain.similarity, power), scaled.similarity, rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 50), st.integers(1, 6), st.integers(0, 2**31), st.data())
def test_any_small_matrix(n, rank, seed, data):
    known = data.draw(st.integers(0, n))
    single = data.draw(st.integers(0, 200))
    matrix = factors(n, rank, seed, known, single)
    if n == 1:
        assert len(tree_of(matrix).children) == 0
        return
    assert_same_tree(matrix)


@pytest.mark.parametrize("seed", range(4))
def test_a_threshold_makes_the_merges_that_reach_it_and_no_others(seed):
    matrix = factors(200, 6, seed, 10, 600)
    whole = tree_of(matrix)
    for quantile in (0.0, 0.1, 0.5, 0.9, 1.0):
        least = float(np.quantile(whole.similarity, quantile)) + 1e-9
        some = tree_of(matrix, least)
        count = whole.above(least)
        assert len(some.children) == count
        assert np.allclose(some.similarity, whole.similarity[:count], atol=1e-10)
        assert np.array_equal(some.labels(count), whole.labels(count))


def test_distances_are_similarities_with_another_sign():
    matrix = factors(70, 5, 0, 5, 90)
    negative = matrix.scaled(np.full(70, -1.0), np.ones(70))
    plain, turned = tree_of(matrix), tree_of(negative, sign=-1)
    assert np.array_equal(plain.children, turned.children)
    assert np.allclose(plain.similarity, turned.similarity)


def test_equal_entries_give_one_tree_of_one_height():
    for n in (2, 40, 300):
        matrix = fp.FactoredMatrix(np.ones((n, 1)), np.array([[0.25]]))
        tree = tree_of(matrix)
        assert len(tree.children) == n - 1
        assert np.allclose(tree.similarity, 0.25, rtol=1e-12)
        assert tree.sizes[-1] == n


def test_ties_are_broken_in_the_same_way_each_time():
    groups = np.repeat(np.eye(7), 30, axis=0)  # seven blocks of equal items, all else equal
    matrix = fp.FactoredMatrix(groups, np.eye(7))
    first, second = tree_of(matrix), tree_of(matrix)
    assert np.array_equal(first.children, second.children)
    assert adjusted_rand_score(first.labels(203), np.repeat(np.arange(7), 30)) == 1


def test_heights_never_rise_and_parts_come_first():
    for seed in range(5):
        tree = tree_of(factors(150, 3, seed, 4, 50))
        assert np.all(np.diff(tree.similarity) <= 0)
        assert np.all(tree.children < 150 + np.arange(149)[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_permuted_items_give_the_same_clusters(seed):
    matrix = factors(90, 5, seed)
    order = np.random.default_rng(seed).permutation(90)
    moved = fp.FactoredMatrix(matrix.left[order], matrix.core)
    plain = fp.FactoredMatrix(matrix.left, matrix.core)
    for count in (10, 45, 80):
        one, other = tree_of(plain).labels(count), tree_of(moved).labels(count)
        assert adjusted_rand_score(one[order], other) == 1


def test_two_sets_are_refused():
    matrix = fp.FactoredMatrix(np.ones((4, 1)), np.ones((1, 1)), np.ones((5, 1)))
    with pytest.raises(fp.errors.InputError, match="4 items with 5 others"):
        sums_of(matrix)


def test_holes_are_refused():
    left = np.ones((4, 1))
    left[2] = np.nan
    with pytest.raises(fp.errors.InputError, match="1 entries that are no finite numbers"):
        sums_of(fp.FactoredMatrix(left, np.ones((1, 1))))


def every_way(matrix, least):
    """All partitions that merging the nearest two can lead to, whichever of equal ones is taken."""
    ends, seen = set(), set()
    waiting = [frozenset(frozenset([k]) for k in range(len(matrix)))]
    while waiting:
        clusters = waiting.pop()
        averages = {
            (a, b): matrix[np.ix_(sorted(a), sorted(b))].mean()
            for a in clusters
            for b in clusters
            if min(a) < min(b)
        }
        best = max(averages.values(), default=-np.inf)
        if best < least - 1e-12:
            ends.add(clusters)
            continue
        for (a, b), average in averages.items():
            merged = clusters - {a, b} | {a | b}
            if average > best - 1e-12 and merged not in seen:
                seen.add(merged)
                waiting.append(merged)
    return ends


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6), levels=st.integers(2, 4))
def test_of_equal_averages_clusters_are_some_that_the_slow_way_can_lead_to(n, seed, levels):
    dense = np.random.default_rng(seed).integers(levels, size=(n, n)) / levels
    dense = np.triu(dense, 1) + np.triu(dense, 1).T + np.eye(n)
    matrix = fp.FactoredMatrix(np.eye(n), dense)
    for least in (0.25, 0.5):
        ways = every_way(dense, least)
        tree = tree_of(matrix)
        for labels in (
            fp.cluster(matrix, threshold=least).labels,
            tree.labels(
                tree.above(least - 1e-12)
            ),  # another order of merges, and another way perhaps
        ):
            found = frozenset(frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels))
            assert found in ways
