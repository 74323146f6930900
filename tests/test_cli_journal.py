"""The command with a journal, and the commands that look after one."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.cli.messages import told
from fewpairs.oracle.journal.blocks import read_block
from fewpairs.oracle.journal.upkeep import compact, existing, faults, holdings

NAMES = [f"{a} {b}" for a in ("Anna", "Bob", "Cleo", "Dora") for b in ("Smith", "Jones", "Li", "P")]

OWN = """
import os
asked = []
stop_at = None
def alike(a, b):
    asked.append((a, b))
    if len(asked) == stop_at:
        raise KeyboardInterrupt
    return len(set(a) & set(b)) / max(len(set(a)), len(set(b)))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    return tmp_path


@pytest.fixture
def own(folder, monkeypatch):
    (folder / "journalled_score.py").write_text(OWN + 'alike.version = "1"\n')
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("journalled_score")
    sys.modules.pop("journalled_score", None)


def command(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_what_one_command_bought_the_next_finds(folder, own):
    own_function = ("--similarity", "journalled_score:alike", "--journal", "paid")
    done = command("dedupe", "names.txt", "-o", "a.csv", "--above", "0.7", *own_function)
    assert done.exit_code == 0, told(done.exception)
    price = len(own.asked)
    done = command("dedupe", "names.txt", "-o", "b.csv", "--above", "0.7", *own_function)
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert len(own.asked) == price + 3  # those are compared with what was written
    done = command(
        "match", "names.txt", "names.txt", "-o", "c.csv", "--above", "0.9", *own_function
    )
    assert done.exit_code == 0
    assert command("neighbors", "names.txt", "-o", "d.csv", "-k", "2", *own_function).exit_code == 0
    assert not list(folder.glob("*.partial"))


def test_a_stopped_command_goes_on_from_its_journal(folder, own):
    arguments = ("dedupe", "names.txt", "-o", "a.csv", "--above", "0.7")
    arguments += ("--similarity", "journalled_score:alike", "--journal", "paid")
    own.stop_at = 40
    stopped = command(*arguments)
    assert stopped.exit_code == 130
    assert "they are in paid. The same command goes on from there." in stopped.output
    assert not list(folder.glob("*.partial"))
    own.stop_at = None
    assert command(*arguments).exit_code == 0
    assert command(*arguments[:2], "-o", "b.csv", *arguments[4:-1], "new").exit_code == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_function_without_a_version_is_told_how_to_have_one(folder):
    (folder / "unversioned_score.py").write_text(OWN)
    done = command(
        "dedupe", "names.txt", "-o", "a.csv", "--above", "0.7", "--journal", "paid",
        "--similarity", "unversioned_score:alike",
    )  # fmt: skip
    assert 'alike.version = "1"' in told(done.exception)
    assert not (folder / "paid").exists()


def test_approximate_and_plan_share_a_journal(folder):
    plan = command("plan", "names.txt", "--landmarks", "4", "--journal", "paid")
    assert plan.exit_code == 0
    for output in ("a", "b"):
        done = command(
            "approximate", "names.txt", "-o", output, "--landmarks", "4", "--journal", "paid"
        )
        assert done.exit_code == 0, told(done.exception)
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def written(folder, columns=(0, 1, 2)):
    """A journal of several blocks, and what it holds."""
    similarity = fp.StringSimilarity("jaro")
    for k in columns:
        fp.Oracle(NAMES, similarity, journal=fp.Journal(folder, check=0)).columns([k])
    pairs = {tuple(sorted((NAMES[k], name))) for k in columns for name in NAMES if name != NAMES[k]}
    return similarity, pairs


def test_inspect_says_what_is_there(folder):
    _, pairs = written(folder / "paid")
    shown = command("journal", "inspect", "paid")
    assert shown.exit_code == 0
    assert "jaro{}" in shown.output
    assert f"{len(pairs)} values of 16 items in 3 files" in shown.output
    assert command("journal", "inspect", "nowhere").exit_code != 0


def test_verify_names_what_is_damaged_and_changes_nothing(folder):
    written(folder / "paid")
    assert command("journal", "verify", "paid").exit_code == 0
    block = sorted((folder / "paid").glob("*/*.block"))[1]
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.write_bytes(content)
    shown = command("journal", "verify", "paid")
    assert shown.exit_code == 1
    assert block.name in shown.output
    assert "in 3 files, 1 of them damaged," in command("journal", "inspect", "paid").output
    assert block.read_bytes() == content


def test_a_damaged_block_keeps_nobody_from_the_others(folder):
    _, pairs = written(folder / "paid", range(4))
    block = sorted((folder / "paid").glob("*/*.block"))[1]
    (lost,) = (record.request.size for record in read_block(block, _checksum(folder)).records)
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.write_bytes(content)
    shown = command("journal", "export", "paid", "-o", "rest.csv")
    assert shown.exit_code == 1
    assert block.name in shown.output
    assert len((folder / "rest.csv").read_text().splitlines()) == 1 + len(pairs) - lost
    assert command("journal", "compact", "paid").exit_code == 0
    (held,) = holdings(existing(folder / "paid"))
    assert (held.values, held.blocks, held.bad) == (len(pairs) - lost, 1, 1)
    assert block.with_name(block.name + ".bad").read_bytes() == content


def _checksum(folder):
    (shelf,) = existing(folder / "paid").shelves()
    return shelf.checksum


def test_export_does_not_overwrite_the_items(folder):
    written(folder / "paid")
    (folder / "names.csv").write_text("name\n" + "\n".join(NAMES))
    before = (folder / "names.csv").read_text()
    shown = command("journal", "export", "paid", "-o", "names.csv", "--items", "names.csv")
    assert "is the input" in told(shown.exception)
    assert (folder / "names.csv").read_text() == before


def test_compact_makes_few_files_and_loses_nothing(folder):
    similarity, pairs = written(folder / "paid", range(8))
    before = fp.Oracle(NAMES, similarity).columns(range(8))
    for expected in ("8 files became 1", "1 files became 1"):
        assert expected in command("journal", "compact", "paid").output
    oracle = fp.Oracle(NAMES, similarity, journal=fp.Journal(folder / "paid", check=0))
    assert np.array_equal(oracle.columns(range(8)), before)
    assert oracle.evaluations == 0
    (held,) = holdings(existing(folder / "paid"))
    assert held.values == len(pairs)


def test_compacting_that_was_interrupted_is_done_by_the_next_attempt(folder, monkeypatch):
    similarity, pairs = written(folder / "paid", range(8))

    def killed(_self, **_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            compact(existing(folder / "paid"))
    assert not list(faults(existing(folder / "paid")))
    assert command("journal", "compact", "paid").exit_code == 0
    (held,) = holdings(existing(folder / "paid"))
    assert (held.values, held.blocks) == (len(pairs), 1)
    oracle = fp.Oracle(NAMES, similarity, journal=fp.Journal(folder / "paid", check=0))
    oracle.columns(range(8))
    assert oracle.evaluations == 0


def test_export_writes_every_value(folder):
    similarity, pairs = written(folder / "paid")
    done = command("journal", "export", "paid", "-o", "all.jsonl", "--items", "names.txt")
    assert done.exit_code == 0
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    assert {tuple(sorted((row["left"], row["right"]))) for row in rows} == pairs
    for row in rows:
        assert row["value"] == similarity.pairs([(row["left"], row["right"])])[0]
    assert command("journal", "export", "paid", "-o", "keys.csv").exit_code == 0
    lines = (folder / "keys.csv").read_text().splitlines()
    assert len(lines) == len(pairs) + 1
    assert len(lines[1].split(",")[-2]) == 32


def test_export_tells_what_it_leaves_out(folder):
    _, pairs = written(folder / "paid")
    (folder / "few.txt").write_text("\n".join(NAMES[:5]), encoding="utf-8")
    done = command("journal", "export", "paid", "-o", "few.jsonl", "--items", "few.txt")
    rows = [json.loads(line) for line in (folder / "few.jsonl").read_text().splitlines()]
    kept = {pair for pair in pairs if set(pair) <= set(NAMES[:5])}
    assert {tuple(sorted((row["left"], row["right"]))) for row in rows} == kept
    left_out = len(pairs) - len(kept)
    assert f"{left_out} values of items that are not in few.txt were left out" in done.output
    again = command("journal", "export", "paid", "-o", "f.jsonl", "--items", "few.txt", "--json")
    assert json.loads(again.output)["left_out"] == left_out


def test_all_that_looks_after_a_journal_speaks_json(folder):
    bought = ("--similarity", "jaro_winkler", "--journal", "paid", "--landmarks", "4")
    assert command("approximate", "names.txt", "-o", "k.fewpairs", *bought).exit_code == 0

    def said(*arguments, code=0):
        done = command("journal", *arguments, "--json")
        assert done.exit_code == code, told(done.exception)
        return json.loads(done.output)

    values = said("inspect", "paid")[0]["values"]
    assert said("verify", "paid") == {"values": values, "damaged": []}
    exported = said("export", "paid", "-o", "v.csv")
    assert exported == {"values": values, "left_out": 0, "damaged": [], "output": "v.csv"}
    assert len((folder / "v.csv").read_text("utf-8").splitlines()) == values + 1
    compacted = said("compact", "paid")
    assert compacted["files_before"] >= compacted["files"] == 1
    block = next((folder / "paid").rglob("*.block"))
    block.write_bytes(block.read_bytes()[:-1] + b"?")
    assert len(said("verify", "paid", code=1)["damaged"]) == 1
    assert len(said("export", "paid", "-o", "w.csv", code=1)["damaged"]) == 1


def test_a_page_and_trained_vectors_are_told_as_json(folder):
    made = command("approximate", "names.txt", "-o", "k.fewpairs", "--landmarks", "4")
    assert made.exit_code == 0, told(made.exception)
    done = command("report", "k.fewpairs", "-o", "k.html", "--json")
    assert json.loads(done.output) == {"output": "k.html"}
    (folder / "texts.txt").write_text("one two three four five\n" * 30, encoding="utf-8")
    done = command("vectors", "texts.txt", "-o", "v.npz", "--dimensions", "2", "--json")
    assert json.loads(done.output) == {"words": 5, "dimensions": 2, "output": "v.npz"}
