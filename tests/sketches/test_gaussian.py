"""Gaussian kernels, factored and as features for scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sketch_examples import relative, rows
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import check_estimator

import fewpairs as fp


@pytest.mark.parametrize("sparse", [False, True])
def test_rbf_kernel_between_two_sets(sparse):
    x, y = rows(200, 6) + 5, rows(150, 6, seed=1) + 5
    exact = rbf_kernel(x, y, gamma=0.3)
    given = [sp.csr_array(z - 5) if sparse else z for z in (x, y)]
    K = fp.rbf_kernel(*given, gamma=0.3, target_error=0.01, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert relative(K, exact) <= 0.01
    assert fp.rbf_kernel(*given, gamma=0.3, columns=25, random_state=0).left.shape[1] == 25
    assert fp.rbf_kernel(*given, gamma=0.3, sketch_size=3, random_state=0).left.shape[1] == 31
    same = fp.rbf_kernel(given[0], gamma=0.3, random_state=0)
    assert same.symmetric
    assert relative(same, rbf_kernel(x, gamma=0.3)) < 0.01
    assert abs(same.error.value - relative(same, rbf_kernel(x, gamma=0.3))) < 0.3 * same.error.value


def test_rbf_kernel_has_scikit_learn_s_default_and_checks():
    x = rows(100, 8)
    assert relative(fp.rbf_kernel(x, random_state=0), rbf_kernel(x)) < 0.01
    with pytest.raises(fp.errors.InputError, match="gamma is -1"):
        fp.rbf_kernel(x, gamma=-1)
    with pytest.raises(fp.errors.InputError, match="8 dimensions on one side and 3"):
        fp.rbf_kernel(x, rows(5, 3))


def test_misspelt_options_of_rbf_kernel_are_answered_with_the_right_ones():
    with pytest.raises(fp.errors.UnknownNameError, match='Did you mean "sketch_size"'):
        fp.rbf_kernel(rows(), sketch_sise=5)


@pytest.mark.parametrize("sparse", [False, True])
def test_rbf_sketch_beats_fourier_features(sparse):
    x = rows(400, 10, scale=0.5)
    exact = rbf_kernel(x, gamma=0.1)
    given = sp.csr_array(x) if sparse else x
    ours, theirs = [], []
    for seed in range(5):
        z = fp.RBFSketch(gamma=0.1, random_state=seed).fit(given).transform(given)
        assert z.shape[1] <= 101
        ours.append(np.linalg.norm(z @ z.T - exact))
        angles = x @ np.random.default_rng(seed).normal(size=(10, 50), scale=np.sqrt(0.2))
        w = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(50)
        theirs.append(np.linalg.norm(w @ w.T - exact))
    assert np.mean(ours) < 0.5 * np.mean(theirs)


def test_rbf_sketch_does_not_mind_a_shift():
    x = rows(100, 4)
    one = fp.RBFSketch(random_state=0).fit_transform(x)
    two = fp.RBFSketch(random_state=0).fit_transform(x + 100)
    np.testing.assert_allclose(one, two, atol=1e-8)


def test_rbf_sketch_takes_sparse_rows_after_dense_ones():
    x = rows(100, 5) + 1
    model = fp.RBFSketch(random_state=0).fit(x)
    np.testing.assert_allclose(model.transform(sp.csr_array(x)), model.transform(x), atol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        fp.RBFSketch(random_state=0),
        fp.RBFSketch(gamma=50.0, random_state=0),
        fp.PolynomialSketch(np.square, random_state=0),
        fp.PolynomialSketch(random_state=0),
        fp.PolynomialSketch(np.cosh, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore::fewpairs.errors.FeaturesCappedWarning")
def test_scikit_learn_s_own_checks(estimator):
    found = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(x["check_name"], x["exception"]) for x in found if x["status"] == "failed"]
    assert not failed


def test_features_of_a_function_that_is_not_defined_are_refused_with_the_whole_range():
    x = np.eye(50)[:, :3] * 2
    with pytest.raises(fp.errors.InputError, match="from -4 to 4"):
        fp.PolynomialSketch(np.log).fit(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_function_that_overflows_is_cut_off_with_a_warning(dtype):
    x = (30 * rows(100, 3)).astype(dtype)
    with pytest.warns(fp.errors.FeaturesCappedWarning, match="cut off"):
        model = fp.PolynomialSketch(random_state=0).fit(x)
    assert np.isfinite(model.transform(10 * x)).all()
    with pytest.raises(fp.errors.InputError, match="function is inf"):
        fp.elementwise(np.exp, x)


@pytest.mark.parametrize("scale", [1e-160, 1e-100, 1.0, 1e100, 1e160])
def test_rows_of_any_scale_will_do(scale):
    u, v = rows(100), rows(80, seed=1)
    K = fp.elementwise(np.exp, scale * u, v / scale, random_state=0)
    assert relative(K, np.exp(u @ v.T)) < 0.01
    gamma = 1 / scale / scale if abs(np.log10(scale)) < 150 else 1.0
    exact = rbf_kernel(u, gamma=1.0) if gamma != 1 or scale == 1 else None
    if exact is None:
        exact = np.eye(100) if scale > 1 else np.ones((100, 100))
    K = fp.rbf_kernel(scale * u, gamma=gamma, columns=90, random_state=0)
    assert K.error.value == pytest.approx(relative(K, exact), rel=1e-3, abs=1e-9)
    features = fp.RBFSketch(gamma=gamma, random_state=0).fit_transform(scale * u)
    assert np.isfinite(features).all()
    assert np.linalg.norm(features @ features.T - exact) < 0.5 * np.linalg.norm(exact)


def test_a_kernel_of_rows_far_from_zero_is_that_of_the_same_rows_near_it():
    x = np.round(rows(200, 5), 3)
    exact = rbf_kernel(x, gamma=0.5)
    assert relative(fp.rbf_kernel(x + 1e8, gamma=0.5, random_state=0), exact) < 1e-3
