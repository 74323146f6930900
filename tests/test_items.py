"""Items: any sequence, columns of data frames, files; read once."""

from __future__ import annotations

import csv
import gzip
import json
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.items import as_items
from fewpairs.items.readers import READERS, read_items, stream_texts

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


def test_a_frame_with_a_single_column_is_that_column():
    for values in (["ape", "bee", "cat"], [1.5, 2.5, 4.0]):
        for frame in (pd.DataFrame({"a": values}), pl.DataFrame({"a": values})):
            assert list(as_items(frame).values) == list(as_items(frame["a"]).values) == values


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


@pytest.fixture(params=["", ".gz"])
def packed(request, tmp_path):
    """Write a text to a file, as it is or packed."""

    def write(name, text):
        path = tmp_path / (name + request.param)
        content = text.encode()
        path.write_bytes(gzip.compress(content) if request.param else content)
        return path

    return write


def test_every_kind_of_text_file_holds_the_same_items_packed_or_not(packed):
    lines = packed("w.txt", "\n".join(WORDS))
    table = packed("w.csv", "n,word\n" + "".join(f"{i},{w}\n" for i, w in enumerate(WORDS)))
    objects = packed("w.jsonl", "".join(json.dumps({"n": 1, "word": w}) + "\n" for w in WORDS))
    for path, column in ((lines, None), (table, "word"), (objects, "word")):
        assert read_items(path, column) == WORDS
        assert list(stream_texts(path, column)) == WORDS
    with pytest.raises(InputError, match="has no columns"):
        read_items(lines, "word")


def test_files_from_spreadsheets_and_strange_line_ends(tmp_path):
    (tmp_path / "bom.csv").write_bytes('\ufefftext\r\na\r\n\r\n"b\nc"\r\n'.encode())
    assert read_items(tmp_path / "bom.csv", "text") == ["a", "b\nc"]
    (tmp_path / "l.txt").write_bytes("\ufeffone\u2028two\r\n\nthree\x0cfour\n".encode())
    assert read_items(tmp_path / "l.txt") == ["one\u2028two", "three\x0cfour"]
    (tmp_path / "l.jsonl").write_bytes('\ufeff{"a": "one\u2028two"}\r\n\n{"a": "b"}'.encode())
    assert read_items(tmp_path / "l.jsonl") == ["one\u2028two", "b"]


def test_a_cell_may_be_as_long_as_a_book(tmp_path):
    (tmp_path / "long.csv").write_text("text\n" + "x" * 10**6 + "\n", encoding="utf-8")
    limit = csv.field_size_limit()
    assert read_items(tmp_path / "long.csv") == ["x" * 10**6]
    assert csv.field_size_limit() == limit


def test_a_format_is_added_by_one_entry(tmp_path, monkeypatch):
    def read_psv(path, column):
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="|"))
        return [row[column] for row in rows]

    path = tmp_path / "words.PSV"
    path.write_text("n|word\n1|ape\n", encoding="utf-8")
    with pytest.raises(UnknownNameError, match=r"\.csv"):
        read_items(path, "word")
    monkeypatch.setitem(READERS, ".psv", read_psv)
    assert read_items(path, "word") == ["ape"]
    assert list(stream_texts(path, "word")) == ["ape"]


@pytest.mark.parametrize("name", ["large.txt", "large", "large.csv", "large.jsonl"])
def test_texts_are_streamed_and_never_loaded_as_a_whole(packed, name):
    line = "a line of text " * 500
    row = json.dumps({"text": line}) if name.endswith(".jsonl") else line
    path = packed(name, ("text\n" if name.endswith(".csv") else "") + f"{row}\n" * 2000)
    tracemalloc.start()
    try:
        assert sum(len(text) for text in stream_texts(path)) == 2000 * len(line)  # 15 MB
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_a_damaged_file_is_one_message(tmp_path):
    whole = gzip.compress(b"a line\n" * 10_000)
    for content in (whole[:-20], whole[:20] + b"\0" * 20 + whole[40:], b"no gzip"):
        (tmp_path / "x.txt.gz").write_bytes(content)
        for read in (read_items, lambda path: list(stream_texts(path))):
            with pytest.raises(InputError, match=r"x\.txt\.gz cannot be read"):
                read(tmp_path / "x.txt.gz")
