"""What a stopped command keeps: found again by the same items and similarity, by nobody else."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.oracle.keeping import keep, restore

N = 20


def asked(symmetric=True, items=None, name="counter", **more):
    """An oracle, and the matrix that counts what it asks for."""
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(N)
    counter = Counter(matrix)
    similarity = fp.similarity(counter.pair, kind="pair", symmetric=symmetric, name=name, **more)
    return fp.Oracle(range(N) if items is None else items, similarity), counter


@pytest.mark.parametrize("symmetric", [True, False])
def test_all_that_was_evaluated_comes_back(tmp_path, symmetric):
    oracle, counter = asked(symmetric)
    oracle.columns([3])
    oracle.rows([4])
    oracle.entries([1, 2], [7, 8])
    oracle.both_orders(np.array([5]), np.array([6]))
    assert keep(oracle, tmp_path / "kept", {})
    again, fresh = asked(symmetric)
    restore(again, tmp_path / "kept", {})
    assert again.evaluations == oracle.evaluations == len(counter.asked)
    np.testing.assert_array_equal(again.columns([3]), counter.matrix[:, [3]])
    np.testing.assert_array_equal(again.rows([4]), counter.matrix[[4]])
    again.entries([1, 2], [7, 8])
    again.both_orders(np.array([5]), np.array([6]))
    assert not fresh.asked


def test_where_nothing_was_evaluated_nothing_is_kept(tmp_path):
    assert not keep(asked()[0], tmp_path / "kept", {})
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("other", "inputs"),
    [
        ({"items": range(1, N)}, {"vectors": "a"}),
        ({"items": [*range(1, N), 0]}, {"vectors": "a"}),
        ({"name": "another"}, {"vectors": "a"}),
        ({"version": "2"}, {"vectors": "a"}),
        ({"symmetric": False}, {"vectors": "a"}),
        ({}, {"vectors": "b"}),
        ({}, {}),
    ],
)
def test_evaluations_of_anything_else_are_refused(tmp_path, other, inputs):
    oracle, _ = asked()
    oracle.columns([3])
    keep(oracle, tmp_path / "kept", {"vectors": "a"})
    with pytest.raises(InputError, match="other items, or by another similarity"):
        restore(asked(**other)[0], tmp_path / "kept", inputs)
