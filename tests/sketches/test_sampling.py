"""Sampled entries: unbiased whatever holds the matrix together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from fewpairs.sketches.exact import Exact, GaussianKernel
from fewpairs.sketches.sampling import Sampler


def draw_entries(exact, count, rng):
    return Sampler(exact, rng).draw(count, rng)


def rows(n=150, d=5, seed=0):
    """Gaussian rows, two of them twice as long and nearly the same."""
    x = 0.4 * np.random.default_rng(seed).normal(size=(n, d))
    x[:2] = 2 * x[2]
    return x


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_weighted_sums_are_unbiased(two_sided, sparse):
    u = rows()
    v = rows(90, seed=1) if two_sided else u
    given = [sp.csr_array(x) if sparse else x for x in (u, v)]
    given = given if two_sided else [given[0]] * 2
    exact = np.exp(u @ v.T)
    sums = []
    for seed in range(200):
        found = draw_entries(Exact(np.exp, *given), 400, np.random.default_rng(seed))
        np.testing.assert_allclose(found.exact, exact[found.rows, found.columns])
        sums.append([found.weights.sum(), found.weights @ found.exact**2])
    mean, spread = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(200)
    assert abs(mean[0] - exact.size) < 4 * spread[0]
    assert abs(mean[1] - (exact**2).sum()) < 4 * spread[1] + 1e-9 * mean[1]


def test_factors_of_rows_count():
    u = rows()
    wanted = (rbf_kernel(u, gamma=0.5) ** 2).sum()
    sums = []
    for seed in range(200):
        found = draw_entries(GaussianKernel(u, u), 400, np.random.default_rng(seed))
        np.testing.assert_allclose(found.exact, np.exp(u @ u.T)[found.rows, found.columns])
        sums.append(found.weights @ found.exact**2)
    assert abs(np.mean(sums) - wanted) < 4 * np.std(sums) / np.sqrt(200)


def test_sampled_rows_stand_for_all_of_them():
    u = rows()
    truth = np.concatenate([[len(u)], (u**2).sum(axis=0)])
    sums, long = [], 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        chosen, weights = Sampler(Exact(np.exp, u, u), rng).sample_rows(0, 60, rng)
        sums.append(weights @ np.column_stack([np.ones(len(chosen)), u[chosen] ** 2]))
        long += np.count_nonzero(chosen < 2)
    spread = np.std(sums, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(sums, axis=0) - truth) < 4 * spread).all()
    assert long / 200 > 5 * 60 * 2 / len(u)  # long rows come more often


def test_clusters_leave_room_for_all_other_entries():
    """Every row is nearly equal to a fifth of the others."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 8))[rng.integers(0, 5, 300)] + 0.001 * rng.normal(size=(300, 8))
    exact, sums = np.cos(x @ x.T), []
    for seed in range(200):
        found = draw_entries(Exact(np.cos, x, x), 400, np.random.default_rng(seed))
        i, j = found.rows[found.weights > 0], found.columns[found.weights > 0]
        far = ((x[i] - x[j]) ** 2).sum(axis=1) > 0.1
        assert np.count_nonzero(far) > 100
        sums.append([found.weights.sum(), found.weights @ found.exact**2])
    mean, spread = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(200)
    assert abs(mean[0] - exact.size) < 4 * spread[0]
    assert abs(mean[1] - (exact**2).sum()) < 4 * spread[1]
