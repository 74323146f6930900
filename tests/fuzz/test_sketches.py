"""Sketches of any f and U: what is stated is true, and nothing is worse than zeros."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

import fewpairs as fp

FUNCTIONS = {
    "exp": np.exp,
    "tanh": np.tanh,
    "cosine": lambda x: np.cos(5 * x),
    "threshold": lambda x: (x > 0.5) * 1.0,
    "zero": lambda x: 0 * x,
    "constant": lambda x: 0 * x - 3,
    "square": np.square,
    "tiny": lambda x: 1e-300 * np.exp(x),
    "huge": lambda x: 1e290 * np.tanh(x),
    "corner": np.abs,
    "steep": np.cbrt,
}


def plain(x, rng):
    return x


ROWS = {
    "normal": plain,
    "zero": lambda x, rng: 0 * x,
    "whole": lambda x, rng: np.round(x),
    "Cauchy": lambda x, rng: np.clip(x / rng.normal(size=x.shape), -6, 6) / 2,
    "sparse": lambda x, rng: x * (rng.random(x.shape) < 0.2),
    "all the same": lambda x, rng: np.repeat(x[:1], len(x), axis=0),
    "small": lambda x, rng: 1e-6 * x,
}

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 60)
columns = st.one_of(st.none(), st.integers(1, 30))


def drawn(kind, n, d, rng):
    return 0.5 * ROWS[kind](rng.normal(size=(n, d)), rng)


def check(K, exact):
    """The stated error is the true one; zeros would not be better."""
    unit = np.abs(exact).max() or 1.0
    true = np.linalg.norm((K.to_dense() - exact) / unit)
    length = np.linalg.norm(exact / unit)
    if length == 0:
        assert true < 1e-9
        return
    assert K.error.low * (1 - 1e-6) - 1e-7 <= true / length <= K.error.high * (1 + 1e-6) + 1e-7
    assert true <= 1.0001 * length


@given(
    seed=seeds, n=sizes, m=st.one_of(st.none(), sizes), d=st.integers(1, 10), columns=columns,
    function=st.sampled_from(sorted(FUNCTIONS)), rows=st.sampled_from(sorted(ROWS)),
)  # fmt: skip
def test_elementwise_states_the_truth(seed, n, m, d, columns, function, rows):
    rng = np.random.default_rng(seed)
    u = drawn(rows, n, d, rng)
    v = None if m is None else drawn(rows, m, d, rng)
    f = FUNCTIONS[function]
    K = fp.elementwise(f, u, v, columns=columns, random_state=seed)
    assert columns is None or K.left.shape[1] <= columns
    products = u @ (u if v is None else v).T
    if function == "threshold" and np.abs(products - 0.5).min() < 1e-9:
        return  # rounding decides
    check(K, f(products))


@given(
    seed=seeds, n=sizes, m=st.one_of(st.none(), sizes), d=st.integers(1, 10), columns=columns,
    width=st.floats(-6, 6), rows=st.sampled_from(sorted(ROWS)), target=st.booleans(),
)  # fmt: skip
def test_gaussian_kernels_of_any_width_state_the_truth(seed, n, m, d, columns, width, rows, target):
    rng = np.random.default_rng(seed)
    x = drawn(rows, n, d, rng)
    y = None if m is None else drawn(rows, m, d, rng)
    options = {"columns": columns, "target_error": 0.1 if target else None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.errors.TargetMissedWarning)
        K = fp.rbf_kernel(x, y, gamma=10**width, random_state=seed, **options)
    if target and K.stopped_because == "the target was reached":
        assert K.error.high <= 0.1
    check(K, rbf_kernel(x, y, gamma=10**width))
