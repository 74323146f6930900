"""Each item's largest inner products: what brute force would return, whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.candidates import most_similar, nearest


def vectors(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return (np.exp(rng.normal(size=(n, 1))) * rng.normal(size=(n, d))).astype(np.float32)


@pytest.mark.parametrize("per_item", [1, 3, 40, 1000])
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_answer_is_that_of_brute_force(per_item, square, n_jobs, monkeypatch):
    monkeypatch.setattr(nearest, "_HELD", 5000)
    left = vectors(400)
    right = left if square else vectors(333, seed=1)
    products = left @ right.T
    if square:
        np.fill_diagonal(products, -np.inf)
    count = min(per_item, len(right) - square)
    expected = -np.sort(-products, axis=1)[:, :count]
    found = most_similar(left, right, per_item, square=square, n_jobs=n_jobs)
    assert found.columns.shape == (400, count)
    np.testing.assert_allclose(found.products, expected, rtol=1e-5, atol=1e-5)
    at = np.take_along_axis(products, found.columns, axis=1)
    np.testing.assert_allclose(at, found.products, rtol=1e-5, atol=1e-5)
    assert all(len(set(row.tolist())) == count for row in found.columns)


def test_threads_change_no_bit():
    x = vectors(900)
    one, other = (most_similar(x, x, 7, square=True, n_jobs=k) for k in (1, 4))
    assert one.columns.tobytes() == other.columns.tobytes()
    assert one.products.tobytes() == other.products.tobytes()


def test_equal_items_are_no_trouble():
    x = np.ones((500, 3), dtype=np.float32)
    found = most_similar(x, x, 4, square=True)
    assert np.all(found.columns != np.arange(500)[:, None])
    assert all(len(set(row.tolist())) == 4 for row in found.columns)


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_to_be_similar_to(n):
    x = vectors(1)[:n]
    assert most_similar(x, x, 5, square=True).columns.shape == (n, 0)
    assert most_similar(vectors(3), x, 5, square=False).columns.shape == (3, n)
