"""Masked arrays: what is under a mask is never used, wherever arrays come in."""

from __future__ import annotations

import numpy as np
import pytest
from examples import symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, MaskedError, SimilarityError

VECTORS = np.random.default_rng(0).normal(size=(12, 3))
MATRIX = symmetric_matrix(12)
RBF = fp.VectorSimilarity("rbf")
K = fp.approximate(VECTORS, RBF, landmarks=4, random_state=0)
HALF = np.array([0.5, 0.5])
COSTS = np.array([[0.0, 1.0], [1.0, 0.0]])
CONSTANT = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True)


def masked(array, place=1):
    array = np.ma.masked_array(array, mask=False)
    array[(place,) * array.ndim] = np.ma.masked
    return array


@pytest.mark.parametrize(
    "call",
    [
        lambda: fp.approximate(masked(VECTORS), RBF, landmarks=4),
        lambda: fp.approximate(masked(np.arange(5.0)), CONSTANT),
        lambda: fp.approximate([masked(np.ones(3)), *VECTORS], RBF, landmarks=4),
        lambda: fp.approximate(VECTORS, RBF, others=masked(VECTORS), landmarks=4),
        lambda: fp.approximate(VECTORS, RBF, landmarks=masked(np.arange(4))),
        lambda: fp.Oracle(VECTORS, RBF).columns(masked(np.arange(4))),
        lambda: fp.Precomputed(masked(MATRIX)),
        lambda: fp.WordVectors(["a", "b"], masked(COSTS)),
        lambda: fp.WordVectors({"a": masked(HALF), "b": HALF}),
        lambda: fp.WordVectors(["a", "b"], COSTS).most_similar(masked(HALF)),
        lambda: K.extend(masked(VECTORS)),
        lambda: K.nearest(item=masked(VECTORS[0])),
        lambda: K @ masked(np.ones(12)),
        lambda: masked(np.ones(12)) @ K,
        lambda: K.scaled(masked(np.ones(12)), np.ones(12)),
        lambda: K.scaled(np.ones(12), masked(np.ones(12))),
        lambda: K[masked(np.arange(3))],
        lambda: K.entries(np.arange(3), masked(np.arange(3))),
        lambda: fp.elementwise(np.exp, masked(VECTORS)),
        lambda: fp.RBFSketch().fit(masked(VECTORS)),
        lambda: fp.RBFSketch().fit(VECTORS).transform(masked(VECTORS)),
        lambda: fp.PolynomialSketch().fit(masked(VECTORS)),
        lambda: fp.PolynomialSketch().fit(VECTORS).transform(masked(VECTORS)),
        lambda: fp.SimilarityFeatures(RBF, 4).fit(masked(VECTORS)),
        lambda: fp.SimilarityFeatures(RBF, 4).fit_transform(masked(VECTORS)),
        lambda: fp.SimilarityFeatures(RBF, 4).fit(VECTORS).transform(masked(VECTORS)),
        lambda: fp.emd(masked(HALF), HALF, COSTS),
        lambda: fp.emd(HALF, masked(HALF), COSTS),
        lambda: fp.emd(HALF, HALF, masked(COSTS)),
        lambda: fp.sinkhorn(masked(HALF), HALF, COSTS, reg=1.0),
        lambda: fp.sinkhorn(HALF, HALF, masked(COSTS), reg=1.0),
        lambda: fp.sinkhorn(HALF, HALF, kernel=masked(np.exp(-COSTS))),
        lambda: fp.sinkhorn(HALF, HALF, (masked(COSTS), COSTS), kernel=np.exp(-COSTS)),
        lambda: fp.elementwise(lambda x: np.ma.masked_less(x, 0.5), VECTORS),
    ],
)
def test_masked_values_are_refused_wherever_arrays_come_in(call):
    with pytest.raises(MaskedError, match="masked values"):
        call()


def test_a_masked_item_of_a_list_is_missing():
    with pytest.raises(InputError, match="masked"):
        fp.approximate([1.0, np.ma.masked, 2.0], CONSTANT)


@pytest.mark.parametrize(
    "similarity",
    [
        fp.similarity(lambda a, b: np.ma.masked if a == 3 else 1.0, kind="pair", symmetric=True),
        fp.similarity(
            lambda pairs: np.ma.masked_equal([float(a != 3) for a, _ in pairs], 0.0),
            kind="pairs",
            symmetric=True,
        ),
        fp.similarity(
            lambda a, b: np.ma.masked_equal(1.0 * (np.add.outer(a, b) != 6), 0.0),
            kind="block",
            symmetric=True,
        ),
        fp.similarity(
            lambda pairs: [np.ma.masked if a == 3 else 1.0 for a, _ in pairs],
            kind="pairs",
            symmetric=True,
        ),
    ],
)
def test_a_masked_answer_names_the_pair(similarity):
    with pytest.raises(SimilarityError, match="masked value") as caught:
        fp.approximate(np.arange(12), similarity, landmarks=[3, 5], method="nystrom")
    assert 3 in caught.value.pair
    assert caught.value.oracle.evaluations > 0


def test_arrays_with_nothing_masked_are_arrays():
    plain = np.ma.masked_array(VECTORS, mask=False)
    same = fp.approximate(plain, RBF, landmarks=4, random_state=0)
    np.testing.assert_array_equal(same.to_dense(), K.to_dense())
    assert type(same.source.items.values) is np.ndarray
    assert fp.Precomputed(np.ma.masked_array(MATRIX, mask=False)).symmetric
    for estimator in (
        fp.RBFSketch(random_state=0),
        fp.PolynomialSketch(random_state=0),
        fp.SimilarityFeatures(RBF, 4, random_state=0),
    ):
        features = estimator.fit_transform(VECTORS)
        np.testing.assert_array_equal(estimator.fit_transform(plain), features)
    half, costs = (np.ma.masked_array(array, mask=False) for array in (HALF, COSTS))
    assert fp.emd(half, half, costs) == fp.emd(HALF, HALF, COSTS)
    blurred = fp.sinkhorn(half, half, costs, reg=1.0).cost
    assert blurred == fp.sinkhorn(HALF, HALF, COSTS, reg=1.0).cost
    kernel = np.ma.masked_array(np.exp(-COSTS), mask=False)
    assert type(fp.sinkhorn(half, half, kernel=kernel).plan) is np.ndarray
