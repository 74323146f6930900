"""FactoredAgglomerative: scikit-learn's attributes, and what they mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import fewpairs as fp
from fewpairs.errors import InputError


def matrix(n=80, seed=0, scale=1.0):
    left = np.random.default_rng(seed).normal(size=(n, 4)) * scale
    return fp.FactoredMatrix(left, np.diag([1.0, 1, 1, -0.5]))


@pytest.mark.parametrize("count", [1, 2, 17, 80])
def test_as_many_clusters_as_were_asked_for(count):
    fitted = fp.FactoredAgglomerative(count).fit(matrix())
    dense = 1 - matrix().to_dense()
    np.fill_diagonal(dense, 0)
    other = AgglomerativeClustering(count, metric="precomputed", linkage="average").fit(dense)
    assert adjusted_rand_score(fitted.labels_, other.labels_) == 1
    assert fitted.n_clusters_ == count == len(np.unique(fitted.labels_))
    assert fitted.n_leaves_ == 80
    assert fitted.children_.shape == (79, 2)


def test_the_linkage_matrix_is_one_for_scipy():
    for scale in (1.0, 0.01):  # similarities above 1, and all below
        fitted = fp.FactoredAgglomerative(5).fit(matrix(scale=scale))
        assert is_valid_linkage(fitted.linkage_matrix_)
        assert np.array_equal(fitted.linkage_matrix_[:, 2], fitted.distances_)
        assert np.all(np.diff(fitted.distances_) >= 0)
        assert fitted.distances_.min() >= 0
        assert np.allclose(fitted.top_ - fitted.distances_, fitted.similarities_)
        cut = fcluster(fitted.linkage_matrix_, 5, criterion="maxclust")
        assert adjusted_rand_score(cut, fitted.labels_) == 1
        assert cophenet(fitted.linkage_matrix_).shape == (80 * 79 // 2,)
    assert fitted.top_ == 1


def test_a_threshold_of_similarities_and_of_distances():
    one = fp.FactoredAgglomerative(threshold=0.5).fit(matrix())
    turned = matrix().scaled(np.full(80, -1.0), np.ones(80))
    other = fp.FactoredAgglomerative(threshold=-0.5, small_is_near=True).fit(turned)
    assert np.array_equal(one.labels_, other.labels_)
    assert one.similarities_.min() >= 0.5
    assert np.allclose(one.similarities_, -other.similarities_)
    assert other.distances_.min() >= 0
    assert len(one.children_) == 80 - one.n_clusters_


def test_items_are_compared_by_a_similarity():
    words = ["ape", "apes", "bee", "bees"]
    fitted = fp.FactoredAgglomerative(2, similarity=fp.StringSimilarity(), random_state=0).fit(
        words
    )
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert fitted.fit_predict(words).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "neither of n_clusters and threshold"),
        ({"n_clusters": 2, "threshold": 0.5}, "both of n_clusters and threshold"),
        ({"n_clusters": 0}, "n_clusters is 0"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5"),
        ({"n_clusters": 81}, "81 clusters were asked for of 80 items"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"n_clusters": 2, "linkage": "ward"}, "unknown linkage"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments, message):
    with pytest.raises(fp.errors.InputError, match=message):
        fp.FactoredAgglomerative(**arguments).fit(matrix())


def test_items_without_a_similarity_are_refused():
    with pytest.raises(fp.errors.InputError, match="has no similarity"):
        fp.FactoredAgglomerative(2).fit([[1.0], [2.0]])


def test_distances_are_measured_from_none():
    x = np.array([[0.0], [1.0], [5.0]])
    apart = fp.similarity(
        lambda a, b: float(abs(a - b)[0]), kind="pair", symmetric=True, diagonal=0.0
    )
    K = fp.approximate(x, apart, landmarks=3, random_state=0)
    fitted = fp.FactoredAgglomerative(1, small_is_near=True).fit(K)
    assert fitted.top_ == 0
    assert np.allclose(fitted.distances_, [1.0, 4.5])


def test_too_many_clusters_are_refused_before_anything_is_bought():
    bought = []

    def score(a, b):
        bought.append((a, b))
        return float(a == b)

    similarity = fp.similarity(score, kind="pair", symmetric=True)
    with pytest.raises(InputError, match="61 clusters were asked for of 60 items"):
        fp.FactoredAgglomerative(n_clusters=61, similarity=similarity).fit(list(range(60)))
    assert not bought
