"""The exact solver against POT, HiGHS and linear assignment; and what a distance must satisfy."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist

import fewpairs as fp
from fewpairs.transport import single

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


@pytest.mark.parametrize("scale", [2.0**-1040, 2.0**-1000, 2.0**500, 2.0**1019])
def test_masses_of_any_size_give_the_same_digits(scale):
    a, b = np.array([3.0, 1.0, 4.0, 1.0]), np.array([2.0, 2.0, 5.0])
    cost = np.random.default_rng(6).random((4, 3)) / 64
    value, plan = fp.emd(a, b, cost, plan=True)
    scaled, same_plan = fp.emd(a * scale, b * scale, cost, plan=True)
    assert scaled == value * scale
    np.testing.assert_array_equal(same_plan, plan * scale)


def test_a_cost_that_is_no_number_is_refused():
    with pytest.raises(fp.errors.InputError, match="too large for a number"):
        fp.emd([1e200], [1e200], [[1e200]])
    assert fp.emd([1e200], [1e200], [[1e-200]]) == pytest.approx(1.0)
    assert fp.emd([1e308, 1e308], [1e308, 1e308], np.zeros((2, 2))) == 0.0


@pytest.mark.parametrize("n", [4, 30])
@pytest.mark.parametrize("forbidden", [1e9, 1e12, 1e13, 1e15, 1e18, 1e100, 1e300])
def test_forbidden_ways_change_nothing_where_there_are_others(n, forbidden):
    rng = np.random.default_rng(n)
    for _ in range(10):
        cost = rng.random((n, n))
        closed = rng.random((n, n)) < 0.4
        np.fill_diagonal(closed, val=False)
        rows, columns = linear_sum_assignment(np.where(closed, 1e4, cost))
        best = cost[rows, columns].mean()
        weights = np.full(n, 1 / n)
        value, plan = fp.emd(weights, weights, np.where(closed, forbidden, cost), plan=True)
        assert value == pytest.approx(best, rel=1e-9)
        assert plan[closed].max() == 0


def test_small_costs_beside_large_ones_are_solved_exactly():
    """A tenth of the mass must go a dear way; what the rest costs is 1e-13 of that."""
    cost = np.array([[1e13, 1e13, 1e13], [1.0, 2.0, 4.0], [2.0, 4.0, 9.0]])
    a, b = [1.0, 4.0, 5.0], [3.0, 3.0, 4.0]
    value, plan = fp.emd(a, b, cost, plan=True)
    assert value == 1e13 + 28.0
    assert plan.tolist() == [[0, 0, 1], [0, 1, 3], [3, 2, 0]]


def test_a_tiny_mass_on_a_dear_way_is_paid_for():
    cost = np.array([[1e20, 1e20], [1.0, 3.0], [2.0, 1.0]])
    value = fp.emd([2.0**-50, 1.0, 1.0], [1.0, 1.0 + 2.0**-50], cost)
    assert value == pytest.approx(1e20 * 2.0**-50 + 2.0, rel=1e-10)


def test_a_problem_on_which_rounding_makes_the_solver_cycle_is_solved():
    a = [1.3254058703068015e-07, 0.9999998674594129]
    b = [
        0.23482657360380785, 0.7651731401176364, 2.592706492770706e-57, 3.195566203188408e-14,
        8.058132185596608e-28, 1.5891965379945974e-33, 2.8627852398069166e-07,
    ]  # fmt: skip
    cost = [
        [
            4.141464499524854e-06, 3.2922936357757675e-06, 0.00798605995588704, 0.3845713541440876,
            1.2832015430448045e-06, 5.6384409722477016e-05, 2.755255964023715e-06,
        ],
        [
            5.735895690230087e-05, 6.659578510898085e-05, 0.04907942739352706, 0.6014416680494078,
            3.173369296741568e-06, 0.000352881547406312, 0.00010369922119770232,
        ],
    ]  # fmt: skip
    assert fp.emd(a, b, cost) == pytest.approx(float(of_two_rows(a, b, cost)), rel=1e-14)


def test_masses_of_very_different_sizes_are_moved_at_the_cost_that_fractions_give():
    rng = np.random.default_rng(6)
    for _ in range(300):
        m = rng.integers(2, 9)
        a, b = (10.0 ** -(rng.choice([0.0, 8.0, 60.0], k) ** rng.random(k)) for k in (2, m))
        a, b = a / a.sum(), b / b.sum()
        cost = 10.0 ** -(6 * rng.random((2, m)))
        assert fp.emd(a, b, cost) == pytest.approx(float(of_two_rows(a, b, cost)), rel=1e-10)


def test_large_ordinary_problems_need_no_whole_numbers(monkeypatch):
    def slow(*_):
        pytest.fail("was handed over to the slow solver")

    monkeypatch.setattr(single, "exact_flows", slow)
    rng = np.random.default_rng(5)
    masses = rng.dirichlet(np.ones(1000), size=2)
    for a, b in (masses, np.ones((2, 1000))):
        assert fp.emd(a, b, rng.random((1000, 1000))) > 0


def of_two_rows(a, b, cost) -> Fraction:
    """Solve in fractions: the first row serves the columns where it saves most."""
    supply, demand = [Fraction(x) for x in a], [Fraction(x) for x in b]
    demand = [x * sum(supply) / sum(demand) for x in demand]
    first, second = ([Fraction(x) for x in row] for row in cost)
    left, total = supply[0], Fraction(0)
    for j in sorted(range(len(b)), key=lambda j: first[j] - second[j]):
        amount = min(left, demand[j])
        total += amount * first[j] + (demand[j] - amount) * second[j]
        left -= amount
    return total


def test_rounding_of_weights_is_not_paid_for():
    """Sums of 0.1 and 0.2 differ from 0.3 in the last digit, and the only other way is closed."""
    cost = [[1.0, 2.0, 1e300], [1e300, 1e300, 1.0]]
    value = fp.emd([0.3, 0.7], [0.1, 0.2, 0.7], cost)
    assert value == pytest.approx(0.1 + 0.4 + 0.7, rel=1e-12)
    value = fp.emd([0.1 + 0.2, 0.7], [0.3, 0.7], [[0.0, 1e300], [1e300, 0.0]])
    assert value == 0.0


def test_rounding_that_must_cross_a_forbidden_way_makes_nothing_else_coarse():
    """Blocks hold the same masses but for rounding; within each there is something to decide."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        shares = rng.dirichlet(np.ones(3))
        a, b = (np.concatenate([x * rng.dirichlet(np.ones(3)) for x in shares]) for _ in range(2))
        same = np.arange(9)[:, None] // 3 == np.arange(9) // 3
        cost = rng.random((9, 9))
        value = fp.emd(a, b, np.where(same, cost, 1e300))
        blocks = [slice(k, k + 3) for k in (0, 3, 6)]
        apart = sum(
            ot.emd2(a[x] / a[x].sum(), b[x] / b[x].sum(), np.ascontiguousarray(cost[x, x]))
            * a[x].sum()
            for x in blocks
        )
        assert value == pytest.approx(apart, rel=1e-10)


