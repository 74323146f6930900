"""New items: compared with all landmarks, with some, or with none."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, NotAttachedError

N, NEW = 200, 40


def setting(seed=0, *, symmetric=True, hidden=1 / 3):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10, 12))
    X = centres[rng.integers(0, 10, N + NEW)] + 0.6 * rng.normal(size=(N + NEW, 12))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    turn = rng.normal(size=(12, 12)) / 3
    own = np.tanh(X @ turn @ X.T)
    own = own + own.T if symmetric else own
    unseen = hidden * rng.normal(size=(N + NEW, 4))  # of which the guide knows nothing
    return X, 0.5 * X @ X.T + 0.6 * (X @ X.T) ** 2 + 0.15 * own + unseen @ unseen.T


def similarity_of(matrix, *, symmetric=True):
    return fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=symmetric)


class Encoder:
    """Knows the vectors of numbered items."""

    def __init__(self, table):
        self.table = table

    def encode(self, items):
        return self.table[np.asarray(items)]


def made(X, matrix, *, guide=True, symmetric=True, **options):
    return fp.approximate(
        np.arange(N),
        similarity_of(matrix, symmetric=symmetric),
        budget=0.2,
        guide=Encoder(X) if guide else None,
        error_pairs=0,
        random_state=0,
        **options,
    )


def off_new(K, matrix):
    new = slice(N, None)
    return np.linalg.norm(K.to_dense()[new] - matrix[new]) / np.linalg.norm(matrix[new])


@pytest.mark.parametrize("symmetric", [True, False])
def test_new_items_cost_what_was_allowed_and_more_of_it_is_better(symmetric):
    X, matrix = setting(symmetric=symmetric)
    K = made(X, matrix, symmetric=symmetric)
    assert K.source.guide is not None
    s = len(K.source.left_landmarks)
    orders = 1 if symmetric else 2
    errors = {}
    for allowed in (0, orders * s // 4, None):
        larger = K.extend(np.arange(N, N + NEW), evaluations=allowed)
        spent = larger.evaluations - K.evaluations
        if allowed is None:
            # The diagonal was evaluated, and so it is for new items.
            assert spent == NEW * (orders * s + 1)
        else:
            assert spent == NEW * (allowed - allowed % orders)
        assert larger.shape == (N + NEW, N + NEW)
        assert np.array_equal(larger.to_dense()[:N, :N], K.to_dense())
        errors[allowed] = off_new(larger, matrix)
    none, some, every = errors.values()
    assert every < some < none < 0.8


def test_without_evaluations_a_guided_matrix_beats_an_unguided_one_with_all_of_them():
    X, matrix = setting(hidden=0.05)
    plain = made(X, matrix, guide=False).extend(np.arange(N, N + NEW))
    free = made(X, matrix).extend(np.arange(N, N + NEW), evaluations=0)
    assert off_new(free, matrix) < off_new(plain, matrix)


def test_what_was_evaluated_stays_exact_and_products_agree():
    X, matrix = setting()
    K = made(X, matrix)
    larger = K.extend(np.arange(N, N + NEW), evaluations=5)
    whole = larger.to_dense()
    first = K.source.left_landmarks[:5]
    assert np.array_equal(whole[N:, first], matrix[N:, first])
    assert np.array_equal(whole[:N, first], matrix[:N, first])
    assert np.array_equal(np.diag(whole)[:N], np.diag(matrix)[:N])
    v = np.random.default_rng(0).normal(size=N + NEW)
    assert np.allclose(larger @ v, whole @ v)
    assert np.allclose(whole, whole.T)


def test_an_array_serves_new_items_that_come_with_theirs():
    X, matrix = setting()
    by_encoder = made(X, matrix)
    sim = similarity_of(matrix)
    by_array = fp.approximate(
        np.arange(N), sim, budget=0.2, guide=X[:N], error_pairs=0, random_state=0
    )
    new = np.arange(N, N + NEW)
    with pytest.raises(NotAttachedError, match="guide="):
        by_array.extend(new)
    given = by_array.extend(new, evaluations=0, guide=X[N:])
    assert np.array_equal(given.to_dense(), by_encoder.extend(new, evaluations=0).to_dense())
    with pytest.raises(InputError, match="coordinates"):
        by_array.extend(new, evaluations=0, guide=X[N:, :5])


def test_a_loaded_matrix_takes_new_items_with_their_vectors(tmp_path):
    X, matrix = setting()
    K = made(X, matrix)
    K.save(tmp_path / "k.fewpairs")
    again = fp.load(tmp_path / "k.fewpairs")
    new = np.arange(N, N + NEW)
    grown = again.extend(new, evaluations=0, guide=X[N:])
    assert np.array_equal(grown.to_dense(), K.extend(new, evaluations=0).to_dense())


def test_rows_between_two_sets_take_few_evaluations_too():
    X, matrix = setting(symmetric=False)
    K = fp.approximate(
        np.arange(150),
        similarity_of(matrix, symmetric=False),
        others=np.arange(150, N),
        guide=Encoder(X),
        budget=0.35,
        error_pairs=0,
        random_state=0,
    )
    assert K.source.guide is not None
    new = np.arange(N, N + NEW)
    wanted = matrix[N:, 150:N]
    found = [
        np.linalg.norm(K.extend(new, evaluations=k).to_dense()[150:] - wanted) for k in (0, None)
    ]
    assert found[1] < found[0] < 0.8 * np.linalg.norm(wanted)


def test_without_a_guide_fewer_evaluations_do_but_none_do_not():
    X, matrix = setting()
    K = made(X, matrix, guide=False)
    new = np.arange(N, N + NEW)
    s = len(K.source.left_landmarks)
    every, half = (off_new(K.extend(new, evaluations=k), matrix) for k in (None, s // 2))
    assert every < half < 2 * every
    for wrong in (0, -1, 2.5):
        with pytest.raises(InputError):
            K.extend(new, evaluations=wrong)


def test_a_new_item_finds_its_neighbours():
    X, matrix = setting()
    K = made(X, matrix)
    exact = matrix[N, :N]
    for options in ({"rerank": 0}, {"budget": 12}):
        near = K.nearest(item=N, k=10, **options)
        assert np.isin(near.indices, np.argsort(-exact)[:20]).sum() >= 7
    assert near.evaluations == 12


def test_the_ridge_is_chosen_by_items_that_took_no_part():
    """With more coordinates than old items a small ridge fits them all, and predicts nothing."""
    from fewpairs.factored.completion import complete_lines

    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(150, 200)) / 14, rng.normal(size=(150, 6))
    lines = x[:, :3] @ rng.normal(size=(3, 6)) * 3 + 2 * noise
    old = np.hstack([lines[:100], x[:100]])
    found = complete_lines(old, 6, np.arange(6), np.empty((50, 0)), x[100:])
    spread = np.linalg.norm(lines[100:] - lines[:100].mean(axis=0))
    assert np.linalg.norm(found - lines[100:]) < 1.05 * spread


@pytest.mark.parametrize("allowed", [0, 6, None])
def test_the_error_of_a_larger_matrix_can_be_stated(allowed):
    X, matrix = setting()
    K = made(X, matrix)
    new = np.arange(N, N + NEW)
    assert K.extend(new, evaluations=allowed).error is None
    inside = 0
    for seed in range(10):
        larger = K.extend(new, evaluations=allowed, error_pairs=400, random_state=seed)
        spent = larger.evaluations - K.extend(new, evaluations=allowed).evaluations
        assert spent == 400
        exact = np.linalg.norm(larger.to_dense() - matrix) / np.linalg.norm(matrix)
        inside += larger.error.low <= exact <= larger.error.high
    assert inside >= 8
    with pytest.raises(InputError, match="error_pairs"):
        K.extend(new, evaluations=allowed, error_pairs=2.5)


@pytest.mark.parametrize("allowed", [2, 4, 10])
def test_few_evaluations_without_a_guide_are_hardly_worse_than_zeros(allowed):
    X = np.random.default_rng(0).normal(size=(N + NEW, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    matrix = X @ X.T + (X @ X.T) ** 2  # of rank 14: with 40 landmarks the core is nearly singular
    K = fp.approximate(
        np.arange(N), similarity_of(matrix), landmarks=40, error_pairs=0, random_state=0
    )
    assert off_new(K.extend(np.arange(N, N + NEW), evaluations=allowed), matrix) < 1.1
