"""Commands on tables: match, dedupe, neighbors, as a person types them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fewpairs as fp
from fewpairs.cli import main
from fewpairs.cli.comparing import Choice, Patience
from fewpairs.items.readers import read_items

ROOT = Path(__file__).resolve().parent.parent
LEFT = [("a1", "Anna Smith", "Oslo"), ("a2", "Bob Jones", "Bergen"), ("a3", "Cleo Li", "Molde")]
RIGHT = [
    ("b1", "Ana Smith", "Oslo"),
    ("b2", "Rob Jones", "Bergen"),
    ("b3", "Anna Smyth", "Bodø"),
    ("b4", "Zoe Q", "Oslo"),
]
HEADER = ["left", "right", "similarity", "left_name", "right_name"]


def written(path, rows, delimiter=",", encoding="utf-8"):
    lines = [delimiter.join(row) for row in [("id", "name", "city"), *rows]]
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    written(tmp_path / "a.csv", LEFT)
    written(tmp_path / "b.csv", RIGHT)
    written(tmp_path / "people.csv", LEFT + RIGHT)
    return tmp_path


@pytest.fixture
def typed(folder, monkeypatch, capsys):
    """Run the command, and return what it says on standard output, or on the other if it fails."""

    def run(*arguments, code=0, err=False):
        monkeypatch.setattr(sys, "argv", ["fewpairs", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, said
        assert "Traceback" not in said.err
        return said.err if code or err else said.out

    return run


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs_of(path):
    return {(row["left"], row["right"]) for row in rows_of(path)}


def score(a, b, scorer="jaro_winkler"):
    return fp.StringSimilarity(scorer).pairs([(a, b)])[0]


NAMES = ("--column", "name", "--id", "id", "--similarity", "jaro_winkler")


def test_match(typed, folder):
    said = typed("match", "a.csv", "b.csv", *NAMES, "--above", 0.85, "-o", "m.csv")
    assert "saved to m.csv" in said
    assert "recall" in said
    rows = rows_of(folder / "m.csv")
    assert list(rows[0]) == HEADER
    expected = {(a[0], b[0]): score(a[1], b[1]) for a in LEFT for b in RIGHT}
    expected = {pair: value for pair, value in expected.items() if value >= 0.85}
    assert {(row["left"], row["right"]): float(row["similarity"]) for row in rows} == expected
    assert ("Anna Smith", "Ana Smith") in {(r["left_name"], r["right_name"]) for r in rows}
    assert not list(folder.glob("*.partial"))


def test_match_gives_each_row_one_partner_if_asked(typed, folder):
    command = ("match", "a.csv", "b.csv", *NAMES, "--above", 0.85)
    typed(*command, "-o", "m.csv")
    assert len({left for left, _ in pairs_of(folder / "m.csv")}) < len(pairs_of(folder / "m.csv"))
    typed(*command, "--one-to-one", "-o", "m.csv")
    assert pairs_of(folder / "m.csv") == {("a1", "b1"), ("a2", "b2")}


def test_the_two_files_may_call_their_columns_otherwise(typed, folder):
    (folder / "c.csv").write_text("key;title\nc1;Anna Smith\nc2;Nobody\n")
    (folder / "c.tsv").write_text("key\ttitle\nc1\tAnna Smith\nc2\tNobody\n")
    typed(
        "match", "a.csv", "c.tsv", *NAMES, "--right-column", "title", "--right-id", "key",
        "--above", 0.9, "-o", "m.csv",
    )  # fmt: skip
    (row,) = rows_of(folder / "m.csv")
    assert (row["left"], row["right"]) == ("a1", "c1")
    assert row["right_title"] == "Anna Smith"
    message = typed(
        "match", "a.csv", "c.tsv", *NAMES, "--right-column", "title", "--right-column", "key",
        "--above", 0.9, "-o", "m.csv", code=2,
    )  # fmt: skip
    assert "--right-column was given 2 times, and --column 1 times" in message


def test_dedupe_with_groups(typed, folder):
    said = typed(
        "dedupe", "people.csv", *NAMES, "--above", 0.85, "-o", "p.csv", "--groups", "g.csv"
    )
    assert "2 groups of more than one row, saved to g.csv" in said
    assert pairs_of(folder / "p.csv") >= {("a1", "b1"), ("a1", "b3"), ("a2", "b2")}
    groups = rows_of(folder / "g.csv")
    assert list(groups[0]) == ["id", "group", "name"]
    assert [row["id"] for row in groups] == [row[0] for row in LEFT + RIGHT]
    group = {row["id"]: row["group"] for row in groups}
    assert group["a1"] == group["b1"] == group["b3"] != group["a2"] == group["b2"]
    assert len({group["a3"], group["b4"], group["a1"], group["a2"]}) == 4


CHAIN = "id,name\n1,aaaaaa\n2,aaaabb\n3,aabbbb\n4,bbbbbb\n5,zzz\n"


def test_dedupe_with_groups_by_average(typed, folder):
    (folder / "chain.csv").write_text(CHAIN)
    command = (
        "dedupe",
        "chain.csv",
        "--column",
        "name",
        "--id",
        "id",
        "--above",
        0.6,
        "-o",
        "p.csv",
    )
    typed(*command, "--groups", "g.csv")
    assert [row["group"] for row in rows_of(folder / "g.csv")] == ["0", "0", "0", "0", "1"]
    typed(*command, "--groups", "g.csv", "--groups-by", "average")
    assert [row["group"] for row in rows_of(folder / "g.csv")] == ["0", "0", "1", "1", "2"]
    assert "links, average" not in typed(*command, "--groups-by", "links")
    assert "average, links" in typed(*command, "--groups-by", "centre", code=2)
    assert "without --groups" in typed(*command, "--groups-by", "average", code=2)


def test_cluster(typed, folder):
    (folder / "chain.csv").write_text(CHAIN)
    command = ("cluster", "chain.csv", "--column", "name", "--id", "id")
    said = typed(*command, "--threshold", 0.6, "-o", "c.csv")
    assert "5 rows in 3 clusters, 2 of more than one row, by 10 evaluations." in said
    assert "recall 0.667" in said
    rows = rows_of(folder / "c.csv")
    assert [(row["id"], row["cluster"]) for row in rows] == [
        ("1", "0"), ("2", "0"), ("3", "1"), ("4", "1"), ("5", "2"),
    ]  # fmt: skip
    facts = json.loads(typed(*command, "--threshold", 0.6, "-o", "c.csv", "--json"))
    assert facts["clusters"] == 3
    assert facts["precision"] == {"value": 1, "low": 1, "high": 1}
    assert "neither of --threshold and --below" in typed(*command, "-o", "c.csv", code=2)


@pytest.mark.parametrize(
    "command", [("cluster", "a.csv", "--threshold"), ("dedupe", "a.csv", "--above")]
)
def test_a_plan_refuses_the_threshold_that_the_run_would(typed, command):
    said = [typed(*command, 70, *NAMES, *end, code=2) for end in (("--plan",), ("-o", "c.csv"))]
    assert said[0] == said[1]
    assert "jaro_winkler lies between 0 and 1" in said[0]
    assert "nothing was evaluated" in typed(*command, 0.7, *NAMES, "--plan")


def test_a_share_of_one_is_told_what_allows_all_pairs(typed, folder):
    command = ("cluster", "a.csv", *NAMES, "--threshold", 0.7, "-o", "c.csv", "--budget")
    assert "for all pairs a number as large as theirs" in typed(*command, "1.0", code=2)
    rows = len(rows_of(folder / "a.csv"))
    assert f"by {rows * (rows - 1) // 2} evaluations" in typed(*command, 10**9)


def test_cluster_keeps_to_its_budget_and_its_seed(typed, folder):
    names = [f"{a}{b}{k}" for k in range(8) for a in ("apple", "pear", "plum") for b in "xyz"]
    (folder / "many.csv").write_text("name\n" + "".join(f"{name}\n" for name in names))
    command = ("cluster", "many.csv", "--column", "name", "--json", "-o", "c.csv")
    command = (*command, "--threshold", 0.6, "--budget", 1500)
    said = [json.loads(typed(*command, "--seed", seed)) for seed in (1, 1, 2)]
    assert 1000 < said[0]["evaluations"] == sum(said[0]["spent"].values()) <= 1500
    assert said[0] == said[1] != said[2]


def test_neighbors(typed, folder):
    typed("neighbors", "people.csv", *NAMES, "-k", 2, "-o", "n.csv")
    rows = rows_of(folder / "n.csv")
    assert len(rows) == 2 * len(LEFT + RIGHT)
    values = [float(row["similarity"]) for row in rows if row["left"] == "a1"]
    assert values == sorted(values, reverse=True)
    assert {row["right"] for row in rows if row["left"] == "a1"} == {"b1", "b3"}
    typed("neighbors", "a.csv", "--others", "b.csv", *NAMES, "-k", 1, "-o", "n.csv")
    found = {row["left"]: row["right"] for row in rows_of(folder / "n.csv")}
    assert (found["a1"], found["a2"]) in {("b1", "b2"), ("b3", "b2")}
    options = ("--right-id", "id", "-o", "n.csv")
    assert "without --others" in typed("neighbors", "a.csv", *NAMES, *options, code=2)


def test_several_columns_with_weights(typed, folder):
    typed(
        "match", "a.csv", "b.csv", "--column", "name:2", "--column", "city", "--id", "id",
        "--above", 0.5, "-o", "m.csv",
    )  # fmt: skip
    rows = rows_of(folder / "m.csv")
    texts = ["left_name", "left_city", "right_name", "right_city"]
    assert list(rows[0]) == ["left", "right", "similarity", *texts]
    for row in rows:
        names, cities = (
            score(row[f"left_{c}"], row[f"right_{c}"], "levenshtein") for c in ("name", "city")
        )
        assert float(row["similarity"]) == pytest.approx((2 * names + cities) / 3)


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "csv.gz", "jsonl.gz", "parquet.gz"])
def test_every_format_in_and_out(typed, folder, ending):
    frame = pl.DataFrame(LEFT + RIGHT, schema=["id", "name", "city"], orient="row")
    path = folder / f"t.{ending}"
    if ending.startswith("parquet"):
        frame.write_parquet(path)
        if ending.endswith("gz"):
            path.write_bytes(gzip.compress(path.read_bytes()))
    else:
        kind = ending.removesuffix(".gz")
        text = (
            frame.write_ndjson()
            if kind == "jsonl"
            else frame.write_csv(separator="\t" if kind == "tsv" else ",")
        )
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    command = (*NAMES, "--above", 0.85)
    typed("dedupe", path.name, *command, "-o", f"o.{ending}")
    typed("dedupe", "people.csv", *command, "-o", "expected.csv")
    for column in ("left", "right_name"):
        found = read_items(folder / f"o.{ending}", column)
        assert found == [row[column] for row in rows_of(folder / "expected.csv")]


def test_lines_of_a_text_and_fields_within_fields(typed, folder):
    (folder / "names.txt").write_text("Anna Smith\n\nAnna Smyth\nZoe\n")
    typed("dedupe", "names.txt", "--above", 0.8, "-o", "p.csv")
    (row,) = rows_of(folder / "p.csv")
    assert (row["left"], row["right"], row["left_text"]) == ("1", "3", "Anna Smith")
    lines = [{"key": {"n": k}, "f": {"t": t}} for k, t in enumerate(("Ann", "Anne", "Zoe"))]
    (folder / "n.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    typed("dedupe", "n.jsonl", "--column", "f.t", "--id", "key.n", "--above", 0.7, "-o", "p.jsonl")
    (line,) = (folder / "p.jsonl").read_text().splitlines()
    expected = {"left": 0, "right": 1, "similarity": 0.75, "left_f.t": "Ann", "right_f.t": "Anne"}
    assert json.loads(line) == expected


def test_encodings_and_delimiters(typed, folder):
    written(folder / "l.csv", RIGHT, ";", "latin-1")
    form = ("--encoding", "latin-1", "--delimiter", ";")
    command = ("dedupe", "l.csv", "--column", "city", "--id", "id", "--above", 0.9, "-o", "p.csv")
    typed(*command, *form)
    assert pairs_of(folder / "p.csv") == {("b1", "b4")}
    assert "UTF-8" in typed(*command, code=2)
    assert "'latin-99' is not known" in typed(*command, "--encoding", "latin-99", code=2)
    assert "one character" in typed(*command, "--delimiter", "", code=2)
    written(folder / "l.csv", RIGHT, ";")
    assert "Pass --delimiter ';'" in typed(*command, code=2)


class Pipe:
    """Standard input as a pipe."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_pipes(typed, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Pipe((folder / "b.csv").read_bytes()))
    command = (*NAMES, "--above", 0.85)
    out = typed("match", "a.csv", "-", *command, "-o", "-")
    typed("match", "a.csv", "b.csv", *command, "-o", "m.csv")
    assert out == (folder / "m.csv").read_text()
    monkeypatch.setattr(sys, "stdin", Pipe((folder / "b.csv").read_bytes()))
    assert "recall" in typed("match", "a.csv", "-", *command, "-o", "-", err=True)
    monkeypatch.setattr(sys, "stdin", Pipe(b"Ann\nAnne\n"))
    assert "Ann,Anne" in typed("dedupe", "-", "--format", "txt", "--above", 0.7, "-o", "-")
    assert "read only once" in typed("match", "-", "-", *command, "-o", "m.csv", code=2)
    assert "mixed up" in typed("dedupe", "a.csv", *command, "-o", "-", "--json", code=2)


