"""Rows that train, rows that judge, and what both bring into the answer."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from examples import Counter

import fewpairs as fp
from fewpairs.guides.guides import Guide
from fewpairs.tasks.matching.judges import Judges
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
    read, learn = Neighborhoods._read, Neighborhoods._learn

    def reading(self, purpose, which):
        rows[purpose].append(which)
        return read(self, purpose, which)

    def learning(self, guides, training, marks):
        landmarks.extend(marks)
        learnt = learn(self, guides, training, marks)
        # Whatever was learnt by now was learnt without a row that judges.
        assert "blind" not in rows
        return learnt

    monkeypatch.setattr(Neighborhoods, "_read", reading)
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
    whole = len(run._judges.whole)
    assert whole == 29
    stated, judged = run.stated(), run._judges.shares.mean()
    assert stated.value == pytest.approx((whole + (N - whole) * judged) / N)
    assert stated.low > whole / N
    assert stated.needed == 61 * N  # 0.95^61 is just below 0.045


def test_judges_are_judged_by_what_the_lists_hold():
    """Each share is that of a judge's true neighbours among its candidates, no more than all."""
    run, matrix, guides = run_of(guided=True)
    kept = {}
    answer = run._answer
    run._answer = lambda keys, judges: kept.update(keys=keys) or answer(keys, judges)
    run.carry_out(guides)
    apart = np.where(np.eye(N, dtype=bool), -np.inf, matrix)
    truth = np.argsort(-apart, axis=1)[:, :K]
    judges = run._judges
    shares = [np.isin(row * N + truth[row], kept["keys"]).mean() for row in judges.rows]
    np.testing.assert_allclose(judges.shares, shares)
    assert 0 < judges.shares.mean() < 0.9


def test_a_list_that_holds_more_than_k_as_near_as_the_last_is_no_better_than_whole():
    """Of half of the others all are as near as the nearest: any k of them are right."""
    groups = np.arange(N) % 2
    oracle = fp.Oracle(range(N), fp.Precomputed((groups[:, None] == groups) * 1.0))
    hints = np.stack([groups, 1 - groups], axis=1).astype(np.float32)
    rng = np.random.default_rng(0)
    run = Neighborhoods(oracle, K, N * N // 4, 0.95, rng, small_is_near=False)
    run.carry_out([Guide("groups", hints, hints)])
    assert len(run._judges.shares)
    assert (run._judges.shares == 1.0).all()
    assert run.stated().value == 1.0


def test_lists_grow_until_the_judges_state_the_recall(monkeypatch):
    run, _, guides = run_of(guided=True, allowed=2 * N * N, recall=0.5)
    monkeypatch.setattr(Judges, "promising", lambda *_: 0)
    run.carry_out(guides)
    assert not run.stated().complete
    assert run.stated().low >= 0.5


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


def plane(n=200):
    """Points on a plane, and a guide that sees one of its two directions."""
    points = np.random.default_rng(7).normal(size=(n, 2))
    hints = np.hstack([points[:, :1], np.ones((n, 1))])
    return np.exp(-((points[:, None] - points) ** 2).sum(axis=2)), hints


@pytest.mark.parametrize("budget", [0.1, 0.2, 0.35])
@pytest.mark.parametrize("kind", ["pairs", "block"])
@pytest.mark.parametrize("guided", [True, False])
def test_a_budget_is_used_up_and_never_exceeded(budget, kind, guided):
    """And each item's neighbours are the best of all that was evaluated for whatever purpose."""
    matrix, hints = plane()
    n, counter = len(matrix), Counter(matrix)
    near = fp.find_nearest(
        range(n),
        counter.similarity(kind, diagonal=1.0),
        k=K,
        guide=hints if guided else None,
        budget=budget,
        random_state=0,
    )
    allowed = int(budget * n * (n - 1) / 2)
    assert near.evaluations == len(counter.asked)
    assert 0.99 * allowed <= near.evaluations <= allowed
    asked = np.zeros((n, n), dtype=int)
    np.add.at(asked, tuple(np.transpose(counter.asked)), 1)
    np.testing.assert_array_equal(near.left, np.repeat(np.arange(n), K))
    # Pairs that were asked for in both orders, to see whether they agree, may be left out.
    least, most = (
        -np.sort(-np.where(known, matrix, -np.inf), axis=1)[:, :K]
        for known in ((asked + asked.T) == 1, (asked + asked.T) > 0)
    )
    best = near.similarities.reshape(n, K)
    assert (least <= best).all()
    assert (best <= most).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_what_is_stated_of_a_budget_is_true(symmetric):
    matrix, hints = plane()
    if not symmetric:
        matrix = matrix * np.linspace(0.9, 1.0, len(matrix))
    apart = np.where(np.eye(len(matrix), dtype=bool), -np.inf, matrix)
    least = np.partition(apart, -K, axis=1)[:, -K]
    outside, errors = 0, []
    for seed in range(40):
        near = fp.find_nearest(
            range(len(matrix)),
            fp.Precomputed(matrix, symmetric=symmetric),
            k=K,
            guide=hints,
            budget=0.25,
            random_state=seed,
        )
        truth = (near.similarities >= least[near.left]).mean()
        outside += not near.recall.low <= truth <= near.recall.high
        errors.append(near.recall.value - truth)
    assert outside <= 4
    assert abs(np.mean(errors)) < 0.03


def test_a_guide_that_saves_candidates_saves_evaluations():
    """Without a budget: a pair in either item's list serves both, so that lists are shorter."""
    matrix, hints = plane(600)
    near = fp.find_nearest(
        range(600), fp.Precomputed(matrix), k=K, guide=hints, recall=0.6, random_state=0
    )
    assert near.recall.low >= 0.6
    lists = near.evaluations - near.spent["training"] - near.spent["blind"]
    assert lists == near.spent["ranked"] < 600 * 599 // 5
