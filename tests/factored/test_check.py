"""K.check reads a few rows, and what it says of the largest entries is true."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, NotAttachedError, StoppedError

N, M = 150, 110
SHAPES = [(True, True), (False, True), (False, False)]


def made(kind="pair", *, symmetric=True, square=True, **arguments):
    matrix = symmetric_matrix(N) if symmetric else asymmetric_matrix(N)
    counter = Counter(matrix if square else matrix[:, :M])
    others = {} if square else {"others": range(M)}
    arguments = {"landmarks": 15, "error_pairs": 0, "random_state": 0} | others | arguments
    found = fp.approximate(range(N), counter.similarity(kind, symmetric=symmetric), **arguments)
    counter.asked.clear()
    return found, counter


def true_shares(found, exact, *, square, k=None, above=None, below=None, candidates=0):
    """Recall, precision and recall after exact ranking, of all rows that are not known."""
    guess, exact = found.to_dense(), exact.copy()
    rows = np.setdiff1d(np.arange(len(exact)), found.known.rows.index)
    if square:
        out = np.inf if below is not None else -np.inf
        np.fill_diagonal(guess, out)
        np.fill_diagonal(exact, out)
    truth = np.zeros((len(rows), exact.shape[1]), dtype=bool)
    chosen, ranked = truth.copy(), truth.copy()
    for place, row in enumerate(rows):
        if k is not None:
            truth[place, np.argsort(-exact[row])[:k]] = True
            chosen[place, np.argsort(-guess[row])[:k]] = True
            pool = ~np.isnan(found.known_in_row(row, np.arange(exact.shape[1])))
            pool[np.argsort(-guess[row])[:candidates]] = True
            ranked[place, np.argsort(-np.where(pool, exact[row], -np.inf))[:k]] = True
        elif above is not None:
            truth[place], chosen[place] = exact[row] >= above, guess[row] >= above
        else:
            truth[place], chosen[place] = exact[row] <= below, guess[row] <= below
    both = (truth & chosen).sum()
    return both / truth.sum(), both / chosen.sum(), (truth & ranked).sum() / truth.sum()


@pytest.mark.parametrize("kind", ["pair", "block"])
@pytest.mark.parametrize(("symmetric", "square"), SHAPES)
def test_all_rows_give_the_truth(symmetric, square, kind):
    for question in ({"k": 4}, {"above": 0.02}, {"below": -0.02}):
        found, counter = made(kind, symmetric=symmetric, square=square)
        said = found.check(rows=1000, rerank=12, random_state=0, **question)
        candidates = 12 if "k" in question else 0
        recall, precision, ranked = true_shares(
            found, counter.matrix, square=square, candidates=candidates, **question
        )
        assert tuple(said.recall) == pytest.approx((recall,) * 3)
        assert tuple(said.precision) == pytest.approx((precision,) * 3)
        assert (said.reranked is None) is ("k" not in question)
        if said.reranked is not None:
            assert said.reranked.value == pytest.approx(ranked)
        assert said.rows == said.of == N - len(found.known.rows.index)


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize(("symmetric", "square"), SHAPES)
def test_rows_cost_what_is_not_known_of_them_and_are_kept(symmetric, square, kind):
    found, counter = made(kind, symmetric=symmetric, square=square)
    before = found.evaluations
    said = found.check(rows=6, random_state=1)
    assert said.evaluations == len(counter.asked) == len(set(counter.asked))
    assert found.evaluations == before + said.evaluations
    rows = sorted({i for i, _ in counter.asked})
    assert len(rows) == 6 or symmetric
    width = N - 1 if square else M
    assert said.evaluations <= 6 * (width - len(found.known.columns.index))
    assert not any(i == j for i, j in counter.asked) or not square
    assert np.isnan(found.known.find(*np.array(counter.asked).T)).all()
    # The same rows again, for another question, and their neighbours, are free.
    assert found.check(above=0.1, rows=6, random_state=1).evaluations == 0
    near = found.nearest(rows[0], k=5)
    assert near.evaluations == 0
    exact = counter.matrix[rows[0]].copy()
    if square:
        exact[rows[0]] = -np.inf
    assert near.indices.tolist() == np.argsort(-exact)[:5].tolist()


@pytest.mark.parametrize("question", [{"k": 5}, {"above": 0.02}])
def test_the_interval_covers(question):
    found, counter = made()
    truth = true_shares(found, counter.matrix, square=True, candidates=12, **question)
    trials, held = 200, np.zeros(3)
    for seed in range(trials):
        said = found.check(rows=10, rerank=12, random_state=seed, **question)
        shares = (said.recall, said.precision, said.reranked or said.recall)
        # A threshold has no ranked candidates: its third place repeats the first.
        wanted = (*truth[:2], truth[2] if said.reranked else truth[0])
        held += [s.low <= t <= s.high for s, t in zip(shares, wanted, strict=True)]
    assert (held >= 0.92 * trials).all()  # 95 %, less two standard deviations


def test_equal_entries_at_the_end_of_the_list_are_all_right():
    x = np.random.default_rng(0).integers(0, 3, size=(60, 4)).astype(float)
    counter = Counter((x[:, None] == x).mean(axis=-1))  # five values alone
    found = fp.approximate(range(60), counter.similarity("pair"), landmarks=30, random_state=0)
    assert found.check(k=5, rows=60).reranked.value == 1.0


def test_a_matrix_that_is_known_says_so():
    found = fp.approximate(range(20), fp.Precomputed(symmetric_matrix(20)), landmarks=20)
    said = found.check()
    assert (said.rows, said.of, said.evaluations) == (0, 0, 0)
    assert "known exactly" in str(said)


def test_it_prints_as_a_sentence():
    found, _ = made()
    said = found.check(random_state=0)
    for part in ("of the 10 nearest", "95 % interval", "100 candidates", "from 20 of the 135 rows"):
        assert part in str(said)
    assert "candidates" not in str(found.check(rerank=0, random_state=0))
    assert "recall" in str(found.check(above=0.02, random_state=0))
    assert "below -0.02" in str(found.check(below=-0.02, random_state=0))
    none = found.check(above=9.0, random_state=0)
    assert "no entry above 9" in str(none)
    assert np.isnan(none.recall.value)
    assert (none.recall.low, none.recall.high) == (0, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        none.rows = 3


def test_without_the_similarity_it_says_what_is_missing(tmp_path):
    found = fp.approximate(range(40), fp.Precomputed(symmetric_matrix(40)), landmarks=5)
    found.save(tmp_path / "k")
    with pytest.raises(NotAttachedError, match="similarity"):
        fp.load(tmp_path / "k").check()
    with pytest.raises(NotAttachedError, match="items"):
        fp.FactoredMatrix(np.eye(4), np.eye(4)).check()


def test_a_callback_stops_it_and_rows_are_kept():
    found, counter = made()
    with pytest.raises(StoppedError, match="2 rows"):
        found.check(rows=5, random_state=0, progress=lambda done, _: done < 200)
    paid = len(counter.asked)
    found.check(rows=5, random_state=0)
    assert len(counter.asked) == len(counter.unordered) > paid


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 3, "above": 0.5},
        {"above": 0.1, "below": 0.2},
        {"above": "high"},
        {"k": 0},
        {"k": 3, "rerank": -1},
        {"rows": 0},
        {"rows": 2.5},
    ],
)
def test_nonsense_is_refused_before_anything_is_paid(arguments):
    found, counter = made()
    with pytest.raises(InputError):
        found.check(**arguments)
    assert not counter.asked
