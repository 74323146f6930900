"""Rows that train, rows that judge, and what both bring into the answer."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.guides.guides import Guide
from fewpairs.tasks.matching import neighborhoods as module
from fewpairs.tasks.matching.neighborhoods import Neighborhoods

N, K = 120, 4


def run_of(guided, *, seed=0, allowed=N * N // 2, distance=False, recall=0.95):
    """A run on a matrix without structure, with a guide that knows nothing."""
    rng = np.random.default_rng(1)
    matrix = rng.random((N, N))
    oracle = fp.Oracle(range(N), fp.Precomputed(matrix, symmetric=False))
    hints = rng.normal(size=(N, 3)).astype(np.float32)
    generator = np.random.default_rng(seed)
    run = Neighborhoods(oracle, K, allowed, recall, generator, small_is_near=distance)
    return run, matrix, [Guide("noise", hints, hints)] if guided else []


@pytest.mark.parametrize("guided", [True, False])
def test_rows_that_judge_have_taught_nothing(monkeypatch, guided):
    run, _, guides = run_of(guided)
    rows, landmarks = defaultdict(list), []
    read, learn = Neighborhoods._rows, Neighborhoods._learn

    def reading(self, purpose, which):
        rows[purpose].append(which)
        return read(self, purpose, which)

    def learning(self, guides, training, marks):
        landmarks.extend(marks)
        learnt = learn(self, guides, training, marks)
        # Whatever was learnt by now was learnt without a row that judges.
        assert "blind" not in rows
        return learnt

    monkeypatch.setattr(Neighborhoods, "_rows", reading)
    monkeypatch.setattr(Neighborhoods, "_learn", learning)
    run.carry_out(guides)
    (training,), judges = rows["training"], rows["blind"][0]
    assert len(training) == 5
    assert len(landmarks) == (0 if guided else 6)
    assert len(judges) == len(set(judges)) == 24
    assert not set(judges) & {*training, *landmarks}


@pytest.mark.parametrize("distance", [False, True])
def test_rows_that_were_read_whole_are_right_in_the_answer(distance):
    """A guide of noise finds little; but what was paid for is there, and is counted."""
    run, matrix, guides = run_of(guided=True, distance=distance)
    rows, columns, values = run.carry_out(guides)
    near = matrix if distance else -matrix
    near = near + np.where(np.eye(N, dtype=bool), np.inf, 0)
    truth = np.argsort(near, axis=1)[:, :K]
    np.testing.assert_array_equal(rows, np.repeat(np.arange(N), K))
    np.testing.assert_array_equal(values, matrix[rows, columns])
    right = (columns.reshape(N, K) == truth).all(axis=1)
    assert 29 <= right.sum() < 60  # 5 rows that train and 24 that judge, and a few by chance
    whole = run._whole
    assert whole == 29
    stated, judged = run.stated(), run._shares.mean()
    assert stated.value == pytest.approx((whole + (N - whole) * judged) / N)
    assert stated.low > whole / N
    assert stated.needed == 61 * N  # 0.95^61 is just below 0.045


def test_judges_are_judged_by_what_the_lists_hold():
    """Each share is that of a judge's true neighbours among its candidates, no more than all."""
    run, matrix, guides = run_of(guided=True)
    kept = {}
    evaluate = run._evaluate
    run._evaluate = lambda candidates: kept.update(candidates=candidates) or evaluate(candidates)
    read = run._rows
    run._rows = lambda purpose, rows: kept.setdefault(purpose, rows) is None or read(purpose, rows)
    run.carry_out(guides)
    apart = np.where(np.eye(N, dtype=bool), -np.inf, matrix)
    truth = np.argsort(-apart, axis=1)[:, :K]
    shares = [np.isin(truth[row], kept["candidates"][row]).mean() for row in kept["blind"]]
    np.testing.assert_allclose(run._shares, shares)
    assert 0 < run._shares.mean() < 0.9


def test_a_list_that_holds_more_than_k_as_near_as_the_last_is_no_better_than_whole():
    """Of half of the others all are as near as the nearest: any k of them are right."""
    groups = np.arange(N) % 2
    oracle = fp.Oracle(range(N), fp.Precomputed((groups[:, None] == groups) * 1.0))
    hints = np.stack([groups, 1 - groups], axis=1).astype(np.float32)
    rng = np.random.default_rng(0)
    run = Neighborhoods(oracle, K, N * N // 4, 0.95, rng, small_is_near=False)
    run.carry_out([Guide("groups", hints, hints)])
    assert len(run._shares)
    assert (run._shares == 1.0).all()
    assert run.stated().value == 1.0


def test_lists_grow_until_the_judges_state_the_recall():
    run, _, guides = run_of(guided=True, allowed=2 * N * N, recall=0.6)
    run._promising = lambda *_: 0
    run.carry_out(guides)
    assert not run.stated().complete
    assert run.stated().low >= 0.6


def test_each_item_has_k_neighbours_although_fewer_would_state_the_recall():
    """Nine of ten would: the guide is the similarity itself."""
    points = np.random.default_rng(0).normal(size=(N, 5)).astype(np.float32)
    oracle = fp.Oracle(range(N), fp.Precomputed(points @ points.T))
    run = Neighborhoods(oracle, 10, N * N, 0.4, np.random.default_rng(0), small_is_near=False)
    rows, _, _ = run.carry_out([Guide("itself", points, points)])
    assert not run.stated().complete
    np.testing.assert_array_equal(rows, np.repeat(np.arange(N), 10))


def test_all_rows_are_read_where_judges_alone_would_be_most_of_them():
    run, matrix, guides = run_of(guided=True, allowed=N * N)
    _, _, values = run.carry_out(guides)
    apart = np.where(np.eye(N, dtype=bool), -np.inf, matrix)
    np.testing.assert_array_equal(values.reshape(N, K), -np.sort(-apart, axis=1)[:, :K])
    assert run.stated().complete
    assert module._TRAINING == 5


def test_rows_that_judges_have_not_met_are_not_taken_for_theirs():
    """Five rows of a hundred are missed: judges that meet none of them must not rule them out."""
    n, k = 100, 5
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix, vectors = rng.random((n, n)) / 10, rng.normal(size=(n, 8))
        np.fill_diagonal(matrix, 0.5)
        missed = rng.choice(n, k, replace=False)
        matrix[missed, np.argmin(vectors[missed] @ vectors.T, axis=1)] = 1.0
        near = fp.find_nearest(
            range(n),
            fp.Precomputed(matrix, symmetric=False),
            others=range(n),
            k=1,
            guide=(vectors, vectors),
            budget=0.99,
            random_state=seed,
        )
        assert near.recall.low <= (near.similarities == matrix.max(axis=1)[near.left]).mean()


def test_landmarks_are_read_whole_and_are_right_in_the_answer():
    run, matrix, _ = run_of(guided=False)
    landmarks = []
    learn = run._learn
    run._learn = lambda guides, training, marks: (
        landmarks.extend(marks),
        learn(guides, training, marks),
    )[1]
    rows, columns, _ = run.carry_out([])
    np.fill_diagonal(matrix, -1.0)
    assert len(landmarks) == 6
    for mark in landmarks:
        best = np.argsort(-matrix[mark])[:K]
        assert columns[rows == mark].tolist() == best.tolist()