def test_a_reader_that_has_enough_is_no_fault(folder):
    (folder / "many.txt").write_text("\n".join(f"name {i}" for i in range(300)))
    command = "from fewpairs.cli import main; main()"
    arguments = ["dedupe", "many.txt", "--above", "0.1", "-o", "-"]
    with subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "left,right,similarity,left_text,right_text\n"
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 0, said
    assert "recall" in said
    assert "Exception" not in said
    assert not list(folder.glob("*.partial"))


def test_a_closed_standard_input_is_one_message(typed, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "is closed" in typed("dedupe", "-", "--above", 1, "-o", "m.csv", code=2)


def test_json(typed, folder):
    said = typed(
        "dedupe", "people.csv", *NAMES, "--above", 0.85, "-o", "p.csv", "--groups", "g.tsv",
        "--json",
    )  # fmt: skip
    facts = json.loads(said)
    assert facts["pairs"] == len(rows_of(folder / "p.csv"))
    assert facts["rows"] == [7, 7]
    assert set(facts["recall"]) == {"value", "low", "high", "target"}
    assert facts["evaluations"] == sum(facts["spent"].values()) == 21
    assert (facts["groups"], facts["groups_output"]) == (2, "g.tsv")
    assert facts["output"] == "p.csv"


def test_nothing_found_is_a_table_without_rows(typed, folder):
    said = typed("match", "a.csv", "b.csv", *NAMES, "--above", 1.0, "-o", "m.csv")
    assert said.startswith("0 pairs found among 12, by 12 evaluations.\n")
    assert (folder / "m.csv").read_text() == ",".join(HEADER) + "\n"


# ------------------------------------------------------------------ a person's own similarity


def test_a_function_of_the_current_folder(typed, folder):
    (folder / "own_letters.py").write_text(
        "def distance(a, b):\n    return float(len(set(a) ^ set(b)))\n"
        "def first(a, b):\n    return float(a['name'][0] == b['name'][0])\n"
        "def longer(a, b):\n    return float(len(a) > len(b))\n"
        "def broken(a, b):\n    return 'x'\n"
        "word = 3\n"
    )
    own = ("--column", "name", "--id", "id", "--similarity")
    typed("match", "a.csv", "b.csv", *own, "own_letters:distance", "--below", 1, "-o", "m.csv")
    assert ("a1", "b1") in pairs_of(folder / "m.csv")
    rows = ("--column", "name", "--column", "city", "--similarity", "own_letters:first")
    typed("match", "a.csv", "b.csv", *rows, "--above", 1, "-o", "m.csv")
    assert pairs_of(folder / "m.csv") == {("1", "1"), ("1", "3")}
    way = (*own, "own_letters:longer", "--asymmetric", "--above", 1, "-o", "m.csv")
    typed("dedupe", "a.csv", *way)
    assert pairs_of(folder / "m.csv") == {("a1", "a2"), ("a1", "a3"), ("a2", "a3")}
    weighted = ("dedupe", "a.csv", "--column", "name:2", *own[2:], "own_letters:longer")
    assert "would be ignored" in typed(*weighted, "--above", 1, "-o", "m.csv", code=2)
    for wrong, says in (
        ("own_letters:distanc", 'Did you mean "distance"'),
        ("own_letters:word", "not a function"),
        ("own_nothing:f", "cannot be imported: ModuleNotFoundError"),
        ("own_letters:", "unknown function"),
        ("own_letters:broken", "returned a list of str"),
        ("levenstein", 'Did you mean "levenshtein"'),
    ):
        message = typed("dedupe", "a.csv", *own, wrong, "--above", 1, "-o", "w.csv", code=2)
        assert says in message, wrong
    assert not (folder / "w.csv").exists()
    with_name = (*NAMES, "--asymmetric", "--above", 1, "-o", "w.csv")
    assert "--asymmetric was given with the similarity jaro_winkler" in typed(
        "dedupe", "a.csv", *with_name, code=2
    )


def test_a_function_that_fails_now_and_then_is_called_again(typed, folder):
    (folder / "own_flaky.py").write_text(
        "import time\nfailed, slept = set(), []\n"
        "def flaky(a, b):\n"
        "    if (a, b) not in failed:\n"
        "        failed.add((a, b))\n"
        "        raise ConnectionError('try again')\n"
        "    return float(a[0] == b[0])\n"
        "flaky.version = '1'\n"
        "def slow(a, b):\n"
        "    if not slept:\n"
        "        slept.append(1)\n"
        "        time.sleep(5)\n"
        "    return float(a[0] == b[0])\n"
    )
    own = ("dedupe", "a.csv", "--column", "name", "--above", 1, "-o", "m.csv", "--similarity")
    message = typed(*own, "own_flaky:flaky", code=2)
    assert "try again" in message
    assert "pass --retry 5 --timeout 30" in message
    typed(*own, "own_flaky:flaky", "--retry", 1, "--per-second", 50)
    assert (folder / "m.csv").exists()
    assert "within 0.2 s" in typed(*own, "own_flaky:slow", "--timeout", 0.2, code=2)
    assert "--retry is -1" in typed(*own, "own_flaky:slow", "--retry", -1, code=2)
    assert "--retry was given with" in typed(*own, "levenshtein", "--retry", 1, code=2)
    assert "--per-second is 0" in typed(*own, "own_flaky:slow", "--per-second", 0, code=2)
    choice = Choice("own_flaky:flaky", False, None, None, patience=Patience(2, 3.0, 4.0, 5))
    declared = choice.similarity(["name"], None).patience
    assert (declared.retry, declared.timeout) == (2, 3.0)
    assert (declared.per_second, declared.max_in_flight) == (4.0, 5)
    assert "--max-in-flight is 0" in typed(*own, "own_flaky:slow", "--max-in-flight", 0, code=2)


def test_a_similarity_that_declares_itself(typed, folder):
    (folder / "own_ready.py").write_text(
        "import fewpairs as fp\nready = fp.StringSimilarity('jaro_winkler')\n"
    )
    own = ("--column", "name", "--id", "id", "--similarity", "own_ready:ready")
    typed("dedupe", "people.csv", *own, "--above", 0.85, "-o", "p.csv")
    typed("dedupe", "people.csv", *NAMES, "--above", 0.85, "-o", "q.csv")
    assert (folder / "p.csv").read_bytes() == (folder / "q.csv").read_bytes()


def test_a_module_that_raises_is_one_message(typed, folder):
    (folder / "own_faulty.py").write_text("1 / 0\n")
    own = ("--column", "name", "--similarity", "own_faulty:f", "--above", 1, "-o", "m.csv")
    assert "ZeroDivisionError: division by zero" in typed("dedupe", "a.csv", *own, code=2)


def test_what_was_paid_for_is_kept_and_used(typed, folder):
    code = (
        "from pathlib import Path\n"
        "def count(a, b):\n"
        "    asked = Path('asked')\n"
        "    done = int(asked.read_text()) + 1\n"
        "    asked.write_text(str(done))\n"
        "    if done == 11:\n        raise {}\n"
        "    return float(len(set(a) & set(b)))\n"
    )
    asked = folder / "asked"
    for module, fault, ends, says in (
        ("own_stopped", "KeyboardInterrupt", 130, "stopped after 11 evaluations"),
        ("own_failing", "TimeoutError('gone')", 2, "gone"),
    ):
        (folder / f"{module}.py").write_text(code.format(fault))
        command = ("dedupe", "people.csv", "--column", "name", "--similarity", f"{module}:count")
        command += ("--above", 6, "-o")
        asked.write_text("1000")  # past the fault
        typed(*command, "whole.csv")
        whole = int(asked.read_text()) - 1000
        asked.write_text("0")
        message = typed(*command, "p.csv", code=ends)
        assert says in message
        assert "kept in p.csv.partial" in message
        assert "going on with 11 evaluations" in typed(*command, "p.csv", err=True)
        assert not (folder / "p.csv.partial").exists()
        assert int(asked.read_text()) == whole + 1  # what failed is asked for once more
        assert (folder / "p.csv").read_bytes() == (folder / "whole.csv").read_bytes()


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("match", "a.csv", "no.csv", "--above", 1, "-o", "m.csv"), "no file 'no.csv'"),
        (("match", "a.csv", "b.csv", "--above", 1, "-o", "m.csv"), "id, name, city"),
        (("dedupe", "a.csv", "--column", "nam", "--above", 1, "-o", "m.csv"), '"name"'),
        (("dedupe", "a.csv", "--id", "Id", "--above", 1, "-o", "m.csv"), 'Did you mean "id"'),
        (("dedupe", "a.csv", *NAMES, "-o", "m.csv"), "neither of --above and --below"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "--below", 2, "-o", "m.csv"), "both of"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "m.xlsx"), "ends in .csv"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "m"), "unknown file ending"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "no/m.csv"), "cannot be written"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "a.csv"), "would be lost"),
        (("match", "a.csv", "b.csv", *NAMES, "--above", 1, "-o", "b.csv"), "would be lost"),
        (("neighbors", "a.csv", *NAMES, "-o", "link.csv"), "would be lost"),
        (
            ("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "m.csv", "--groups", "a.csv"),
            "would be lost",
        ),
        (
            ("dedupe", "a.csv", *NAMES, "--above", 1, "-o", "m.csv", "--groups", "./m.csv"),
            "two outputs",
        ),
        (("dedupe", "x.npy", "--above", 1, "-o", "m.csv"), 'unknown file ending ".npy"'),
        (
            ("dedupe", "a.csv", "--column", "name:0", "--above", 1, "-o", "m.csv"),
            "has the weight 0",
        ),
        (
            (
                "dedupe",
                "a.csv",
                "--column",
                "name",
                "--column",
                "name",
                "--above",
                1,
                "-o",
                "m.csv",
            ),
            "--column name was given 2 times",
        ),
        (("dedupe", "twice.csv", *NAMES, "--above", 1, "-o", "m.csv"), "stands twice"),
        (("dedupe", "empty.csv", *NAMES, "--above", 1, "-o", "m.csv"), "has no rows"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "--budget", 1.5, "-o", "m.csv"), "--budget"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "--budget", "1.0", "-o", "m.csv"), "all pairs"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "--budget", "-3", "-o", "m.csv"), "--budget"),
        (("dedupe", "a.csv", *NAMES, "--above", 1, "--budget", "few", "-o", "m.csv"), "--budget"),
        (("dedupe", "a.csv", *NAMES, "--gamma", 2, "--above", 1, "-o", "m.csv"), "--gamma"),
    ],
)
def test_what_makes_no_sense_is_one_message(typed, folder, arguments, says):
    np.save(folder / "x.npy", np.ones((2, 2)))
    (folder / "link.csv").symlink_to("a.csv")
    (folder / "empty.csv").write_text("id,name\n")
    written(folder / "twice.csv", [LEFT[0], LEFT[0]])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    message = typed(*arguments, code=2)
    assert says in message
    assert len(message.splitlines()) <= 4
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_column_whose_name_ends_like_a_weight(typed, folder):
    (folder / "c.csv").write_text("a:2,b\nAnn,x\nAnn,y\n")
    typed("dedupe", "c.csv", "--column", "a:2:1", "--above", 1, "-o", "m.csv")
    assert pairs_of(folder / "m.csv") == {("1", "2")}


