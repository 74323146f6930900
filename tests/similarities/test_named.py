"""Similarities by name: made, refused with options they do not take, made again from files."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.similarities import named
from fewpairs.similarities.metrics import METRICS
from fewpairs.similarities.named import named_similarity, saved_similarity
from fewpairs.similarities.strings import SCORERS, Scorer


@pytest.fixture
def vectors(tmp_path):
    words = [f"w{k}" for k in range(9)]
    table = fp.WordVectors(words, np.random.default_rng(0).normal(size=(9, 3)))
    table.save(tmp_path / "v.npz")
    return tmp_path / "v.npz"


@pytest.mark.parametrize("name", [*SCORERS, *METRICS])
def test_every_scorer_and_metric_has_a_name_and_is_made_again(name):
    made = named_similarity(name)
    assert made.name == name
    assert saved_similarity(made.fingerprint).fingerprint == made.fingerprint


@pytest.mark.parametrize(
    "facts", [{}, {"gamma": 0.5}, {"gamma": 2, "coef0": 0.25}, {"coef0": 0.0, "degree": 2}]
)
def test_all_constants_of_a_metric_survive_a_file(facts):
    made = fp.VectorSimilarity("polynomial", **facts)
    assert saved_similarity(made.fingerprint).fingerprint == made.fingerprint


@pytest.mark.parametrize(
    "facts",
    [{}, {"gamma": 3.0, "metric": "cosine"}, {"stop_words": "smart", "normalize": True}],
)
def test_word_mover_is_made_again_with_a_file_of_its_vectors(vectors, facts):
    made = fp.WordMover(fp.WordVectors.load(vectors), **facts)
    assert saved_similarity(made.fingerprint, vectors).fingerprint == made.fingerprint
    with pytest.raises(InputError, match="--vectors"):
        saved_similarity(made.fingerprint)


def test_word_mover_by_name_keeps_texts_without_a_known_word(vectors):
    assert named_similarity("word_mover", vectors=vectors).parameters["empty"] == "far"


@pytest.mark.parametrize(
    ("name", "options", "takers"),
    [
        ("levenshtein", {"gamma": 1.0}, "rbf"),
        ("cosine", {"gamma": 1.0}, "rbf"),
        ("rbf", {"vectors": "v.npz"}, "word_mover"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(name, options, takers):
    with pytest.raises(InputError, match=takers):
        named_similarity(name, **options)


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(UnknownNameError, match='Did you mean "cosine"'):
        named_similarity("cosin")
    for fingerprint in ("mine{}", "", "symmetrized partial_ratio{}"):
        with pytest.raises(InputError, match=r"fewpairs\.load"):
            saved_similarity(fingerprint)


def test_a_new_row_of_any_table_has_a_name_at_once(monkeypatch):
    monkeypatch.setitem(SCORERS, "postfix", Scorer("distance.Postfix.normalized_similarity"))
    assert named_similarity("postfix").name == "postfix"
    one = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, name="one")
    family = named.Family(("one",), options=lambda _: (), make=lambda _: one)
    monkeypatch.setattr(named, "FAMILIES", [*named.FAMILIES, family])
    assert named_similarity("one") is one
