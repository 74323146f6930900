"""The mean of both orders: the same value by every method, nothing lost of the base."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_symmetrized_is_the_mean_in_every_way_of_writing(n, seed):
    counter = Counter(asymmetric_matrix(n, seed))
    for kind in ("pair", "pairs", "block"):
        mean = counter.similarity(kind, symmetric=False).symmetrized()
        found = fp.Oracle(range(n), mean).block(range(n), range(n))
        assert np.allclose(found, (counter.matrix + counter.matrix.T) / 2)


def test_symmetrized_of_symmetric_is_itself():
    sim = fp.VectorSimilarity()
    assert sim.symmetrized() is sim


class Aligned(fp.Similarity):
    """An asymmetric similarity that prefers two sets of equal size."""

    symmetric = False

    def __init__(self, matrix):
        self.matrix = matrix

    def pairs(self, pairs):
        raise AssertionError

    def aligned(self, left, right):
        return self.matrix[left, right]


def test_symmetrized_offers_aligned_where_the_base_does():
    matrix = asymmetric_matrix(6)
    mean = Aligned(matrix).symmetrized()
    found = fp.Oracle(range(6), mean).entries([0, 1, 5], [3, 2, 4])
    assert np.array_equal(found, ((matrix + matrix.T) / 2)[[0, 1, 5], [3, 2, 4]])
    assert fp.Precomputed(matrix).symmetrized().aligned is None


def test_symmetrized_keeps_both_orders_within_the_largest_block():
    matrix = asymmetric_matrix(30)

    class Limited(fp.Similarity):
        symmetric, block_size = False, (20, 9)

        def block(self, left, right):
            assert len(left) <= 20
            assert len(right) <= 9
            return matrix[np.ix_(left, right)]

    found = fp.Oracle(range(30), Limited().symmetrized()).columns(range(11))
    assert np.allclose(found, ((matrix + matrix.T) / 2)[:, :11])


def test_symmetrized_forms_of_two_unnamed_similarities_have_different_fingerprints():
    class One(fp.Similarity):
        symmetric = False

    class Other(fp.Similarity):
        symmetric = False

    assert One().symmetrized().fingerprint == "symmetrized One{}"
    assert Other().symmetrized().fingerprint == "symmetrized Other{}"


def test_symmetrized_can_be_sent_to_another_process():
    mean = fp.Precomputed(asymmetric_matrix(3)).symmetrized()
    again = pickle.loads(pickle.dumps(mean))  # noqa: S301
    assert np.array_equal(again.pairs([(0, 1)]), mean.pairs([(0, 1)]))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_the_mean_of_both_orders_does_not_overflow(dtype, kind):
    largest = {bool: True, np.int8: 100, np.float64: 1.5e308}[dtype]
    functions = {
        "pair": lambda a, b: np.array([largest], dtype=dtype)[0],
        "pairs": lambda pairs: np.full(len(pairs), largest, dtype=dtype),
        "block": lambda left, right: np.full((len(left), len(right)), largest, dtype=dtype),
    }
    mean = fp.similarity(functions[kind], kind=kind, symmetric=False).symmetrized()
    assert np.all(fp.Oracle(range(3), mean).columns([0]) == float(largest))
