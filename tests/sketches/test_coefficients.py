"""Coefficients: as the paper defines them, by any rule of the table, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from sketch_examples import relative, rows

import fewpairs as fp
from fewpairs.sketches.coefficients import RULES, Wanted
from fewpairs.sketches.coreset import coreset, k_centers
from fewpairs.sketches.polynomial import fit_polynomial
from fewpairs.sketches.products import radius_of
from fewpairs.sketches.regression import Regression, variances

COEFFICIENTS = ("tuned", "coreset", "ridge", "chebyshev", "taylor")


def test_the_polynomial_states_its_range_and_error():
    u = rows()
    K = fp.elementwise(np.exp, u, coefficients="chebyshev", random_state=0)
    radius = (u**2).sum(axis=1).max()
    assert K.polynomial.radius == pytest.approx(radius)
    x = np.linspace(-radius, radius, 500)
    assert np.abs(K.polynomial(x) - np.exp(x)).max() <= K.polynomial.worst * 1.01 + 1e-12
    assert K.polynomial.worst < 1e-3 * np.exp(radius)


def test_coreset_of_all_rows_is_ridge():
    u = rows(40)
    sketch = {"degree": 5, "size": 10, "rng": np.random.default_rng(0)}
    ridge = fit_polynomial(Wanted(np.exp, u, u, **sketch), "ridge")
    coreset = fit_polynomial(Wanted(np.exp, u, u, **sketch, n_centers=40), "coreset")
    np.testing.assert_allclose(coreset.coefficients, ridge.coefficients, rtol=1e-6, atol=1e-9)
    positive = fit_polynomial(Wanted(np.cos, u, u, **sketch, nonnegative=True), "ridge")
    assert (positive.coefficients >= 0).all()


@pytest.mark.parametrize("scale", [1 / 3, 1.0, 2.0])
def test_ridge_is_equation_3_5(scale):
    """The paper's formula, dense, with Definition 3's penalty: raw lengths, of the next power."""
    u, v, degree, size = scale * rows(30), rows(20, seed=1), 4, 10
    wanted = Wanted(np.exp, u, v, degree, size, np.random.default_rng(0))
    found = fit_polynomial(wanted, "ridge")
    x = (u @ v.T).ravel()
    powers = x[:, None] ** np.arange(degree + 1)
    penalty = np.zeros(degree + 1)
    for j in range(1, degree + 1):
        sums = np.prod([((side**2).sum(axis=1) ** (j + 1)).sum() for side in (u, v)])
        penalty[j] = degree * (2 + 3 ** (j + 1)) * sums / size
    by_hand = np.linalg.solve(powers.T @ powers + np.diag(penalty), powers.T @ np.exp(x))
    in_units_of_the_radius = by_hand * found.radius ** np.arange(degree + 1)
    np.testing.assert_allclose(found.coefficients, in_units_of_the_radius, rtol=1e-6)


def test_k_centers_cover():
    points = np.repeat(np.eye(4), 25, axis=0)
    chosen, sizes, distance = k_centers(points, 4, np.random.default_rng(0))
    assert len(set(np.argmax(points[chosen], axis=1))) == 4
    assert sizes.tolist() == [25.0] * 4
    assert distance == pytest.approx(0, abs=1e-6)


def test_the_coreset_is_of_the_side_that_it_stands_for_better():
    few, many = np.repeat(rows(5, 4), 40, axis=0), rows(200, 4, seed=1)
    rng = np.random.default_rng(0)
    _, sizes, others = coreset(few, many, 5, rng)
    assert others is many
    assert sizes.sum() == 200
    assert coreset(many, few, 5, rng)[2] is many


def test_the_bound_of_lemma_4_holds_on_average():
    u = rows(100, 5)
    exact = np.exp(u @ u.T)
    penalty = variances(u, u, 4, 30)
    entries = Regression.of(np.exp, u, np.ones(100), u, radius_of(u, u), 4)
    options = {"degree": 4, "sketch_size": 30, "coefficients": "ridge", "exact_terms": False}
    drawn = [fp.elementwise(np.exp, u, random_state=k, **options) for k in range(20)]
    errors = [relative(K, exact) ** 2 for K in drawn]
    assert np.sqrt(np.mean(errors)) <= entries.bound(penalty)
    unpenalised = Regression.of(np.exp, u, np.ones(100), u, radius_of(u, u), 12)
    assert unpenalised.bound(np.zeros(13)) < 1e-6


def test_a_taylor_series_stays_clear_of_poles():
    u = rows(100, 3)
    u *= np.sqrt(0.5) / np.linalg.norm(u, axis=1).max()
    f = lambda x: 1 / (1 - x)
    K = fp.elementwise(f, u, coefficients="taylor", degree=12, sketch_size=200, random_state=0)
    assert K.polynomial.worst < 1e-3
    real_only = lambda x: np.real(x) / (np.imag(x) == 0)
    with pytest.raises(fp.errors.InputError, match="not analytic"):
        fp.elementwise(real_only, u, coefficients="taylor")


def test_taylor_series_are_those_of_the_function():
    u = rows(50)
    options = {"coefficients": "taylor", "degree": 5, "random_state": 0}
    found = fp.elementwise(lambda x: np.tanh(3 * x), u, **options).polynomial
    by_hand = found.coefficients / found.radius ** np.arange(6)
    np.testing.assert_allclose(by_hand, [0, 3, 0, -9, 0, 2 * 3**5 / 15], atol=1e-5)
    with pytest.raises(fp.errors.InputError, match="not analytic"):
        fp.elementwise(np.abs, u, **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: fp.elementwise(np.exp, rows(), **options),
        lambda **options: fp.rbf_kernel(rows(), **options),
        lambda **options: fp.RBFSketch(**options).fit(rows()),
        lambda **options: fp.PolynomialSketch(**options).fit(rows()),
    ],
)
def test_misspelt_coefficients_are_answered_with_all_names(call):
    with pytest.raises(fp.errors.UnknownNameError, match='Did you mean "tuned"') as refused:
        call(coefficients="tuend")
    assert all(name in str(refused.value) for name in COEFFICIENTS)


def test_a_rule_of_ones_own_takes_part(monkeypatch):
    def rounded(wanted):
        return np.round(RULES["chebyshev"](wanted), 1)

    monkeypatch.setitem(RULES, "rounded", rounded)
    found = fp.elementwise(np.exp, rows(), coefficients="rounded", random_state=0).polynomial
    np.testing.assert_allclose(found.coefficients, np.round(found.coefficients, 1))
    with pytest.raises(fp.errors.UnknownNameError, match='Did you mean "rounded"'):
        fp.elementwise(np.exp, rows(), coefficients="rouned")


def test_the_bound_is_twice_the_residual_and_twice_the_variance():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(7, 3)) / 2, rng.normal(size=(9, 3)) / 2
    x = u @ v.T
    radius, f = float(np.abs(x).max()), np.exp(x)
    penalty = variances(u, v, 3, 20)
    sums = Regression.of(np.exp, u, np.ones(7), v, radius, 3)
    c = sums.solve(penalty)
    residual = f - np.polynomial.polynomial.polyval(x / radius, c)
    total = 2 * (residual**2).sum() + 2 * penalty @ c**2
    assert sums.bound(penalty) == pytest.approx(np.sqrt(total / (f**2).sum()), rel=1e-9)
