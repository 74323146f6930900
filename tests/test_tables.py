"""Tables: read with chosen columns and ids, written in the format of the output's ending."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import polars as pl
import pytest

from fewpairs.errors import InputError, MissingExtraError, UnknownNameError, UnwritableError
from fewpairs.files.tables import WRITERS, check_table_path, write_table
from fewpairs.items.readers import read_items, stream_texts
from fewpairs.items.rows import ROWS
from fewpairs.items.sources import Source
from fewpairs.items.tables import as_text, read_table

CELLS = {
    "id": ["a1", "a2", "a3", "a4"],
    "name": ["Ann", 'Bob "the" Builder', "", "Cleo, née\r\nLi"],
    "score": [0.25, 1.0, 1e-300, 0.1 + 0.2],
}


def table(path, columns=("name",), id_column=None, **form):
    return read_table(Source.of(path, ROWS, **form), columns, id_column)


@pytest.mark.parametrize("ending", sorted(WRITERS))
def test_what_is_written_is_read_again(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write_table(path, CELLS)
    found = table(path, ("name", "score"), "id")
    assert found.ids == CELLS["id"]
    assert found.columns["name"] == CELLS["name"]
    assert [float(cell) for cell in found.columns["score"]] == CELLS["score"]
    assert read_items(path, "name") == CELLS["name"]
    content = path.read_bytes()
    write_table(path, CELLS)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", sorted(WRITERS))
def test_a_table_without_rows_has_its_columns(tmp_path, ending):
    path = tmp_path / f"none{ending}"
    write_table(path, {"left": [], "similarity": []})
    with pytest.raises(InputError, match="has no rows"):
        table(path, ("left",))


def test_cells_are_written_as_they_are(tmp_path):
    cells = ["=1+1", "@SUM(A1)", "-2", "\ttab", " space ", "half \ud83d", "nul\0"]
    for ending in WRITERS:
        path = tmp_path / f"odd{ending}"
        write_table(path, {"cell": cells}, escape=False)
        if "jsonl" in ending:
            assert read_items(path) == cells
        if ending == ".parquet":
            assert read_items(path)[:5] == cells[:5]
    text = (tmp_path / "odd.csv").read_bytes()
    assert text.startswith(b"cell\n=1+1\n@SUM(A1)\n-2\n")
    assert b"half \\ud83d" in text


def test_mixed_types_become_texts_where_a_format_has_one_type_for_a_column(tmp_path):
    mixed = {"id": [1, "b", 2.5], "n": [1, 2, 3]}
    write_table(tmp_path / "m.parquet", mixed)
    found = table(tmp_path / "m.parquet", ("n",), "id")
    assert (found.ids, found.columns["n"]) == (["1", "b", "2.5"], [1, 2, 3])
    write_table(tmp_path / "m.jsonl", mixed)
    assert table(tmp_path / "m.jsonl", ("n",), "id").ids == [1, "b", 2.5]


def test_an_unknown_ending_and_a_missing_folder_are_refused_before_anything_is_written(tmp_path):
    for name in ("pairs", "pairs.csv.zip", "pairs.npy.gz"):
        with pytest.raises(UnknownNameError, match=r"\.csv\.gz"):
            check_table_path(tmp_path / name)
    with pytest.raises(InputError, match="would be a spreadsheet"):
        check_table_path(tmp_path / "pairs.xlsx")
    with pytest.raises(UnwritableError):
        check_table_path(tmp_path / "nowhere" / "pairs.csv")
    assert not list(tmp_path.iterdir())


def test_a_fault_while_writing_leaves_what_was_there(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match="shorter"):
        write_table(path, {"a": [1, 2], "b": [1]})
    assert path.read_text() == "before"


def test_parquet_without_a_library_names_the_extra(tmp_path, monkeypatch):
    write_table(tmp_path / "t.parquet", CELLS)
    for library in ("pyarrow", "polars"):
        assert table(tmp_path / "t.parquet", id_column="id").ids == CELLS["id"]
        write_table(tmp_path / "t.parquet", CELLS)
        monkeypatch.setitem(sys.modules, library, None)
    for use in (table, check_table_path):
        with pytest.raises(MissingExtraError, match=r"fewpairs\[parquet\]"):
            use(tmp_path / "t.parquet")


# ------------------------------------------------------------------ columns and ids


def test_lines_are_a_table_with_their_numbers(tmp_path):
    path = tmp_path / "names.txt"
    path.write_bytes(b"Ann\r\n\nBob\n")
    found = table(path, ())
    assert (found.columns, found.ids) == ({"text": ["Ann", "Bob"]}, [1, 3])
    with pytest.raises(UnknownNameError, match="Known: text"):
        table(path, ("name",))


def test_rows_without_an_id_column_are_counted(tmp_path):
    (tmp_path / "n.csv").write_text("name\nAnn\n\nBob\n")
    assert table(tmp_path / "n.csv", ()).ids == [1, 2]
    (tmp_path / "n.jsonl").write_text('{"name": "Ann"}\n\n{"name": "Bob"}\n')
    assert table(tmp_path / "n.jsonl", ()).ids == [1, 3]


def test_the_only_column_beside_the_ids_need_not_be_named(tmp_path):
    (tmp_path / "n.tsv").write_text("id\tname\n7\tAnn\n")
    assert table(tmp_path / "n.tsv", (), "id").columns == {"name": ["Ann"]}
    with pytest.raises(InputError, match="id, name"):
        table(tmp_path / "n.tsv", ())
    with pytest.raises(UnknownNameError, match='Did you mean "id"'):
        table(tmp_path / "n.tsv", (), "ids")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("1,Ann\n,Bob\n,Cleo\n", "2 of 3 rows of n.csv have no id; first: row 2"),
        ("1,Ann\n2,Bob\n1,Cleo\n", "the id '1' stands twice in n.csv: in row 1 and row 3"),
        ("1,Ann,x\n", r"line 2 of .* has 3 cells, and the header 2"),
        ('1,Ann\n2,"Bob\n3,Cleo\n', r"the row that begins in line 3, .*\n.*\nClose that quote"),
    ],
)
def test_ids_are_there_and_all_different(tmp_path, rows, says):
    (tmp_path / "n.csv").write_text("id,name\n" + rows)
    with pytest.raises(InputError, match=says):
        table(tmp_path / "n.csv", id_column="id")


def test_ids_of_json_are_single_values(tmp_path):
    path = tmp_path / "n.jsonl"
    for wrong in ('{"a": 1}', "[1]", "null", '""', "true"):
        path.write_text(f'{{"id": 1, "n": "x"}}\n{{"id": {wrong}, "n": "y"}}\n')
        with pytest.raises(InputError, match="line 2"):
            table(path, ("n",), "id")
    path.write_text('{"id": 1, "n": "x"}\n{"id": "1", "n": "y"}\n')
    with pytest.raises(InputError, match="stands twice"):
        table(path, ("n",), "id")


def test_cells_that_are_not_there_are_empty(tmp_path):
    (tmp_path / "n.csv").write_text("id,name\n1\n2,\n")
    assert table(tmp_path / "n.csv", id_column="id").columns["name"] == ["", ""]
    (tmp_path / "n.jsonl").write_text('{"id": 1}\n{"id": 2, "name": null}\n')
    assert table(tmp_path / "n.jsonl", id_column="id").columns["name"] == ["", ""]
    frame = pl.DataFrame({"id": [1, 2], "name": [None, float("nan")]})
    frame.write_parquet(tmp_path / "n.parquet")
    assert table(tmp_path / "n.parquet", id_column="id").columns["name"] == ["", ""]


def test_a_column_that_a_header_has_twice_is_refused_if_it_is_asked_for(tmp_path):
    (tmp_path / "n.csv").write_text("id,name,name\n1,a,b\n")
    assert table(tmp_path / "n.csv", ("id",)).ids == [1]
    with pytest.raises(InputError, match="'name' 2 times"):
        table(tmp_path / "n.csv")


def test_fields_within_fields_have_names_with_dots(tmp_path):
    rows = [
        {"id": 1, "fields": {"title": "Ann", "more": {"year": 1999}}},
        {"id": 2, "fields.title": "its own", "fields": {"title": "not this"}},
        {"id": 3, "fields": None},
    ]
    path = tmp_path / "n.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = table(path, ("fields.title", "fields.more.year"), "id")
    assert found.columns["fields.title"] == ["Ann", "its own", ""]
    assert found.columns["fields.more.year"] == [1999, "", ""]
    with pytest.raises(UnknownNameError, match=r"fields\.title"):
        table(path, ("title",))
    frame = pl.DataFrame({"id": [1, 2], "fields": [{"title": "Ann"}, {"title": None}]})
    frame.write_parquet(tmp_path / "n.parquet")
    assert table(tmp_path / "n.parquet", ("fields.title",)).columns["fields.title"] == ["Ann", ""]
    assert read_items(path, "fields.title") == ["Ann", "its own", None]
    assert list(stream_texts(tmp_path / "n.parquet", "fields.title")) == ["Ann", None]


def test_cells_as_texts():
    cells = ["a", 3, 2.5, True, ["x"], {"y": 1}]
    assert [as_text(cell) for cell in cells] == ["a", "3", "2.5", "True", ["x"], {"y": 1}]


# ------------------------------------------------------------------ how texts are written


def test_encodings(tmp_path):
    path = tmp_path / "n.csv"
    for encoding in ("latin-1", "cp1252", "utf-16", "UTF8", "utf-8-sig"):
        path.write_bytes("id,name\n1,née\n".encode(encoding))
        assert table(path, encoding=encoding).columns["name"] == ["née"]
    path.write_bytes("id,name\n1,née\n".encode("latin-1"))
    with pytest.raises(InputError, match="read as UTF-8"):
        table(path)
    for wrong in ("latin-99", "hex", "rot13", ""):
        with pytest.raises(InputError, match="is not known"):
            table(path, encoding=wrong)


def test_delimiters(tmp_path):
    path = tmp_path / "n.csv"
    for typed, character in ((";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|"), ("\t", "\t")):
        path.write_text(f"id{character}name\n1{character}Ann, of course\n")
        assert table(path, delimiter=typed).columns["name"] == ["Ann, of course"]
    for wrong in ("", ";;", '"', "\n"):
        with pytest.raises(InputError, match="one character"):
            table(path, delimiter=wrong)


class Typed:
    """What comes in by a pipe."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize(("packing", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
