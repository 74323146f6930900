"""The command teaches, answers in one line what it refuses, and leaves nothing behind."""

from __future__ import annotations

import builtins
import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

import fewpairs as fp
from fewpairs.cli import main
from fewpairs.cli import options as o
from fewpairs.cli.app import app
from fewpairs.cli.examples import epilog, examples
from fewpairs.similarities.named import FAMILIES

PEOPLE = [("a1", "Anna Smith", "Oslo"), ("a2", "Bob Jones", "Bergen"), ("a3", "Cleo Li", "Molde")]
PEOPLE += [("b1", "Ana Smith", "Oslo"), ("b2", "Rob Jones", "Bergen"), ("b3", "Anna Smyth", "Bodø")]
COMMANDS = typer.main.get_command(app).commands
ON_TABLES = ("match", "dedupe", "cluster", "neighbors")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, rows in (("a", PEOPLE[:3]), ("b", PEOPLE[3:]), ("people", PEOPLE)):
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("id", "name", "city"), *rows])
    (tmp_path / "texts.txt").write_text("the cat sat\nthe dog ran\na cat and a dog\n" * 4)
    (tmp_path / "score.py").write_text("def alike(a, b):\n    return float(a[0] == b[0])\n")
    return tmp_path


@pytest.fixture
def typed(folder, monkeypatch, capsys):
    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["fewpairs", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, said
        assert "Traceback" not in said.err
        return said.err if code else said.out

    return run


def options_of(command):
    every = COMMANDS[command].params
    return {name for one in every for name in (*one.opts, *one.secondary_opts)} | {"--help"}


# ------------------------------------------------------------------ help that teaches


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "journal"])
def test_help_ends_with_examples_whose_options_exist(typed, command):
    said = typed(command, "--help")
    for line in epilog(command).splitlines()[2:]:
        assert line.strip() in said
        words = shlex.split(line)
        assert words[:2] == ["fewpairs", command]
        given = {word for word in words if re.match(r"-{1,2}[a-z]", word)}
        assert given <= options_of(command)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewpairsWarning")
def test_examples_run_as_they_stand(typed, folder):
    for line in examples():
        if "demo" not in line:
            typed(*shlex.split(line)[1:])
    assert (folder / "page.html").stat().st_size > 10_000
    assert "a1" in (folder / "people.html").read_text(encoding="utf-8")


def test_every_option_explains_itself():
    for name, command in COMMANDS.items():
        every = command.commands.values() if name == "journal" else [command]
        for one in every:
            assert one.help
            for option in one.params:
                told = getattr(option, "help", None) or option.param_type_name == "argument"
                assert told, (one.name, option.name)


def test_cluster_names_its_default_budget(typed):
    assert "200 pairs for each row" in " ".join(typed("cluster", "--help").split())


def test_completion_and_version_are_there(typed):
    said = typed("--help")
    assert "--install-completion" in said
    assert "--show-completion" in said
    assert typed("--version").split() == ["fewpairs", fp.__version__]


# ------------------------------------------------------------------ what is refused

