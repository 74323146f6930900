"""All ways of reading the same entry agree: look-up, rows, products, dense, saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from examples import METHODS, SYMMETRIC_ONLY, Counter, asymmetric_matrix, symmetric_matrix
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator, eigsh

import fewpairs as fp
from fewpairs.errors import InputError, MemoryCeilingError, NotAttachedError


def approximated(n=40, s=9, *, symmetric=True, method="auto", diagonal=None, **arguments):
    k = (symmetric_matrix if symmetric else asymmetric_matrix)(n)
    if diagonal is not None:
        np.fill_diagonal(k, diagonal)
    sim = Counter(k).similarity("pair", symmetric=symmetric, diagonal=diagonal)
    arguments = {"error_pairs": 0, "random_state": 0} | arguments
    return fp.approximate(range(n), sim, landmarks=s, method=method, **arguments)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    n=st.integers(1, 25),
    share=st.floats(0.05, 1.0),
    symmetric=st.booleans(),
    method=st.sampled_from(["auto", *METHODS]),
    known=st.sampled_from([None, "exact"]),
    diagonal=st.sampled_from([None, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_all_ways_of_reading_agree(tmp_path, n, share, symmetric, method, known, diagonal, seed):
    if method in SYMMETRIC_ONLY and not symmetric:
        return
    options = {} if method == "auto" else {"known": known}
    matrix = approximated(
        n,
        max(1, round(share * n)),
        symmetric=symmetric,
        method=method,
        diagonal=diagonal,
        random_state=seed,
        **options,
    )
    path = tmp_path / "k.fewpairs"
    matrix.save(path)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    i, j = rng.integers(0, n, (2, 10))
    for found in (matrix, fp.load(path), matrix.T.T):
        dense = found.to_dense()
        scale = max(1.0, np.abs(dense).max())
        close = {"atol": 1e-10 * scale, "rtol": 0}
        assert np.allclose(found.entries(i, j), dense[i, j], **close)
        assert np.allclose(found[i, j], dense[i, j], **close)
        assert np.allclose([found[a, b] for a, b in zip(i, j, strict=True)], dense[i, j], **close)
        assert np.allclose(found[int(i[0])], dense[i[0]], **close)
        assert np.allclose(found[:, int(j[0])], dense[:, j[0]], **close)
        assert np.allclose(found[-1], dense[-1], **close)
        assert np.allclose(found @ x, dense @ x, atol=1e-9 * scale * n)
        assert np.allclose(found @ x[:, 0], dense @ x[:, 0], atol=1e-9 * scale * n)
        assert np.allclose(x.T @ found, x.T @ dense, atol=1e-9 * scale * n)
        assert np.allclose(found.T.to_dense(), dense.T, **close)
        half = found.symmetrized()
        assert np.allclose(half.to_dense(), (dense + dense.T) / 2, **close)
        assert np.allclose(half @ x, (dense + dense.T) @ x / 2, atol=1e-9 * scale * n)
        assert np.array_equal(fp.load(path).to_dense(), matrix.to_dense())


def test_it_is_a_linear_operator():
    matrix = approximated(symmetric=True)
    dense = matrix.to_dense()
    x = np.random.default_rng(0).normal(size=40)
    for operator in (matrix.as_linear_operator(), aslinearoperator(matrix)):
        assert np.allclose(operator @ x, dense @ x)
        assert np.allclose(operator.rmatvec(x), dense.T @ x)
    top = eigsh(matrix.as_linear_operator(), k=1, v0=np.ones(40))[0][0]
    assert abs(top) == pytest.approx(np.abs(np.linalg.eigvalsh(dense)).max())


@pytest.mark.parametrize("method", ["nystrom", "sms", "auto"])
def test_embedding_reproduces_the_factors(method):
    matrix = approximated(60, 12, method=method)
    left = matrix.left.copy()
    left[matrix.source.left_landmarks, np.arange(12)] -= matrix.nugget
    smooth = left @ matrix.core @ left.T
    vectors, signature = matrix.embedding(psd=False)
    assert set(signature) <= {-1.0, 1.0}
    assert np.allclose((vectors * signature) @ vectors.T, smooth, atol=1e-9)
    positive = matrix.embedding(psd=True)
    values, basis = np.linalg.eigh(smooth)
    nearest = (basis * np.maximum(values, 0)) @ basis.T
    assert np.allclose(positive @ positive.T, nearest, atol=1e-8)


def test_cur_embedding_is_the_papers():
    matrix = approximated(30, 8, method="sicur")
    w, sizes, _ = np.linalg.svd(matrix.core, full_matrices=False)
    expected = matrix.left @ (w * np.sqrt(sizes))
    assert np.allclose(matrix.embedding() @ matrix.embedding().T, expected @ expected.T)
    with pytest.raises(InputError, match="symmetrized"):
        matrix.embedding(psd=False)
    vectors, signature = matrix.symmetrized().embedding(psd=False)
    dense = matrix.to_dense()
    assert np.allclose((vectors * signature) @ vectors.T, (dense + dense.T) / 2, atol=1e-9)


# ------------------------------------------------------------------ new items


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("method", ["auto", "nystrom", "sms", "sicur", "skeleton", "stacur"])
def test_extend_costs_landmarks_only_and_agrees_with_the_formula(symmetric, method):
    if not symmetric and method in SYMMETRIC_ONLY:
        return
    k = (symmetric_matrix if symmetric else asymmetric_matrix)(40)
    counter = Counter(k)
    matrix = fp.approximate(
        range(30),
        counter.similarity("pair", symmetric=symmetric),
        landmarks=8,
        method=method,
        error_pairs=0,
        random_state=0,
    )
    before = len(counter.asked)
    larger = matrix.extend(range(30, 40))
    spent = len(counter.asked) - before
    assert larger.shape == (40, 40)
    assert larger.evaluations == matrix.evaluations + spent
    left, right = matrix.source.left_landmarks, matrix.source.right_landmarks
    per_item = len(np.union1d(left, right)) if symmetric else len(left) + len(right)
    per_item += method == "auto"  # which also knows the diagonal
    assert spent == 10 * per_item
    assert np.allclose(larger.to_dense()[:30, :30], matrix.to_dense())
    new = k[30:, left] @ matrix.core @ k[right][:, 30:]
    if method == "auto":
        np.fill_diagonal(new, np.diag(k)[30:])
    assert np.allclose(larger.to_dense()[30:, 30:], new)
    assert np.allclose(larger.extend([3]).to_dense()[:40, :40], larger.to_dense())
    near = matrix.nearest(item=35, k=3, rerank=0)
    row = larger[35, :30]
    assert near.indices.tolist() == np.argsort(-row)[:3].tolist()


def test_extend_with_text_and_a_declared_diagonal():
    words = [f"{a}{b}" for a in "abcdefgh" for b in ("at", "an", "et", "en", "oo")]
    matrix = fp.approximate(words, fp.StringSimilarity(), landmarks=10, random_state=0)
    larger = matrix.extend(["hat", "zoo"])
    assert larger[40, 40] == 1.0
    assert larger.source.items.take([41]) == ["zoo"]


@pytest.mark.parametrize("wrong", [-3, 2.5, "all"])
def test_extend_checks_its_error_pairs_before_it_buys_anything(wrong):
    counter = Counter(symmetric_matrix(40))
    matrix = fp.approximate(range(30), counter.similarity("pair"), landmarks=5, random_state=0)
    asked = len(counter.asked)
    with pytest.raises(InputError, match="error_pairs is"):
        matrix.extend(range(30, 40), error_pairs=wrong)
    assert len(counter.asked) == asked


def test_extend_without_landmarks_says_so():
    matrix = fp.approximate(
        range(6), fp.Precomputed(np.eye(6)), method="optimal", allow_all_pairs=True, landmarks=3
    )
    with pytest.raises(NotAttachedError, match="landmarks"):
        matrix.extend([1])


# ------------------------------------------------------------------ guards


def test_to_dense_refuses_what_does_not_fit():
    n = 10**6
    matrix = fp.FactoredMatrix(np.ones((n, 1)), np.ones((1, 1)))
    with pytest.raises(MemoryCeilingError, match="8 TB"):
        matrix.to_dense()
    assert matrix[5, 7] == 1.0
    with pytest.raises(MemoryCeilingError, match="80 kB"):
        fp.FactoredMatrix(np.ones((100, 1)), np.ones((1, 1))).to_dense(ceiling=1000)


@pytest.mark.parametrize("index", [(99, 0), (0, -41), 0.5, (0, "a")])
def test_bad_index_is_an_index_error(index):
    with pytest.raises(IndexError):
        approximated()[index]


def test_products_check_their_shapes():
    with pytest.raises(InputError, match="39"):
        approximated() @ np.ones(39)
    with pytest.raises(InputError, match="shapes"):
        fp.FactoredMatrix(np.ones((3, 2)), np.ones((3, 3)))


def test_it_prints_what_it_is():
    text = repr(approximated(error_pairs=50))
    for part in ("40 × 40", "evaluations", "relative error", "unseen pairs"):
        assert part in text
    # Its error is that of the whole; what it does not promise can be asked for.
    assert text.endswith(
        "of the whole matrix; its largest entries may be further off: see K.check()>"
    )
    assert "K.check" not in repr(approximated())
    assert "K.check" not in repr(approximated(s=40, error_pairs=50))


def test_what_is_derived_from_an_asymmetric_matrix_evaluates_nothing(tmp_path):
    matrix = approximated(symmetric=False)
    matrix.save(tmp_path / "k")
    similarity = matrix.source.similarity
    for derive in (lambda m: m.T, lambda m: m.symmetrized()):
        derive(fp.load(tmp_path / "k")).save(tmp_path / "derived")
        for other in (derive(matrix), fp.load(tmp_path / "derived", similarity=similarity)):
            for call in (lambda m=other: m.extend([1]), lambda m=other: m.nearest(0, rerank=5)):
                with pytest.raises(NotAttachedError, match="asymmetric"):
                    call()


def test_complex_products_are_refused_and_sparse_ones_work():
    matrix = approximated()
    with pytest.raises(InputError, match="complex"):
        matrix @ (1j * np.ones(40))
    assert np.allclose(matrix @ sp.eye_array(40), matrix.to_dense())


@pytest.mark.parametrize("method", ["nystrom", "sicur", "auto"])
def test_scaling_keeps_what_is_known(method):
    x = np.random.default_rng(0).normal(size=(60, 4))
    K = fp.approximate(x, fp.VectorSimilarity("rbf"), landmarks=12, method=method, random_state=0)
    r, c = np.random.default_rng(1).normal(size=(2, 60))
    np.testing.assert_allclose(K.scaled(r, c).to_dense(), r[:, None] * K.to_dense() * c, atol=1e-12)
    np.testing.assert_allclose(K.scaled(r, c) @ c, r * (K @ (c * c)), atol=1e-10)
    same = K.scaled(r, r)
    assert same.symmetric == K.symmetric
    np.testing.assert_allclose(same.to_dense(), r[:, None] * K.to_dense() * r, atol=1e-12)
    with pytest.raises(fp.errors.InputError, match="factors for the shape"):
        K.scaled(r[:3], c)


@pytest.mark.parametrize("known", ["exact", None])
def test_an_asymmetric_result_can_be_symmetrized_and_embedded(known):
    # A diagonal far above the rest gives a nugget, which is taken off both halves.
    matrix = asymmetric_matrix(80) + 3 * np.eye(80)
    found = fp.approximate(
        range(80), fp.Precomputed(matrix), landmarks=20, known=known, random_state=0
    )
    both = found.symmetrized()
    np.testing.assert_allclose(both.to_dense(), (found.to_dense() + found.to_dense().T) / 2)
    assert both.error is None  # the stated one was relative to another matrix
    vectors, signature = both.embedding(psd=False)
    smooth_left, smooth_right = found.left.copy(), found.right.copy()
    own = np.arange(20)
    smooth_left[found.source.left_landmarks, own] -= found.nugget
    smooth_right[found.source.right_landmarks, own] -= found.nugget
    smooth = smooth_left @ found.core @ smooth_right.T
    np.testing.assert_allclose(
        (vectors * signature) @ vectors.T, (smooth + smooth.T) / 2, atol=1e-9
    )
    assert both.embedding().shape[0] == 80


@pytest.mark.parametrize("method", ["skeleton", "sicur", "stacur"])
def test_products_agree_where_only_what_is_known_is_symmetric(method):
    found = fp.approximate(
        range(60),
        fp.Precomputed(symmetric_matrix(60)),
        landmarks=10,
        method=method,
        known="exact",
        fold_error_pairs=True,
        random_state=0,
    )
    dense, x = found.to_dense(), np.arange(60.0)
    np.testing.assert_allclose(found @ x, dense @ x, rtol=1e-9)
    np.testing.assert_allclose(found.T @ x, dense.T @ x, rtol=1e-9)
    np.testing.assert_allclose(found.scaled(x, x + 1) @ x, (x[:, None] * dense * (x + 1)) @ x)