def test_standard_input_is_read_as_its_format_says(monkeypatch, tmp_path, packing, suffix):
    contents = {
        "csv": b"id,name\n1,Ann\n",
        "tsv": b"id\tname\n1\tAnn\n",
        "jsonl": b'{"id": "1", "name": "Ann"}\n',
    }
    for form, content in contents.items():
        monkeypatch.setattr(sys, "stdin", Typed(packing(content)))
        found = table(Path("-"), id_column="id", form=form + suffix)
        assert (found.ids, found.columns) == (["1"], {"name": ["Ann"]})
    write_table(tmp_path / "t.parquet", {"id": ["1"], "name": ["Ann"]})
    monkeypatch.setattr(sys, "stdin", Typed((tmp_path / "t.parquet").read_bytes()))
    assert table(Path("-"), form="parquet").columns == {"name": ["Ann"]}
    monkeypatch.setattr(sys, "stdin", Typed(b"id,name\n1\xe9,2\n"))
    with pytest.raises(InputError, match="standard input cannot be read"):
        table(Path("-"), form="csv")
    monkeypatch.setattr(sys, "stdin", Typed(b""))
    with pytest.raises(UnknownNameError, match="of standard input"):
        table(Path("-"), form="html")
    with pytest.raises(InputError, match="standard input is a spreadsheet"):
        table(Path("-"), form="xlsx")
    with pytest.raises(InputError, match="no file '-'"):
        table(Path("-"))


def test_a_quote_that_is_never_closed_is_told(tmp_path):
    """Otherwise it would swallow all rows that follow."""
    path = tmp_path / "open.csv"
    path.write_text('id,name\n1,"abc\n2,d\n')
    with pytest.raises(InputError, match="unexpected end of data"):
        table(path)
