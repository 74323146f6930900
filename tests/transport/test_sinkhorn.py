"""Sinkhorn: against POT, with dense costs and with factored kernels."""

from __future__ import annotations

import numpy as np
import ot
import pytest

import fewpairs as fp


def problem(n=60, m=50, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, 3)), rng.random((m, 3)) + 0.2
    cost = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m)), cost, x, y


@pytest.mark.parametrize("reg", [0.5, 0.05, 0.005])
def test_it_agrees_with_pot(reg):
    a, b, cost, *_ = problem()
    found = fp.sinkhorn(a, b, cost, reg=reg, max_iterations=20_000, tolerance=1e-10)
    plan = ot.sinkhorn(a, b, cost, reg, method="sinkhorn_log", numItermax=20_000, stopThr=1e-12)
    assert found.cost == pytest.approx((plan * cost).sum(), rel=1e-6)
    assert found.marginal_error <= 1e-10
    mine = np.exp(found.left[:, None] + found.right - cost / reg)
    np.testing.assert_allclose(mine, plan, atol=1e-8)


def test_a_kernel_gives_the_same_as_its_cost():
    a, b, cost, x, y = problem()
    dense = fp.sinkhorn(a, b, cost, reg=0.3)
    kernel = np.exp(-cost / 0.3)
    by_array = fp.sinkhorn(a, b, cost, kernel=kernel)
    assert by_array.cost == pytest.approx(dense.cost, rel=1e-7)
    factored = fp.FactoredMatrix(kernel, np.eye(len(b)), np.eye(len(b)))
    costs = squared_distances(x, y)
    np.testing.assert_allclose(costs[0] @ costs[1].T, cost, atol=1e-12)
    by_factors = fp.sinkhorn(a, b, costs, kernel=factored)
    assert by_factors.cost == pytest.approx(dense.cost, rel=1e-7)
    assert fp.sinkhorn(a, b, kernel=factored).cost is None
    assert fp.sinkhorn(a, b, cost, kernel=factored).cost == pytest.approx(dense.cost, rel=1e-7)


def test_the_plan_is_as_the_kernel_is():
    a, b, cost, *_ = problem()
    kernel = np.exp(-cost / 0.3)
    factored = fp.FactoredMatrix(kernel, np.eye(len(b)), np.eye(len(b)))
    plans = [
        fp.sinkhorn(a, b, cost, reg=0.3).plan,
        fp.sinkhorn(a, b, kernel=kernel).plan,
        fp.sinkhorn(a, b, kernel=factored).plan,
    ]
    assert isinstance(plans[2], fp.FactoredMatrix)
    np.testing.assert_allclose(plans[0].sum(axis=1), a, atol=1e-8)
    np.testing.assert_allclose(plans[1], plans[0], atol=1e-8)
    np.testing.assert_allclose(plans[2].to_dense(), plans[0], atol=1e-8)


def squared_distances(x, y):
    """|x − y|² as A·Bᵀ."""
    ones = np.ones((len(x), 1)), np.ones((len(y), 1))
    squares = (x**2).sum(axis=1, keepdims=True), (y**2).sum(axis=1, keepdims=True)
    return np.hstack([squares[0], ones[0], -2 * x]), np.hstack([ones[1], squares[1], y])


def test_a_sketched_kernel_comes_near():
    """The paper's use: exp(−|x − y|² / reg) by Poly-TensorSketch."""
    a, b, cost, x, y = problem(300, 250)
    kernel = fp.rbf_kernel(x, y, gamma=1.0, columns=61, random_state=0)
    found = fp.sinkhorn(a, b, squared_distances(x, y), kernel=kernel)
    exact = fp.sinkhorn(a, b, cost, reg=1.0)
    assert found.cost == pytest.approx(exact.cost, rel=1e-3)
    assert found.marginal_error < 1e-8


