"""Transport problems that are hard for floats, against exact arithmetic, POT and HiGHS."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from transport_strategies import PLAIN, Kinds, exact_optimum, kinds

import fewpairs as fp

#: What the plan may cost more than the optimum, as a share of what is paid.
PROVEN = 2e-10


def solved(a, b, cost):
    """Return the cost and the plan; None where the cost is no number."""
    try:
        return fp.emd(a, b, cost, plan=True)
    except fp.errors.InputError as error:
        if "too large for a number" not in str(error):
            raise
        largest = Fraction(max(a.max(), b.max())) * len(a) * Fraction(np.abs(cost).max())
        return None if largest > Fraction(1.7e308) else pytest.fail(str(error))


@given(kinds())
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
    moved = [[Fraction(f) for f in row] for row in plan.tolist()]
    cells = [
        (f, Fraction(c))
        for flows, prices in zip(moved, cost.tolist(), strict=True)
        for f, c in zip(flows, prices, strict=True)
    ]
    total = sum((f * c for f, c in cells), Fraction(0))
    size = sum((f * abs(c) for f, c in cells), Fraction(0))
    best = exact_optimum([sum(r) for r in moved], [sum(c) for c in zip(*moved, strict=True)], cost)
    assert abs(Fraction(value) - total) <= size / 10**12 + Fraction(5e-324)
    assert 0 <= total - best <= Fraction(PROVEN) * size


@given(kinds(12, PLAIN, (0,)))
def test_it_agrees_with_pot_and_highs(made: Kinds):
    a, b, cost = made.problem()
    a, b = a / a.sum(), b / b.sum()
    value = fp.emd(a, b, cost)
    b *= a.sum() / b.sum()
    size = np.abs(cost).max()
    assert value == pytest.approx(ot.emd2(a, b, cost), rel=1e-9, abs=1e-12 * size)
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


@given(kinds(), st.sampled_from([1e-20, 1e-3, 0.05, 1.0, 1e5]), st.booleans())
def test_sinkhorn_answers_warns_or_refuses(made: Kinds, reg: float, by_kernel: bool):
    a, b, cost = made.problem()
    top = np.abs(cost).max() or 1.0
    with np.errstate(all="ignore"):
        chosen = {"kernel": np.exp(-cost / top / reg)} if by_kernel else {"reg": reg * top}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = fp.sinkhorn(a, b, cost, max_iterations=40, tolerance=1e-6, **chosen)
        except fp.errors.InputError:
            return
    assert all(isinstance(w.message, fp.errors.FewpairsWarning) for w in told)
    assert np.isfinite(found.plan).all()
    assert np.isfinite(found.cost)
    unit = a.max()
    off = np.abs((found.plan / unit).sum(axis=1) - a / unit).sum()
    assert told or off <= 1.01e-6 * (a / unit).sum()


@given(
    n_words=st.integers(2, 10),
    dimensions=st.integers(1, 3),
    span=st.sampled_from([0, 3, 8, 15, 200]),
    power=st.sampled_from([0, 0, -300, -160, 160, 290]),
    metric=st.sampled_from(["euclidean", "cosine"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_documents_of_any_vectors_are_as_far_as_emd_says(
    n_words: int, dimensions: int, span: int, power: int, metric: str, seed: int
):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-span if power >= 0 or span < 20 else 0, 0, (n_words, 1))
    places = rng.normal(size=(n_words, dimensions)) * sizes
    places[rng.random(n_words) < 0.1] = 0.0
    places[0] = places[-1]
    table = fp.WordVectors([f"w{k}" for k in range(n_words)], places * 10.0**power)
    texts = [[f"w{k}" for k in rng.integers(0, n_words, rng.integers(1, 8))] for _ in range(3)]
    documents = fp.Documents.of(texts, table)
    whole = fp.wmd(documents, metric=metric)
    block = fp.wmd(documents, documents, metric=metric)
    one = np.repeat(np.arange(3), 3)
    mover = fp.WordMover(
        table, gamma=1e-3 / 10.0 ** (0 if metric == "cosine" else power), metric=metric
    )
    similar = mover.aligned(documents[one], documents[np.tile(np.arange(3), 3)]).reshape(3, 3)
    for i, j in np.ndindex(3, 3):
        cost = _distances(places[documents[i].words], places[documents[j].words], metric)
        exact = fp.emd(documents[i].weights, documents[j].weights, cost)
        near = 1e-9 * exact + (1e-14 if metric == "cosine" else 1e-15 * exact)
        unit = 1.0 if metric == "cosine" else 10.0**power
        assert whole[i, j] / unit == pytest.approx(exact, rel=0, abs=near)
        assert block[i, j] / unit == pytest.approx(exact, rel=0, abs=near)
        assert similar[i, j] == pytest.approx(np.exp(-1e-3 * exact), rel=1e-9)


def _distances(left: np.ndarray, right: np.ndarray, metric: str) -> np.ndarray:
    """Return distances one by one, in a way that neither over- nor underflows."""
    left, right = left.astype(np.longdouble), right.astype(np.longdouble)
    if metric == "euclidean":
        return np.sqrt(((left[:, None] - right) ** 2).sum(axis=2)).astype(float)
    lengths = (np.sqrt((x**2).sum(axis=1, keepdims=True)) for x in (left, right))
    left, right = (x / np.where(k > 0, k, 1) for x, k in zip((left, right), lengths, strict=True))
    zero = ~left.any(axis=1)[:, None] & ~right.any(axis=1)
    return np.where(zero, 0, np.maximum(1 - left @ right.T, 0)).astype(float)
