"""Each item's largest inner products: what brute force would return, whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.candidates import equals, most_similar, nearby, nearest
from fewpairs.candidates.cells import Cells, Probes

RNG = np.random.default_rng(0)


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
    found = most_similar(left, right, per_item, RNG, square=square, n_jobs=n_jobs)
    assert found.columns.shape == (400, count)
    np.testing.assert_allclose(found.products, expected, rtol=1e-5, atol=1e-5)
    at = np.take_along_axis(products, found.columns, axis=1)
    np.testing.assert_allclose(at, found.products, rtol=1e-5, atol=1e-5)
    assert all(len(set(row.tolist())) == count for row in found.columns)


def test_threads_change_no_bit():
    x = vectors(900)
    one, other = (most_similar(x, x, 7, RNG, square=True, n_jobs=k) for k in (1, 4))
    assert one.columns.tobytes() == other.columns.tobytes()
    assert one.products.tobytes() == other.products.tobytes()


def test_equal_items_are_no_trouble():
    x = np.ones((500, 3), dtype=np.float32)
    found = most_similar(x, x, 4, RNG, square=True)
    assert np.all(found.columns != np.arange(500)[:, None])
    assert all(len(set(row.tolist())) == 4 for row in found.columns)


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_to_be_similar_to(n):
    x = vectors(1)[:n]
    assert most_similar(x, x, 5, RNG, square=True).columns.shape == (n, 0)
    assert most_similar(vectors(3), x, 5, RNG, square=False).columns.shape == (3, n)


def near_copies(n, d=12, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n // 2, d))
    return np.vstack([half, half + 0.3 * rng.normal(size=half.shape)]).astype(np.float32)


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("per_item", [1, 20])
def test_cells_hold_most_neighbours(square, per_item, monkeypatch):
    monkeypatch.setattr(nearby, "_HELD", 5000)
    left = near_copies(3000)
    right = left if square else near_copies(2500, seed=1)
    every = most_similar(left, right, per_item, RNG, square=square, exact=True)
    found = most_similar(left, right, per_item, RNG, square=square, exact=False)
    pairs = zip(every.columns.tolist(), found.columns.tolist(), strict=True)
    held = [len(set(a) & set(b)) for a, b in pairs]
    assert np.mean(held) > 0.95 * per_item
    assert all(len(set(row.tolist())) == per_item for row in found.columns)
    assert not square or np.all(found.columns != np.arange(3000)[:, None])
    assert np.all(np.diff(found.products, axis=1) <= 0)
    dots = np.einsum("ij,ikj->ik", left, right[found.columns])
    np.testing.assert_allclose(dots, found.products, rtol=1e-4, atol=1e-4)


def test_cells_answer_the_same_to_the_last_bit_for_a_seed():
    x = near_copies(2000)
    one, other = (
        most_similar(x, x, 9, np.random.default_rng(0), square=True, exact=False, n_jobs=jobs)
        for jobs in (1, 3)
    )
    assert one.columns.tobytes() == other.columns.tobytes()
    assert one.products.tobytes() == other.products.tobytes()


@pytest.mark.parametrize("per_item", [3, 299])
def test_cells_of_equal_items_and_of_all_neighbours(per_item, monkeypatch):
    monkeypatch.setattr(nearby, "_MOST_HELD", 2000)
    x = np.ones((300, 4), dtype=np.float32)
    for rows in (x, vectors(300)):
        found = most_similar(rows, rows, per_item, RNG, square=True, exact=False)
        assert all(len(set(row.tolist()) - {i}) == per_item for i, row in enumerate(found.columns))


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("others", [0, 400])
def test_a_crowd_of_equal_items_is_looked_for_once(square, value, others, monkeypatch):
    compared = []
    add = nearby._Band.add

    def counted(band, block, *rest, **how):
        compared.append(block.size)
        add(band, block, *rest, **how)

    monkeypatch.setattr(nearby._Band, "add", counted)
    n, per_item = 3000, 5
    left = np.full((n, 4), value, dtype=np.float32)
    different = np.random.default_rng(1).permutation(n)[:others]
    left[different] = vectors(n, 4)[different]
    right = left if square else left[::-1].copy()
    found = most_similar(left, right, per_item, RNG, square=square, exact=False)
    wanted = most_similar(left, right, per_item, RNG, square=square, exact=True)
    assert sum(compared) < n * n / 16  # of all pairs
    products = left @ right.T
    own = np.take_along_axis(products, found.columns, axis=1)
    np.testing.assert_allclose(own, found.products, rtol=1e-5, atol=1e-5)
    assert all(len(set(row.tolist())) == per_item for row in found.columns)
    if square:
        assert not (found.columns == np.arange(n)[:, None]).any()
    best = np.isclose(found.products, wanted.products, rtol=1e-5, atol=1e-5).all(axis=1)
    assert best.mean() > 0.9


def test_equal_vectors_are_found_whatever_the_sign_of_zero():
    x = np.array([[0, 1], [2, 1], [-0.0, 1], [1, 0], [2, 1]], dtype=np.float32)
    groups = equals.equal_rows(x)
    assert groups[0] == groups[2]
    assert groups[1] == groups[4]
    assert len(set(groups.tolist())) == 3
    assert equals.first_of_each(groups, 1).tolist() == [0, 1, 3]
    assert equals.first_of_each(groups, 2).tolist() == [0, 1, 2, 3, 4]


def test_the_number_of_pairs_decides_whether_all_are_computed(monkeypatch):
    asked = []
    monkeypatch.setattr(
        nearest, "nearest_by_cells", lambda *_, **__: asked.append(1) or (np.empty(0), np.empty(0))
    )
    for limit, times in ((81, 0), (80, 1)):
        monkeypatch.setattr(nearest, "EXACT_UP_TO", limit)
        most_similar(vectors(9), vectors(9), 5, RNG, square=True)
        assert len(asked) == times


def test_the_home_of_a_row_is_its_best_cell():
    rows = vectors(500, 4)
    cells = Cells.of(rows, np.random.default_rng(0))
    probes = Probes(rows, cells, 3, each=True)
    np.testing.assert_array_equal(probes.home, np.argmax(rows @ cells.means.T, axis=1))


def test_vectors_of_signs_are_told_apart():
    signs = np.random.default_rng(0).choice(np.float32([-0.125, 0.125]), size=(200_000, 64))
    assert len(np.unique(equals.equal_rows(signs))) == len(np.unique(signs, axis=0))
