"""The scikit-learn face: its own checks, and ours."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
from examples import Counter, symmetric_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fewpairs as fp
from fewpairs.oracle.journal.folder import LOCK
from fewpairs.oracle.journal.lock import Lock

RBF = fp.VectorSimilarity("rbf", gamma=0.5)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.LandmarksCutWarning")
@parametrize_with_checks(
    [
        fp.SimilarityFeatures(RBF, n_components=4, random_state=0),
        fp.SimilarityFeatures(fp.VectorSimilarity("sigmoid"), 5, method="sms", random_state=0),
        fp.SimilarityFeatures(fp.VectorSimilarity("cosine"), 6, method="sicur", random_state=0),
        fp.FactoredAgglomerative(2, similarity=RBF, landmarks=8, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "method", ["auto", "nystrom", "sms", "sms-rescaled", "skeleton", "sicur", "stacur"]
)
def test_fit_transform_is_transform_row_by_row_or_at_once(method):
    x = np.random.default_rng(0).normal(size=(50, 4))
    features = fp.SimilarityFeatures(
        fp.VectorSimilarity("sigmoid"), 10, method=method, random_state=0
    )
    fitted = features.fit_transform(x)
    assert np.allclose(features.transform(x), fitted, atol=1e-9 * np.abs(fitted).max())
    one_by_one = np.vstack([features.transform(x[i : i + 1]) for i in range(50)])
    assert np.allclose(one_by_one, fitted, atol=1e-9 * np.abs(fitted).max())
    assert fitted.shape[1] <= 10
    assert len(features.get_feature_names_out()) == fitted.shape[1]


def test_inner_products_approximate_the_similarity():
    x = np.random.default_rng(0).normal(size=(60, 3))
    smooth = fp.VectorSimilarity("rbf", gamma=0.05)
    z = fp.SimilarityFeatures(smooth, 40, method="nystrom", random_state=0).fit_transform(x)
    exact = fp.Oracle(x, smooth).block(range(60), range(60))
    assert np.abs(z @ z.T - exact).max() < 0.01


def test_signed_features_carry_the_negative_part():
    counter = Counter(symmetric_matrix(40, rank=6))
    features = fp.SimilarityFeatures(
        counter.similarity("pair"), 20, method="nystrom", psd=False, random_state=0
    )
    z = features.fit_transform(range(40))
    assert np.allclose((z * features.signature_) @ z.T, counter.matrix, atol=1e-8)
    assert -1 in features.signature_


def test_transform_costs_landmarks_for_each_item():
    counter = Counter(symmetric_matrix(40))
    features = fp.SimilarityFeatures(counter.similarity("pair"), 7, random_state=0).fit(range(30))
    assert features.evaluations_ == len(counter.asked)
    assert 30 * 7 - 21 <= features.evaluations_ <= 1.2 * (30 * 7 - 21)
    counter.asked.clear()
    features.transform(range(30, 40))
    assert len(counter.asked) == 10 * 7


def test_strings_in_a_pipeline_with_a_grid():
    words = [
        stem + end
        for stem in "cat dog bird fish bear wolf".split()
        for end in ("", "s", "ed", "er")
    ]
    labels = [i // 4 for i in range(24)]
    model = make_pipeline(
        fp.SimilarityFeatures(fp.StringSimilarity(), 12, random_state=0),
        LogisticRegression(C=100.0),
    )
    search = GridSearchCV(model, {"similarityfeatures__n_components": [6, 12]}, cv=4)
    search.fit(words, labels)
    assert search.best_score_ > 0.7
    assert search.predict(["cats", "wolfer"]).tolist() == [0, 5]


def test_set_output_and_columns_of_frames():
    words = pd.Series(["ape", "apes", "bee", "bees"])
    features = fp.SimilarityFeatures(fp.StringSimilarity(), 2, random_state=0).set_output(
        transform="pandas"
    )
    frame = features.fit_transform(words)
    assert list(frame.columns) == list(features.get_feature_names_out())


def test_clone_does_not_copy_a_matrix():
    features = fp.SimilarityFeatures(fp.Precomputed(symmetric_matrix(30)), 5)
    assert clone(features).similarity.matrix is features.similarity.matrix


def test_a_method_without_landmarks_is_refused():
    features = fp.SimilarityFeatures(
        fp.Precomputed(np.eye(9)), 3, method="optimal", options={"allow_all_pairs": True}
    )
    with pytest.raises(ValueError, match="landmarks"):
        features.fit(range(9))


class Encoder:
    """Vectors of items that are numbers of rows of a table."""

    def __init__(self, table):
        self.table = table

    def encode(self, items):
        return self.table[np.asarray(items)]


def guided_setting():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 16))[rng.integers(0, 10, 260)] + 0.7 * rng.normal(size=(260, 16))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    matrix = 0.5 * x @ x.T + 0.8 * (x @ x.T) ** 2
    sim = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=True)
    return x, matrix, sim


def test_a_guide_makes_better_features_of_old_and_new_items():
    x, matrix, sim = guided_setting()
    old, new = np.arange(200), np.arange(200, 260)
    off = {}
    for name, guide in (("none", None), ("encoder", Encoder(x))):
        features = fp.SimilarityFeatures(sim, 40, guide=guide, random_state=0)
        z = features.fit_transform(old)
        assert z.shape[1] <= 40
        assert np.allclose(features.transform(old), z, atol=1e-8 * np.abs(z).max())
        both = np.vstack([z, features.transform(new)])
        apart = ~np.eye(260, dtype=bool)
        off[name] = np.linalg.norm((both @ both.T - matrix)[apart])
    assert features.matrix_.source.guide is not None
    assert off["encoder"] < 0.8 * off["none"]


def test_an_array_as_a_guide_serves_the_items_that_it_was_made_for():
    x, _, sim = guided_setting()
    by_array = fp.SimilarityFeatures(sim, 40, guide=x[:200], random_state=0)
    by_encoder = fp.SimilarityFeatures(sim, 40, guide=Encoder(x), random_state=0)
    z = by_array.fit_transform(np.arange(200))
    assert np.array_equal(z, by_encoder.fit_transform(np.arange(200)))
    with pytest.raises(fp.errors.NotAttachedError):
        by_array.transform(np.arange(200, 210))


def test_a_fit_waits_for_another_that_writes_to_the_same_journal(tmp_path):
    words = [f"word {k % 7} of {k}" for k in range(30)]
    features = fp.SimilarityFeatures(
        fp.StringSimilarity(), 5, random_state=0, journal=tmp_path, method="nystrom"
    )
    alone = features.fit_transform(words)
    other = Lock(tmp_path / LOCK)
    other.acquire(0)
    done = threading.Timer(0.3, other.release)
    done.start()
    np.testing.assert_array_equal(features.fit_transform(words), alone)
    done.join()
