"""The best assignment of two sets, beside another solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

from fewpairs.tasks.matching.assignment import best_assignment


def test_a_small_gain_is_not_given_up_beside_a_huge_one():
    left, right = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 1])
    kept = best_assignment(left, right, np.array([1e9, 100.0, 0.0, 0.0]), (3, 3))
    assert kept.tolist() == [True, True, False, False]


def test_of_equal_sums_the_one_with_more_pairs_is_kept_among_thousands():
    n = 3000
    kept = best_assignment(np.arange(n), np.arange(n), np.r_[5.0, np.zeros(n - 1)], (n, n))
    assert kept.all()


@pytest.mark.parametrize("seed", range(5))
def test_as_many_rows_find_a_partner_as_can_where_all_pairs_are_worth_the_same(seed):
    n = 60
    left, right = sp.random_array((n, n), density=0.03, rng=np.random.default_rng(seed)).coords
    graph = sp.csr_array((np.ones(len(left)), (left, right)), shape=(n, n))
    most = np.sum(maximum_bipartite_matching(graph, perm_type="column") >= 0)
    kept = best_assignment(left, right, np.zeros(len(left)), (n, n))
    assert kept.sum() == most
    assert len(set(left[kept])) == len(set(right[kept])) == most
