"""Word Mover's Embedding: its formula, its convergence, its manners."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import fewpairs as fp
from fewpairs.sketches.random_documents import features_needed


def table() -> fp.WordVectors:
    rng = np.random.default_rng(0)
    return fp.WordVectors([f"w{k}" for k in range(50)], rng.normal(size=(50, 4)))


def texts(count: int) -> list[str]:
    rng = np.random.default_rng(1)
    return [
        " ".join(f"w{k}" for k in rng.integers(0, 50, rng.integers(1, 9))) for _ in range(count)
    ]


def test_features_are_their_formula():
    items = texts(12)
    model = fp.WordMoverEmbedding(table(), n_components=30, max_words=4, gamma=0.3, random_state=0)
    features = model.fit_transform(items)
    drawn = model.random_documents_
    sizes = np.diff(drawn.starts)
    assert set(sizes.tolist()) <= {1, 2, 3, 4}
    vectors = table()
    used = vectors.array
    assert drawn.vectors.array.min() >= used.min()
    assert drawn.vectors.array.max() <= used.max()
    documents = fp.Documents.of(items, vectors)
    for i in (0, 5):
        for k in (0, 17):
            mine, theirs = documents[i], drawn[k]
            cost = np.linalg.norm(
                used[mine.words][:, None] - drawn.vectors.array[theirs.words], axis=2
            )
            exact = fp.emd(mine.weights, theirs.weights, cost)
            assert features[i, k] == pytest.approx(np.exp(-0.3 * exact) / np.sqrt(30), rel=1e-10)
    np.testing.assert_array_equal(model.transform(items), features)
    assert model.get_feature_names_out().shape == (30,)


def test_inner_products_converge():
    items = texts(30)

    def kernel(count, seed):
        model = fp.WordMoverEmbedding(table(), count, gamma=0.2, random_state=seed)
        features = model.fit_transform(items)
        return features @ features.T

    best = kernel(40_000, 0)
    errors = [
        np.mean([np.linalg.norm(kernel(count, seed) - best) for seed in range(1, 6)])
        for count in (64, 1024)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.35)  # 1/√R


def test_centred_words_lie_around_the_mean():
    shifted = fp.WordVectors(table().words, table().array + 10)
    model = fp.WordMoverEmbedding(shifted, 400, drawing="centred-box", random_state=0).fit(
        texts(60)
    )
    spread = np.ptp(shifted.array)
    drawn = model.random_documents_.vectors.array
    np.testing.assert_allclose(drawn.mean(axis=0), 10, atol=0.5)
    assert np.ptp(drawn, axis=0).max() <= spread


def test_random_words_can_be_words_that_occur():
    model = fp.WordMoverEmbedding(table(), 300, drawing="words", random_state=0)
    items = ["w3 w3 w3 w7", "w3 w5", "w3 w9"]
    drawn = model.fit(items).random_documents_.vectors.array
    share = {k: (drawn == table()[f"w{k}"]).all(axis=1).mean() for k in (3, 5, 7, 9)}
    assert sum(share.values()) == pytest.approx(1)
    assert share[3] == pytest.approx(0.5, abs=0.06)  # three of six words, each counted once a text


@pytest.mark.parametrize("gamma", ["scale", 0.2])
@pytest.mark.parametrize("wanted", [0.2, 0.05])
def test_the_number_of_features_follows_from_the_error_wanted(gamma, wanted):
    """The squared error of a kernel is a mean over draws: 20 of them tell it to a few per cent."""
    items = texts(40)
    chosen = fp.WordMoverEmbedding(table(), wanted, gamma=gamma, random_state=0).fit(items)
    count = len(chosen.random_documents_)
    assert chosen.get_feature_names_out().shape == (count,)
    # The same means and gamma for all draws, so that they have the same kernel.
    many = fp.WordMoverEmbedding(table(), 40_000, gamma=0.2, random_state=1).fit(items)
    rows = many.transform(items) * np.sqrt(40_000)
    if gamma == "scale":
        distances = -np.log(rows) / 0.2
        rows = np.expm1(chosen.gamma_ * (distances.mean(axis=0) - distances))
    exact = rows @ rows.T / 40_000
    parts = [rows[:, b : b + count] for b in range(0, 20 * count, count)][: 40_000 // count]
    errors = [np.linalg.norm(part @ part.T / count - exact) for part in parts]
    found = np.sqrt(np.mean(np.square(errors))) / np.linalg.norm(exact)
    assert found == pytest.approx(wanted, rel=0.3)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.ConstantFeaturesWarning")
@pytest.mark.parametrize("gamma", [20.0, 1000.0])
def test_a_number_that_a_pilot_cannot_tell_is_refused(gamma):
    model = fp.WordMoverEmbedding(table(), 0.1, gamma=gamma, random_state=0)
    with pytest.raises(fp.errors.InputError, match=r"cannot be told|are 0"):
        model.fit(texts(30))


def test_a_pilot_is_trusted_unless_the_kernel_is_faint_or_one_feature_makes_it():
    assert features_needed(np.eye(64) + 0.05, 0.1) > 1
    with pytest.raises(fp.errors.InputError, match="cannot be told from 64"):
        features_needed(np.eye(64) + 0.03, 0.1)
    equal = np.ones((4, 64))
    assert features_needed(equal, 0.1) == 1
    equal[:, 7] *= 5
    with pytest.raises(fp.errors.InputError, match="cannot be told from 64"):
        features_needed(equal, 0.1)


def test_random_documents_that_do_not_fit_are_refused_before_they_are_drawn():
    model = fp.WordMoverEmbedding(table(), 200_000, random_state=0)
    with fp.max_memory("10 MB"), pytest.raises(fp.errors.MemoryCeilingError, match="200,000"):
        model.fit(texts(10))
    assert not hasattr(model, "random_documents_")


def test_empty_documents_get_the_formulas_limit():
    model = fp.WordMoverEmbedding(table(), 10, gamma=0.5, random_state=0).fit(texts(5))
    features = model.transform(["", "nothing known"])
    both = table().array, model.random_documents_.vectors.array
    far = 2 * max(np.linalg.norm(array, axis=1).max() for array in both)
    np.testing.assert_allclose(features, np.exp(-0.5 * far) / np.sqrt(10))


def test_no_document_is_farther_than_an_empty_one():
    """In many dimensions the corners of the random words' box are far beyond all words."""
    rng = np.random.default_rng(0)
    wide = fp.WordVectors([f"w{k}" for k in range(50)], rng.normal(size=(50, 300)))
    items = [" ".join(f"w{k}" for k in rng.integers(0, 50, 5)) for _ in range(20)]
    features = fp.WordMoverEmbedding(wide, 20, gamma=0.05, random_state=0).fit(items)
    features = features.transform([*items, ""])
    assert (features[:-1] > features[-1]).all()


