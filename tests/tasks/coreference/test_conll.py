"""CoNLL files: what is written is read again, and damaged ones name their line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import FileFormatError, InputError, MissingFileError

NAME = "(news); part 000"


@settings(deadline=None)
@given(st.dictionaries(st.tuples(st.integers(0, 9), st.integers(1, 4)), st.integers(0, 4)))
def test_what_is_written_is_read_again(tmp_path_factory, mentions):
    path = tmp_path_factory.mktemp("conll") / "a.conll"
    groups: dict[int, list[tuple[int, int]]] = {}
    for (start, length), cluster in sorted(mentions.items()):
        groups.setdefault(cluster, []).append((start, start + length))
    clusters = list(groups.values())
    crossing = any(
        a < c < b - 1 and b < d for spans in clusters for a, b in spans for c, d in spans
    )
    if crossing:
        with pytest.raises(InputError, match="cross"):
            fp.write_conll(path, {NAME: clusters})
        assert not path.exists()
    else:
        fp.write_conll(path, {NAME: clusters, "other": [[(0, 1)]]})
        found = fp.read_conll(path)
        assert list(found) == [NAME, "other"]
        assert sorted(map(sorted, found[NAME])) == sorted(map(sorted, clusters))


def test_tokens_are_written_beside_their_marks(tmp_path):
    path = tmp_path / "a.conll"
    words = {NAME: ["A", "", "long ape", "bit", "it"]}
    fp.write_conll(path, {NAME: [[(0, 3), (4, 5)], [(2, 3)]]}, tokens=words)
    assert path.read_text(encoding="utf-8").splitlines() == [
        f"#begin document {NAME}",
        *("0\tA\t(0", "1\t_\t-", "2\tlongape\t0)(1)", "3\tbit\t-", "4\tit\t(0)"),
        "#end document",
    ]
    assert fp.read_conll(path) == {NAME: [[(0, 3), (4, 5)], [(2, 3)]]}


def test_other_ways_to_write_the_same(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(
        "\ufeff#begin document (x);\r\nx\t0\ta\t(0|(12\n\n# a remark\nx 1 b 12)|0)\t\nx 2 c -\n"
        "x 3 d (12)|(7)\n#end document\n",
        encoding="utf-8",
    )
    # (0, 2) is marked for 0 and for 12, and (3, 4) for 12 and for 7: the first one has it.
    assert fp.read_conll(path) == {"(x);": [[(0, 2)], [(3, 4)]]}


@pytest.mark.parametrize("none", ["-", "_", "*"])
def test_a_token_without_a_mark(tmp_path, none):
    assert read(tmp_path, f"a (1\n#a {none}\nb {none}\nc 1)") == [[(0, 4)]]


def test_marks_nest_as_mentions_do(tmp_path):
    path = tmp_path / "a.conll"
    fp.write_conll(path, {NAME: [[(0, 5)], [(0, 3), (2, 5)], [(1, 5)], [(4, 5)]]})
    marks = [line.split("\t")[-1] for line in path.read_text(encoding="utf-8").splitlines()]
    # The longer one opens first, and the one that began last ends first.
    assert marks[1:-1] == ["(0(1", "(2", "1)(1", "-", "1)2)0)(3)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#begin document a\nx (1\n#end document\n", "line 3: a mention of cluster 1 has no end"),
        ("#begin document a\nx 1)\n#end document\n", "line 2: cluster 1 ends here"),
        ("#begin document a\nx (1(\n#end document\n", r"line 2: '\(1\('"),
        ("x (1)\n", "line 1: there is no line"),
        ("#begin document a\nx -\n", "the last document has no end"),
        ("#begin document a\n#begin document b\n", "line 2: a document begins before"),
        ("#end document\n", "line 1: a document ends"),
        (
            "#begin document a\n#end document\n#begin document a\n#end document\n",
            "line 3: the document a begins a second time",
        ),
    ],
)
def test_damaged_files_name_their_line(tmp_path, text, message):
    path = tmp_path / "a.conll"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message):
        fp.read_conll(path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(MissingFileError):
        fp.read_conll(tmp_path / "none")
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="UTF-8"):
        fp.read_conll(tmp_path / "a")
    (tmp_path / "a").write_text("")
    assert fp.read_conll(tmp_path / "a") == {}


@pytest.mark.parametrize(
    ("documents", "tokens", "message"),
    [
        ({NAME: [[(1, 1)]]}, None, r"mention \(1, 1\)"),
        ({NAME: [[(0, 3)]]}, {NAME: ["a", "b"]}, "2 tokens"),
        ({NAME: [[(0, 1)], [(0, 1)]]}, None, "twice"),
        ({NAME: [[("a", "b")]]}, None, "first token"),
        ({"a\nb": []}, None, "name of a document"),
        ({1: [[(0, 1)]]}, None, "1 is the name of a document"),
        ({"\ud800": [[(0, 1)]]}, None, "half a character"),
        ({NAME: [[(0, 1)]]}, {NAME: ["\udfff"]}, "half a character"),
        ({NAME: [[3]]}, None, "mention 3 in cluster 0"),
        ({NAME: [[(0, 1, 2)]]}, None, r"mention \(0, 1, 2\)"),
        ({NAME: [[None]]}, None, "mention None"),
        ({NAME: [3]}, None, "no lists"),
        ({NAME: None}, None, "no lists"),
        ({NAME: [[(0, 1)]]}, {NAME: 3}, "no lists"),
        ([[(0, 1)]], None, "documents is a list"),
        (None, None, "documents is a NoneType"),
        ({NAME: [[(0, 1)]]}, ["a"], "tokens is a list"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, documents, tokens, message):
    with pytest.raises(InputError, match=message):
        fp.write_conll(tmp_path / "a", documents, tokens=tokens)
    assert not (tmp_path / "a").exists()


def read(tmp_path, body):
    path = tmp_path / "a.conll"
    path.write_bytes(f"#begin document d\n{body}\n#end document\n".encode())
    return fp.read_conll(path)["d"]


def test_tokens_may_begin_with_the_sign_of_remarks(tmp_path):
    body = "# a remark\n#remark\n#hashtag NN (1)\n# -\n#\t(2)\nb NN (1)"
    assert read(tmp_path, body) == [[(0, 1), (3, 4)], [(2, 3)]]


@pytest.mark.parametrize("token", ["\u2028", "\x85", "\x0c", "\x1c", "\x0b", "a\u2029b", "\r"])
def test_lines_end_where_files_end_them(tmp_path, token):
    assert read(tmp_path, f"0\t{token}\t-\r\n1\tx\t(1)\r") == [[(1, 2)]]


@pytest.mark.parametrize("part", ["1", "(", "(1", "1("])
def test_long_cells_are_read_in_a_moment_and_shown_in_part(tmp_path, part):
    with pytest.raises(FileFormatError, match=r"line 2: '[(1]{39}…' is not like"):
        read(tmp_path, "0 a " + part * 100_000 + part[0].replace("1", ""))


def test_a_path_that_is_none():
    with pytest.raises(InputError, match="path is a float"):
        fp.read_conll(3.5)
    with pytest.raises(MissingFileError):
        fp.read_conll("a\0b")
