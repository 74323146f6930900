"""Texts of the installed packages, and where benchmark data are looked for."""

from __future__ import annotations

import pytest

from fewpairs import datasets


def test_docstrings_are_many_different_texts_with_names_and_topics():
    found = datasets.docstrings()
    assert len(found.texts) == len(set(found.texts)) == len(found.names) == len(found.topics)
    assert len(found.texts) > 1000
    assert all(
        name.startswith(topic) for name, topic in zip(found.names, found.topics, strict=True)
    )


def test_source_that_a_newer_python_warns_of_is_read_too(tmp_path):
    file = tmp_path / "old.py"
    text = "What it does, at length. " * 20
    file.write_text(f'PATTERN = "\\d"\n\n\ndef find():\n    """{text}"""\n', encoding="utf-8")
    assert [name for name, _ in datasets._documented(file)] == ["find"]


def test_without_benchmark_data_the_message_names_the_variable(monkeypatch):
    monkeypatch.delenv("FEWPAIRS_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="FEWPAIRS_DATA"):
        datasets.read_records("r8", "train")


def test_a_folder_without_the_data_set_is_told_with_its_file(monkeypatch, tmp_path):
    monkeypatch.setenv("FEWPAIRS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no r8/train"):
        datasets.read_records("r8", "train")
    monkeypatch.setenv("FEWPAIRS_DATA", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="not a folder"):
        datasets.read_records("r8", "train")
