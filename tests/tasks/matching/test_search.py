"""What the search learns from, and what it proposes."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs import numerics
from fewpairs.errors import MemoryCeilingError
from fewpairs.guides.guides import Guide
from fewpairs.tasks.matching import blind, drawing
from fewpairs.tasks.matching import search as module
from fewpairs.tasks.matching.features import Features
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.ranking import Ranking
from fewpairs.tasks.matching.search import Search
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe


def search_of(matrix, guide=None, *, symmetric=True, others=False):
    """A search for what is at least 0.5, with at most one guide."""
    n, m = matrix.shape
    if others:
        similarity = fp.similarity(
            lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=False, name="matrix"
        )
        oracle = fp.Oracle(range(n), similarity, others=range(m))
    else:
        oracle = fp.Oracle(range(n), fp.Precomputed(matrix, symmetric=symmetric))
    universe = Universe(n, m, square=not others, symmetric=symmetric)
    guides = [] if guide is None else [Guide("guide", *guide)]
    return Search(oracle, universe, Threshold(0.5, above=True), guides, np.random.default_rng(0))


def random_matches(n=40, share=0.2, seed=0):
    matrix = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1) * 1.0
    return matrix + matrix.T


def vectors(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)


@pytest.fixture
def fits(monkeypatch):
    """What rankings were fitted to: features, which match, weights."""
    seen = []

    def noted(features, matching, weights, *, first):
        seen.append((features, matching, weights))
        return Ranking(features, matching, weights, first=first)

    monkeypatch.setattr(module, "Ranking", noted)
    return seen


# ---------------------------------------------------------------------- what it learns from


def test_more_landmarks_take_the_place_of_fewer_and_guides_stay():
    matrix = random_matches()
    search = search_of(matrix, (vectors(40, 0), vectors(40, 1)))
    counts = [search._features.count]
    for _ in range(2):
        search.buy_landmarks(5)
        counts.append(search._features.count)
    assert counts == [2, 5, 5]
    assert len(search.landmarks[0]) == 10
    assert search._features.products[1].left.shape == (40, 10)


@pytest.mark.parametrize("square", [True, False])
def test_a_match_does_not_count_itself(square):
    """Item 0 matches three others, and these nothing else."""
    universe = Universe(5, 5, square=square, symmetric=square)
    features = Features(universe, [], np.random.default_rng(0))
    rows, columns = np.zeros(3, dtype=np.int64), np.array([1, 2, 3])
    features.note(rows, columns)
    np.testing.assert_allclose(
        features.of(rows, columns, matching=True)[:, -1], np.log(3) + np.log(1), rtol=1e-6
    )
    # A pair that is no match, or nobody knows it, has nothing of its own to leave out.
    np.testing.assert_allclose(
        features.of(rows[:1], np.array([4]))[:, -1], np.log(4) + np.log(1), rtol=1e-6
    )
    np.testing.assert_allclose(
        features.of(rows[:1], columns[:1])[:, -1], np.log(4) + np.log(2), rtol=1e-6
    )


def test_a_ranking_is_fitted_to_matches_without_their_own(fits):
    matrix, hints = random_matches(), vectors(40, 1)
    search = search_of(matrix, (hints, hints))
    search.step(200)
    search._fitted()
    features, matching, _ = fits[-1]
    rows, columns = search.labels.matches() // 40, search.labels.matches() % 40
    degree = np.bincount(rows, minlength=40) + np.bincount(columns, minlength=40)
    assert matching.sum() == len(rows) > 20
    # log(1 + d) of both items, each without this very match; matches come first, by their keys.
    expected = np.log(degree[rows]) + np.log(degree[columns])
    np.testing.assert_allclose(features[matching, -1], expected, rtol=1e-5)


def test_pairs_of_landmarks_are_not_learnt_from(fits):
    search = search_of(random_matches())
    search.buy_landmarks(6)
    search.step(300)
    search._fitted()
    _, matching, weights = fits[-1]
    rows, columns = search.labels.keys // 40, search.labels.keys % 40
    free = ~np.isin(rows, search.landmarks[0]) & ~np.isin(columns, search.landmarks[0])
    assert free.sum() == 300
    assert matching.sum() == (free & search.labels.matching).sum() < search.labels.found
    # Nor from those that do not match: 300 pairs stand for themselves, and others for all unknown.
    np.testing.assert_array_equal(np.flatnonzero(weights == 1.0), np.arange(300))


def test_all_that_is_unknown_weighs_as_much_as_all_that_was_reached(fits):
    hints = vectors(40, 1)
    search = search_of(random_matches(), (hints, hints))
    search.step(150)
    search._fitted()
    _, _, weights = fits[-1]
    np.testing.assert_array_equal(weights[:150], 1.0)
    np.testing.assert_allclose(weights[150:], 150 / (780 - 150))


def test_with_fewer_than_four_matches_the_guide_decides(fits):
    matrix = np.zeros((40, 40))
    matrix[0, 1:4] = matrix[1:4, 0] = 1.0
    hints = vectors(40, 1)
    search = search_of(matrix, (hints, hints))
    scores = hints @ hints.T
    rows, columns = np.triu_indices(40, 1)
    order = np.argsort(-scores[rows, columns])
    for part in (slice(0, 30), slice(30, 90)):
        before = set(search.labels.keys.tolist())
        search.step(part.stop - part.start)
        new = set(search.labels.keys.tolist()) - before
        assert new == set((rows * 40 + columns)[order[part]].tolist())
    assert not fits


def test_weights_are_those_of_the_features_as_they_are():
    """Not of standardised ones: products of vectors are taken with them."""
    rng = np.random.default_rng(0)
    features = (rng.normal(size=(300, 3)) * [1.0, 50.0, 0.02]).astype(np.float32)
    matching = features @ [1.0, 0.02, 50.0] + rng.normal(size=300) > 1
    ranking = Ranking(features, matching, np.ones(300), products=False)
    odds = ranking(features)
    np.testing.assert_allclose(
        odds - odds[0], (features - features[0]) @ ranking.weights, atol=1e-4
    )
    assert (ranking.weights > 0).all()


# ---------------------------------------------------------------------- what it proposes


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "two sets"])
def test_of_many_pairs_the_best_by_what_was_learnt_are_proposed(monkeypatch, kind):
    monkeypatch.setattr(module, "_ALL_PAIRS", 10)
    monkeypatch.setattr(module, "_CANDIDATES", 50)
    n, m = 40, 40 if kind != "two sets" else 30
    matrix = np.random.default_rng(0).random((n, m)) + (np.arange(m) < 5) * 0.3
    matrix = (matrix + matrix.T) / 2 if kind == "symmetric" else matrix
    left = vectors(n, 1)
    right = left if m == n else vectors(m, 2)
    search = search_of(
        matrix, (left, right), symmetric=kind == "symmetric", others=kind == "two sets"
    )
    universe = search._universe
    every = universe.everything()
    rows, columns = universe.places(every)
    by_guide = (left @ right.T)[rows, columns]

    # Nothing is learnt yet: the guide alone, which may also mean that of nothing is reached.
    proposed = search._candidates()[0]
    assert set(proposed) == set(every[np.argsort(-by_guide)[:50]])

    search.step(50)  # all that was proposed, so that anew is proposed what was not reached
    search.step(20)
    weights = search._ranking.weights
    assert (weights != 0).all()
    degree = [np.log1p(side) for side in search._features._sides]
    scores = weights[0] * by_guide + weights[1] * (degree[0][rows] + degree[1][columns])
    scores[search.labels.hold(every)] = -np.inf
    proposed = search._candidates()[0]
    assert len(proposed) == 50
    # In single precision, so that those at the edge may change places.
    edge = np.sort(scores)[-50]
    at = np.searchsorted(every, proposed)
    np.testing.assert_array_equal(every[at], proposed)
    assert scores[at].min() >= edge - 1e-4


def test_without_a_guide_profiles_propose(monkeypatch):
    """Of landmarks: how alike the columns of two items are, until something is learnt."""
    monkeypatch.setattr(module, "_ALL_PAIRS", 10)
    monkeypatch.setattr(module, "_CANDIDATES", 30)
    points = np.random.default_rng(0).normal(size=(40, 2))
    matrix = -((points[:, None] - points) ** 2).sum(axis=2)  # nothing matches
    search = search_of(matrix)
    search.buy_landmarks(8)
    profiles = search._features.products[-1]
    assert profiles.name == "profiles"
    every = np.setdiff1d(search._universe.everything(), search.labels.keys)
    scores = (profiles.left @ profiles.right.T)[every // 40, every % 40]
    proposed = search._candidates()[0]
    assert set(proposed) == set(every[np.argsort(-scores)[:30]])


def test_what_is_learnt_from_little_follows_the_order_that_found_it():
    """Two features say the same of what was seen; the first order says which of them counts."""
    rng = np.random.default_rng(0)
    features = np.repeat(rng.normal(size=(400, 1)), 2, axis=1).astype(np.float32)
    features[:10] += 3.0
    matching = np.arange(400) < 10
    first = np.array([1.0, 0.0])
    given = Ranking(features, matching, np.ones(400), first=first).weights
    plain = Ranking(features, matching, np.ones(400)).weights
    assert abs(given[1]) < 0.1 * given[0]
    assert plain[1] == pytest.approx(plain[0])
    # It is a start, not a belief: with many that say otherwise it is given up.
    many = rng.normal(size=(20_000, 2)).astype(np.float32)
    learnt = Ranking(many, many[:, 1] > 1.0, np.ones(20_000), products=False, first=first)
    assert abs(learnt.weights[0]) < 0.1 * learnt.weights[1]
    odds = learnt(many[:50])
    np.testing.assert_allclose(np.argsort(odds), np.argsort(many[:50] @ learnt.weights))
    nothing = Ranking(features, matching, np.ones(400), first=np.zeros(2)).weights
    np.testing.assert_array_equal(nothing, plain)


# ---------------------------------------------------------------------- many pairs, in parts


def test_labels_stay_in_order_with_their_matches():
    rng = np.random.default_rng(0)
    every = rng.permutation(500)
    labels = Labels()
    for some in np.array_split(every, [3, 3, 40, 41, 300]):
        labels.add(some, some % 3 == 0)
    np.testing.assert_array_equal(labels.keys, np.arange(500))
    np.testing.assert_array_equal(labels.matching, np.arange(500) % 3 == 0)
    assert labels.found == 167


@pytest.mark.parametrize("shown", [5, 31, 40, 1000])
def test_every_so_many_th_of_two_lists_is_that_of_both_in_order(monkeypatch, shown):
    monkeypatch.setattr(drawing, "_SHOWN", shown)
    rng = np.random.default_rng(shown)
    for drawn, reached in ((30, 7), (0, 9), (9, 0), (0, 0), (1, 30)):
        every = rng.permutation(200)[: drawn + reached]
        keys, others = np.sort(every[:drawn]), np.sort(every[drawn:])
        together = np.sort(every)
        wanted = together[:: max(1, -(-len(every) // shown))]
        np.testing.assert_array_equal(drawing._some_of_both(keys, others), wanted)


@pytest.mark.parametrize("guide", ["auto", None])
def test_pairs_that_are_looked_at_in_small_parts_give_the_same_answer(monkeypatch, guide):
    """Whole, as of few items; and in parts, as of a million: keys, features and blind pairs."""
    points = np.random.default_rng(0).random((300, 4)).astype(np.float32)
    monkeypatch.setattr(module, "_ALL_PAIRS", 1000)  # so that candidates are proposed
    monkeypatch.setattr(module, "_CANDIDATES", 5000)

    def found():
        near = fp.VectorSimilarity("rbf", gamma=5.0)
        return fp.find_pairs(
            points, near, above=0.9, guide=guide, all_pairs=False, random_state=0, budget=20_000
        )

    whole = found()
    monkeypatch.setattr(module, "PAIRS_AT_A_TIME", 64)
    monkeypatch.setattr(numerics, "PAIRS_AT_A_TIME", 50)
    monkeypatch.setattr(blind, "PAIRS_AT_A_TIME", 128)
    parts = found()
    for name in ("left", "right", "similarities", "blind"):
        assert getattr(parts, name).tobytes() == getattr(whole, name).tobytes()
    assert parts.spent == whole.spent
    assert str(parts.recall) == str(whole.recall)
    assert guide is not None or whole.spent["landmarks"]
    assert len(whole) > 50


def test_blind_pairs_that_cannot_be_kept_are_refused_before_they_are_drawn():
    near = fp.VectorSimilarity("rbf")
    oracle = fp.Oracle(np.zeros((3000, 1)), near)
    universe = Universe(3000, 3000, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    # To draw a million takes 17 MB; with their values, and what is remembered of them, 25.
    with fp.max_memory("20 MB"), pytest.raises(MemoryCeilingError, match="1,000,000 pairs that"):
        blind.Blind(oracle, universe, Threshold(0.5, above=True), Labels(), 10**6, rng)
    assert oracle.evaluations == 0


def test_blind_pairs_are_as_many_as_there_are_however_many_are_wanted():
    oracle = fp.Oracle(np.zeros((100, 1)), fp.VectorSimilarity("rbf"))
    universe = Universe(100, 100, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    with fp.max_memory("20 MB"):
        drawn = blind.Blind(oracle, universe, Threshold(0.5, above=True), Labels(), 10**9, rng)
    assert len(drawn.keys) == len(drawn.matches) == 4950
