"""Errors go from one process to another as they are."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle

import numpy as np
import pytest
from examples import symmetric_matrix

import fewpairs as fp
from fewpairs import errors

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.FewpairsError)
]


def example(kind):
    if kind is errors.UnknownNameError:
        return kind("method", "nistrom", ["nystrom"], where="of a run")
    if kind is errors.UnknownIdError:
        return kind("sku_1", ["sku-1", "sku-2"])
    if kind is errors.UnknownWordError:
        return kind("shp", 3, ["ship"])
    if kind is errors.MissingExtraError:
        return kind("rapidfuzz", "strings", "a string similarity")
    if issubclass(kind, errors.SimilarityError):
        return kind("what", "why", "fix", pair=(3, 4))
    return kind("what", "why", "fix")


def sent(error, protocol=None):
    return pickle.loads(pickle.dumps(error, protocol))  # noqa: S301 - our own


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_survives_pickling(kind, protocol):
    error = example(kind)
    error.add_note("a note")
    again = sent(error, protocol)
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.args == error.args
    assert vars(again) == vars(error)


def fail(name):
    raise errors.UnknownNameError("method", name, ["nystrom"])


def test_an_error_in_a_pool_arrives():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answer = pool.apply_async(fail, ("nistrom",))
        with pytest.raises(errors.UnknownNameError, match='Did you mean "nystrom"'):
            answer.get(timeout=60)


def fault(similarity):
    with pytest.raises(errors.SimilarityError) as caught:
        fp.approximate(range(30), similarity, landmarks=5, random_state=0)
    return caught.value


def test_the_oracle_goes_along_where_it_can_be_pickled():
    matrix = symmetric_matrix(30)
    matrix[3, 7] = matrix[7, 3] = np.nan
    matrix[:3], matrix[:, :3] = np.nan, np.nan
    error = fault(fp.Precomputed(matrix))
    again = sent(error)
    assert again.pair == error.pair
    assert again.oracle.evaluations == error.oracle.evaluations > 0
    np.testing.assert_array_equal(again.oracle.known().values, error.oracle.known().values)


def test_an_oracle_that_cannot_be_pickled_stays_behind_and_the_error_says_so():
    pytest.importorskip("distributed")  # it pickles all exceptions in its own way, notes apart
    error = fault(fp.similarity(lambda a, b: 1 / (a - b), kind="pair", symmetric=True))
    again = sent(error)
    assert again.oracle is None
    assert "error.oracle is None here" in again.__notes__[-1]
    assert error.oracle is not None
    assert not any("None here" in note for note in error.__notes__)


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("jaro_winkle", ("jaro", "jaro_winkler"), "jaro_winkler"),
        ("colum", ("column", "id"), "column"),
        ("nope", ("indel", "jaro", "ratio"), None),
        (".xlsx", (".tsv", ".csv", ".jsonl"), None),
    ],
)
def test_a_hint_is_given_only_where_it_is_likely(name, known, hint):
    told = str(errors.UnknownNameError("name", name, known))
    assert ("Did you mean" in told) == (hint is not None)
    assert hint is None or f'Did you mean "{hint}"?' in told


def test_what_is_kept_after_a_fault_is_what_was_answered():
    """Ten calls, of which the last raises, are nine answers; no other function is named."""
    asked = []

    def fails(a, b):
        asked.append((a, b))
        if len(asked) == 10:
            raise RuntimeError
        return 1.0

    own = fp.similarity(fails, kind="pair", symmetric=False)
    with pytest.raises(fp.errors.SimilarityError) as caught:
        fp.find_pairs(range(5), own, others=range(6), above=0.5, all_pairs=True)
    (note,) = [note for note in caught.value.__notes__ if "error.oracle" in note]
    assert "The 9 evaluations answered so far are kept" in note
    assert "approximate" not in note
    found = fp.find_pairs(caught.value.oracle, above=0.5, all_pairs=True)
    assert len(found) == 30
    assert len(asked) == 31
