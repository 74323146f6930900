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