def test_masses_of_zero_stay_empty():
    a, b, cost, *_ = problem()
    a[3] = 0
    a /= a.sum()
    found = fp.sinkhorn(a, b, cost, reg=0.2)
    assert np.exp(found.left[3]) == 0
    assert found.marginal_error < 1e-8


def test_a_kernel_with_negative_sums_is_reported():
    a, b = np.full(4, 0.25), np.full(4, 0.25)
    kernel = np.ones((4, 4))
    kernel[0] = -1.0
    with pytest.warns(
        fp.errors.NegativeKernelWarning, match="not positive|below its own error"
    ) as caught:
        found = fp.sinkhorn(a, b, kernel=kernel, max_iterations=5)
    assert caught[0].filename == __file__
    assert np.isfinite(found.left).all()
    off = [np.abs(found.plan.sum(axis=1 - k) - wanted).sum() for k, wanted in enumerate((a, b))]
    assert found.marginal_error == pytest.approx(sum(off))  # of both sides, where sums were lifted


def test_a_sum_below_the_kernels_own_error_is_not_believed():
    """A far place: its true kernel is 1e-9, the factored one any tiny number."""
    a, b = np.full(4, 0.25), np.full(4, 0.25)
    dense = np.ones((4, 4))
    dense[0] = 1e-6  # positive, and rounding of the factors all the same
    error = fp.ErrorEstimate(0.01, 0.009, 0.011, 1000)
    stated = fp.FactoredMatrix(dense, np.eye(4), np.eye(4), error=error)
    with pytest.warns(fp.errors.NegativeKernelWarning):
        found = fp.sinkhorn(a, b, kernel=stated, max_iterations=20)
    assert found.left[0] / found.left[1] < 1000  # a / 1e-6 would be a million times the others


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.5, 0.5], [0.3, 0.3], np.ones((2, 2))), "sums to"),
        (([0.5, -0.5], [1.0], np.ones((2, 1))), r"a\[1\] is -0.5"),
        (([1.0], [1.0], np.ones((2, 1))), "shape"),
        (([[1.0]], [1.0], np.ones((1, 1))), "a has the shape"),
        (([0.0], [0.0], np.ones((1, 1))), "all masses are 0"),
        (([1.0], [1.0], [[np.nan]]), "not finite"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(fp.errors.InputError, match=words):
        fp.sinkhorn(*arguments, reg=1.0)


def test_reg_and_kernel_are_checked():
    for reg in (None, 0.0, "a"):
        with pytest.raises(fp.errors.InputError, match=f"reg is {reg!r}"):
            fp.sinkhorn([1.0], [1.0], [[0.0]], reg=reg)
    with pytest.raises(fp.errors.InputError, match="kernel has the shape"):
        fp.sinkhorn([1.0], [1.0], kernel=np.ones((2, 2)))


@pytest.mark.parametrize("most", [1, 7])
def test_what_is_reported_is_of_the_last_step(most):
    a, b, cost, *_ = problem()
    kernel = np.exp(-cost / 0.3)
    for found in (
        fp.sinkhorn(a, b, cost, reg=0.3, max_iterations=most, tolerance=0),
        fp.sinkhorn(a, b, kernel=kernel, max_iterations=most, tolerance=0),
    ):
        assert found.iterations == most
        off = np.abs(found.plan.sum(axis=1) - a).sum()
        assert found.marginal_error == pytest.approx(off, rel=1e-6)
    dense = fp.sinkhorn(a, b, cost, reg=0.3, tolerance=1e-6)
    assert fp.sinkhorn(a, b, kernel=kernel, tolerance=1e-6).iterations == dense.iterations


def test_what_is_no_mass_cost_or_kernel_is_refused():
    a, b, cost, *_ = problem()
    kernel = np.exp(-cost)
    with pytest.raises(fp.errors.InputError, match="no mass"):
        fp.sinkhorn(np.full(60, np.inf), b, cost, reg=1.0)
    with pytest.raises(fp.errors.InputError, match="the plan"):
        fp.sinkhorn(a, b, cost[:1], kernel=kernel)
    kernel[0, 0] = np.nan
    with pytest.raises(fp.errors.InputError, match="not finite"):
        fp.sinkhorn(a, b, kernel=kernel)


def test_an_empty_place_needs_no_kernel():
    a, b, cost, *_ = problem()
    a[3] = 0
    found = fp.sinkhorn(a / a.sum(), b, kernel=np.exp(-cost))
    assert found.plan[3].sum() == 0


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e290])
def test_units_of_masses_and_costs_do_not_matter(scale):
    a, b, cost, *_ = problem()
    plain = fp.sinkhorn(a, b, cost, reg=0.1)
    masses = fp.sinkhorn(a * scale, b * scale, cost, reg=0.1)
    assert masses.cost == pytest.approx(plain.cost * scale, rel=1e-9)
    np.testing.assert_allclose(masses.plan, plain.plan * scale, rtol=1e-6)
    np.testing.assert_allclose(np.exp(masses.left - plain.left) / scale, 1, rtol=1e-6)
    costs = fp.sinkhorn(a, b, cost * scale, reg=0.1 * scale)
    assert costs.cost == pytest.approx(plain.cost * scale, rel=1e-9)
    kernel = np.exp(-cost / 0.1)
    by_kernel = fp.sinkhorn(a, b, cost, kernel=kernel * scale)
    assert by_kernel.cost == pytest.approx(plain.cost, rel=1e-7)
    whole = by_kernel.left[:, None] * (kernel * scale) * by_kernel.right
    np.testing.assert_allclose(whole, by_kernel.plan, rtol=1e-9)
    heavy = fp.sinkhorn(a * scale, b * scale, cost, kernel=kernel)
    np.testing.assert_allclose(heavy.plan, by_kernel.plan * scale, rtol=1e-9)


