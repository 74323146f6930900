"""Lines of a text file that stay on disk are the items that reading the file would give."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import FileFormatError, InputError
from fewpairs.items import lines as module
from fewpairs.items.items import as_items
from fewpairs.items.readers import read_items

LETTERS = st.text(st.sampled_from("ab é漢\t "), max_size=6)


@settings(deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines_are_those_that_are_read(tmp_path_factory, texts, newline, last):
    path = tmp_path_factory.getbasetemp() / f"lines-{os.getpid()}.txt"
    path.write_bytes((newline.join(texts) + newline * last).encode())
    lines = fp.TextLines(path)
    if not any(text.strip() for text in texts):
        assert len(lines) == 0
        return
    read = list(read_items(path))
    assert list(lines) == lines[:] == read
    assert lines[[len(read) - 1, 0]] == [read[-1], read[0]]
    assert lines[-1] == read[-1]


def test_lines_across_the_pieces_of_a_file_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_AT_A_TIME", 7)
    path = tmp_path / "lines.txt"
    texts = ["", "a" * 20, "  ", "b", "c" * 7, ""]
    path.write_text("\ufeff" + "\n".join(texts), encoding="utf-8")
    assert list(fp.TextLines(path)) == [text for text in texts if text.strip()]


def shared(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def test_a_run_reads_them_here_and_elsewhere(tmp_path):
    path = tmp_path / "lines.txt"
    texts = [f"text number {k * k}" for k in range(80)]
    path.write_text("\n".join(texts), encoding="utf-8")
    lines = fp.TextLines(path)
    letters = fp.similarity(shared, kind="pair", symmetric=True)
    how = {"landmarks": 8, "random_state": 0}
    plain = fp.approximate(texts, letters, **how)
    here = fp.approximate(lines, letters, **how)
    assert here.source.items.values is lines  # and no list of them
    np.testing.assert_array_equal(here.to_dense(), plain.to_dense())
    there = fp.approximate(lines, letters, n_jobs=2, workers="processes", **how)
    np.testing.assert_array_equal(there.to_dense(), plain.to_dense())
    here.save(tmp_path / "m.fewpairs")
    assert list(fp.load(tmp_path / "m.fewpairs").source.items) == texts


def test_what_is_sent_is_the_path_and_another_file_is_refused(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("a line\n" * 10_000, encoding="utf-8")
    sent = pickle.dumps(fp.TextLines(path))
    assert len(sent) < 1000
    assert list(pickle.loads(sent)) == ["a line"] * 10_000  # noqa: S301 - our own
    path.write_text("a line\n" * 9_999, encoding="utf-8")
    with pytest.raises(FileFormatError, match="9,999 lines here"):
        pickle.loads(sent)  # noqa: S301
    path.write_text("line a\n" * 10_000, encoding="utf-8")  # as if in another order
    with pytest.raises(FileFormatError, match="or others"):
        pickle.loads(sent)  # noqa: S301


def test_faults_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot be read"):
        fp.TextLines(tmp_path / "none.txt")
    (tmp_path / "empty.txt").touch()
    with pytest.raises(InputError, match="no items"):
        as_items(fp.TextLines(tmp_path / "empty.txt"))
    with pytest.raises(InputError, match="utf-16"):
        fp.TextLines(tmp_path / "empty.txt", encoding="utf-16")
    (tmp_path / "latin.txt").write_bytes("fine\nMünchen\n".encode("latin-1"))
    lines = fp.TextLines(tmp_path / "latin.txt")
    with pytest.raises(FileFormatError, match="line 2"):
        _ = lines[1]
    assert fp.TextLines(tmp_path / "latin.txt", encoding="latin-1")[1] == "München"


def test_a_mapped_array_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((50, 3)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert as_items(mapped).values is mapped


def test_an_unknown_encoding_is_told_and_a_mask_is_a_mask(tmp_path):
    (tmp_path / "words.txt").write_text("ape\nbee\ncat\n", encoding="utf-8")
    for encoding in ("no such", "rot13"):
        with pytest.raises(InputError, match=encoding):
            fp.TextLines(tmp_path / "words.txt", encoding=encoding)
    assert fp.TextLines(tmp_path / "words.txt")[np.array([False, True, True])] == ["bee", "cat"]