def test_it_works_in_a_pipeline_and_threads_do_not_matter():
    items = texts(40)
    labels = [t.split()[0] < "w3" for t in items]
    model = make_pipeline(fp.WordMoverEmbedding(table(), 64, random_state=0), LinearSVC())
    assert clone(model).fit(items, labels).score(items, labels) > 0.5
    one = fp.WordMoverEmbedding(table(), 64, random_state=0).fit_transform(items)
    two = fp.WordMoverEmbedding(table(), 64, random_state=0, n_jobs=2).fit_transform(items)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 0},
        {"max_words": 1.5},
        {"gamma": -1},
        {"gamma": "auto"},
        {"empty": "drop"},
        {"n_components": 0.0},
        {"n_components": 1.5},
        {"drawing": "sphere"},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(fp.errors.InputError):
        fp.WordMoverEmbedding(table(), **options).fit(texts(3))


# ------------------------------------------------------------------ the default scale


def two_topics(count: int, size: float) -> tuple[fp.WordVectors, list[str], list[int]]:
    """Texts of two topics over unnormalised vectors in 60 dimensions."""
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(2, 60)), 40, axis=0)
    words = [f"w{k}" for k in range(80)]
    vectors = fp.WordVectors(words, size * (centres + rng.normal(size=(80, 60))))
    labels = rng.permutation(np.arange(count) % 2)
    texts = [
        " ".join(f"w{k}" for k in 40 * label + rng.integers(0, 40, rng.integers(3, 9)))
        for label in labels
    ]
    return vectors, texts, labels.tolist()


