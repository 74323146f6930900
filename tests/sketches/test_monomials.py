"""Monomials: complete ones are powers of inner products, incomplete ones are the heaviest."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, factorial

import numpy as np
import pytest
import scipy.sparse as sp

from fewpairs.sketches.monomials import heaviest
from fewpairs.sketches.principal_axes import principal_axes


def rows(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 0.7 ** np.arange(d)


def chosen(x, sizes, most):
    return heaviest([x], [np.ones(x.shape[0])], 1.0, np.asarray(sizes, dtype=float), most)


@pytest.mark.parametrize("sparse", [False, True])
def test_all_monomials_of_a_degree_are_its_power(sparse):
    x = rows()
    found = chosen(sp.csr_array(x) if sparse else x, [0, 1, 1, 1], 1000)
    assert found.counts.tolist() == [comb(4 + j - 1, j) for j in (1, 2, 3)]
    assert found.complete == [True] * 3
    columns = found(sp.csr_array(x) if sparse else x)
    for j, part in enumerate(np.split(columns, np.cumsum(found.counts)[:-1], axis=1), 1):
        np.testing.assert_allclose(part @ part.T, (x @ x.T) ** j, atol=1e-10)


def test_the_heaviest_are_taken():
    x, sizes, most = rows(), [1.0, 0.5, 0.3, 0.05], 12
    _, moments = principal_axes([x], [np.ones(len(x))], 4)
    weights = []
    for j in (1, 2, 3):
        for axes in combinations_with_replacement(range(4), j):
            times = np.bincount(axes, minlength=4)
            ways = factorial(j) / np.prod([factorial(t) for t in times])
            weights.append((sizes[j] * ways * np.prod(moments**times), j))
    best = sorted(weights, reverse=True)[:most]
    found = chosen(x, sizes, most)
    assert found.counts.tolist() == [sum(j == k for _, j in best) for k in (1, 2, 3)]
    assert found.complete == [count == comb(3 + j, j) for j, count in enumerate(found.counts, 1)]


def test_degrees_that_count_for_nothing_are_there_for_their_children():
    found = chosen(rows(), [1.0, 0.0, 0.0, 0.0, 0.2], 40)
    assert found.counts[3] > 0


@pytest.mark.parametrize("n", [300, 25])
def test_axes_of_long_sparse_rows_need_no_square_matrix(n):
    rng = np.random.default_rng(0)
    x = sp.random_array((n, 50_000), density=2e-4, random_state=rng, format="csr")
    axes, moments = principal_axes([x], [np.ones(n)], 20)
    assert axes.shape == (50_000, 20)
    np.testing.assert_allclose(axes.T @ axes, np.eye(20), atol=1e-8)
    assert (np.diff(moments) <= 0).all()


def test_float32_stays():
    x = rows().astype(np.float32)
    assert chosen(x, [1, 1, 1], 9)(x).dtype == np.float32
