"""Landmarks beside polynomials: no map is worse than landmarks of its width, or than zeros."""

from __future__ import annotations

import numpy as np
import pytest
from sketch_examples import narrow, relative, rows
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

import fewpairs as fp
from fewpairs.sketches.exact import GaussianKernel
from fewpairs.sketches.span_terms import SpanTerms, WeightedMonomials


def by_nystroem(x, gamma, columns):
    features = Nystroem(gamma=gamma, n_components=columns, random_state=0).fit_transform(x)
    exact = rbf_kernel(x, gamma=gamma)
    return np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("columns", [50, 200])
def test_a_narrow_kernel_is_no_worse_than_landmarks(columns):
    x, gamma = narrow()
    K = fp.rbf_kernel(x, gamma=gamma, columns=columns, random_state=0)
    error = relative(K, rbf_kernel(x, gamma=gamma))
    assert K.left.shape[1] <= columns
    assert error <= 0.8 * by_nystroem(x, gamma, columns)
    assert K.error.low * 0.9 <= error <= K.error.high * 1.1


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_wide_kernels_are_no_worse_than_landmarks(scale):
    x, gamma = narrow(800)
    K = fp.rbf_kernel(x, gamma=scale * gamma / 10, columns=40, random_state=0)
    error = relative(K, rbf_kernel(x, gamma=scale * gamma / 10))
    assert error <= 0.5 * by_nystroem(x, scale * gamma / 10, 40)


def test_features_of_new_rows_are_no_worse_than_those_of_nystroem():
    x, gamma = narrow()
    old, new = x[:1000], x[1000:]
    model = fp.RBFSketch(gamma=gamma, random_state=0).fit(old)
    theirs = Nystroem(gamma=gamma, n_components=101, random_state=0).fit(old)
    exact = rbf_kernel(new, gamma=gamma)
    errors = []
    for each in (model, theirs):
        features = each.transform(new)
        assert features.shape[1] <= 101
        errors.append(np.linalg.norm(features @ features.T - exact))
    assert errors[0] <= 0.9 * errors[1]


def test_monomials_of_a_gaussian_kernel_carry_its_factor():
    """The kernel is z·exp(⟨u, v⟩)·w, and monomials stand for exp alone."""
    u = rows(200, 4)
    exact = GaussianKernel(u, u)
    monomials = WeightedMonomials.heaviest(exact, 6, 20, np.random.default_rng(0))
    terms = SpanTerms(exact, u[:5], monomials)(u)
    z = np.exp(-(u**2).sum(axis=1) / 2)
    np.testing.assert_allclose(terms[:, :5], rbf_kernel(u, u[:5], gamma=0.5), rtol=1e-12)
    np.testing.assert_allclose(terms[:, 5:], z[:, None] * monomials(u), rtol=1e-12)


def test_a_target_that_landmarks_reach_is_reached():
    x, gamma = narrow()
    K = fp.rbf_kernel(x, gamma=gamma, target_error=0.1, random_state=0)
    exact = rbf_kernel(x, gamma=gamma)
    assert K.stopped_because == "the target was reached"
    assert relative(K, exact) <= 0.1
    values = np.linalg.eigvalsh(exact)[::-1]
    tails = np.sqrt(np.cumsum(values[::-1] ** 2)[::-1] / (values**2).sum())
    assert K.left.shape[1] <= 1.5 * int((tails > 0.1).sum())


@pytest.mark.parametrize(
    "f",
    [lambda x: (x > 0.6) * 1.0, lambda x: np.cos(20 * x), lambda x: (x > 0.99) * 1.0, np.abs],
)
def test_no_map_is_worse_than_zeros(f):
    u = rows(1200, 12, scale=1.0)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    exact = f(u @ u.T)
    for columns in (5, 40):
        K = fp.elementwise(f, u, columns=columns, random_state=0)
        assert relative(K, exact) <= 1.005
    features = fp.PolynomialSketch(f, random_state=0).fit_transform(u)
    assert np.linalg.norm(features @ features.T - exact) <= 1.005 * np.linalg.norm(exact)


def test_a_poor_map_is_as_long_as_suits_the_whole_matrix_best():
    """Of a wild function, directions of a sample of rows are mostly those of the sample alone."""

    def wild(x):
        return np.sin(200 * x)

    u = rows(3200, 6, scale=1.0)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    guess, exact = fp.elementwise(wild, u, columns=150, random_state=0).to_dense(), wild(u @ u.T)
    assert np.linalg.norm(guess) > 0.05 * np.linalg.norm(exact)  # something was found
    # The factor that would make it better: near 1, where without the guard it is a half.
    assert (guess * exact).sum() / (guess * guess).sum() == pytest.approx(1, abs=0.1)


def test_functions_with_corners_are_nearly_as_good_as_their_rank_allows():
    u = rows(500, 6)
    for f in (np.abs, lambda x: np.maximum(x, 0), lambda x: np.tanh(4 * x)):
        exact = f(u @ u.T)
        singular = np.linalg.svd(exact, compute_uv=False)
        best = np.sqrt((singular[40:] ** 2).sum() / (singular**2).sum())
        K = fp.elementwise(f, u, columns=40, random_state=0)
        assert relative(K, exact) <= 1.5 * best


def test_a_kernel_too_narrow_for_any_polynomial_is_nearly_the_identity():
    x = rows(200, 5, scale=1.0)
    K = fp.rbf_kernel(x, gamma=1e6, columns=50, random_state=0)
    assert relative(K, np.eye(200)) == pytest.approx(np.sqrt(150 / 200), rel=0.02)
    assert K.polynomial is None
    assert K.error.value == pytest.approx(relative(K, np.eye(200)))


def test_missed_targets_are_warned_of():
    x = rows(300, 30, scale=1.0)
    with pytest.warns(fp.errors.TargetMissedWarning, match="40 columns were not enough"):
        K = fp.rbf_kernel(x, gamma=1.0, target_error=0.1, columns=40, random_state=0)
    assert K.error.high > 0.1
    assert relative(K, rbf_kernel(x, gamma=1.0)) <= 1
