"""Files of word vectors, damaged or forged: our error or a table, and never much memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import InputError
from fuzz.file_strategies import FOLDER, attempt, damaged
from fuzz.vector_file_strategies import (
    ANY,
    FORMATS,
    PLAIN,
    forged_archives,
    promising,
    tables,
    written,
)

WORDS = st.text("abcdefghijß", min_size=1, max_size=6)


def check(table: fp.WordVectors | None) -> None:
    """Assert that whatever was read is a table."""
    if table is not None:
        assert len(table.words) == len(table.array) > 0
        assert table.dimensions > 0
        assert all(type(word) is str for word in table.words)
        assert np.isfinite(table.array).all()


@given(tables(WORDS), st.sampled_from(FORMATS))
def test_files_of_every_format_are_read(table: tuple[list[str], np.ndarray], kind: str):
    words, array = table
    found = attempt(fp.WordVectors.load, written(words, array, kind))
    assert found.words == words
    np.testing.assert_array_equal(found.array, array)


@given(tables(ANY))
def test_any_words_come_back_from_an_npz(table: tuple[list[str], np.ndarray]):
    words, array = table
    path = Path(FOLDER.name) / "v.npz"
    fp.WordVectors(words, array).save(path)
    for mmap in (False, True):
        found = fp.WordVectors.load(path, mmap=mmap)
        assert found.words == words
        np.testing.assert_array_equal(found.array, array)


@given(tables(ANY | PLAIN))
def test_any_words_come_back_from_a_text_or_are_refused(table: tuple[list[str], np.ndarray]):
    words, array = table
    path = Path(FOLDER.name) / "v.txt"
    try:
        fp.WordVectors(words, array).save(path)
    except InputError:
        assert any("\n" in word or "\ud800" <= max(word, default="") <= "\udfff" for word in words)
        return
    found = fp.WordVectors.load(path)
    assert found.words == words
    np.testing.assert_array_equal(found.array, array)


@given(st.data(), tables(WORDS), st.sampled_from(FORMATS), st.booleans())
def test_damaged_files_are_refused_or_give_a_table(
    data: st.DataObject, table: tuple[list[str], np.ndarray], kind: str, mmap: bool
):
    content = data.draw(damaged(written(*table, kind)))

    def load(path: Path) -> fp.WordVectors:
        found = fp.WordVectors.load(path, mmap=mmap)
        found.check_finite()
        return found

    check(attempt(load, content))


@given(promising())
def test_headers_that_promise_much_are_refused(content: bytes):
    check(attempt(fp.WordVectors.load, content))


@given(forged_archives(), st.booleans())
def test_forged_archives_are_refused_or_give_a_table(content: bytes, mmap: bool):
    def load(path: Path) -> fp.WordVectors:
        found = fp.WordVectors.load(path, mmap=mmap)
        found.check_finite()
        return found

    check(attempt(load, content))
