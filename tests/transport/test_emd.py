"""The exact solver against POT, HiGHS and linear assignment; and what a distance must satisfy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist

import fewpairs as fp

TOLERANCE = 1e-12


def problem(rng, kind: str, n: int, m: int):
    x, y = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
    if kind == "lattice":  # ties everywhere, and coincident places
        x, y = np.round(x), np.round(y)
    cost = cdist(x, y)
    if kind in ("equal", "lattice"):
        return np.full(n, 1 / n), np.full(m, 1 / m), cost
    if kind == "counts":
        a, b = rng.integers(1, 4, n).astype(float), rng.integers(1, 4, m).astype(float)
        return a / a.sum(), b / b.sum(), cost
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m)), cost


def highs(a, b, cost) -> float:
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    solved = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns])[:-1], b_eq=np.concatenate([a, b])[:-1]
    )
    return float(solved.fun)


def off(value, reference, cost) -> float:
    """Relative difference; absolute, in units of the mean cost, where the distance is 0."""
    if reference < 1e-9 * cost.mean():
        return abs(value - reference) / max(cost.mean(), 1e-300)
    return abs(value - reference) / reference


@pytest.mark.parametrize("kind", ["equal", "counts", "dirichlet", "lattice"])
def test_it_agrees_with_pot(kind):
    rng = np.random.default_rng(0)
    for _ in range(600):
        n, m = rng.integers(1, 40, 2)
        a, b, cost = problem(rng, kind, n, m)
        b = b * (a.sum() / b.sum())
        assert off(fp.emd(a, b, cost), ot.emd2(a, b, cost), cost) <= TOLERANCE


@pytest.mark.parametrize("kind", ["equal", "counts", "dirichlet", "lattice"])
def test_it_agrees_with_highs(kind):
    rng = np.random.default_rng(1)
    for _ in range(100):
        n, m = rng.integers(2, 14, 2)
        a, b, cost = problem(rng, kind, n, m)
        assert off(fp.emd(a, b, cost), highs(a, b, cost), cost) <= TOLERANCE


def test_it_solves_assignments():
    rng = np.random.default_rng(2)
    for n in (5, 64, 65, 130):
        cost = rng.random((n, n))
        rows, columns = linear_sum_assignment(cost)
        best = cost[rows, columns].sum() / n
        assert fp.emd(np.full(n, 1 / n), np.full(n, 1 / n), cost) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(300, 300), (1, 300), (300, 2), (500, 40)])
def test_large_problems(n, m):
    rng = np.random.default_rng(3)
    a, b, cost = problem(rng, "dirichlet", n, m)
    value, plan = fp.emd(a, b, cost, plan=True)
    assert off(value, ot.emd2(a, b * (a.sum() / b.sum()), cost), cost) <= TOLERANCE
    np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-14)
    np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-14)
    assert plan.min() >= 0
    assert (plan * cost).sum() == pytest.approx(value, rel=1e-12)
    assert (plan > 0).sum() <= n + m - 1  # a tree


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 8),
    m=st.integers(1, 8),
    scale=st.sampled_from([1e-9, 1.0, 1e9]),
    shift=st.sampled_from([0.0, -3.0, 100.0]),
    mass=st.sampled_from([1e-6, 1.0, 1e6]),
    seed=st.integers(0, 10_000),
)
def test_units_do_not_matter(n, m, scale, shift, mass, seed):
    rng = np.random.default_rng(seed)
    a, b, cost = problem(rng, "counts", n, m)
    base = fp.emd(a, b, cost)
    moved = fp.emd(mass * a, mass * b, scale * (cost + shift))
    size = scale * mass * max(abs(shift) + cost.max(), 1e-12)
    assert moved == pytest.approx(scale * mass * (base + shift), abs=1e-11 * size)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**500, 2.0**900, 2.0**1020])
def test_costs_of_any_size_give_the_same_digits(scale):
    rng = np.random.default_rng(5)
    a, b, cost = problem(rng, "counts", 7, 9)
    value, plan = fp.emd(a, b, cost, plan=True)
    large, same_plan = fp.emd(a, b, cost * scale, plan=True)
    assert large == value * scale
    np.testing.assert_array_equal(same_plan, plan)


def test_masses_of_zero_are_left_out():
    cost = np.array([[5.0, 1.0], [2.0, 7.0], [0.0, 0.0]])
    value, plan = fp.emd([0.5, 0.5, 0.0], [0.5, 0.5], cost, plan=True)
    assert value == 1.5
    assert plan[2].tolist() == [0.0, 0.0]
    assert fp.emd([0.0], [0.0], [[3.0]]) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "cost", "words"),
    [
        ([0.5, 0.5], [1.0], [[1.0]], "shapes"),
        ([1.0, -0.5], [0.5], [[1.0], [1.0]], "a\\[1\\] is -0.5"),
        ([1.0], [np.nan], [[1.0]], "b\\[0\\] is nan"),
        ([1.0], [0.9], [[1.0]], "sums"),
        ([1.0], [1.0], [[np.inf]], "not finite"),
        ([], [], np.empty((0, 0)), "empty"),
    ],
)
def test_bad_input_is_named(a, b, cost, words):
    with pytest.raises(fp.errors.InputError, match=words):
        fp.emd(a, b, cost)


def test_a_compilation_is_announced_once(caplog, tmp_path):
    from fewpairs import parallel

    def kernel():
        cache = SimpleNamespace(cache_path=tmp_path)
        return SimpleNamespace(__name__="kernel", signatures=(), _cache=cache)

    new = kernel()
    with caplog.at_level("INFO", "fewpairs"):
        parallel.announce(new, "it")
        parallel.announce(new, "it")
    assert caplog.text.count("compiling") == 1
    (tmp_path / "module.kernel-1.py311.nbi").touch()
    with caplog.at_level("INFO", "fewpairs"):
        parallel.announce(kernel(), "it")
    assert caplog.text.count("compiling") == 1  # it is on disk
