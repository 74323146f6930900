"""CountSketch and TensorSketch: definitions, unbiased, within the bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fewpairs.sketches.tensor_sketch import CountSketch, TensorSketch


def test_count_sketch_is_its_definition():
    rng = np.random.default_rng(0)
    sketch = CountSketch.draw(7, 4, rng)
    rows = rng.normal(size=(5, 7))
    expected = np.zeros((5, 4))
    for k in range(7):
        expected[:, sketch.places[k]] += sketch.signs[k] * rows[:, k]
    np.testing.assert_allclose(sketch(rows), expected, atol=1e-14)
    np.testing.assert_allclose(sketch(sp.csr_array(rows)), expected, atol=1e-14)
    assert sketch(rows.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("size", [1, 5, 8])
def test_tensor_sketch_is_its_definition(size):
    rng = np.random.default_rng(1)
    sketch = TensorSketch(3, size, 3, rng)
    u = rng.normal(size=(1, 3))
    for degree, found in enumerate(sketch.powers(u), 1):
        expected = np.zeros(size)
        for places in itertools.product(range(3), repeat=degree):
            counts = sketch.counts[:degree]
            at = sum(int(c.places[i]) for c, i in zip(counts, places, strict=True)) % size
            sign = np.prod([int(c.signs[i]) for c, i in zip(counts, places, strict=True)])
            expected[at] += sign * np.prod(u[0, list(places)])
        np.testing.assert_allclose(found[0], expected, atol=1e-12)
    np.testing.assert_allclose(sketch.power(u)[0], expected, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_it_is_unbiased_and_within_the_bound(degree):
    """Theorem 1: the mean squared error is at most (2 + 3^k) Σ‖u‖^2k Σ‖v‖^2k / m."""
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    size, draws = 8, 4000
    exact = (u @ v.T) ** degree
    total, squared = np.zeros_like(exact), 0.0
    each = np.zeros((draws, *exact.shape))
    for k in range(draws):
        sketch = TensorSketch(4, size, degree, rng)
        each[k] = sketch.power(u) @ sketch.power(v).T
    total = each.mean(axis=0)
    spread = each.std(axis=0) / np.sqrt(draws)
    assert (np.abs(total - exact) < 5 * spread + 1e-12).all()
    squared = ((each - exact) ** 2).sum(axis=(1, 2)).mean()
    sums = (u**2).sum(axis=1) ** degree, (v**2).sum(axis=1) ** degree
    assert squared <= (2 + 3**degree) * sums[0].sum() * sums[1].sum() / size


def test_the_same_seed_gives_the_same_sketch_of_any_rows():
    rows = np.random.default_rng(3).normal(size=(9000, 5))
    one = TensorSketch(5, 16, 3, np.random.default_rng(0))
    two = TensorSketch(5, 16, 3, np.random.default_rng(0))
    np.testing.assert_allclose(one.power(rows)[5000:], two.power(rows[5000:]), atol=1e-12)
    np.testing.assert_array_equal(one.power(rows), two.power(rows, workers=2))
