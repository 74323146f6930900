"""Transport problems that are hard for floats, against exact arithmetic, POT and HiGHS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from transport_strategies import PLAIN, Kinds, exact_optimum, kinds, paid, whole

import fewpairs as fp

#: What the plan may cost more than the optimum, as a share of what is paid.
PROVEN = 2e-10
#: HiGHS takes several times as long as everything else: it judges every fourth problem.
HIGHS_SHARE = 4


def solved(a, b, cost):
    """Return the cost and the plan; None where the cost is no number."""
    try:
        return fp.emd(a, b, cost, plan=True)
    except fp.errors.InputError as error:
        if "too large for a number" not in str(error):
            raise
        largest = Fraction(max(a.max(), b.max())) * len(a) * Fraction(np.abs(cost).max())
        return None if largest > Fraction(1.7e308) else pytest.fail(str(error))


@given(kinds(8))
def test_a_plan_is_optimal_for_what_it_moves_in_exact_arithmetic(made: Kinds):
    a, b, cost = made.problem()
    found = solved(a, b, cost)
    if found is None:
        return
    value, plan = found
    assert (plan >= 0).all()
    unit = max(a.max(), b.max())  # sums of the largest masses may overflow
    there, arrived = a / unit, b / unit * ((a / unit).sum() / (b / unit).sum())
    np.testing.assert_allclose((plan / unit).sum(axis=1), there, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose((plan / unit).sum(axis=0), arrived, rtol=1e-12, atol=1e-13)
    moved, of_masses = whole(plan)
    prices, of_costs = whole(cost)
    total, size = paid(moved, prices), paid(moved, [[abs(c) for c in row] for row in prices])
    best = exact_optimum(
        [sum(row) for row in moved], [sum(column) for column in zip(*moved, strict=True)], prices
    )
    unit = of_masses * of_costs
    assert abs(Fraction(value) * unit - total) <= Fraction(size, 10**12) + Fraction(5e-324) * unit
    assert 0 <= total - best <= Fraction(PROVEN) * size


@given(kinds(12, PLAIN, (0,)))
def test_it_agrees_with_pot_and_highs(made: Kinds):
    a, b, cost = made.problem()
    a, b = a / a.sum(), b / b.sum()
    value = fp.emd(a, b, cost)
    b *= a.sum() / b.sum()
    size = np.abs(cost).max()
    assert value == pytest.approx(ot.emd2(a, b, cost), rel=1e-9, abs=1e-12 * size)
    if made.seed % HIGHS_SHARE:
        return
    n, m = cost.shape
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])[:-1]
    by_highs = linprog(cost.ravel(), A_eq=sums, b_eq=np.concatenate([a, b])[:-1], method="highs")
    if by_highs.success:  # its tolerances are absolute, 1e-7
        assert value == pytest.approx(by_highs.fun, rel=1e-6, abs=1e-6 * size)


@given(kinds(), st.integers(0, 2**32 - 1), st.integers(-60, 60), st.integers(-60, 60))
def test_order_direction_and_units_change_nothing(made: Kinds, seed: int, more: int, dearer: int):
    a, b, cost = made.problem()
    found = solved(a, b, cost)
    if found is None or not 1e-250 < abs(found[0]) < 1e250:
        return
    value = found[0]
    size = float((found[1] / a.max() * np.abs(cost)).sum()) * a.max()
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(a)), rng.permutation(len(b))
    shuffled = fp.emd(a[rows], b[columns], cost[np.ix_(rows, columns)])
    assert shuffled == pytest.approx(value, rel=0, abs=1e-9 * size)
    if made.masses != "single precision":  # there the sums differ, and `a` decides
        assert fp.emd(b, a, cost.T) == pytest.approx(value, rel=0, abs=1e-9 * size)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(a, more), np.ldexp(b, more), np.ldexp(cost, dearer)
        back = (np.ldexp(part, -k) for part, k in zip(scaled, (more, more, dearer), strict=True))
        if all(np.array_equal(x, y) for x, y in zip(back, (a, b, cost), strict=True)):
            assert fp.emd(*scaled) == np.ldexp(value, more + dearer)