def test_empty_cells_are_kept_and_told(typed, folder):
    (folder / "e.csv").write_text('id,name\n1,\n2,""\n3,Ann\n')
    said = typed("dedupe", "e.csv", *NAMES, "--above", 0.9, "-o", "m.csv", err=True)
    assert "2 of 3 rows of e.csv are empty in the column name" in said
    assert pairs_of(folder / "m.csv") == {("1", "2")}


def test_word_movers_similarity_of_rows(typed, folder):
    words = sorted({w.lower() for row in LEFT + RIGHT for w in row[1].split()})
    vectors = np.random.default_rng(0).normal(size=(len(words), 4))
    fp.WordVectors(words, vectors).save(folder / "v.npz")
    (folder / "w.csv").write_text("id,name\n1,Anna Smith\n2,Smith Anna\n3,Cleo Li\n")
    options = ("--similarity", "word_mover", "--vectors", "v.npz", "--above", 0.99)
    typed("dedupe", "w.csv", "--id", "id", *options, "-o", "m.csv")
    assert pairs_of(folder / "m.csv") == {("1", "2")}
    assert "--vectors" in typed("dedupe", "w.csv", "--id", "id", *options[:2], *options[4:],
                                "-o", "m.csv", code=2)  # fmt: skip


def test_what_an_empty_cell_counts(typed, folder):
    rows = [("1", "Ann", ""), ("2", "Ann", "Oslo"), ("3", "", "Oslo"), ("4", "", "Rome")]
    written(folder / "gaps.csv", rows)
    command = ("dedupe", "gaps.csv", "--id", "id", "-o", "p.csv", "--column", "name", "--above")
    several = (*command, 0.9, "--column", "city")
    typed(*several)
    assert pairs_of(folder / "p.csv") == {("1", "2"), ("2", "3")}
    typed(*several, "--missing", 0)
    assert pairs_of(folder / "p.csv") == set()
    typed(*command, 0.5, "--column", "city", "--missing", 0)
    assert pairs_of(folder / "p.csv") == {("1", "2"), ("2", "3")}
    assert "--missing 0" in typed(*command, 0.9, err=True)
    assert pairs_of(folder / "p.csv") == {("1", "2"), ("3", "4")}
    typed(*command, 0.9, "--missing", 0)
    assert pairs_of(folder / "p.csv") == {("1", "2")}
    assert "--missing is none" in typed(*command, 0.9, "--missing", "none", code=2)


