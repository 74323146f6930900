"""emd on problems that are hard for floats, against exact arithmetic, POT and HiGHS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import ot
from hypothesis import given
from scipy.optimize import linprog
from transport_strategies import Kinds, exact_optimum, kinds

import fewpairs as fp

#: What the plan may cost more than the optimum, as a share of what is paid.
PROVEN = 2e-10


@given(kinds())
def test_a_plan_is_optimal_for_what_it_moves_in_exact_arithmetic(made: Kinds):
    a, b, cost = made.problem()
    try:
        value, plan = fp.emd(a, b, cost, plan=True)
    except fp.errors.InputError as refused:
        assert "too large for a number" in str(refused)
        assert Fraction(a.sum()) * Fraction(np.abs(cost).max()) > Fraction(1e307)
        return
    assert (plan >= 0).all()
    rounding = 1e-12 * a.sum()
    np.testing.assert_allclose(plan.sum(axis=1), a, rtol=1e-12, atol=rounding)
    np.testing.assert_allclose(plan.sum(axis=0), b * (a.sum() / b.sum()), rtol=1e-12, atol=rounding)
    moved = [[Fraction(f) for f in row] for row in plan.tolist()]
    paid = [
        (f, Fraction(c))
        for row, prices in zip(moved, cost.tolist(), strict=True)
        for f, c in zip(row, prices, strict=True)
    ]
    total = sum((f * c for f, c in paid), Fraction(0))
    size = sum((f * abs(c) for f, c in paid), Fraction(0))
    best = exact_optimum([sum(r) for r in moved], [sum(c) for c in zip(*moved, strict=True)], cost)
    assert abs(Fraction(value) - total) <= size / 10**12 + Fraction(5e-324)
    assert 0 <= total - best <= Fraction(PROVEN) * size