def test_a_limit_that_comes_too_early_is_told_with_the_error():
    a, b, cost, *_ = problem()
    for arguments in ({"cost": cost, "reg": 1e-3}, {"kernel": np.exp(-cost / 0.05)}):
        with pytest.warns(fp.errors.NotConvergedWarning, match="after 3 steps") as caught:
            found = fp.sinkhorn(a, b, **arguments, max_iterations=3)
        assert f"off by {found.marginal_error:.2g}" in str(caught[0].message)
        assert caught[0].filename == __file__
        fp.sinkhorn(a, b, **arguments, max_iterations=3, tolerance=0)  # asked for, so not told


def test_weights_normalised_in_single_precision_are_taken():
    a, b, cost, *_ = problem()
    single = fp.sinkhorn(a.astype(np.float32), b.astype(np.float32), cost, reg=0.1)
    assert single.marginal_error < 1e-8
    assert single.cost == pytest.approx(fp.sinkhorn(a, b, cost, reg=0.1).cost, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cost": [[1e200]], "reg": 1e-200}, "too large for a number"),
        ({"cost": np.ma.masked_array([[1.0]], [[1]]), "reg": 1.0}, "masked"),
        ({"cost": [["dear"]], "reg": 1.0}, "real numbers"),
        ({"kernel": [[np.inf]]}, "not finite"),
        ({"kernel": np.ma.masked_array([[1.0]], [[1]])}, "masked"),
        ({"kernel": "rbf"}, "real numbers"),
        ({"cost": [[1.0]], "reg": 1.0, "max_iterations": 0}, "max_iterations is 0"),
        ({"cost": [[1.0]], "reg": 1.0, "tolerance": np.nan}, "tolerance is nan"),
        ({"cost": [[1e300]], "kernel": [[1.0]], "a": [1e300], "b": [1e300]}, "too large"),
    ],
)
def test_what_cannot_be_computed_is_refused(arguments, words):
    with pytest.raises(fp.errors.InputError, match=words):
        fp.sinkhorn(**{"a": [1.0], "b": [1.0]} | arguments)