def test_missing_means_nothing_to_a_function_of_ones_own(typed, folder):
    (folder / "score.py").write_text("def alike(a, b):\n    return 1.0\n")
    own = ("--similarity", "score:alike", "--missing", 0)
    message = typed("dedupe", "a.csv", *NAMES, *own, "--above", 1, "-o", "m.csv", code=2)
    assert "--missing would be ignored by your own similarity" in message


def test_a_fault_is_told_in_words_of_the_command(typed, folder):
    (folder / "half.py").write_text(
        "calls = []\n\ndef alike(a, b):\n    calls.append(a)\n"
        "    return 1.0 if len(calls) < 3 else float('nan')\n\n"
        "def ordered(a, b):\n    return float(a < b)\n"
    )
    command = ("dedupe", "people.csv", "--column", "name", "--above", 1, "--similarity")
    for function in ("alike", "ordered"):
        message = typed(*command, f"half:{function}", "-o", f"{function}.csv", code=2)
        for python in ("error.oracle", "landmark", "symmetric=", "approximate("):
            assert python not in message
    assert "Pass --asymmetric" in message


def test_a_spreadsheet_is_saved_as_csv_first(typed, folder):
    (folder / "a.xlsx").write_bytes(b"PK")
    for command in (("dedupe", "a.xlsx", "--above", 1), ("approximate", "a.xlsx")):
        assert "as .csv" in typed(*command, "-o", "m.csv", code=2)


