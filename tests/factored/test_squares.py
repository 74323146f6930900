"""Squared inner products beside the factors: exact in every reading of a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.squares import Squares


def tables(n, m, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=(m, d)).astype(np.float32)


def dense(part):
    whole = part.weight * (part.left.astype(float) @ part.right.astype(float).T) ** 2
    rows = 1.0 if part.rows is None else part.rows[:, None]
    columns = 1.0 if part.columns is None else part.columns
    return rows * whole * columns


def scaled(seed=0):
    x, y = tables(30, 20, 4, seed)
    rng = np.random.default_rng(seed + 1)
    return Squares(-0.7, x, y).scaled(rng.normal(size=30), rng.normal(size=20))


def test_entries_blocks_and_the_transpose_agree_with_the_dense_matrix():
    part = scaled()
    whole = dense(part)
    i, j = np.array([0, 7, 29]), np.array([3, 3, 19])
    assert np.allclose(part.entries(i, j), whole[i, j], rtol=1e-12)
    assert np.allclose(part.block(i, j), whole[np.ix_(i, j)], rtol=1e-12)
    assert np.allclose(part.T.block(j, i), whole[np.ix_(i, j)].T, rtol=1e-12)


@pytest.mark.parametrize("width", [None, 1, 40])
@pytest.mark.parametrize("d", [2, 50])
def test_products_are_exact_whichever_way_they_are_made(width, d):
    x, y = tables(30, 20, d)
    part = Squares(1.3, x, y)
    v = np.random.default_rng(2).normal(size=(20,) if width is None else (20, width))
    assert np.allclose(part @ v, dense(part) @ v, rtol=1e-10, atol=1e-10)


def test_as_many_anchors_as_items_lose_nothing():
    x, _ = tables(25, 25, 30)
    part = Squares(-2.0, x, x)
    left, core, right = part.anchored(25)
    assert np.allclose(left @ core @ right.T, dense(part), atol=1e-6 * abs(dense(part)).max())
    both = scaled()
    left, core, right = both.anchored(500)
    assert left.shape[0] == 30
    assert right.shape[0] == 20
    assert np.allclose(left @ core @ right.T, dense(both), atol=1e-5 * abs(dense(both)).max())


def test_a_matrix_reads_its_squares_everywhere():
    rng = np.random.default_rng(3)
    x, _ = tables(40, 40, 5)
    left, core = rng.normal(size=(40, 3)), np.diag([1.0, -1.0, 2.0])
    K = FactoredMatrix(left, core, squares=[Squares(0.5, x, x)])
    whole = left @ core @ left.T + dense(K.squares[0])
    v = rng.normal(size=40)
    assert K.symmetric
    assert K.T is K
    assert np.allclose(K.to_dense(), whole)
    assert np.allclose(K[3], whole[3])
    assert np.allclose(K.entries([1, 2], [5, 6]), whole[[1, 2], [5, 6]])
    assert np.allclose(K @ v, whole @ v)
    assert np.allclose(v @ K, v @ whole)
    r, c = rng.normal(size=40), rng.normal(size=40)
    assert np.allclose(K.scaled(r, c).to_dense(), r[:, None] * whole * c)
    vectors, signature = K.embedding(psd=False)
    assert np.allclose((vectors * signature) @ vectors.T, whole, atol=1e-6 * abs(whole).max())


def test_an_asymmetric_one_is_symmetrized_and_transposed():
    rng = np.random.default_rng(4)
    x, y = tables(15, 15, 6)
    left, right = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))
    K = FactoredMatrix(left, np.eye(2), right, squares=[Squares(0.5, x, y)])
    whole = left @ right.T + dense(K.squares[0])
    assert not K.symmetric
    assert np.allclose(K.T.to_dense(), whole.T)
    assert np.allclose(K.symmetrized().to_dense(), (whole + whole.T) / 2)


def test_a_file_keeps_the_squares(tmp_path):
    import fewpairs as fp

    x, y = tables(12, 9, 3)
    rng = np.random.default_rng(5)
    K = FactoredMatrix(
        rng.normal(size=(12, 2)),
        np.eye(2),
        rng.normal(size=(9, 2)),
        squares=[Squares(0.1, x, y), Squares(-3.0, x, y).scaled(np.ones(12), np.arange(9.0))],
    )
    K.save(tmp_path / "k.fewpairs")
    assert np.array_equal(fp.load(tmp_path / "k.fewpairs").to_dense(), K.to_dense())
