"""The scikit-learn face: its own checks, and ours."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from examples import Counter, symmetric_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import fewpairs as fp
from fewpairs.errors import InputError
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
        fp.SimilarityNeighbors(RBF, 3, n_components=8, budget=20, random_state=0),
        fp.SimilarityClassifier(RBF, 3, n_components=20, random_state=0),
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


# ------------------------------------------------------------------ estimators of texts

TEXTS = [
    f"the {a} {b} on the {c}"
    for a in ("cat", "dog")
    for b in ("sat", "ran")
    for c in ("mat", "rug", "car", "bus")
]
TABLE = fp.WordVectors(
    sorted(set(" ".join(TEXTS).split())), np.random.default_rng(0).normal(size=(10, 4))
)
TRANSFORMERS = {
    "features": lambda **o: fp.SimilarityFeatures(
        fp.StringSimilarity("jaro"), random_state=0, method="nystrom", **o
    ),
    "word mover": lambda **o: fp.WordMoverEmbedding(TABLE, random_state=0, **o),
    "distance geometry": lambda **o: fp.DistanceGeometryVectors(min_count=1, **o),
}
OF_VECTORS = {
    "rbf": lambda **o: fp.RBFSketch(0.1, random_state=0, **o),
    "polynomial": lambda **o: fp.PolynomialSketch(random_state=0, **o),
}


@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewerDimensionsWarning")
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_of_texts_keep_the_contract(name):
    """scikit-learn's own checks only run on arrays; these are what they ask, of texts."""
    model = TRANSFORMERS[name](n_components=4)
    assert get_tags(model).input_tags.string
    assert not get_tags(model).input_tags.two_d_array
    with pytest.raises(NotFittedError):
        model.transform(TEXTS)
    params = model.get_params()
    fitted = clone(model).fit(TEXTS)
    assert fitted.get_params().keys() == params.keys()
    assert fitted.n_components == 4
    rows = fitted.transform(TEXTS)
    assert rows.shape == (16, len(fitted.get_feature_names_out()))
    assert rows.shape[1] <= 4
    np.testing.assert_allclose(fitted.fit(TEXTS).transform(TEXTS), rows)  # again
    np.testing.assert_allclose(clone(model).fit_transform(TEXTS), rows, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(TEXTS[::-1]), rows[::-1], atol=1e-9)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(fitted)).transform(TEXTS), rows)  # noqa: S301
    pipeline = make_pipeline(clone(model), LogisticRegression()).fit(TEXTS, [0] * 8 + [1] * 8)
    assert len(pipeline.predict(TEXTS)) == 16


@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewerDimensionsWarning")
@pytest.mark.parametrize("name", [*TRANSFORMERS, *OF_VECTORS])
@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_every_transformer_gives_frames(name, library, frame):
    x = TEXTS if name in TRANSFORMERS else np.random.default_rng(0).normal(size=(16, 3))
    model = (TRANSFORMERS | OF_VECTORS)[name](n_components=4).set_output(transform=library)
    made = model.fit_transform(x)
    assert isinstance(made, frame)
    assert list(made.columns) == list(model.get_feature_names_out())
    if library == "pandas" and name in TRANSFORMERS:
        named = pd.Series(TEXTS, index=[f"t{k}" for k in range(16)])
        assert list(model.fit_transform(named).index) == list(named.index)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("coefficients", ["tuned", "coreset"])
def test_sketches_have_at_most_so_many_components(count, coefficients):
    x = np.random.default_rng(0).normal(size=(60, 5))
    for sketch in (fp.RBFSketch(0.3, count), fp.PolynomialSketch(np.exp, count)):
        sketch.set_params(random_state=0, coefficients=coefficients)
        assert 1 <= sketch.fit_transform(x).shape[1] <= count
    with pytest.raises(InputError, match="n_components is 0"):
        fp.RBFSketch(n_components=0).fit(x)


@pytest.mark.parametrize("senseless", [0, -3, 1.5])
def test_a_number_of_components_that_is_none_is_called_by_its_name(senseless):
    features = fp.SimilarityFeatures(fp.VectorSimilarity("rbf"), n_components=senseless)
    with pytest.raises(fp.errors.InputError, match=r"n_components is"):
        features.fit(np.eye(5))
