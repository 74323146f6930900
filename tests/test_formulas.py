"""Tables that are opened in a spreadsheet: nothing in them is a formula."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.files.tables import write_table

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]


def cells(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_no_text_of_a_table_is_a_formula_to_a_spreadsheet(tmp_path, ending, delimiter):
    # Promise 47.
    path = tmp_path / f"t{ending}"
    write_table(path, {"=name": FORMULAS, "n": [-1.5] * len(FORMULAS)})
    header, *rows = cells(path, delimiter)
    assert header[0] == "'=name"
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS]
    assert {row[1] for row in rows} == {"-1.5"}
    write_table(path, {"=name": FORMULAS}, escape=False)
    assert [row[0] for row in cells(path, delimiter)] == ["=name", *FORMULAS]


def test_numbers_and_other_texts_stay_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    texts = ["-12", "+4.5e3", "plain", "'quoted", "a=b", "", "-inf"]
    write_table(path, {"text": texts})
    assert [row[0] if row else "" for row in cells(path)[1:]] == texts
    path = tmp_path / "t.jsonl"  # which no spreadsheet runs
    write_table(path, {"text": FORMULAS})
    assert "'=" not in path.read_text(encoding="utf-8")


def test_answers_and_commands_escape_and_need_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["=anna", "=anne", "bob"]
    found = fp.find_pairs(names, fp.StringSimilarity("levenshtein"), above=0.5, ids=names)
    found.to_csv("found.csv")
    assert cells(Path("found.csv"))[1][0] == "'=anna"
    found.to_csv("found.csv", escape=False)
    assert cells(Path("found.csv"))[1][0] == "=anna"
    Path("names.csv").write_text("id,name\n=1+1,anna\n2,anne\n3,bob\n", encoding="utf-8")
    command = ["dedupe", "names.csv", "--column", "name", "--id", "id", "--above", "0.5", "-o"]
    assert CliRunner().invoke(app, [*command, "pairs.csv"]).exit_code == 0
    assert cells(Path("pairs.csv"))[1][0] == "'=1+1"
    assert CliRunner().invoke(app, [*command, "pairs.csv", "--raw"]).exit_code == 0
    assert cells(Path("pairs.csv"))[1][0] == "=1+1"
