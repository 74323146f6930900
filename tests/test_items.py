"""Items: any sequence, columns of data frames, read once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.items.items import as_items

WORDS = ["ape", "bee", "cat", "dog"]
MATRIX = fp.approximate(WORDS, fp.StringSimilarity(), landmarks=4, random_state=0).to_dense()


@pytest.mark.parametrize(
    "items",
    [
        tuple(WORDS),
        (word for word in WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS),
        pd.Series(WORDS, index=[9, 8, 7, 6]),
        pd.Series(WORDS, dtype="category"),
        pd.Index(WORDS),
        pl.Series(WORDS),
        pl.DataFrame({"word": WORDS})["word"],
    ],
)
def test_every_container_gives_the_same(items):
    found = fp.approximate(items, fp.StringSimilarity(), landmarks=4, random_state=0)
    assert np.array_equal(found.to_dense(), MATRIX)


def test_numeric_columns_and_frames():
    x = np.arange(12.0).reshape(6, 2)
    sim = fp.VectorSimilarity("rbf")
    expected = fp.Oracle(x, sim).columns([1])
    for frame in (pd.DataFrame(x, columns=["a", "b"]), pl.DataFrame(x, schema=["a", "b"])):
        assert np.allclose(fp.Oracle(frame, sim).columns([1]), expected)
        assert np.allclose(
            fp.Oracle(frame["a"], sim).columns([1]), fp.Oracle(x[:, :1], sim).columns([1])
        )


def test_a_frame_of_text_names_its_columns():
    for frame in (
        pd.DataFrame({"title": ["a"], "n": [1]}),
        pl.DataFrame({"title": ["a"], "n": [1]}),
    ):
        with pytest.raises(InputError, match="title"):
            as_items(frame)


@pytest.mark.parametrize(
    "items",
    [
        ["a", None, "b"],
        pd.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"]),
        ["a", pd.NA, "b"],
        ["a", float("nan"), "b"],
        [1.0, np.nan, 2.0],
        np.array([1.0, np.nan, 2.0]),
    ],
)
def test_missing_items_are_named_by_position(items):
    with pytest.raises(InputError, match="positions 1"):
        as_items(items)


def test_strange_texts_pass_untouched():
    strange = ["", " ", "🙂", "nul \0", "lone \ud800", "x" * 10**6]
    seen = []

    def pair(a, b):
        seen.extend([a, b])
        return float(a == b)

    fp.approximate(strange, fp.similarity(pair, kind="pair", symmetric=True), landmarks=6)
    assert set(seen) == set(strange)