@pytest.mark.parametrize(("mark", "typed_as"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_another_delimiter_is_guessed_in_the_message(typed, folder, mark, typed_as):
    written(folder / "o.csv", LEFT, mark)
    message = typed("dedupe", "o.csv", *NAMES, "--above", 1, "-o", "m.csv", code=2)
    assert f"Pass --delimiter {typed_as}." in message


def test_neighbours_are_counted_by_row(typed, folder):
    message = typed("neighbors", "a.csv", *NAMES, "-k", 2, "-o", "n.csv")
    assert f"{2 * len(LEFT)} neighbours of {len(LEFT)} rows, by" in message


def test_a_search_or_all_pairs(typed, folder):
    command = ("dedupe", "a.csv", *NAMES, "--above", 0.9, "-o", "m.csv", "--json")
    pairs = len(LEFT) * (len(LEFT) - 1) // 2
    assert json.loads(typed(*command))["spent"]["all_pairs"] == pairs
    assert "all_pairs" not in json.loads(typed(*command, "--search"))["spent"]
    message = typed(*command, "--all-pairs", "--budget", 2, code=2)
    assert "--all-pairs was given beside --budget 2" in message


def test_the_price_comes_first(typed, folder):
    (folder / "own.py").write_text("def alike(a, b):\n    raise OSError\n")
    own = ("--similarity", "own:alike", "--plan")
    rows = ["id,name", *(f"{k},name {k}" for k in range(800))]
    (folder / "many.csv").write_text("\n".join(rows) + "\n")
    pairs = typed("dedupe", "many.csv", "--column", "name", "--above", 0.9, *own)
    assert "with 80 matches: 147,712 of 319,600 pairs" in pairs
    plan = fp.plan_pairs(800, matches=800)
    assert f"with 800 matches: {plan.blind:,} of 319,600 pairs are drawn blindly" in pairs
    assert f"{plan.low:,} to {plan.high:,} evaluations" in pairs
    assert "nothing was evaluated" in pairs
    assert "e+" not in pairs
    near = typed("neighbors", "many.csv", "--column", "name", "-k", 3, *own)
    assert "131 rows read whole" in near
    assert "--budget limits rows and candidates" in near
    both = typed("match", "many.csv", "a.csv", "--column", "name", "--above", 0.9, "--plan")
    assert "all 2,400 pairs would be evaluated, and none missed" in both
    some = typed("dedupe", "many.csv", "--column", "name", "--above", 1, *own, "--budget", 0.1)
    assert "at most 31,960 evaluations, of 319,600 pairs" in some
    assert "no output was named" in typed("dedupe", "a.csv", *NAMES, "--above", 0.9, code=2)


def test_a_plan_says_where_all_pairs_may_be_quicker(typed, folder, monkeypatch):
    monkeypatch.setattr("fewpairs.tasks.matching.all_pairs.MANY", 2)
    command = ("dedupe", "a.csv", *NAMES, "--above", 0.9, "--plan")
    pairs = len(LEFT) * (len(LEFT) - 1) // 2
    assert f"--all-pairs evaluates all {pairs} pairs and misses none" in typed(*command)
    for more in (("--search",), ("--budget", 5), ("--cost", "0.01 USD")):
        assert "--all-pairs" not in typed(*command, *more)
    monkeypatch.setattr("fewpairs.tasks.matching.all_pairs.MANY", 0.2)
    assert "--all-pairs" not in typed(*command)  # too many


def test_the_price_is_told_in_money(typed, folder):
    (folder / "own.py").write_text("def alike(a, b):\n    raise OSError\n")
    rows = ["id,name", *(f"{k},name {k}" for k in range(800))]
    (folder / "many.csv").write_text("\n".join(rows) + "\n")
    own = ("many.csv", "--column", "name", "--similarity", "own:alike", "--plan")
    cost = ("--cost", "0.01 USD")
    plan = fp.plan_pairs(800, matches=800)
    pairs = typed("dedupe", *own, "--above", 0.9, *cost)
    assert f"{plan.low / 100:,.2f} USD to {plan.high / 100:,.2f} USD" in pairs
    near = typed("neighbors", *own, "-k", 3, *cost)
    assert f"{fp.plan_nearest(800, k=3).least / 100:,.2f} USD" in near
    some = typed("dedupe", *own, "--above", 0.9, *cost, "--budget", "5 USD")
    assert "at most 500 evaluations, of 319,600 pairs, 5.00 USD" in some
    every = typed("dedupe", *own, "--above", 0.9, *cost, "--all-pairs")
    assert "none missed, 3,196.00 USD" in every
    message = typed("dedupe", *own, "--above", 0.9, "--budget", "5 USD", code=2)
    assert "--budget is '5 USD'" in message
    assert 'Pass --cost "0.002 USD"' in message


def test_capitals_and_blanks_are_ignored_if_asked(typed, folder):
    (folder / "c.csv").write_text("id,name\n1,Anna\n2,ANNA\n3, anna \n4,Bob\n")
    command = ("dedupe", "c.csv", *NAMES, "--above", 0.9, "-o", "m.csv")
    typed(*command)
    assert pairs_of(folder / "m.csv") == set()
    typed(*command, "--ignore-case")
    assert pairs_of(folder / "m.csv") == {("1", "2"), ("1", "3"), ("2", "3")}
    assert ",ANNA, anna " in (folder / "m.csv").read_text()
    (folder / "own.py").write_text("def alike(a, b):\n    return 1.0\n")
    own = typed(*command, "--ignore-case", "--similarity", "own:alike", code=2)
    assert "--ignore-case would be ignored by your own similarity" in own


def test_empty_cells_of_several_columns_are_told(typed, folder):
    (folder / "e.csv").write_text("id,name,city\n1,,Oslo\n2,Ann,Oslo\n3,Bob,Bergen\n")
    command = ("dedupe", "e.csv", *NAMES, "--column", "city", "--above", 0.9, "-o", "m.csv")
    said = typed(*command, err=True)
    assert "of 3 rows of e.csv some are empty in the columns name (1); the other" in said
    assert pairs_of(folder / "m.csv") == {("1", "2")}
    assert "empty" not in typed(*command, "--missing", 0, err=True)
    assert pairs_of(folder / "m.csv") == set()


def test_columns_of_the_other_file_have_their_own_options(typed, folder):
    (folder / "other.csv").write_text("key,title\n1,Ann\n")
    said = typed("match", "a.csv", "other.csv", *NAMES, "--above", 0.9, "-o", "m.csv", code=2)
    assert "their own options: --right-column, --right-id" in said
    said = typed("match", "a.csv", "b.csv", "--column", "nam", "--above", 1, "-o", "m.csv", code=2)
    assert "--right-column" not in said


def test_a_table_matched_with_itself_is_told(typed, folder):
    command = (*NAMES, "--above", 0.9, "-o", "m.csv")
    assert "compared with itself" in typed("match", "a.csv", "a.csv", *command, err=True)
    assert "compared with itself" not in typed("match", "a.csv", "b.csv", *command, err=True)


def test_an_assignment_says_how_many_pairs_it_keeps(typed, folder):
    command = ("match", "a.csv", "b.csv", *NAMES, "--above", 0.8, "-o", "m.csv")
    every = len(pairs_of(folder / "m.csv")) if typed(*command) else 0
    said = typed(*command, "--one-to-one")
    kept = len(pairs_of(folder / "m.csv"))
    assert kept < every
    assert f"{kept} pairs kept, one to one, of those found among 12" in said
    assert f"{every} matches found" in said


def test_a_plan_of_groups_on_standard_output_is_no_second_output(typed):
    said = typed("dedupe", "people.csv", *NAMES, "--above", 0.85, "--plan", "--groups", "-")
    assert "nothing was evaluated" in said
    told = typed(
        "dedupe", "people.csv", *NAMES, "--above", 0.85, "--groups", "-", "-o", "p.csv", err=True
    )
    assert "saved to -" not in told
    assert "saved to p.csv" in told
    both = typed(
        "dedupe", "people.csv", *NAMES, "--above", 0.85, "--groups", "-", "-o", "-", code=2
    )
    assert "two outputs" in both


@pytest.mark.filterwarnings("always::fewpairs.errors.NeighborsCutWarning")
def test_what_makes_no_sense_is_told_in_the_words_of_the_command(typed):
    told = typed(
        "dedupe", "people.csv", *NAMES, "--above", 0.85, "--missing", 2, "-o", "p.csv", code=2
    )
    assert "--missing is 2" in told
    assert "between 0 and 1" in told
    sheet = typed("dedupe", "people.csv", *NAMES, "--above", 0.85, "-o", "p.xlsx", code=2)
    assert ".csv" in sheet
    assert "Did you mean" not in sheet
    cut = typed("neighbors", "people.csv", *NAMES, "-k", 2000, "-o", "n.csv", err=True)
    assert "-k 2000 is more than the 6 others" in cut