def test_a_default_pipeline_learns_from_vectors_of_any_length():
    """With γ = 1 the features were 1e-10, and every text was of the majority class."""
    for size in (1.0, 1e-3, 1e3, 1e100):
        vectors, items, labels = two_topics(200, size)
        model = make_pipeline(
            fp.WordMoverEmbedding(vectors, 64, random_state=0), LogisticRegression()
        )
        assert model.fit(items[:100], labels[:100]).score(items[100:], labels[100:]) > 0.95


def test_default_features_do_not_depend_on_the_length_of_vectors():
    vectors, items, _ = two_topics(30, 1.0)
    features = fp.WordMoverEmbedding(vectors, 20, random_state=0).fit_transform(items)
    assert 0.01 < features.std() < 1
    assert np.abs(features).max() < 10
    for size in (2.0**-30, 1e-3, 1e3, 1e100):
        scaled, _, _ = two_topics(30, size)
        again = fp.WordMoverEmbedding(scaled, 20, random_state=0).fit_transform(items)
        np.testing.assert_allclose(again, features, rtol=1e-9, atol=1e-12)


def test_default_features_are_their_formula():
    vectors, items, _ = two_topics(30, 1.0)
    model = fp.WordMoverEmbedding(vectors, 20, random_state=0)
    features = model.fit_transform(items)
    papers = fp.WordMoverEmbedding(vectors, 20, gamma=0.01, random_state=0).fit_transform(items)
    distances = -np.log(papers * np.sqrt(20)) / 0.01
    np.testing.assert_allclose(model.mean_distances_, distances.mean(axis=0))
    assert model.gamma_ == pytest.approx(0.15 / np.sqrt(distances.var(axis=0).mean()))
    expected = np.expm1(-model.gamma_ * (distances - model.mean_distances_))
    np.testing.assert_allclose(features, expected, atol=1e-9)
    assert (model.transform([""]) > -1.000001).all()


def test_features_that_tell_nothing_apart_are_warned_of():
    vectors, items, _ = two_topics(30, 1.0)
    with pytest.warns(fp.errors.ConstantFeaturesWarning, match='gamma="scale"'):
        fp.WordMoverEmbedding(vectors, 20, gamma=1.0, random_state=0).fit(items)
    with pytest.warns(fp.errors.ConstantFeaturesWarning, match="Check that documents"):
        model = fp.WordMoverEmbedding(vectors, 20, random_state=0).fit([items[0]] * 5)
    assert np.isfinite(model.transform(items)).all()
    fp.WordMoverEmbedding(vectors, 20, random_state=0).fit(items[:1])  # one alone has no equals


@pytest.mark.parametrize("factor", [2.0**450, 2.0**-450, 1e300, 1e-300])
def test_vectors_of_any_size_give_the_same_features(factor):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(30)]
    array = rng.normal(size=(30, 4))
    texts = [" ".join(rng.choice(words, 6)) for _ in range(20)]
    ones, others = (
        fp.WordMoverEmbedding(fp.WordVectors(words, c * array), 8, random_state=0)
        for c in (1.0, factor)
    )
    features = ones.fit_transform(texts)
    np.testing.assert_allclose(others.fit_transform(texts), features, atol=1e-12)
    drawn = others.random_documents_.vectors.array
    np.testing.assert_allclose(drawn / factor, ones.random_documents_.vectors.array, rtol=1e-12)
