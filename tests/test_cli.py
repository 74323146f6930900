"""The command, as a new user types it."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli import main
from fewpairs.cli.app import app
from fewpairs.files import archive as files
from fewpairs.text.tokens import tokenize

NAMES = [
    f"{first} {last}"
    for first in ("Anna", "Anne", "Bob", "Rob", "Cleo")
    for last in ("Smith", "Smyth", "Jones", "Johns")
]


def fewpairs(*arguments, cwd=None, code=0):
    done = subprocess.run(
        [sys.executable, "-c", "from fewpairs.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    rows = "".join(f'{i},"{n}"\n' for i, n in enumerate(NAMES))
    (tmp_path / "names.csv").write_text("id,name\n" + rows, encoding="utf-8")
    lines = "".join(json.dumps({"id": i, "name": n}) + "\n" for i, n in enumerate(NAMES))
    (tmp_path / "names.jsonl").write_text(lines, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(40, 3)))
    return tmp_path


@pytest.fixture
def typed(folder, monkeypatch, capsys):
    """Run the command here, where it starts faster: what it says, if it ends with that code."""
    monkeypatch.chdir(folder)

    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["fewpairs", *map(str, arguments)])
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # as in a process of its own
            with pytest.raises(SystemExit) as end:
                main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, said
        return said.err if code else said.out

    return run


def test_plan_approximate_query(folder):
    assert "6 landmarks of 20 items" in fewpairs("plan", "names.txt", "--landmarks", 6, cwd=folder)
    text = fewpairs(
        "approximate",
        "names.txt",
        "--similarity",
        "jaro_winkler",
        "--landmarks",
        6,
        "-o",
        "out.fewpairs",
        cwd=folder,
    )
    assert "relative error" in text
    lines = fewpairs("query", "out.fewpairs", "--item", 0, "-k", 3, cwd=folder).splitlines()
    assert len(lines) == 3
    index, value, name = lines[0].split("\t")
    assert NAMES[int(index)] == name
    assert float(value) <= 1.1
    best = fewpairs(
        "query", "out.fewpairs", "--text", "Anna Smith", "-k", 1, "--rerank", 20, cwd=folder
    )
    assert best.split("\t") == ["0", "1.0000", "Anna Smith\n"]


@pytest.mark.parametrize("file", ["names.csv", "names.jsonl"])
def test_columns(typed, folder, file):
    typed("approximate", file, "--column", "name", "--budget", 0.5, "-o", "o.fewpairs")
    assert fp.load(folder / "o.fewpairs").source.items.values == NAMES
    message = typed("plan", file, code=2)
    assert "id, name" in message
    assert 'Did you mean "name"' in typed("plan", file, "--column", "nam", code=2)


def test_vectors(typed, folder):
    typed(
        "approximate",
        "x.npy",
        "--similarity",
        "rbf",
        "--gamma",
        0.5,
        "--landmarks",
        10,
        "-o",
        "x.fewpairs",
    )
    assert "rbf" in fp.load(folder / "x.fewpairs").source.fingerprint
    assert len(typed("query", "x.fewpairs", "--item", 1, "-k", 2).splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("approximate", "missing.txt", "-o", "o"), "no file"),
        (("approximate", "names.txt", "-o", "nowhere/o"), "folder"),
        (("approximate", "names.txt", "--similarity", "cosin", "-o", "o"), 'Did you mean "cosine"'),
        (("approximate", "names.txt", "--budget", 3, "-o", "o"), "one landmark costs"),
        (("query", "names.txt", "--item", 1), "not a fewpairs file"),
        (("query", "names.txt"), "--item"),
        (("plan", "x.npz"), "no file"),
    ],
)
def test_bad_input_is_one_message(typed, folder, arguments, says):
    assert says in typed(*arguments, code=2)
    assert not (folder / "o").exists()


def test_vectors_are_trained_and_used(typed, folder):
    lines = "\n".join(["the ship left the harbour", "melt the butter in a pan"] * 6)
    (folder / "texts.txt").write_text(lines, encoding="utf-8")
    said = typed("vectors", "texts.txt", "-o", "v.npz", "--dimensions", "2")
    assert "9 word vectors of 2 dimensions" in said
    typed(
        "approximate", "texts.txt", "--similarity", "word_mover", "--vectors", "v.npz",
        "--landmarks", "3", "-o", "k.fewpairs",
    )  # fmt: skip
    assert "no file" in typed("vectors", "missing.txt", "-o", "v.npz", code=2)
    refused = typed("vectors", "texts.txt", "-o", "v.vec", code=2)
    assert "v.vec does not end in .npz" in refused


TEXTS = ["the ship, left the harbour", 'melt the "butter" in a pan'] * 6


def written(folder, name):
    """Write the texts in the format of the name, beside a number."""
    if name.endswith(".csv"):
        cells = [text.replace('"', '""') for text in TEXTS]
        content = "number,text\n" + "".join(f'{k},"{c}"\n' for k, c in enumerate(cells))
    elif name.endswith(".jsonl"):
        content = "".join(json.dumps({"number": k, "text": t}) + "\n" for k, t in enumerate(TEXTS))
    else:
        content = "\n".join(TEXTS)
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.txt.gz", "t.gz", "corpus"])
def test_vectors_are_trained_on_the_texts_alone_in_every_format(typed, tmp_path, name):
    path = written(tmp_path, name)
    table = ["--column", "text"] if ".csv" in path.name or ".jsonl" in path.name else []
    typed("vectors", path, "-o", tmp_path / "v.npz", "--dimensions", 2, *table)
    if not table:
        refused = ("--dimensions", 2, "--column", "text")
        typed("vectors", path, "-o", tmp_path / "w.npz", *refused, code=2)
    trained = fp.WordVectors.load(tmp_path / "v.npz")
    assert sorted(trained) == sorted({w for text in TEXTS for w in tokenize(text)})


def test_vectors_asks_which_column_holds_the_texts(typed, tmp_path):
    path = written(tmp_path, "t.csv")
    assert "number, text" in typed("vectors", path, "-o", tmp_path / "v.npz", code=2)


def test_vectors_of_a_text_that_is_not_utf8_is_one_message(typed, tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n" * 10)
    message = typed("vectors", tmp_path / "latin.txt", "-o", tmp_path / "v.npz", code=2)
    assert "UTF-8" in message


@pytest.mark.parametrize("question", [("--text", "Anna Smith"), ("--item", "0", "--rerank", "5")])
def test_query_reads_the_matrix_once(folder, monkeypatch, capsys, question):
    fp.approximate(NAMES, fp.StringSimilarity(), landmarks=6, random_state=1).save(
        folder / "k.fewpairs"
    )
    reads = []
    read = files.read
    monkeypatch.setattr(files, "read", lambda path: reads.append(path) or read(path))
    command = ["fewpairs", "query", str(folder / "k.fewpairs"), *question, "-k", "1"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)
    assert "Ann" in capsys.readouterr().out
    assert len(reads) == 1


def test_query_of_a_similarity_that_is_only_in_python_says_so(typed, folder):
    mine = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, name="mine")
    fp.approximate(NAMES, mine, landmarks=6).save(folder / "k.fewpairs")
    for question in (("--text", "Anna"), ("--item", 0, "--rerank", 5)):
        message = typed("query", "k.fewpairs", *question, code=2)
        assert "fewpairs.load" in message
    lines = typed("query", "k.fewpairs", "--item", 0, "-k", 3).splitlines()
    assert len(lines) == 3  # by the factored scores, for exact ones were not asked for


def test_query_takes_a_function_of_ones_own_again(typed, folder):
    (folder / "mine.py").write_text("def common(a, b):\n    return float(len(set(a) & set(b)))\n")
    names = ("names.txt", "--landmarks", 6, "--similarity", "mine:common")
    typed("approximate", *names, "-o", "m.fewpairs")
    ask = ("query", "m.fewpairs", "--text", NAMES[0], "-k", 2)
    assert "--similarity module:function" in typed(*ask, code=2)
    lines = typed(*ask, "--similarity", "mine:common", "--rerank", len(NAMES)).splitlines()
    best = sorted((float(len(set(NAMES[0]) & set(b))) for b in NAMES), reverse=True)[:2]
    assert [float(line.split("\t")[1]) for line in lines] == best
    assert "was attached" in typed(*ask, "--similarity", "operator:eq", code=2)


def test_query_ranks_exactly_and_says_what_it_took(folder, monkeypatch, capsys):
    fp.approximate(NAMES, fp.StringSimilarity(), landmarks=4, known=None, random_state=1).save(
        folder / "k.fewpairs"
    )
    for rerank, said in (((), "19 evaluations; scores are exact"), (("0",), "0 evaluations")):
        options = ["--rerank", *rerank] if rerank else []
        command = ["fewpairs", "query", str(folder / "k.fewpairs"), "--item", "0", *options]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit):
            main()
        printed = capsys.readouterr()
        assert said in printed.err
        assert len(printed.out.splitlines()) == 10


def test_query_says_that_nearer_ones_may_be_missed_and_how_not_to(folder):
    names = [f"{a} {b}" for a in NAMES for b in NAMES][:200]
    K = fp.approximate(names, fp.StringSimilarity(), landmarks=4, random_state=1)
    K.save(folder / "k.fewpairs")

    def told(*options):
        command = ["query", str(folder / "k.fewpairs"), "-k", "1", *options]
        return CliRunner().invoke(app, command, catch_exceptions=False).output

    said = "the best of 50 candidates among 199, scored exactly; nearer ones may be missed"
    assert f"{said}: --rerank 199 compares with all" in told("--item", "0")
    assert "scores are exact, of all 199 items" in told("--item", "0", "--rerank", "199")
    assert "--rerank 200 compares" in told("--text", "Anna")
    assert '"candidates": 50, "items": 199' in told("--item", "0", "--json")


def test_demo_runs_and_shows_the_point(tmp_path):
    text = fewpairs("demo", cwd=tmp_path)
    for part in ("Inspect", "Plan", "factored matrix", "true, on those rows", "Nystroem", "KMeans"):
        assert part in text
    assert re.search(r"[\d,]+ pairs, [\d,]+ evaluations; recall 0\.\d+", text)
    assert re.search(r"items in [\d,]+ clusters", text)
    page = (tmp_path / "fewpairs-demo.html").read_text(encoding="utf-8")
    assert "written to fewpairs-demo.html" in text
    assert "sklearn.cluster.KMeans" in page
    assert [path.name for path in tmp_path.iterdir()] == ["fewpairs-demo.html"]


@pytest.mark.parametrize(("answer", "opens"), [(True, True), (False, False), (None, False)])
def test_the_demo_asks_only_a_person_whether_to_open_its_page(tmp_path, monkeypatch, answer, opens):
    from fewpairs.cli import app as command

    opened = []
    monkeypatch.setattr("fewpairs.demo.run_demo", lambda report: None)
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    monkeypatch.setattr(command.typer, "confirm", lambda *_: answer)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: answer is not None, raising=False)
    command.demo(tmp_path / "page.html")
    assert opened == ([(tmp_path / "page.html").as_uri()] if opens else [])


def test_a_demo_that_cannot_write_its_page_ends_before_it_begins(typed, tmp_path):
    said = typed("demo", "--report", "nowhere/page.html", code=2)
    assert "cannot be written" in said


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("latin.txt", b"caf\xe9\n", "UTF-8"),
        ("bad.jsonl", b'{"a": "x"}\n{oops\n', "line 2"),
        ("bare.jsonl", b'"a"\n"b"\n', "line 1"),
        ("text.npy", b"not an array", "cannot be read"),
        ("empty.txt", b"", "has no rows"),
        ("empty.csv", b"", "has no rows"),
        ("empty.jsonl", b"", "has no rows"),
    ],
)
def test_unreadable_files_are_one_message(typed, folder, name, content, says):
    (folder / name).write_bytes(content)
    assert says in typed("plan", name, code=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "names.txt", "--budget", "1.5"),
        ("plan", "names.txt", "--budget", "inf"),
        ("plan", "names.txt", "--gamma", 3),
        ("plan", "x.npy", "--similarity", "cosine", "--gamma", 3),
        ("approximate", "names.txt", "-o", "."),
        ("query", "nowhere.fewpairs", "--item", 1),
    ],
)
def test_senseless_arguments_are_one_message(typed, folder, arguments):
    typed(*arguments, code=2)


HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("wide.txt", "Ann\nBob\n".encode("utf-16"), "UTF-8"),
        ("bare.txt", "Ann\nBob\n".encode("utf-16-le"), "NUL"),
        ("bare.csv", "name\nBob\n".encode("utf-16-le"), "NUL"),
        ("program.txt", b"\x7fELF\2\1\1\0\0\0\0", "NUL"),
        ("deep.jsonl", b'{"a": ' + b"[" * 10**5, "cannot be read"),
        ("zip.npy", b"PK\x03\x04" + b"\0" * 40, "cannot be read"),
        ("huge.npy", b"\x93NUMPY\1\0" + len(HEADER).to_bytes(2, "little") + HEADER, "cannot be"),
        ("fields.csv", b"a,b\n1\n", "the columns a, b"),
        ("blank.csv", b"a\n1\n\n2\n", ""),
        (
            "more.csv",
            b"a\n1\n\n2,3\n",
            "line 4 of more.csv has 2 cells, and the header 1",
        ),
        ("fewer.csv", b"a,text\n1,2\n3\n", "missing"),
    ],
)
def test_odd_files_are_one_message(typed, folder, name, content, says):
    (folder / name).write_bytes(content)
    column = ("--column", "text") if name == "fewer.csv" else ()
    message = typed("plan", name, *column, code=0 if not says else 2)
    assert says in message
    assert len(message.splitlines()) <= 4


def test_the_command_offers_what_can_be_typed(typed, folder):
    assert "leave no error: --landmarks 20\n" in typed("plan", "names.txt", "--budget", 0.9)
    (folder / "many.txt").write_text("\n".join(map(str, range(2100))))
    assert "leave no error: --landmarks 2100\n" in typed("plan", "many.txt", "--landmarks", 9)
    message = typed("plan", "names.txt", "--budget", 3, code=2)
    assert "--error-pairs 0;" in message
    assert "error_pairs" not in message
    none = ("--error-pairs", 0, "-o", "o")
    message = typed("approximate", "names.txt", "--target-error", 0.1, *none, code=2)
    assert "--error-pairs 0 was given beside --target-error." in message
    assert "_" not in message
    assert not list(folder.glob("*.partial"))  # nothing was evaluated


@pytest.mark.parametrize("content", [b"", b"Ann\nBob\n", b"PK\3\4" + b"\0" * 90])
def test_query_says_plainly_that_a_file_is_not_one_of_ours(typed, folder, content):
    (folder / "k.fewpairs").write_bytes(content)
    message = typed("query", "k.fewpairs", "--item", 0, code=2)
    assert "is not a fewpairs file: it does not begin like one" in message


def test_a_reader_that_has_enough_ends_the_command_quietly(folder):
    fp.approximate(NAMES, fp.StringSimilarity(), landmarks=6).save(folder / "k.fewpairs")
    run = "from fewpairs.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", run, "query", "k.fewpairs", "--item", "0", "-k", "20"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_huge_line_is_an_item(typed, folder):
    (folder / "huge.txt").write_bytes(b"x" * 10**6 + b"\nyy\nzz\n")
    assert "3 items" in typed("plan", "huge.txt", "--landmarks", 2)


@pytest.mark.parametrize("command", ["approximate", "plan", "vectors"])
def test_a_pipe_is_refused_in_one_sentence(typed, folder, command):
    os.mkfifo(folder / "pipe.txt")
    output = [] if command == "plan" else ["-o", "out.npz"]
    said = typed(command, "pipe.txt", *output, code=2)
    assert "a pipe or a device" in said
    assert "match, dedupe and neighbors read standard input as -" in said


@pytest.mark.parametrize("name", ["names.txt", "link.txt", "hard.txt", "q.txt", "v.npz", "names"])
def test_an_output_that_is_an_input_is_refused(typed, folder, name):
    (folder / "link.txt").symlink_to("names.txt")
    os.link(folder / "names.txt", folder / "hard.txt")
    os.link(folder / "names.txt", folder / "names.partial")
    (folder / "q.txt").write_text("Ann\nBob\nCleo\n")
    (folder / "v.npz").touch()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    options = ["--similarity", "word_mover", "--vectors", "v.npz", "--others", "q.txt"]
    message = typed("approximate", "names.txt", "-o", name, *options, code=2)
    assert "would be lost" in message
    if name.endswith("txt"):
        given = "q.txt" if name == "q.txt" else "names.txt"
        assert "would be lost" in typed("vectors", given, "-o", name, code=2)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_files_are_compared(typed, folder):
    (folder / "queries.txt").write_text("Anna Smith\nRob Jones\nBob Johns\n" * 3, encoding="utf-8")
    typed(
        "approximate", "queries.txt", "--others", "names.txt", "--landmarks", 5, "-o", "q.fewpairs",
    )  # fmt: skip
    text = typed("query", "q.fewpairs", "--item", 0, "-k", 2, "--rerank", 20)
    assert text.splitlines()[0].endswith("Anna Smith")


def test_a_target_error(typed, folder):
    text = typed("approximate", "names.txt", "--target-error", 0.3, "-o", "t.fewpairs")
    assert "relative error" in text
    (folder / "many.txt").write_text("\n".join(map(str, range(300))), encoding="utf-8")
    text = typed("plan", "many.txt", "--target-error", 0.3)
    assert "until the error is below 0.3" in text


def test_word_movers_similarity(typed, folder):
    words = sorted({w.lower() for n in NAMES for w in n.split()})
    vectors = np.random.default_rng(0).normal(size=(len(words), 4))
    fp.WordVectors(words, vectors).save(folder / "v.npz")
    command = ["--similarity", "word_mover", "--vectors", "v.npz", "--gamma", 0.3]
    typed("approximate", "names.txt", *command, "--landmarks", 6, "-o", "w.fewpairs")
    text = typed(
        "query", "w.fewpairs", "--text", "smith anna", "-k", 1, "--rerank", 20,
        "--vectors", "v.npz",
    )  # fmt: skip
    assert text.split("\t")[1:] == ["1.0000", "Anna Smith\n"]
    message = typed("plan", "names.txt", "--similarity", "word_mover", code=2)
    assert "--vectors" in message
    message = typed("plan", "names.txt", "--vectors", "v.npz", code=2)
    assert "word_mover" in message


def test_a_function_of_ones_own_is_planned_and_approximated(typed, folder):
    (folder / "counted.py").write_text(
        "def longer(a, b):\n    return float(len(a) > len(b))\n\n"
        "def shared(a, b):\n    return float(len(set(a) & set(b)))\n"
    )
    names = ("names.txt", "--landmarks", 2)
    assert "2 landmarks of 20 items" in typed("plan", *names, "--similarity", "counted:shared")
    every = ("names.txt", "--landmarks", 20)
    typed("approximate", *every, "-o", "own.fewpairs", "--similarity", "counted:shared")
    truth = [[len(set(a) & set(b)) for b in NAMES] for a in NAMES]
    found = fp.load(folder / "own.fewpairs").to_dense()
    np.testing.assert_allclose(found, truth, atol=1e-9)
    ordered = ("--similarity", "counted:longer", "--asymmetric", "--retry", 2)
    typed("approximate", *names, "-o", "ordered.fewpairs", *ordered)
    assert not fp.load(folder / "ordered.fewpairs").symmetric
    told = typed("cluster", "names.txt", "-o", "c.csv", "--threshold", 0.4, *ordered, "--json")
    assert json.loads(told)["evaluations"] == 20 * 21  # both orders of each
    refused = typed("plan", *names, "--asymmetric", code=2)
    assert "--asymmetric was given with the similarity levenshtein" in refused


def test_report_of_a_saved_matrix(typed, folder):
    typed("approximate", "names.txt", "--landmarks", 6, "-o", "out.fewpairs")
    told = typed("report", "out.fewpairs", "-o", "out.html", "--title", "Names")
    assert told == "saved to out.html: open it in a browser, it needs no network\n"
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>Names</h1>" in page
    assert all(name in page for name in NAMES)
    assert "<dt>seed</dt><dd>0</dd>" in page


@pytest.mark.parametrize(
    ("matrix", "output", "message"),
    [
        ("out.fewpairs", "out.fewpairs", "is the input"),
        ("out.fewpairs", "nowhere/out.html", "cannot be written"),
        ("gone.fewpairs", "out.html", "gone.fewpairs"),
        ("names.txt", "out.html", "names.txt"),
    ],
)
def test_report_refuses_what_would_go_wrong_and_leaves_nothing(
    typed, folder, matrix, output, message
):
    typed("approximate", "names.txt", "--landmarks", 6, "-o", "out.fewpairs")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert message in typed("report", matrix, "-o", output, code=2)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
