"""The stated error sees what holds the error, wherever it is."""

from __future__ import annotations

import numpy as np
import pytest
from sketch_examples import relative, rows
from sklearn.metrics.pairwise import rbf_kernel

import fewpairs as fp
from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.sampling import Sampler


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_stated_error_sees_a_row_unlike_all_others(two_sided):
    """It holds most of the error, little of the matrix, and is not long."""
    u = np.hstack([rows(500, 4), np.zeros((500, 2))])
    u[7] = [0, 0, 0, 0, 0.7, 0.7]
    v = u[:300].copy() if two_sided else u
    usual = np.delete(u, 7, axis=0)
    made = make_map(np.exp, usual, usual, SketchOptions(), rng=np.random.default_rng(0))
    guess = (made(u) * made.signs) @ made(v, side="right").T
    exact = np.exp(u @ v.T)
    residuals = (guess - exact) ** 2
    assert residuals[7, 7] > 0.5 * residuals.sum()
    truth, held = np.linalg.norm(guess - exact) / np.linalg.norm(exact), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        error = estimate_error(made, Sampler(np.exp, u, v, None, rng), 1000, rng)
        held += error.low <= truth <= error.high
    assert held >= 17


def test_the_stated_error_sees_a_single_entry_of_the_diagonal():
    """Neither long, nor bad in its row: only with itself."""

    def bump(x):
        return x + 5 * np.exp(-(((x - 0.98) / 0.02) ** 2))

    u = np.hstack([rows(400, 4, scale=0.1), np.zeros((400, 2))])
    u[:40, :4] = 1.3 * np.eye(4)[np.arange(40) % 4]
    u[50] = [0, 0, 0, 0, 0.7, 0.7]
    made = make_map(
        lambda x: x, u, u, SketchOptions(degree=1, sketch_size=20), rng=np.random.default_rng(0)
    )
    guess, exact = (made(u) * made.signs) @ made(u).T, bump(u @ u.T)
    residuals = (guess - exact) ** 2
    own = residuals[50, 50] / residuals.sum()
    truth, held = np.linalg.norm(guess - exact) / np.linalg.norm(exact), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        error = estimate_error(made, Sampler(bump, u, u, None, rng), 1000, rng)
        held += error.low <= truth <= error.high
    assert own > 0.99
    assert held >= 17


def test_near_duplicates_on_the_other_side_are_found():
    """V is U in another order: the large entries are on a diagonal that nobody was told of."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(500, 30))
        y = x[rng.permutation(500)]
        K = fp.rbf_kernel(x, y, gamma=0.03, columns=60, random_state=seed)
        assert K.error.low <= relative(K, rbf_kernel(x, y, gamma=0.03)) <= K.error.high


def test_duplicates_within_a_side_are_found():
    x = np.repeat(rows(150, 30, scale=1.0), 2, axis=0)
    held = 0
    for seed in range(10):
        K = fp.rbf_kernel(x, gamma=0.03, columns=60, random_state=seed)
        held += K.error.low <= relative(K, rbf_kernel(x, gamma=0.03)) <= K.error.high
    assert held >= 8
