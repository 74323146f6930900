"""The core with a guide: what it is made of, against the formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from methods.test_guided import hinted, off, run, vectors

from fewpairs.methods.fitted.guided import _weighed
from fewpairs.methods.fitted.guided_core import Weighed, core_of
from fewpairs.methods.fitted.predictors import Kernel, Likeness, Predictors
from fewpairs.methods.fitted.weights import Tuning

RIDGES = np.array([1e-3, 1e-2])


def side(lines, items, vectors, marks, betas, widths):
    """One side's kernel, its items in it, and k(i, S) written out."""
    beta = np.repeat(betas, widths)
    alike = (marks * beta) @ marks.T
    kernel = Kernel.of(Likeness.of(lines, items), alike, RIDGES)
    scale = np.mean(np.sum(items**2, axis=1))
    near = items @ lines.T / scale + (vectors * beta) @ marks.T + 1
    whole = lines @ lines.T / scale + alike + 1
    return kernel, near, whole


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("widths", [(3,), (2, 3)])
def test_the_core_is_the_weighted_sum_of_gaussian_processes(symmetric, widths):
    rng = np.random.default_rng(len(widths))
    s, n, d = 6, 9, sum(widths)
    W = rng.normal(size=(s, s))
    W = W + W.T if symmetric else W
    left, right = rng.normal(size=(n, s)), rng.normal(size=(n, s))
    x, y = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    x_marks, y_marks = rng.normal(size=(s, d)), rng.normal(size=(s, d))
    if symmetric:
        right, y, y_marks = left, x, x_marks
    ends = np.cumsum(widths)
    slices = [slice(e - w, e) for e, w in zip(ends, widths, strict=True)]
    some, wanted = [], np.zeros((n, n))
    for nugget, scale in ((0.0, 0.3), (0.0, 1.0), (-0.7, 1.0)):
        betas = tuple(scale * (k + 1) for k in range(len(widths)))
        crossing = W - nugget * np.eye(s)
        rows, near, whole = side(crossing, left, x, x_marks, betas, widths)
        columns, across, other = rows, near, whole
        if not symmetric:
            columns, across, other = side(crossing.T, right, y, y_marks, betas, widths)
        weights = rng.normal(size=4)
        some.append(Weighed(Predictors(rows, columns, nugget), betas, weights))
        for k, ridge in enumerate(RIDGES):
            tops = [np.linalg.eigvalsh(m)[-1] for m in (whole, other)]
            a = near @ np.linalg.inv(whole + ridge * tops[0] * np.eye(s))
            b = across @ np.linalg.inv(other + ridge * tops[1] * np.eye(s))
            both = left @ b.T + a @ right.T
            wanted += weights[k] * both / 2 + weights[2 + k] * (both - a @ crossing @ b.T)
    core = core_of(some, W, x_marks, y_marks, slices)
    tall, wide = (np.hstack([u, v, np.ones((n, 1))]) for u, v in ((left, x), (right, y)))
    np.testing.assert_allclose(tall @ core @ wide.T, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_own_entries_far_below_the_rest_do_not_spoil_few_landmarks(seed):
    # Products of vectors are 1 with themselves, and similarities are not: what is taken off the
    # landmarks' own entries is nothing that their other entries lack.
    X = vectors()
    matrix = hinted(X, noise=0.02) + 0.2
    np.fill_diagonal(matrix, 0.0)
    plain, guided = (run(matrix, guide, seed=seed, budget=0.05, near=0.0) for guide in (None, X))
    assert guided.squares
    assert off(guided, matrix) < 0.3 * off(plain, matrix)


def test_weights_become_negative_only_where_that_gains():
    rng = np.random.default_rng(0)
    told = rng.normal(size=(400, 6))
    for wanted, gains in (([1.0, -0.5, 0, 0, 0, 0], True), ([1.0, 0.5, 0, 0, 0, 0], False)):
        values = told @ np.array(wanted) + 0.5 * rng.normal(size=400)
        tuning = Tuning(told, values, np.ones(400), None, 1.0)
        weights, crossed = _weighed(tuning, signed=True)
        plain, same = _weighed(tuning, signed=False)
        assert (plain >= 0).all()
        np.testing.assert_array_equal(crossed, same)  # the gate judges by non-negative ones
        if gains:
            np.testing.assert_allclose(weights, wanted, atol=0.1)
        else:
            np.testing.assert_array_equal(weights, plain)
