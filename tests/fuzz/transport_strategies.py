"""Transport problems that are hard for floats, and an exact solver of another kind beside them.

A problem is made of named kinds and a seed, so that a failing one is told in one line, and shrinks
to few places and plain kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

MASSES = (
    "equal",
    "integer",
    "powers",
    "dirichlet",
    "single precision",
    "some zero",
    "one heavy",
    "tiny ones",
    "blocks",
)
#: Powers of ten that costs or masses are multiplied by.
SCALES = (0, 0, 0, 0, -300, -160, -20, 9, 100, 160, 200, 290)
LARGEST = 1e300


class Problem(NamedTuple):
    """Masses and costs."""

    a: np.ndarray
    b: np.ndarray
    cost: np.ndarray


class Kinds(NamedTuple):
    """What a problem is made of."""

    n: int
    m: int
    costs: str
    masses: str
    cost_scale: int
    mass_scale: int
    seed: int

    def problem(self) -> Problem:
        """Make it."""
        rng = np.random.default_rng(self.seed)
        cost = COSTS[self.costs](rng, self.n, self.m)
        a, b = make_masses(rng, self.masses, self.n, self.m)
        scale = 10.0**self.mass_scale
        if self.costs != "range of 1e600":
            cost = np.clip(cost, -LARGEST, LARGEST / 10.0**self.cost_scale) * 10.0**self.cost_scale
        return Problem(a * scale, b * scale, cost)


def kinds(
    largest: int = 6, costs: tuple[str, ...] = (), scales: tuple[int, ...] = SCALES
) -> st.SearchStrategy[Kinds]:
    """Return problems of some kinds of costs (by default all), most with a number as result."""
    sizes = st.integers(1, largest)
    powers = st.sampled_from(scales)
    return st.builds(
        Kinds,
        sizes,
        sizes,
        st.sampled_from(costs or tuple(COSTS)),
        st.sampled_from(MASSES),
        powers,
        powers,
        st.integers(0, 2**32 - 1),
    )


def _forbidden(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.random((n, m)) < rng.choice([0.2, 0.5, 0.8])


def _line_squared(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    places = np.sort(rng.normal(size=n))
    near = np.sort(np.resize(places, m) + 1e-6 * rng.normal(size=m))
    return (places[:, None] - near) ** 2


#: Costs of order one, unless their range is the point.
COSTS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "random": lambda rng, n, m: rng.random((n, m)),
    "equal": lambda rng, n, m: np.full((n, m), 0.7),
    "zero": lambda rng, n, m: rng.random((n, m)) * rng.integers(0, 2, (n, m)),
    "integer": lambda rng, n, m: rng.integers(0, 4, (n, m)).astype(float),
    "lattice": lambda rng, n, m: cdist(
        np.round(rng.normal(size=(n, 2))), np.round(rng.normal(size=(m, 2)))
    ),
    "plane": lambda rng, n, m: cdist(rng.normal(size=(n, 2)), rng.normal(size=(m, 2))),
    "line squared": _line_squared,
    "negative": lambda rng, n, m: rng.random((n, m)) - 0.5,
    "offset": lambda rng, n, m: 1e6 + rng.random((n, m)),
    # Every plan costs the same, but for rounding.
    "rank one": lambda rng, n, m: rng.random((n, 1)) + rng.random((1, m)),
    "forbidden": lambda rng, n, m: np.where(
        _forbidden(rng, n, m), 10.0 ** rng.choice([3, 12, 13, 15, 18, 100, 300]), rng.random((n, m))
    ),
    "two levels": lambda rng, n, m: (
        np.where(_forbidden(rng, n, m), 10.0 ** rng.choice([4, 12, 16, 150], (n, m)), 1.0)
        * (1 + rng.random((n, m)))
    ),
    "blocks": lambda rng, n, m: np.where(
        _same_block(n, m), rng.random((n, m)), 10.0 ** rng.choice([12, 15, 300])
    ),
    "bargains": lambda rng, n, m: rng.random((n, m)) - 1e13 * _forbidden(rng, n, m),
    "lognormal": lambda rng, n, m: np.exp(10 * rng.normal(size=(n, m))),
    "range of 1e15": lambda rng, n, m: (
        10.0 ** rng.uniform(-15, 0, (n, m)) * rng.choice([1, 1, 1, 0], (n, m))
    ),
    "range of 1e600": lambda rng, n, m: 10.0 ** rng.uniform(-300, 300, (n, m)),
}
#: Those that solvers with absolute tolerances can judge.
PLAIN = ("random", "equal", "zero", "integer", "lattice", "plane", "negative", "rank one")


def _same_block(n: int, m: int) -> np.ndarray:
    return (np.arange(n) % 3)[:, None] == np.arange(m) % 3


def make_masses(rng: np.random.Generator, kind: str, n: int, m: int) -> tuple[np.ndarray, ...]:
    """Return masses of one kind, equal in sum to 1e-6 at least."""
    if kind == "equal":
        return np.full(n, 1 / n), np.full(m, 1 / m)
    if kind in {"integer", "some zero"}:
        a = rng.integers(0 if kind == "some zero" else 1, 4, n).astype(float)
        a[0] += 1
        return a, _split(rng, int(a.sum()), m, zeros=kind == "some zero")
    if kind == "powers":
        a, b = 2.0 ** rng.integers(-40, 1, n), 2.0 ** rng.integers(-40, 1, m)
        short = a.sum() - b.sum()
        (b if short > 0 else a)[0] += abs(short)
        return a, b
    if kind == "one heavy":
        a, b = rng.random(n), rng.random(m)
        a[0], b[-1] = 1e9, 1e9
    elif kind == "tiny ones":
        a, b = 10.0 ** rng.uniform(-20, 0, n), 10.0 ** rng.uniform(-20, 0, m)
    elif kind == "blocks":  # the same in every block, but for rounding
        share = rng.dirichlet(np.ones(3)) + 0.01
        a, b = share[np.arange(n) % 3], share[np.arange(m) % 3]
        for masses in (a, b):
            for block in range(min(3, len(masses))):
                masses[block::3] *= rng.dirichlet(np.ones(len(masses[block::3])))
    else:
        a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    if kind == "single precision":
        a, b = (x.astype(np.float32) / x.astype(np.float32).sum() for x in (a, b))
        return a.astype(float), b.astype(float)
    return a / a.sum(), b / b.sum()


def _split(rng: np.random.Generator, total: int, m: int, *, zeros: bool) -> np.ndarray:
    """Return m whole numbers with the given sum; without zeros, quarters."""
    cuts = np.sort(rng.integers(0, total + 1, m - 1))
    parts = np.diff(np.concatenate([[0], cuts, [total]])).astype(float)
    if not zeros and (parts == 0).any():
        parts = 0.75 * parts + 0.25 * total / m if m in {1, 2, 4} else np.full(m, total / m)
    return parts


def whole(values: np.ndarray) -> tuple[list[list[int]], int]:
    """Return whole numbers, and the power of two that divides them: no digit is lost."""
    ratios = [[x.as_integer_ratio() for x in row] for row in values.tolist()]
    unit = max(down for row in ratios for _, down in row)
    return [[up * (unit // down) for up, down in row] for row in ratios], unit


def exact_optimum(a: list[int], b: list[int], cost: list[list[int]]) -> int:
    """Return the least cost by shortest augmenting paths, in whole numbers.

    Unlike the simplex it keeps no tree: Bellman and Ford find the cheapest way from what is left
    to what is wanted, through flows that may be taken back.
    """
    left, wanted = list(a), list(b)
    flow = [[0] * len(b) for _ in a]
    while any(left):
        columns, row_from, column_from = _cheapest_ways(left, cost, flow)
        _, end = min((columns[j], j) for j in range(len(b)) if wanted[j])
        path, j = [], end
        while True:
            i = column_from[j]
            path.append((i, j, 1))
            if row_from[i] < 0:
                break
            j = row_from[i]
            path.append((i, j, -1))
        amount = min([left[i], wanted[end], *(flow[p][q] for p, q, s in path if s < 0)])
        for p, q, s in path:
            flow[p][q] += s * amount
        left[i] -= amount
        wanted[end] -= amount
    return paid(flow, cost)


def paid(flow: list[list[int]], cost: list[list[int]]) -> int:
    """Return the sum of flows times costs."""
    rows = zip(flow, cost, strict=True)
    return sum(f * c for fs, cs in rows for f, c in zip(fs, cs, strict=True))


def _cheapest_ways(
    left: list[int], cost: list[list[int]], flow: list[list[int]]
) -> tuple[list, list[int], list[int]]:
    """Return what a unit costs from what is left to each column, and where it comes from."""
    n, m = len(cost), len(cost[0])
    rows = [0 if mass else None for mass in left]
    columns: list[int | None] = [None] * m
    row_from, column_from = [-1] * n, [-1] * m
    changed = True
    while changed:
        changed = False
        for i, (start, prices) in enumerate(zip(rows, cost, strict=True)):
            if start is None:
                continue
            for j, price in enumerate(prices):
                if columns[j] is None or start + price < columns[j]:
                    columns[j], column_from[j], changed = start + price, i, True
        for i, (flows, prices) in enumerate(zip(flow, cost, strict=True)):
            for j, there in enumerate(flows):
                if there and (rows[i] is None or columns[j] - prices[j] < rows[i]):
                    rows[i], row_from[i], changed = columns[j] - prices[j], j, True
    return columns, row_from, column_from
