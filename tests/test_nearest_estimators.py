"""Neighbours and labels by an expensive similarity, as scikit-learn spells them."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, symmetric_matrix
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import fewpairs as fp
from fewpairs.errors import InputError, UnknownNameError

RBF = fp.VectorSimilarity("rbf", gamma=0.5)


def points(count=90, seed=0):
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 3, count)
    return 2 * np.eye(3)[which] + rng.normal(size=(count, 3)), which


def test_a_budget_of_all_items_gives_the_exact_neighbours():
    x, _ = points()
    old, new = x[:60], x[60:]
    model = fp.SimilarityNeighbors(RBF, 4, n_components=10, budget=60, random_state=0).fit(old)
    distances, places = NearestNeighbors(n_neighbors=4).fit(old).kneighbors(new)
    similarities, indices = model.kneighbors(new)
    np.testing.assert_array_equal(indices, places)
    np.testing.assert_allclose(similarities, np.exp(-0.5 * distances**2))
    own = NearestNeighbors(n_neighbors=2).fit(old).kneighbors(n_neighbors=2)[1]
    np.testing.assert_array_equal(model.kneighbors(n_neighbors=2)[1], own)


def test_a_new_item_costs_its_budget_and_what_it_finds_is_exact():
    matrix = symmetric_matrix(80, rank=5)
    counter = Counter(matrix)
    model = fp.SimilarityNeighbors(
        counter.similarity("pair"), 3, n_components=9, budget=20, random_state=0
    ).fit(range(60))
    assert model.evaluations_ == len(counter.asked)
    counter.asked.clear()
    similarities, indices = model.kneighbors(range(60, 80))
    assert len(counter.asked) == 20 * 20
    rows = np.arange(60, 80)[:, None]
    np.testing.assert_allclose(similarities, matrix[rows, indices])
    best = np.sort(matrix[60:, :60], axis=1)[:, -3:]
    assert np.mean(similarities >= best[:, :1]) > 0.8  # rank 5: nine landmarks tell where to look


def test_neighbours_of_the_training_items_are_paid_for_once():
    matrix = symmetric_matrix(40, rank=5)
    counter = Counter(matrix)
    model = fp.SimilarityNeighbors(
        counter.similarity("pair"), 3, n_components=6, budget=8, random_state=0
    ).fit(range(40))
    counter.asked.clear()
    similarities, indices = model.kneighbors()
    assert 0 < len(counter.asked) <= 40 * 8
    np.testing.assert_array_equal(similarities, matrix[np.arange(40)[:, None], indices])
    counter.asked.clear()
    again = model.kneighbors()
    np.testing.assert_array_equal(again[0], similarities)
    np.testing.assert_array_equal(again[1], indices)
    np.testing.assert_array_equal(model.kneighbors(n_neighbors=2)[1], indices[:, :2])
    np.testing.assert_array_equal(model.kneighbors(n_neighbors=8)[1][:, :3], indices)
    assert counter.asked == []
    # More is bought where more may be, and only the rest of it.
    assert (model.set_params(budget=10).kneighbors()[0] >= similarities).all()
    assert 0 < len(counter.asked) <= 40 * 2
    assert len(set(counter.unordered)) == len(counter.asked)


def test_neighbours_of_the_training_items_go_on_where_they_were_stopped():
    counter = Counter(symmetric_matrix(40, rank=5))
    stop_after = [10**9]

    def pair(a, b):
        if len(counter.asked) >= stop_after[0]:
            raise KeyboardInterrupt
        return counter.pair(a, b)

    similarity = fp.similarity(pair, kind="pair", symmetric=True)
    model = fp.SimilarityNeighbors(similarity, 3, n_components=6, budget=8, random_state=0)
    model.fit(range(40))
    counter.asked.clear()
    stop_after[0] = 100
    with pytest.raises(KeyboardInterrupt):
        model.kneighbors()
    stop_after[0] = 10**9
    model.kneighbors()
    assert len(counter.asked) <= 40 * 8 + 8  # the row that was under way may begin anew
    assert len(counter.unordered) == len(counter.asked)


def test_with_a_journal_the_same_new_items_are_free_the_second_time(tmp_path):
    counter = Counter(symmetric_matrix(40, rank=5))
    similarity = counter.similarity("pair", version="1")
    model = fp.SimilarityClassifier(
        similarity, 3, n_components=6, budget=8, random_state=0, journal=tmp_path / "paid"
    ).fit(range(30), np.arange(30) % 2)
    labels = model.predict(range(30, 40))
    counter.asked.clear()
    shares = model.predict_proba(range(30, 40))
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], labels)
    # A journal is trusted after a few of its values were compared.
    assert len(counter.asked) <= 8


@pytest.mark.parametrize("weights", ["uniform", "similarity"])
def test_votes_are_those_of_scikit_learn(weights):
    x, which = points()
    old, new = x[:60], x[60:]
    theirs = KNeighborsClassifier(
        7, weights="uniform" if weights == "uniform" else lambda d: np.exp(-0.5 * d**2)
    ).fit(old, which[:60])
    ours = fp.SimilarityClassifier(
        RBF, 7, weights=weights, n_components=10, budget=60, random_state=0
    ).fit(old, which[:60])
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert ours.score(new, which[60:]) == theirs.score(new, which[60:])


def test_weights_of_ones_own_and_wrong_ones():
    x, which = points(40)
    squared = fp.SimilarityClassifier(
        RBF, 5, weights=np.square, n_components=8, budget=40, random_state=0
    ).fit(x, which)
    similarities, indices = squared.kneighbors(x)
    first = [sum(similarities[0, which[indices[0]] == c] ** 2) for c in range(3)]
    np.testing.assert_allclose(squared.predict_proba(x)[0], np.array(first) / sum(first))
    with pytest.raises(UnknownNameError, match='Did you mean "uniform"'):
        fp.SimilarityClassifier(RBF, weights="unifrom").fit(x, which)
    with pytest.raises(InputError, match="numbers below 0"):
        squared.set_params(weights=np.negative).predict(x)


def test_items_that_are_far_from_everyone_get_the_usual_label():
    matrix = np.eye(6) - 1.0
    model = fp.SimilarityClassifier(
        fp.Precomputed(matrix), 2, weights="similarity", n_components=3, random_state=0
    ).fit(range(5), ["a", "a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([5]), [[0.6, 0.4]])


def test_texts_and_their_labels_in_a_grid():
    words = [s + e for s in "cat dog bird fish bear wolf".split() for e in ("", "s", "ed", "er")]
    labels = [word[:3] for word in words]
    model = fp.SimilarityClassifier(fp.StringSimilarity(), 1, n_components=12, random_state=0)
    assert cross_val_score(model, words, labels, cv=4).mean() > 0.9
    grid = {"n_neighbors": [1, 3], "similarity__scorer": ["levenshtein", "jaro_winkler"]}
    search = GridSearchCV(model, grid, cv=4).fit(words, labels)
    assert search.predict(["cats!", "wolfers"]).tolist() == ["cat", "wol"]


def test_more_neighbours_than_items_are_refused():
    x, which = points(10)
    model = fp.SimilarityClassifier(RBF, 11, random_state=0).fit(x, which)
    with pytest.raises(InputError, match="n_neighbors is 11, and there are 10 training items"):
        model.predict(x)
    for name in ("n_neighbors", "n_components", "budget"):
        with pytest.raises(InputError, match=f"{name} is 0"):
            fp.SimilarityNeighbors(RBF).set_params(**{name: 0}).fit(x)


def test_a_pair_without_a_value_has_no_vote():
    def unwilling(a, b):
        if {a, b} == {3, 29}:
            raise ConnectionError
        return 1.0 / (1 + abs(a - b))

    similarity = fp.similarity(unwilling, kind="pair", symmetric=True, on_error="skip")
    model = fp.SimilarityNeighbors(similarity, 20, n_components=5, budget=20, random_state=0)
    similarities, indices = model.fit(range(20)).kneighbors([29])
    assert indices[0, -1] == -1
    assert np.isnan(similarities[0, -1])
    voting = fp.SimilarityClassifier(similarity, 20, n_components=5, budget=20, random_state=0)
    voting.fit(range(20), [k == 3 for k in range(20)])
    np.testing.assert_allclose(voting.predict_proba([29]), [[1.0, 0.0]])
    voting.set_params(weights=lambda similarities: 1 / similarities)  # of nobody, too
    np.testing.assert_allclose(voting.predict_proba([29]), [[1.0, 0.0]])


def test_a_budget_below_the_neighbours_asked_for_is_raised_to_them():
    scores = np.random.default_rng(0).random((30, 30))
    both = fp.Precomputed(scores, symmetric=False).symmetrized()
    model = fp.SimilarityNeighbors(both, 6, n_components=5, budget=1, random_state=0).fit(range(20))
    similarities, indices = model.kneighbors(range(20, 30))
    mean = (scores + scores.T) / 2
    np.testing.assert_allclose(similarities, mean[np.arange(20, 30)[:, None], indices])


def test_a_neighbour_that_is_unlike_has_no_vote():
    scores = np.array([[1.0, 0.0, 0.1], [0.0, 1.0, -0.9], [0.1, -0.9, 1.0]])
    model = fp.SimilarityClassifier(
        fp.Precomputed(scores), 2, weights="similarity", n_components=2, budget=2, random_state=0
    ).fit([0, 1], ["like", "unlike"])
    assert model.predict_proba([2]).tolist() == [[1.0, 0.0]]


def test_tags_say_whether_items_are_texts_or_vectors():
    from sklearn.utils import get_tags

    for similarity, vectors in ((RBF, True), (fp.StringSimilarity(), False)):
        told = get_tags(fp.SimilarityNeighbors(similarity)).input_tags
        assert (told.two_d_array, told.sparse, told.string) == (vectors, vectors, not vectors)