TABLE = ("--column", "name", "--above", 0.9)
WRONG = {
    "file": (("dedupe", "no.csv", *TABLE, "-o", "o.csv"), "no file 'no.csv'"),
    "column": (
        ("dedupe", "people.csv", "--column", "nam", "--above", 0.9, "-o", "o.csv"),
        'Did you mean "name"?',
    ),
    "similarity": (
        ("dedupe", "people.csv", *TABLE, "--similarity", "levenstein", "-o", "o.csv"),
        'Did you mean "levenshtein"?',
    ),
    "output": (("dedupe", "people.csv", *TABLE, "-o", "nowhere/o.csv"), "cannot be written"),
    "page": (
        ("dedupe", "people.csv", *TABLE, "-o", "o.csv", "--report", "nowhere/p.html"),
        "cannot be written",
    ),
    "page that is the input": (
        ("dedupe", "people.csv", *TABLE, "-o", "o.csv", "--report", "people.csv"),
        "which would be lost",
    ),
    "page that is the output": (
        ("cluster", "people.csv", "--column", "name", "--threshold", 0.9, "-o", "o.csv",
         "--report", "o.csv"),
        "two outputs",
    ),
    "page that is none": (
        ("dedupe", "people.csv", *TABLE, "-o", "o.csv", "--report", "o.pdf"),
        "does not end in .html. Choose a name such as o.html.",
    ),
    "page of a matrix that is none": (
        ("approximate", "texts.txt", "-o", "o", "--report", "o.pdf"),
        "does not end in .html",
    ),
    "threshold": (("cluster", "people.csv", "-o", "o.csv"), "neither of --threshold and --below"),
    "no output": (("match", "a.csv", "b.csv", *TABLE), "no output was named"),
    "guide": (
        ("dedupe", "people.csv", *TABLE, "-o", "o.csv", "--search", "--guide", "few.npy"),
        "the shape (5, 2)",
    ),
    "file of items": (("approximate", "no.txt", "-o", "o"), "no file 'no.txt'"),
    "similarity of items": (
        ("approximate", "texts.txt", "--similarity", "cosin", "-o", "o"), 'Did you mean "cosine"?',
    ),
    "id column": (
        ("approximate", "people.csv", "--column", "name", "--id", "Id", "-o", "o"),
        'Did you mean "id"?',
    ),
    "output of a matrix": (("approximate", "texts.txt", "-o", "nowhere/o"), "cannot be written"),
    "method": (("approximate", "texts.txt", "--method", "nystrm", "-o", "o"), "nystrom"),
    "sample": (("inspect", "texts.txt", "--sample", 0), "sample is 0"),
    "plan": (("plan", "people.csv"), "--column"),
    "query": (("query", "texts.txt", "--item", 1), "not a fewpairs file"),
    "vectors": (("vectors", "no.txt", "-o", "v.npz"), "no file 'no.txt'"),
    "vectors' output": (("vectors", "texts.txt", "-o", "v.doc"), "v.doc"),
    "landmarks": (("approximate", "texts.txt", "--landmarks", 0, "-o", "o"), "landmarks"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_one_line_in_the_commands_own_words(typed, folder, what):
    arguments, says = WRONG[what]
    np.save(folder / "few.npy", np.ones((5, 2)))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = typed(*arguments, code=2)
    assert says in said
    assert len(said.splitlines()) == 1
    assert said.startswith("fewpairs: ")
    assert len(said) < 300
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", said))
    assert named <= options_of(arguments[0])
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("library", "extra", "arguments"),
    [
        ("rapidfuzz", "strings", ("dedupe", "people.csv", *TABLE, "-o", "o.csv")),
        ("pyarrow", "parquet", ("dedupe", "people.csv", *TABLE, "-o", "o.parquet")),
    ],
)
def test_a_missing_extra_is_named(typed, folder, monkeypatch, library, extra, arguments):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.split(".")[0] in (library, "polars"):
            raise ImportError(name)
        return real(name, *rest, **named)

    for name in [m for m in sys.modules if m.split(".")[0] in (library, "polars")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("importlib.import_module", without)
    said = typed(*arguments, code=2)
    assert f'pip install "fewpairs[{extra}]"' in said
    assert len(said.splitlines()) == 1
    assert not list(folder.glob("o.*"))


# ------------------------------------------------------------------ pages, plans, JSON, guides


@pytest.mark.parametrize("command", ON_TABLES)
def test_every_command_on_tables_writes_a_page_with_the_ids(typed, folder, command):
    arguments = {
        "match": ("match", "a.csv", "b.csv", "--above", 0.5),
        "dedupe": ("dedupe", "people.csv", "--above", 0.5),
        "cluster": ("cluster", "people.csv", "--threshold", 0.5),
        "neighbors": ("neighbors", "people.csv", "-k", 2),
    }[command]
    said = typed(*arguments, "--column", "name", "--id", "id", "-o", "o.csv", "--report", "p.html")
    assert "open p.html in a browser" in said
    data = json.loads(
        re.search(r'id="data">(.*?)</script>', (folder / "p.html").read_text(encoding="utf-8"),
                  re.DOTALL)[1]
    )  # fmt: skip
    assert data["names"] == [row[0] for row in PEOPLE]
    assert data["texts"] == [row[1] for row in PEOPLE]


@pytest.mark.parametrize("command", ON_TABLES)
def test_every_command_on_tables_plans_in_words_and_as_json(typed, folder, command):
    arguments = {
        "match": ("match", "a.csv", "b.csv", "--above", 0.5, "--search"),
        "dedupe": ("dedupe", "people.csv", "--above", 0.5, "--budget", 0.4),
        "cluster": ("cluster", "people.csv", "--threshold", 0.5, "--budget", 9),
        "neighbors": ("neighbors", "people.csv", "-k", 2, "--search"),
    }[command]
    command = (*arguments, "--column", "name", "--plan")
    assert "nothing was evaluated" in typed(*command)
    facts = json.loads(typed(*command, "--json"))
    assert facts["rows"] == [3, 3] if "match" in arguments else [6, 6]
    assert all(one["least"] >= 0 for one in facts["evaluations"])
    assert [path.name for path in folder.iterdir() if path.suffix in (".partial", ".html")] == []


def test_a_plan_of_clusters_says_what_is_spent(typed):
    command = ("cluster", "people.csv", "--column", "name", "--threshold", 0.5, "--budget", 20)
    assert "at most 15 evaluations, 100.0% of all 15" in typed(*command, "--plan")
    spent = json.loads(typed(*command, "--json", "-o", "c.csv"))["evaluations"]
    assert spent <= 20


def test_inspect_plan_approximate_and_query_speak_json(typed, folder):
    names = ("people.csv", "--column", "name")
    seen = json.loads(typed("inspect", *names, "--similarity", "jaro_winkler", "--json"))
    direct = fp.inspect([row[1] for row in PEOPLE], fp.StringSimilarity("jaro_winkler"))
    assert seen["negative_share"] == pytest.approx(direct.negative_share)
    assert seen["evaluations"] == direct.evaluations
    assert "spectrum" in typed("inspect", *names)
    planned = json.loads(typed("plan", *names, "--landmarks", 3, "--json"))
    assert planned["n_landmarks"] == 3
    options = ("--id", "id", "--landmarks", 3, "-o", "p.fewpairs", "--report", "p.html", "--json")
    made = json.loads(typed("approximate", *names, *options))
    assert made["shape"] == [6, 6]
    assert made["evaluations"] == fp.load("p.fewpairs").evaluations
    assert made["report"] == "p.html"
    assert (folder / "p.html").exists()
    found = json.loads(typed("query", "p.fewpairs", "--item", "a1", "-k", 2, "--json"))
    assert [row["id"] for row in found["neighbours"]] == ["b1", "b3"]
    assert found["neighbours"][0]["text"] == "Ana Smith"
    by_position = json.loads(typed("query", "p.fewpairs", "--item", 0, "-k", 2, "--json"))
    assert by_position["neighbours"] == found["neighbours"]
    assert "Did you mean 'a1'" in typed("query", "p.fewpairs", "--item", "aa1", code=2)
    assert "The first is 'a1'.\n" in typed("query", "p.fewpairs", "--item", "zzz", code=2)


def test_a_guide_is_a_file_none_or_automatic(typed, folder):
    np.save(folder / "guide.npy", np.eye(6))
    command = ("dedupe", "people.csv", "--column", "name", "--above", 0.5, "--search", "-o")
    for guide in (("guide.npy",), ("none",), ("auto",)):
        typed(*command, "o.csv", "--guide", *guide)
    typed("cluster", "people.csv", "--column", "name", "--threshold", 0.5, "--guide", "guide.npy",
          "-o", "c.csv")  # fmt: skip
    with (folder / "c.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file))[:2] == ["id", "cluster"]  # as Clusters.to_csv has it


# ------------------------------------------------------------------ advice that fits


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("twice.csv", b"id,name,name\n1,a,b\n", "a name of its own"),
        ("broken.jsonl", b'{"name": "a"}\n{"name": \n', "one object a line: mend the file"),
        ("marked.csv", "name\nAnn\n".encode("utf-16"), "pass --encoding utf-16"),
        ("latin.csv", "name\nJosé\n".encode("latin-1"), "--encoding names another"),
        ("packed.csv.gz", b"no gzip", "Check the file"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_what_fits(typed, folder, name, content, says):
    (folder / name).write_bytes(content)
    command = ("dedupe", name, "--column", "name", "--above", 0.9, "-o", "x.csv")
    message = typed(*command, code=2)
    assert says in message
    assert ("UTF-8" in message) == ("encoding" in says)


@pytest.mark.parametrize(("name", "content"), [("e.csv", ""), ("h.csv", "name\n"), ("e.txt", "\n")])
def test_vectors_of_no_texts_are_refused_as_tables_without_rows_are(typed, folder, name, content):
    (folder / name).write_text(content, encoding="utf-8")
    assert f"{name} has no rows" in typed("vectors", name, "-o", "v.npz", code=2)


def test_a_weight_at_the_other_column_is_told_where_weights_stand(typed):
    command = ("match", "people.csv", "people.csv", "--column", "name:2", "--above", 0.9)
    message = typed(*command, "--right-column", "name:0.5", "-o", "x.csv", code=2)
    assert "Weights stand at --column only: --right-column name." in message


def test_the_help_lists_every_similarity():
    listed = re.split(r"[\s,;]+", o.SimilarityOption.__metadata__[0].help)
    names = [name for family in FAMILIES for name in family.names]
    assert set(names) <= set(listed)


def test_after_an_asymmetry_the_same_output_serves_with_asymmetric(typed, folder):
    own = (
        "import os\ncalls = []\n"
        "def lengths(a, b):\n"
        "    if not os.path.exists('stops'):\n"
        "        return len(a) / (len(a) + 2 * len(b))\n"
        "    calls.append(1)\n"
        "    return min(len(a), len(b)) / (max(len(a), len(b)) if len(calls) < 5 else None)\n"
    )
    (folder / "in_order.py").write_text(own, encoding="utf-8")
    rows = "".join(f"{'x' * k}\n" for k in range(1, 40))
    (folder / "long.csv").write_text("name\n" + rows, encoding="utf-8")
    command = ("dedupe", "long.csv", "--above", 0.5, "--similarity", "in_order:lengths")
    message = typed(*command, "-o", "x.csv", code=2)
    assert "are not kept, because they would serve neither" in message
    assert "goes on from there" not in message
    typed(*command, "--asymmetric", "-o", "x.csv")
    # What an earlier run has kept, when the function looked symmetric, is left to the user.
    (folder / "stops").touch()
    assert "kept in y.csv.partial" in typed(*command, "-o", "y.csv", code=2)
    (folder / "stops").unlink()
    assert "Delete y.csv.partial before" in typed(*command, "-o", "y.csv", code=2)
    (folder / "y.csv.partial").unlink()
    typed(*command, "--asymmetric", "-o", "y.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_full_standard_output_is_named(folder):
    command = [sys.executable, "-m", "fewpairs", "dedupe", "people.csv", "--column", "name"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*command, "--above", "0.1", "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            check=False,
        )
    assert ended.returncode == 2
    assert "standard output was not written: No space left on device" in ended.stderr
