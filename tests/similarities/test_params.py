"""Parameters of similarities by name, as scikit-learn's searches set them; γ costs no distance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.transport.ground import Ground

WORDS = ["ape", "monkey", "lemur", "car", "van", "bus", "red", "blue"]
VECTORS = fp.WordVectors(WORDS, np.random.default_rng(0).normal(size=(8, 5)))


def texts(count):
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(WORDS, 4)) for _ in range(count)]


@pytest.fixture
def distances(monkeypatch):
    """Count distances that are really computed."""
    counted = []
    for name, size in (("block", lambda a, b: len(a) * len(b)), ("aligned", lambda a, _: len(a))):
        original = getattr(Ground, name)

        def counting(self, left, right, *rest, original=original, size=size):
            counted.append(size(left, right))
            return original(self, left, right, *rest)

        monkeypatch.setattr(Ground, name, counting)
    return counted


@pytest.mark.parametrize(
    ("similarity", "name", "value"),
    [
        (fp.WordMover(VECTORS, gamma=0.5, stop_words=["red"]), "gamma", 2.0),
        (fp.WordMover(VECTORS, gamma=0.5), "metric", "cosine"),
        (fp.VectorSimilarity("rbf", gamma=0.5), "gamma", 2.0),
        (fp.VectorSimilarity("polynomial"), "degree", 2),
        (fp.StringSimilarity("jaro"), "scorer", "osa"),
        (fp.RecordSimilarity({"a": "jaro"}), "missing", 0.5),
    ],
)
def test_a_copy_with_another_parameter_is_another_similarity(similarity, name, value):
    before = similarity.fingerprint
    copied = clone(similarity)
    assert copied.fingerprint == before
    assert copied.set_params(**{name: value}) is copied
    assert copied.get_params()[name] == value
    assert copied.fingerprint != before
    assert similarity.fingerprint == before
    made = type(similarity)(**(similarity.get_params() | {name: value}))
    assert made.fingerprint == copied.fingerprint


def test_an_unknown_parameter_is_refused():
    with pytest.raises(InputError, match="gama"):
        fp.WordMover(VECTORS).set_params(gama=1.0)
    with pytest.raises(InputError):
        fp.WordMover(VECTORS).set_params(gamma=-1.0)


def test_another_gamma_finds_the_distances_of_the_first(tmp_path, distances):
    items = texts(30)
    exact = fp.Oracle(items, fp.WordMover(VECTORS, gamma=0.5)).columns(range(6))
    distances.clear()
    columns = {}
    for gamma in (1.0, 0.5):
        oracle = fp.Oracle(items, fp.WordMover(VECTORS, gamma=gamma), journal=tmp_path)
        columns[gamma] = oracle.columns(range(6))
        if gamma == 1.0:
            price = sum(distances)
    assert sum(distances) == price + 3  # those are compared with what was written
    assert np.array_equal(columns[0.5], exact)  # to the last bit
    assert not np.array_equal(columns[1.0], exact)


def test_the_same_bag_of_words_is_the_same_document(tmp_path, distances):
    silent = fp.Journal(tmp_path, check=0)
    fp.Oracle(["an ape", "a car", "red"], fp.WordMover(VECTORS), journal=silent).columns([0])
    distances.clear()
    changed = [["car"], ["red"], ["ape"], ["ape"]]
    split = fp.WordMover(VECTORS, tokenizer=lambda text: text.split())
    fp.Oracle(changed, split, journal=silent).columns([2])
    assert sum(distances) == 0
    # Weights that depend on the whole corpus are part of what a document is.
    fp.Oracle(["ape car", "ape", "ape"], fp.WordMover(VECTORS), journal=silent).columns([0])
    distances.clear()
    weighted = fp.WordMover(VECTORS, weights="tfidf")
    fp.Oracle(["ape car", "ape", "ape"], weighted, journal=silent).columns([0])
    assert sum(distances) == 1


def test_a_grid_search_pays_for_distances_once(tmp_path, distances):
    items = texts(60)
    labels = [("ape" in text) or ("monkey" in text) for text in items]

    def searched(gammas, sizes):
        features = fp.SimilarityFeatures(
            fp.WordMover(VECTORS),
            random_state=0,
            method="nystrom",
            journal=fp.Journal(tmp_path / f"{len(gammas)}", check=0),
        )
        pipeline = make_pipeline(features, LogisticRegression())
        grid = {
            "similarityfeatures__similarity__gamma": gammas,
            "similarityfeatures__n_components": sizes,
        }
        distances.clear()
        search = GridSearchCV(pipeline, grid, cv=3, refit=False).fit(items, labels)
        return search, sum(distances)

    _, once = searched([1.0], [10])
    search, thrice = searched([0.3, 1.0, 3.0], [5, 10])
    # Blocks of five landmarks and of ten share their pairs, but for one or two at their seams.
    assert abs(thrice - once) < 0.01 * once
    assert len(search.cv_results_["params"]) == 6
    scores = search.cv_results_["mean_test_score"]
    plain = make_pipeline(
        fp.SimilarityFeatures(
            fp.WordMover(VECTORS, gamma=3.0), 10, method="nystrom", random_state=0
        ),
        LogisticRegression(),
    )
    (alone,) = (
        GridSearchCV(plain, {}, cv=3, refit=False).fit(items, labels).cv_results_["mean_test_score"]
    )
    assert scores[-1] == alone


@pytest.mark.parametrize("method", ["auto", "nystrom"])
def test_a_grid_of_gammas_and_sizes_costs_the_largest_size_once_for_each_fold(
    tmp_path, distances, method
):
    items = texts(60)
    labels = [("ape" in text) or ("monkey" in text) for text in items]

    def searched(gammas, sizes, journal):
        features = fp.SimilarityFeatures(
            fp.WordMover(VECTORS), random_state=0, method=method, journal=journal
        )
        grid = {
            "similarityfeatures__similarity__gamma": gammas,
            "similarityfeatures__n_components": sizes,
        }
        distances.clear()
        search = GridSearchCV(make_pipeline(features, LogisticRegression()), grid, cv=3)
        search.fit(items, labels)
        return search, sum(distances)

    # One gamma, one size, nothing remembered: three folds and the refit.
    _, once = searched([1.0], [16], None)
    search, all_of_it = searched(
        [0.1, 0.3, 1.0, 3.0, 10.0], [4, 8, 16], fp.Journal(tmp_path, check=0)
    )
    assert len(search.cv_results_["params"]) == 15
    assert all_of_it <= once


def test_a_parameter_that_is_set_by_hand_is_part_of_the_fingerprint():
    vectors = fp.VectorSimilarity("rbf", gamma=1.0)
    vectors.gamma = 9.0
    assert vectors.fingerprint == fp.VectorSimilarity("rbf", gamma=9.0).fingerprint
    assert vectors.identity == fp.VectorSimilarity("rbf", gamma=9.0).identity
    words = fp.WordMover(VECTORS, gamma=1.0)
    words.gamma = 9.0
    assert words.fingerprint == fp.WordMover(VECTORS, gamma=9.0).fingerprint


@pytest.mark.parametrize("parameters", [{1: 2, "a": 3}, {(1, 2): 3}, {"a": {1: 2, "b": 3}}])
def test_parameters_that_no_file_can_hold_are_refused(parameters):
    own = fp.similarity(min, kind="pair", symmetric=True, name="own", parameters=parameters)
    with pytest.raises(InputError, match=r"parameters of .* 'own'"):
        fp.approximate(range(9), own, landmarks=2)