def test_weights_normalised_in_single_precision_are_taken():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n, m = rng.integers(2, 60, 2)
        a, b = rng.random(n).astype(np.float32), rng.random(m).astype(np.float32)
        cost = rng.random((n, m))
        value = fp.emd(a / a.sum(), b / b.sum(), cost)
        exact = fp.emd(a.astype(float) / a.astype(float).sum(), b / b.sum(dtype=float), cost)
        assert value == pytest.approx(exact, rel=1e-5)


def test_one_against_very_many_needs_no_memory():
    many = np.full(200_000, 1 / 200_000)
    cost = np.linspace(0, 1, 200_000)
    assert fp.emd([1.0], many, cost[None]) == pytest.approx(0.5)
    assert fp.emd(many, [1.0], cost[:, None]) == pytest.approx(0.5)


def test_integers_and_any_layout_are_fine():
    cost = np.arange(12).reshape(4, 3)
    value = fp.emd([1, 2, 3, 4], [5, 3, 2], cost)
    assert value == fp.emd([1.0, 2, 3, 4], [5, 3, 2], np.asfortranarray(cost, dtype=np.float32))
    assert value == fp.emd([5, 3, 2], [1, 2, 3, 4], cost.T)


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
        ([1.0], [1.0], [[1e400]], "not finite"),
        ([1e308, np.inf], [1.0], [[1.0], [1.0]], "a\\[1\\] is inf"),
        ([1e308, 1e308], [1e308], [[1.0], [1.0]], "sums"),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), [1.0], [[1.0], [1.0]], "a has 1 masked"),
        ([1.0], [1.0], np.ma.masked_array([[1.0]], [[1]]), "cost has 1 masked"),
        ([1.0], ["heavy"], [[1.0]], "b is a list that cannot"),
        ([1.0], ["1.0"], [[1.0]], "b is a list that cannot"),
        ([1.0], [1.0 + 1j], [[1.0]], "b is a list that cannot"),
        ([1.0], [object()], [[1.0]], "b is a list that cannot"),
        ([10**400], [1.0], [[1.0]], "a is a list that cannot"),
        ([1.0], [1.0], [[1.0], [2.0, 3.0]], "cost is a list that cannot"),
        ([1.0], [None], [[1.0]], "b\\[0\\] is nan"),
        (None, [1.0], [[1.0]], "a has the shape"),
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
