"""Vectors and indexes of other libraries rank as the factored scores do."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from examples import asymmetric_matrix, symmetric_matrix
from factored.test_extension import Encoder, N, made, setting

import fewpairs as fp
from fewpairs.errors import InputError, MissingExtraError


def factored(kind):
    if kind == "guided":
        X, matrix = setting()
        return made(X, matrix)
    if kind == "two sets":
        matrix = asymmetric_matrix(90)
        others = {"others": range(70)}
    else:
        matrix = (symmetric_matrix if kind == "indefinite" else asymmetric_matrix)(90)
        others = {}
    similarity = fp.Precomputed(matrix)
    return fp.approximate(
        range(90), similarity, landmarks=15, error_pairs=0, random_state=0, **others
    )


KINDS = ("indefinite", "asymmetric", "two sets", "guided")


@pytest.mark.parametrize("kind", KINDS)
def test_products_of_vectors_are_the_factored_scores(kind):
    K = factored(kind)
    scores = K.predicted(slice(None), slice(None))
    if kind == "guided":
        assert K.squares  # fewer items than anchors: nothing is lost
    if kind == "indefinite":
        assert np.linalg.eigvalsh((scores + scores.T) / 2)[0] < -0.01
    got = K.query_vectors() @ K.item_vectors().T
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, scores, atol=3e-6 * np.abs(scores).max() * len(scores) ** 0.5)
    np.testing.assert_array_equal(K.query_vectors([3, -1]), K.query_vectors()[[3, -1]])
    assert K.query_vectors(3).shape == (1, K.item_vectors().shape[1])


def test_vectors_have_as_many_coordinates_as_the_factors_have_directions():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) @ rng.normal(size=(3, 7))
    K = fp.FactoredMatrix(left, rng.normal(size=(3, 7)), right)
    assert K.item_vectors().shape == (20, 3)
    assert fp.FactoredMatrix(np.zeros((4, 2)), np.eye(2)).item_vectors().shape[0] == 4


@pytest.mark.parametrize("library", ["faiss", "usearch"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_index_of_a_library_ranks_as_the_factored_scores_do(kind, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    K = factored(kind)
    index = K.to_index(library)
    scores = K.predicted(slice(None), slice(None))
    queries = K.query_vectors([0, 5, 17])
    if library == "faiss":
        products, places = index.search(queries, 10)
    else:
        matches = index.search(queries, 10, exact=True)
        places, products = matches.keys, 1 - matches.distances
    for row, mine, found in zip((0, 5, 17), places, products, strict=True):
        best = np.sort(scores[row])[::-1][:10]
        np.testing.assert_allclose(found, best, atol=1e-5)
        # Equal but for rounding: near ties may change places.
        np.testing.assert_allclose(scores[row][mine.astype(int)], best, atol=1e-5)


def test_nearest_by_factored_scores_is_what_the_index_finds():
    faiss = pytest.importorskip("faiss", reason="faiss is not installed")
    matrix = symmetric_matrix(120)
    K = fp.approximate(
        range(120), fp.Precomputed(matrix), landmarks=20, known=None, error_pairs=0, random_state=1
    )
    index = K.to_index("faiss")
    assert isinstance(index, faiss.IndexFlatIP)
    for row in (1, 50, 119):
        wanted = K.nearest(row, k=8, rerank=0).indices.tolist()
        found = [j for j in index.search(K.query_vectors(row), 9)[1][0].tolist() if j != row]
        assert found[:8] == wanted


@pytest.mark.parametrize("count", [None, 0, 5])
def test_new_items_are_searched_by_vectors_as_by_extension(count):
    X, matrix = setting()
    K = made(X, matrix)
    new = np.arange(N, N + 7)
    before = K.evaluations
    got = K.query_vectors(items=new, evaluations=count) @ K.item_vectors().T
    spent = K.evaluations - before
    larger = K.extend(new, evaluations=count)
    wanted = larger.predicted(np.arange(N, N + 7), np.arange(N))
    np.testing.assert_allclose(got, wanted, atol=1e-4)
    own = 0 if count is not None else 7 * len(K.source.left_landmarks)
    assert spent == (7 * count if count else own)


def test_the_guide_of_new_items_may_be_given_beside_them():
    X, matrix = setting()
    sim = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=True)
    arrays = fp.approximate(
        np.arange(N), sim, budget=0.2, guide=X[:N], error_pairs=0, random_state=0
    )
    new = np.arange(N, N + 3)
    given = arrays.query_vectors(items=new, evaluations=0, guide=X[new])
    np.testing.assert_allclose(
        given, made(X, matrix).query_vectors(items=new, evaluations=0), atol=1e-5
    )
    assert isinstance(Encoder(X).encode([0]), np.ndarray)


def test_what_is_missing_or_unknown_is_named(monkeypatch):
    K = factored("indefinite")
    with pytest.raises(InputError, match="hnsw"):
        K.to_index("hnsw")
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"fewpairs\[faiss\]"):
        K.to_index("faiss")


def test_rows_and_new_items_at_once_are_refused():
    K = fp.approximate(np.eye(6), fp.VectorSimilarity("rbf"), landmarks=3, random_state=0)
    with pytest.raises(InputError, match="rows and items"):
        K.query_vectors([1, 2], items=np.eye(6)[:1])


@pytest.mark.parametrize("scale", [1e-50, 1e-42, 1e-30, 1e-14, 1e14, 1e30, 1e42, 1e50])
@pytest.mark.parametrize("kind", ["indefinite", "guided"])
def test_vectors_are_right_at_any_scale_that_they_can_hold(kind, scale):
    if kind == "guided":
        X, matrix = setting()
        K = made(X, scale * matrix)
        assert K.source.guide is not None
    else:
        similarity = fp.Precomputed(scale * symmetric_matrix(90))
        K = fp.approximate(range(90), similarity, landmarks=15, error_pairs=0, random_state=0)
    scores = K.predicted(slice(None), slice(None)) / scale
    queries, items = (v.astype(float) for v in (K.query_vectors(), K.item_vectors()))
    got = queries @ items.T / scale
    np.testing.assert_allclose(got, scores, atol=1e-4 * np.abs(scores).max())


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_vectors_that_single_precision_cannot_hold_are_refused(scale):
    similarity = fp.Precomputed(scale * symmetric_matrix(90))
    K = fp.approximate(range(90), similarity, landmarks=15, error_pairs=0, random_state=0)
    with pytest.raises(InputError, match="single precision"):
        K.query_vectors()
