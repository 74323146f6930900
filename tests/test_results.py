"""The page of results: every table once, every benchmark with a verdict, made of what is there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.shared import results_page

ROOT = Path(__file__).resolve().parent.parent
GIT = shutil.which("git")
TEXT = results_page.PAGE.read_text(encoding="utf-8")


def test_every_table_is_listed_once():
    listed = sorted(re.findall(r"\(tables/([\w-]+)\.md\)", TEXT))
    assert listed == sorted(path.stem for path in (ROOT / "docs" / "tables").glob("*.md"))


def test_every_benchmark_is_listed_once_with_a_verdict_and_no_other():
    assert re.findall(r"`python -m benchmarks\.([\w.]+)`", TEXT) == command.names()
    verdicts = results_page.verdicts()
    lacking = set(command.names()) - set(verdicts)
    assert not lacking, "add a line for each to benchmarks/verdicts.toml"
    assert set(verdicts) <= set(command.names()), "lines of benchmarks that are gone"
    assert all(line and "\n" not in line and "|" not in line for line in verdicts.values())


def test_the_page_is_the_one_that_would_be_made_now():
    dates = results_page.dates_on_page()
    first = [row.files[0] for _, rows in command.results() for row in rows if row.files]
    assert set(dates) == set(first)
    made = results_page.page(command.results(), dates)
    assert made == TEXT, "run `python -m benchmarks --page`"


@pytest.mark.skipif(GIT is None, reason="git is not on this machine")
def test_a_file_is_dated_by_its_last_commit(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run([GIT, "-C", tmp_path, *words], check=True, capture_output=True)

    git("init")
    (tmp_path / "old.md").write_text("old")
    git("add", "old.md")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(*who, "commit", "-m", "old", "--date", "2001-02-03T12:00:00+00:00")
    monkeypatch.setattr(results_page, "ROOT", tmp_path)
    assert results_page.date_of("old.md") == "2001-02-03"
    assert results_page.date_of("never.md") > "2001-02-03"


@pytest.fixture
def asked(monkeypatch):
    runs = []

    def run(arguments, **_):
        runs.append(arguments[2:])
        failed = arguments[2] == "benchmarks.b.breaks"
        skipped = arguments[2] == "benchmarks.b.lacks"
        words = "skipped: no data" if skipped else ""
        return subprocess.CompletedProcess(arguments, int(failed or skipped), stderr=words)

    monkeypatch.setattr(command, "names", lambda: ["a.one", "a.two", "b.breaks", "b.lacks"])
    monkeypatch.setattr(command.subprocess, "run", run)
    return runs


def test_named_benchmarks_and_subjects_are_run(asked):
    assert command.main(["a"]) == 0
    assert asked == [["benchmarks.a.one"], ["benchmarks.a.two"]]


def test_quick_alone_runs_all_of_them_small(asked, capsys):
    assert command.main(["--quick"]) == 1  # one of them breaks
    assert [words[1] for words in asked] == ["--quick"] * 4
    assert "3 of 4" in capsys.readouterr().out


@pytest.mark.parametrize("said", ["skipped: no data", "usage: cnn.py FOLDER"])
def test_what_lacks_data_or_a_folder_is_skipped_and_no_failure(asked, monkeypatch, said):
    answer = subprocess.CompletedProcess([], 2, stderr=said)
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: answer)
    assert command.main(["b.lacks"]) == 0


def test_an_unknown_benchmark_is_refused_before_anything_runs(asked):
    with pytest.raises(SystemExit):
        command.main(["a.one", "c"])
    assert not asked


def test_a_package_that_is_not_installed_is_no_failure(asked, monkeypatch, capsys):
    said = "Traceback …\nModuleNotFoundError: No module named 'nowhere_to_be_found'\ntook 0.0 min"
    answer = subprocess.CompletedProcess([], 1, stderr=said)
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: answer)
    assert command.main(["a.one"]) == 0
    assert "skipped: nowhere_to_be_found is not installed" in capsys.readouterr().out
    for other in (
        said.replace("nowhere_to_be_found", "benchmarks.shared.no"),
        said.replace("took", "AssertionError: wrong number"),
    ):
        answer.stderr = other
        assert command.main(["a.one"]) == 1
    ran = subprocess.CompletedProcess([], 0, stderr=said)
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: ran)
    capsys.readouterr()
    assert command.main(["a.one"]) == 0
    assert "skipped:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("a.oen", "a.one"), ("One", "a.one"), ("b/breaks.py", "b.breaks"), ("lack", "b.lacks")],
)
def test_an_unknown_benchmark_comes_with_the_nearest(asked, typed, meant, capsys):
    with pytest.raises(SystemExit):
        command.main([typed])
    assert f"{typed} (did you mean {meant}?)" in " ".join(capsys.readouterr().err.split())


def test_the_command_can_be_started():
    words = [sys.executable, "-m", "benchmarks", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert "--quick" in done.stdout
