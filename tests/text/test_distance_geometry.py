"""Points from inner products: exact where theory says exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import fewpairs as fp
from fewpairs.text import distance_geometry, spectral
from fewpairs.text.distance_geometry import BuildUp, divide_and_conquer, from_eigenpairs
from fewpairs.text.spectral import largest_eigenpairs


def generator():
    return np.random.default_rng(0)


def gram(n, dimensions, noise=0.0, seed=0):
    """Algorithm 3 of the paper."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dimensions))
    points -= points.mean(axis=0)
    true = points @ points.T
    spread = np.sqrt(noise * np.abs(true))
    drawn = np.triu(rng.normal(size=(n, n)) * spread)
    return true + drawn + np.triu(drawn, 1).T


def build_up(g, dimensions, m):
    model = BuildUp(g[:m, :m], dimensions, generator())
    return np.vstack([model.references, model.place(g[m:, :m])])


METHODS = {
    "eigs": lambda g, k: from_eigenpairs(g, k, generator()),
    "build-up": lambda g, k: build_up(g, k, 4 * k),
    "divide": lambda g, k: divide_and_conquer(g, k, generator(), first=60, others=40),
}


@pytest.mark.parametrize("method", METHODS)
def test_exact_data_are_recovered(method):
    g = gram(300, 12)
    points = METHODS[method](g, 12)
    assert points.shape == (300, 12)
    assert np.abs(points @ points.T - g).max() < 1e-12 * np.abs(g).max()


@pytest.mark.parametrize("n", [500, 1000])
@pytest.mark.parametrize("dimensions", [3, 50, 200])
def test_table_1_without_noise(n, dimensions):
    """The paper prints 4e-32 to 2e-28 for the mean squared misfit, with K + 1 references."""
    g = gram(n, dimensions)
    points = build_up(g, dimensions, dimensions + 1)
    fit = points @ points[: dimensions + 1].T
    assert np.mean((fit - g[:, : dimensions + 1]) ** 2) <= 1e-20


@pytest.mark.parametrize("noise", [0.01, 0.02])
def test_the_paper_s_unstable_cells_stay_finite(noise):
    """Table 1 prints * for K = 200: nearly singular references."""
    g = gram(500, 200, noise)
    points = build_up(g, 200, 201)
    assert np.isfinite(points).all()
    assert np.abs(points).max() < 1e6


def test_one_block_is_eigs():
    g = gram(200, 30, 0.05)
    one = divide_and_conquer(g, 10, generator(), first=200)
    np.testing.assert_array_equal(one, from_eigenpairs(g, 10, generator()))


def test_blocks_share_one_point_more_than_dimensions():
    from fewpairs.text.distance_geometry import _overlapping

    parts = _overlapping(60, 300, 40, 13)
    assert parts[0].start == 60 - 13
    assert all(b.start == a.stop - 13 for a, b in itertools.pairwise(parts))
    assert parts[-1].stop == 300
    with pytest.raises(fp.errors.InputError, match="share 13"):
        divide_and_conquer(gram(100, 12), 12, generator(), first=50, others=13)


class Backwards:
    """An executor whose last task is finished first, as may happen with threads."""

    def __init__(self, n_jobs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def map(self, work, *arguments):
        tasks = list(zip(*arguments, strict=True))
        return [work(*task) for task in tasks[::-1]][::-1]


def test_blocks_may_be_solved_in_any_order(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 10)  # so every block draws random numbers
    g = gram(300, 40, 0.05)
    options = {"first": 60, "others": 40}
    one = divide_and_conquer(g, 3, generator(), **options)
    np.testing.assert_array_equal(divide_and_conquer(g, 3, generator(), 2, **options), one)
    monkeypatch.setattr(distance_geometry, "ThreadPoolExecutor", Backwards)
    np.testing.assert_array_equal(divide_and_conquer(g, 3, generator(), **options), one)


def test_more_dimensions_than_rank_are_zero():
    g = gram(100, 5)
    for points in (from_eigenpairs(g, 8, generator()), build_up(g, 8, 40)):
        assert points.shape == (100, 8)
        assert np.abs(points[:, 5:]).max() == 0
        np.testing.assert_allclose(points @ points.T, g, atol=1e-10)


def test_negative_eigenvalues_are_clipped():
    points = from_eigenpairs(-gram(50, 5) - np.eye(50), 4, generator())
    assert np.abs(points).max() == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_large_matrices_by_krylov_spaces(sparse, monkeypatch):
    rng = np.random.default_rng(3)
    n = 900
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = 100 * 0.9 ** np.arange(n) * rng.choice([1, 1, -1], n)
    matrix = (basis * values) @ basis.T
    matrix = (matrix + matrix.T) / 2
    monkeypatch.setattr(spectral, "_DENSE", 100)
    found, vectors = largest_eigenpairs(
        sp.csr_array(matrix) if sparse else matrix, 20, np.random.default_rng(0)
    )
    exact = np.sort(values)[::-1][:20]
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-10)
    # Bitwise the same with two threads.
    again = largest_eigenpairs(
        sp.csr_array(matrix) if sparse else matrix, 20, np.random.default_rng(0), n_jobs=2
    )
    np.testing.assert_array_equal(again[1], vectors)


def test_krylov_space_that_is_exhausted_is_exact(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 10)
    g = gram(400, 12)
    points = from_eigenpairs(g, 12, generator())
    assert np.abs(points @ points.T - g).max() < 1e-11 * np.abs(g).max()
    points = from_eigenpairs(g, 20, generator())
    assert np.abs(points @ points.T - g).max() < 1e-11 * np.abs(g).max()
