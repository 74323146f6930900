"""The largest inner products: what brute force would return, whatever the tiles and threads."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.candidates import largest, largest_products, threshold, tiles


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "_ROWS", 7)
    monkeypatch.setattr(tiles, "_COLUMNS", 31)
    monkeypatch.setattr(threshold, "_DRAWN", 40)
    monkeypatch.setattr(threshold, "_ROOM", 50)


def vectors(n, d=6, seed=0):
    """Of very different lengths: their products are no cosines."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(size=(n, 1)))
    return (lengths * rng.normal(size=(n, d))).astype(np.float32)


def brute_force(left, right, count, *, square, skip=()):
    products = left @ right.T
    keep = (
        np.triu(np.ones_like(products, dtype=bool), 1) if square else np.ones_like(products, bool)
    )
    keep.ravel()[np.asarray(skip, dtype=np.int64)] = False
    keys = np.flatnonzero(keep)
    values = products.ravel()[keys]
    order = np.argsort(-values, kind="stable")[:count]
    return keys[order], values[order]


def keys_of(found, width):
    return found.rows * width + found.columns


@pytest.mark.parametrize("count", [0, 1, 17, 400, 10**6])
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_answer_is_that_of_brute_force(count, square, n_jobs):
    left = vectors(150)
    right = left if square else vectors(90, seed=1)
    skip = np.sort(np.random.default_rng(2).choice(150 * len(right), 500, replace=False))
    if square:
        skip = skip[skip // 150 < skip % 150]
    for left_out in (skip[:0], skip):
        keys, products = brute_force(left, right, count, square=square, skip=left_out)
        found = largest_products(
            left,
            right,
            count,
            np.random.default_rng(0),
            square=square,
            skip=left_out,
            n_jobs=n_jobs,
        )
        assert np.all(np.diff(found.products) <= 0)
        # Two that differ by a rounding may change places.
        np.testing.assert_allclose(found.products, products, rtol=1e-5, atol=1e-5)
        assert set(keys_of(found, len(right)).tolist()) == set(keys.tolist())


def test_the_best_may_all_be_left_out():
    x = vectors(200)
    best, _ = brute_force(x, x, 3000, square=True)
    rest, _ = brute_force(x, x, 100, square=True, skip=best)
    found = largest_products(x, x, 100, np.random.default_rng(0), square=True, skip=np.sort(best))
    assert set(keys_of(found, 200).tolist()) == set(rest.tolist())
    all_keys = np.flatnonzero(np.triu(np.ones((200, 200)), 1))
    nothing = largest_products(x, x, 9, np.random.default_rng(0), square=True, skip=all_keys)
    assert len(nothing.rows) == 0


def test_seed_and_threads_change_no_bit():
    x = vectors(300)
    first = largest_products(x, x, 700, np.random.default_rng(0), square=True)
    for seed, n_jobs in ((1, 1), (0, 2), (2, 5)):
        again = largest_products(x, x, 700, np.random.default_rng(seed), square=True, n_jobs=n_jobs)
        for one, other in zip(first, again, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()


def test_equal_products_fill_the_answer_and_no_more():
    x = np.ones((120, 3), dtype=np.float32)
    found = largest_products(x, x, 33, np.random.default_rng(0), square=True)
    assert len(found.rows) == len(set(keys_of(found, 120).tolist())) == 33
    assert np.all(found.rows < found.columns)


def test_a_threshold_guessed_too_high_is_lowered(monkeypatch):
    guess = threshold.Guess
    monkeypatch.setattr(guess, "cut", property(lambda g: -np.inf if g.lowest else np.float32(1e9)))
    x = vectors(100)
    keys, _ = brute_force(x, x, 50, square=True)
    found = largest_products(x, x, 50, np.random.default_rng(0), square=True)
    assert set(keys_of(found, 100).tolist()) == set(keys.tolist())


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1)])
def test_few_or_no_items(shape):
    left, right = vectors(max(shape[0], 1))[: shape[0]], vectors(max(shape[1], 1))[: shape[1]]
    found = largest_products(left, right, 10, np.random.default_rng(0), square=False)
    assert len(found.rows) == shape[0] * shape[1]
    alone = largest_products(left, left, 10, np.random.default_rng(0), square=True)
    assert len(alone.rows) == shape[0] * (shape[0] - 1) // 2


def test_memory_is_that_of_the_answer(monkeypatch):
    monkeypatch.undo()
    import tracemalloc

    x = vectors(6000, d=8)
    tracemalloc.start()
    largest_products(x, x, 1000, np.random.default_rng(0), square=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # all products take 144 MB


def near_copies(n, d=12, seed=0):
    """Pairs of near-duplicates among noise."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n // 2, d))
    return np.vstack([half, half + 0.1 * rng.normal(size=half.shape)]).astype(np.float32)


@pytest.mark.parametrize("square", [True, False])
def test_cells_find_most_of_the_largest_and_each_once(square):
    left = near_copies(3000)
    right = left if square else near_copies(3000, seed=0)[::-1].copy()
    rng = np.random.default_rng(0)
    exact = largest_products(left, right, 6000, rng, square=square, exact=True)
    skip = np.sort(keys_of(exact, 3000)[::3])
    for left_out in (skip[:0], skip):
        want = np.setdiff1d(keys_of(exact, 3000), left_out)
        found = largest_products(
            left, right, len(want), rng, square=square, skip=left_out, exact=False
        )
        keys = keys_of(found, 3000)
        assert len(set(keys.tolist())) == len(want)
        assert not np.isin(keys, left_out).any()
        assert not square or np.all(found.rows < found.columns)
        assert np.isin(want, keys).mean() > 0.95
        dots = np.einsum("ij,ij->i", left[found.rows], right[found.columns])
        np.testing.assert_allclose(dots, found.products, rtol=1e-4, atol=1e-4)


def test_cells_answer_the_same_to_the_last_bit_for_a_seed():
    x = near_copies(2000)
    first, again, other = (
        largest_products(
            x, x, 900, np.random.default_rng(seed), square=True, exact=False, n_jobs=jobs
        )
        for seed, jobs in ((0, 1), (0, 3), (1, 1))
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    assert np.isin(keys_of(other, 2000), keys_of(first, 2000)).mean() > 0.9


def test_cells_of_equal_items():
    x = np.ones((300, 4), dtype=np.float32)
    found = largest_products(x, x, 50, np.random.default_rng(0), square=True, exact=False)
    assert len(set(keys_of(found, 300).tolist())) == 50


def test_the_number_of_pairs_decides_whether_all_are_computed(monkeypatch):
    asked = []
    monkeypatch.setattr(
        largest,
        "PairsOfCells",
        lambda *_, **__: asked.append(1) or tiles.EveryPair(9, 9, square=True),
    )
    x = vectors(9)
    for limit, times in ((41, 0), (40, 1)):  # 81 entries, counted twice
        monkeypatch.setattr(tiles, "EXACT_UP_TO", limit)
        largest_products(x, x, 5, np.random.default_rng(0), square=True)
        assert len(asked) == times
