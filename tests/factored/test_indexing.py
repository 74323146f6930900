"""K[…] reads what NumPy would read from the dense matrix, or refuses with our error."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import PositionError

X = np.random.default_rng(0).normal(size=(9, 2))
RBF = fp.VectorSimilarity("rbf")
MATRICES = [
    fp.approximate(X, RBF, landmarks=3, random_state=0),
    fp.approximate(X, RBF, landmarks=3, known=None, random_state=0),
    fp.approximate(X, RBF, others=X[:9], landmarks=3, random_state=0),
]
SOME = np.arange(9) % 3 == 0
NONE = np.zeros(9, dtype=bool)


class Four:
    def __index__(self):
        return 4

    def __repr__(self):
        return "Four()"


KEYS = [
    0,
    -1,
    np.int8(-3),
    np.uint64(8),
    Four(),
    slice(2, 7, 2),
    slice(None, None, -1),
    slice(5, 2),
    [1, 2],
    [-1, -9],
    [],
    [[1, 2], [3, 4]],
    [[]],
    (3, 4),
    range(3),
    np.array([1, -2], dtype=np.int8),
    np.array([], dtype=int),
    np.arange(8).reshape(2, 2, 2),
    SOME,
    NONE,
    ~NONE,
    SOME.tolist(),
    ...,
    (...,),
    (),
    (..., 3),
    (3, ...),
    (3, 4, ...),
    (..., slice(2)),
    (0, slice(None)),
    (slice(None), 0),
    (slice(1, 4), slice(2, 9, 3)),
    (slice(1, 4), [[1, 2], [3, 4], [5, 6]]),
    ([[1, 2], [3, 4], [5, 6]], slice(1, 5)),
    ([1, 2], [3, -4]),
    ([[1], [2]], [3, 4]),
    (1, [2, 3]),
    ([], []),
    (slice(None), []),
    ([], slice(None)),
    (NONE, slice(None)),
    (SOME, SOME),
    (NONE, NONE),
    (SOME, 1),
    np.ix_([1, 2], [3, 4, 5]),
    np.ix_(SOME, NONE),
    np.outer(SOME, ~SOME),
    np.zeros((9, 9), dtype=bool),
    (np.outer(SOME, SOME), ...),
]


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key!r:.40}")
def test_what_numpy_reads_is_read(matrix, key):
    expected = matrix.to_dense()[key]
    found = matrix[key]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "key",
    [
        9,
        -10,
        [0, 9],
        2**70,
        1.0,
        [1.0],
        np.empty(0),
        "a",
        ["a"],
        True,
        SOME[:5],
        NONE[:0],
        np.zeros((9, 8), dtype=bool),
        [[1, 2], [3]],
        (1, 2, 3),
        (..., ...),
        (1, 2, ..., 3),
        ([1, 2], [3, 4, 5]),
        (None, 1),
        None,
        pytest.param(object(), id="an object"),
        {"a": 1},
        (np.zeros((9, 9), dtype=bool), 1),
    ],
    ids=lambda key: f"{key!r:.40}",
)
def test_everything_else_is_our_error(key):
    with pytest.raises(PositionError) as caught:
        MATRICES[0][key]
    assert isinstance(caught.value, IndexError)
    assert len(str(caught.value).splitlines()) == 3


def test_neighbours_are_those_of_one_item():
    assert MATRICES[0].nearest(np.int8(-1), k=2).indices.shape == (2,)
    for index in ([1, 2], SOME, "a", 9):
        with pytest.raises(PositionError):
            MATRICES[0].nearest(index)
