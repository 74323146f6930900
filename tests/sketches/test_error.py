"""The stated error sees what holds the error, wherever it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sketch_examples import relative, rows
from sklearn.metrics.pairwise import rbf_kernel

import fewpairs as fp
from fewpairs.sketches.bands import Band, Lines, draw_lines
from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions, make_map


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_stated_error_sees_a_row_unlike_all_others(two_sided):
    """It holds most of the error, little of the matrix, and is not long."""
    u = np.hstack([rows(1500, 4), np.zeros((1500, 2))])
    u[7] = [0, 0, 0, 0, 0.7, 0.7]
    v = u[:1200].copy() if two_sided else u
    usual = np.delete(u, 7, axis=0)
    made = make_map(np.exp, usual, usual, SketchOptions(), rng=np.random.default_rng(0))
    features = made(u), made(v, side="right")
    guess = (features[0] * made.signs) @ features[1].T
    exact = np.exp(u @ v.T)
    residuals = (guess - exact) ** 2
    assert residuals[7, 7] > 0.3 * residuals.sum()
    truth, held = np.linalg.norm(guess - exact) / np.linalg.norm(exact), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        error = estimate_error(features, made, Exact(np.exp, u, v), rng)
        assert error.n_pairs < u.shape[0] * v.shape[0]
        held += error.low <= truth <= error.high
    assert held >= 17


def test_the_stated_error_sees_a_single_entry_of_the_diagonal():
    """Neither long, nor bad in its row: only with itself."""

    def bump(x):
        return x + 5 * np.exp(-(((x - 0.98) / 0.02) ** 2))

    u = np.hstack([rows(1500, 4, scale=0.1), np.zeros((1500, 2))])
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
        error = estimate_error((made(u), made(u)), made, Exact(bump, u, u), rng)
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
        assert K.error.value == pytest.approx(relative(K, rbf_kernel(x, y, gamma=0.03)), rel=1e-9)


def test_the_double_of_a_row_is_judged_by_the_features_of_the_other_side():
    """Both sides weigh the coordinates differently: only together are they right."""
    u, v = rows(2000, 4), rows(1500, 4, seed=1)
    weights = np.diag([10.0, 0.1, 3.0, 1.0])
    made = FeatureMap(None, lambda x: x, weights, 1.01 * np.linalg.inv(weights), np.ones(4))
    exact = Exact(lambda x: x, u, v)
    for seed in range(5):
        error = estimate_error(made.of_both(exact), made, exact, np.random.default_rng(seed))
        assert 0 < error.low < 0.0101
        assert 0.0099 < error.high < 0.012


def test_columns_that_were_drawn_widen_the_interval_as_rows_do():
    """All rows, some columns; each column is wrong by a share of its own."""
    rng = np.random.default_rng(0)
    u, v = rows(50, 4), rows(3000, 4, seed=1)
    exact, wrong = Exact(np.exp, u, v), 0.1 * rng.standard_exponential(3000)
    residuals = exact.between(u, v) * wrong
    truth, held = np.linalg.norm(residuals) / np.linalg.norm(exact.between(u, v)), 0
    for seed in range(100):
        columns = draw_lines(exact, 1, 100, np.random.default_rng(seed))
        band = Band.of(exact, Lines.all(50), columns, Lines.all(0))
        error = band.compare(band.values * (1 + wrong[columns.places]), np.zeros(0))
        held += error.low <= truth <= error.high
    assert held >= 88


def test_duplicates_within_a_side_are_found():
    x = np.repeat(rows(600, 30, scale=1.0), 2, axis=0)
    held = 0
    for seed in range(10):
        K = fp.rbf_kernel(x, gamma=0.03, columns=60, random_state=seed)
        held += K.error.low <= relative(K, rbf_kernel(x, gamma=0.03)) <= K.error.high
    assert held >= 8


def test_no_error_among_drawn_rows_is_no_proof_of_none():
    u = np.zeros((20_000, 3))
    u[:, 0] = 1.0
    features = u.copy()
    made = make_map(lambda x: x, u, u, SketchOptions(degree=1), rng=np.random.default_rng(0))
    made = replace(made, signs=np.ones(3))
    error = estimate_error(
        (features, features), made, Exact(lambda x: x, u, u), np.random.default_rng(0)
    )
    assert error.value == error.low == 0
    assert 0.01 < error.high < 1


def test_the_zero_matrix_is_known_to_be_zero():
    u = rows(1100, 4)
    K = fp.elementwise(lambda x: 0 * x, u, target_error=0.1, random_state=0)
    assert K.error.high == 0
    assert not K.to_dense().any()
