"""New items some of whose pairs have no value: something stands in for them, and it is said."""

from __future__ import annotations

import numpy as np
import pytest
from factored.test_extension import NEW, Encoder, N, setting

import fewpairs as fp
from fewpairs.errors import FailedCallError


def punched(matrix, share=0.1, seed=0):
    """Which pairs of new items fail, whatever their order."""
    gone = np.random.default_rng(seed).random(matrix.shape) < share
    gone[:N, :N] = False
    return gone | gone.T


def made(X, matrix, gone, *, symmetric=True, guide=True, **options):
    def score(a, b):
        if gone[a, b]:
            raise RuntimeError("no answer")
        return matrix[a, b]

    similarity = fp.similarity(score, kind="pair", symmetric=symmetric)
    return fp.approximate(
        range(N),
        similarity,
        budget=0.2,
        guide=Encoder(X) if guide else None,
        error_pairs=0,
        random_state=0,
        on_error="skip",
        **options,
    )


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("guide", [True, False])
@pytest.mark.parametrize("count", [6, None])
def test_gaps_are_filled_as_old_items_suggest_and_told(symmetric, guide, count):
    X, matrix = setting(symmetric=symmetric)
    gone = punched(matrix)
    new = range(N, N + NEW)
    K = made(X, matrix, gone, symmetric=symmetric, guide=guide)
    whole = made(X, matrix, 0 * gone, symmetric=symmetric, guide=guide).extend(
        new, evaluations=count
    )
    larger = K.extend(new, evaluations=count)
    assert larger.evaluations == whole.evaluations
    i, j = larger.skipped.T
    assert len(i)
    assert gone[i, j].all()
    dense = larger.to_dense()
    assert np.isfinite(dense).all()
    there = ~gone

    def off(found):
        mine = np.s_[N:]
        return np.linalg.norm((found - matrix)[mine][there[mine]])

    # Of few entries each one counts.
    assert off(dense) < (1.5 * off(whole.to_dense()) if count is None else 0.9 * off(0 * dense))
    known = larger.known.find(i, j)
    spread = np.abs(known - matrix[i, j]).mean()
    assert spread < 0.8 * np.abs(matrix[i, j] - matrix[:N, :N].mean()).mean()
    # What stands in is no exact score.
    row = int(i[i >= N][0]) if (i >= N).any() else int(j[j >= N][0])
    assert np.isnan(larger.known_in_row(row, np.flatnonzero(gone[row]))).all()


def test_one_new_item_is_filled_by_the_old_ones_too():
    X, matrix = setting()
    gone = punched(matrix, 0.3)
    gone[N:, N:] = False
    larger = made(X, matrix, gone).extend([N])
    i, j = larger.skipped.T
    assert len(i) > 2
    assert np.abs(larger.known.find(i, j) - matrix[i, j]).max() < 0.5


def test_rows_and_columns_with_landmarks_of_their_own_fill_each_other():
    X, matrix = setting()
    K = made(X, matrix, punched(matrix), guide=False, method="skeleton")
    assert not np.isin(K.source.left_landmarks, K.source.right_landmarks).any()
    larger = K.extend(range(N, N + NEW), evaluations=6)
    i, j = larger.skipped.T
    assert np.isin(j, K.source.left_landmarks).any()
    assert np.isin(j, K.source.right_landmarks).any()
    assert np.isfinite(larger.known.find(i, j)).all()


def test_the_error_is_that_of_all_other_pairs(tmp_path):
    X, matrix = setting()
    gone = punched(matrix)
    held = 0
    for seed in range(5):
        K = made(X, matrix, gone).extend(range(N, N + NEW), error_pairs=400, random_state=seed)
        there = ~gone
        dense = K.to_dense()
        truth = np.linalg.norm((dense - matrix)[there]) / np.linalg.norm(matrix[there])
        held += K.error.low * 0.98 <= truth <= K.error.high * 1.02
    assert held >= 4
    K.save(tmp_path / "larger.fewpairs")
    np.testing.assert_array_equal(fp.load(tmp_path / "larger.fewpairs").skipped, K.skipped)


def test_a_new_item_without_a_score_with_itself_has_that_of_the_others():
    X, matrix = setting()
    gone = np.zeros(matrix.shape, dtype=bool)
    gone[N, N] = True
    larger = made(X, matrix, gone).extend([N, N + 1])
    assert [N, N] in larger.skipped.tolist()
    assert larger[N, N] == pytest.approx(np.diag(matrix)[:N].mean())
    assert larger[N + 1, N + 1] == matrix[N + 1, N + 1]


def test_neighbours_of_a_new_item_are_none_that_were_skipped():
    X, matrix = setting()
    gone = punched(matrix, 0.03)
    near = made(X, matrix, gone).nearest(item=N, k=20)
    assert not gone[N, near.indices].any()


def test_without_leave_to_skip_a_failure_ends_it():
    _, matrix = setting()
    gone = punched(matrix)

    def score(a, b):
        if gone[a, b]:
            raise RuntimeError("no answer")
        return matrix[a, b]

    strict = fp.similarity(score, kind="pair", symmetric=True)
    K = fp.approximate(range(N), strict, budget=0.2, error_pairs=0, random_state=0)
    with pytest.raises(FailedCallError):
        K.extend(range(N, N + NEW))
