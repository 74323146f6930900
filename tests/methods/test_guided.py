"""A guide beside the default method: followed where it is worth it, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError

N = 220


def vectors(n=N, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, 16))
    made = centres[rng.integers(0, 12, n)] + 0.7 * rng.normal(size=(n, 16))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def hinted(X, Y=None, seed=1, noise=0.1):
    """A matrix of which the products of X and Y tell much, but not all."""
    Y = X if Y is None else Y
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=(X.shape[1], X.shape[1])) / 4
    own = np.tanh(2 * X @ turn @ Y.T)
    made = 0.5 * X @ Y.T + 0.8 * (X @ Y.T) ** 2 + noise * (own + rng.normal(size=own.shape))
    return (made + made.T) / 2 if Y is X else made


def off(K, exact):
    return np.linalg.norm(K.to_dense() - exact) / np.linalg.norm(exact)


def run(matrix, guide=None, seed=0, budget=0.12, **options):
    symmetric = matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, matrix.T)
    sim = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=symmetric)
    if matrix.shape[0] != matrix.shape[1]:
        options["others"] = range(matrix.shape[1])
    options = {"error_pairs": 0} | options
    return fp.approximate(
        range(len(matrix)), sim, budget=budget, guide=guide, random_state=seed, **options
    )


def test_a_good_guide_lowers_the_error_at_equal_evaluations():
    X = vectors()
    matrix = hinted(X)
    plain, guided = run(matrix), run(matrix, X)
    assert guided.squares
    assert guided.evaluations <= 0.12 * N * (N + 1) / 2
    assert off(guided, matrix) < 0.75 * off(plain, matrix)


def test_a_matrix_that_the_guide_tells_exactly_is_found_exactly():
    X = vectors()
    matrix = 0.5 * X @ X.T + 0.8 * (X @ X.T) ** 2
    assert off(run(matrix, X, budget=0.1), matrix) < 1e-3
    assert off(run(matrix, budget=0.1), matrix) > 0.05


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_useless_guide_changes_nothing_to_the_last_bit(seed):
    matrix = hinted(vectors())
    useless = np.random.default_rng(seed).normal(size=(N, 16))
    guided = run(matrix, useless, seed, budget=0.2)
    assert not guided.squares
    assert np.array_equal(guided.to_dense(), run(matrix, seed=seed, budget=0.2).to_dense())


@pytest.mark.parametrize("seed", [6, 9, 13])
def test_few_landmarks_of_heavy_tails_are_found_whatever_the_guide_says(seed):
    """Pairs that a guide points at miss the few entries that hold most of this matrix.

    By what they say of its size alone the right core would be refused.
    """
    rng = np.random.default_rng(seed)
    factors = rng.pareto(1.2, size=(80, 3))
    matrix = factors @ factors.T
    guide = factors[rng.permutation(len(factors))]
    assert off(run(matrix, guide, seed=seed, budget=0.2), matrix) < 1e-6


def test_of_two_guides_the_useless_one_does_little_harm():
    X = vectors()
    matrix = hinted(X)
    useless = np.random.default_rng(5).normal(size=(N, 16))
    both = run(matrix, [useless, X])
    assert off(both, matrix) < 1.02 * off(run(matrix, X), matrix)
    assert off(both, matrix) < 0.8 * off(run(matrix), matrix)


def test_an_asymmetric_matrix_follows_a_guide():
    X = vectors()
    matrix = hinted(X) + 0.2 * hinted(X, np.roll(X, 1, axis=1))
    plain, guided = run(matrix, budget=0.15), run(matrix, X, budget=0.15)
    assert guided.squares
    assert off(guided, matrix) < 0.8 * off(plain, matrix)
    v = np.random.default_rng(0).normal(size=N)
    assert np.allclose(guided @ v, guided.to_dense() @ v)
    assert np.allclose(guided.T.to_dense(), guided.to_dense().T)
    mean = guided.symmetrized()
    assert np.allclose(mean.to_dense(), (guided.to_dense() + guided.to_dense().T) / 2)
    assert mean.embedding().shape[0] == N


def test_two_sets_take_a_guide_for_each():
    X, Y = vectors(160, 0), vectors(140, 0)
    matrix = hinted(X, Y)
    plain, guided = run(matrix, budget=0.2), run(matrix, (X, Y), budget=0.2)
    assert guided.squares
    assert off(guided, matrix) < 0.8 * off(plain, matrix)
    assert np.allclose(guided.T.to_dense(), guided.to_dense().T)


def test_entries_products_and_rows_agree():
    X = vectors()
    K = run(hinted(X), X)
    whole = K.to_dense()
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, N, (2, 50))
    v = rng.normal(size=(N, 3))
    assert np.allclose(K.entries(i, j), whole[i, j])
    assert np.allclose(K @ v, whole @ v)
    assert np.allclose(K[7], whole[7])
    near = K.nearest(7, k=5, rerank=0)
    row = whole[7].copy()
    row[7] = -np.inf
    assert np.array_equal(near.indices, np.argsort(-row, kind="stable")[:5])


def test_any_power_of_two_gives_the_same_result_to_the_last_bit():
    X = vectors()
    matrix = hinted(X)
    K, small = run(matrix, X), run(np.ldexp(matrix, -200), X)
    assert K.squares
    assert np.allclose(np.ldexp(small.to_dense(), 200), K.to_dense(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("power", [-40, -20, 20, 40])
def test_the_unit_of_the_similarity_changes_no_digit(power):
    X = vectors(120)
    matrix = hinted(X)
    K, other = run(matrix, X, budget=0.2), run(np.ldexp(matrix, power), X, budget=0.2)
    assert K.squares
    np.testing.assert_array_equal(other.to_dense(), np.ldexp(K.to_dense(), power))
    np.testing.assert_array_equal(other.embedding(), np.ldexp(K.embedding(), power // 2))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_diagonal_matrix_with_a_guide_is_no_trouble(seed):
    rng = np.random.default_rng(seed)
    matrix = np.diag(rng.normal(size=60)) if seed % 2 else np.eye(60)
    K = run(matrix, rng.normal(size=(60, 4)), seed, budget=None, landmarks=12)
    np.testing.assert_allclose(K.to_dense(), matrix, atol=1e-6)


def test_a_file_keeps_a_guided_matrix(tmp_path):
    X = vectors()
    matrix = hinted(X)
    sim = fp.Precomputed(matrix)
    K = fp.approximate(range(N), sim, budget=0.12, guide=X, error_pairs=0, random_state=0)
    K.save(tmp_path / "k.fewpairs")
    again = fp.load(tmp_path / "k.fewpairs", similarity=sim)
    assert np.array_equal(again.to_dense(), K.to_dense())
    assert again.source.guide.widths == (16,)


def test_the_stated_error_speaks_of_the_guided_matrix():
    X = vectors()
    matrix = hinted(X)
    inside = 0
    for seed in range(10):
        K = run(matrix, X, seed, budget=0.15, error_pairs=None)
        assert K.squares
        inside += K.error.low <= off(K, matrix) <= K.error.high
    assert inside >= 8


def test_a_plain_result_follows_a_guide_too():
    X = vectors()
    matrix = hinted(X)
    plain = run(matrix, known=None, landmarks=30, budget=None)
    guided = run(matrix, X, known=None, landmarks=30, budget=None)
    assert guided.known.empty
    assert off(guided, matrix) < off(plain, matrix)


def test_a_target_is_reached_with_fewer_evaluations():
    X = vectors()
    matrix = hinted(X, noise=0.02)
    sim = fp.Precomputed(matrix)
    plain = fp.approximate(range(N), sim, target_error=0.1, random_state=0)
    guided = fp.approximate(range(N), sim, target_error=0.1, random_state=0, guide=X)
    assert off(guided, matrix) <= 0.1
    assert guided.evaluations < plain.evaluations


# ---------------------------------------------------------------------- what is refused


def test_guides_that_do_not_fit_are_refused_before_anything_is_spent():
    def never(a, b):
        raise AssertionError

    sim = fp.similarity(never, kind="pair", symmetric=True)
    X = vectors()
    holes = X.copy()
    holes[3, 2] = np.nan
    for guide in (X[:-1], holes, np.empty((0, 4)), "words", (X, X)):
        with pytest.raises(InputError):
            fp.approximate(range(N), sim, guide=guide)
    with pytest.raises(InputError, match="default method"):
        fp.approximate(range(N), sim, guide=X, method="nystrom")


def test_empty_rows_of_a_guide_are_taken():
    X = vectors()
    X[:40] = 0
    K = run(hinted(vectors()), X)
    assert np.isfinite(K.to_dense()).all()


def test_a_cheap_similarity_guides_like_the_vectors_it_is_made_of():
    X = vectors()
    matrix = hinted(X)
    cosine = fp.similarity(lambda a, b: X[a] @ X[b].T, kind="block", symmetric=True)
    by_cosine = run(matrix, cosine)
    assert by_cosine.squares
    assert abs(off(by_cosine, matrix) / off(run(matrix, X), matrix) - 1) < 0.1
    with pytest.raises(InputError, match="order"):
        run(matrix, fp.similarity(lambda a, b: X[a] @ X[b].T, kind="block", symmetric=False))
