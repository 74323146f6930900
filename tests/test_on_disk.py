"""Items that stay on disk are those that reading all of them would give, in every form."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import FileFormatError, InputError, UnwritableError
from fewpairs.items.items import as_items
from fewpairs.items.packing import digest
from fewpairs.items.readers import read_items
from fewpairs.items.rows import parquet_rows
from fewpairs.items.sources import Source
from fewpairs.items.stored import Joined

LEVENSHTEIN = fp.StringSimilarity("levenshtein")
TEXTS = [f"text number {k * k}" if k % 7 else f'"quoted", new\nline {k}' for k in range(150)]
IDS = [f"i{k}" for k in range(len(TEXTS))]
FULL = Path("/dev/full")
CELLS = st.text(st.sampled_from('ab é漢\t,"\n\r '), max_size=5)


def frame():
    return pytest.importorskip("pandas").DataFrame({"id": IDS, "t": TEXTS})


def written(path):
    """One file of all the texts, in the format that its ending says."""
    if path.name.endswith((".csv", ".csv.gz")):
        frame().to_csv(path, index=False)
    elif path.name.endswith(".tsv"):
        frame().to_csv(path, index=False, sep="\t")
    elif path.name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
        frame().to_parquet(path, row_group_size=40)
    else:
        rows = zip(IDS, TEXTS, strict=True)
        lines = (json.dumps({"id": i, "t": t}) for i, t in rows)
        path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "jsonl", "parquet"])
def test_a_column_of_every_format_is_the_one_that_is_read(tmp_path, ending):
    path = written(tmp_path / f"a.{ending}")
    items = fp.ItemsOnDisk(path, "t")
    assert list(items) == items[:] == TEXTS == list(read_items(path, "t"))
    assert items[[5, -1, 0]] == [TEXTS[5], TEXTS[-1], TEXTS[0]]
    assert items[-2] == TEXTS[-2]
    assert items.column("id") == IDS
    assert digest(as_items(items)) == digest(as_items(TEXTS))


@given(st.lists(CELLS, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_odd_tables_are_read_as_they_are_read_whole(tmp_path_factory, cells, newline, mark):
    path = tmp_path_factory.getbasetemp() / f"odd-{os.getpid()}.csv"
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    rows = newline.join(["name", *quoted]) + 2 * newline  # a blank line at the end is no row
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + rows.encode())
    assert list(fp.ItemsOnDisk(path)) == list(read_items(path)) == cells


def test_encodings_and_delimiters_are_those_of_the_command(tmp_path):
    (tmp_path / "a.csv").write_bytes("id;name\n1;Müller\n2;\n".encode("cp1252"))
    items = fp.ItemsOnDisk(tmp_path / "a.csv", "name", encoding="cp1252", delimiter=";")
    assert list(items) == ["Müller", ""]  # an empty cell is an empty text
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("ape\n\nbee\n")
    assert list(fp.ItemsOnDisk(tmp_path / "b.txt.gz")) == ["ape", "bee"]


def test_every_door_gives_the_same_as_with_a_list(tmp_path):
    items = fp.ItemsOnDisk(written(tmp_path / "a.csv"), "t")
    own = fp.similarity(shared, kind="pair", symmetric=True)
    for question in (
        lambda x: fp.approximate(x, LEVENSHTEIN, landmarks=9, random_state=0).to_dense(),
        lambda x: fp.approximate(x, own, landmarks=9, random_state=0, guide="auto").to_dense(),
        lambda x: fp.find_pairs(x, own, above=0.9, random_state=0, budget=5000).similarities,
        lambda x: fp.find_pairs(x[:60], own, above=0.9, others=x, random_state=0).right,
        lambda x: fp.find_nearest(x, LEVENSHTEIN, k=2, random_state=0).right,
        lambda x: fp.cluster(x, LEVENSHTEIN, threshold=0.8, random_state=0).labels,
    ):
        np.testing.assert_array_equal(question(items), question(TEXTS))


def shared(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def test_similarities_that_need_no_list_leave_the_items_where_they_are(tmp_path):
    items = fp.ItemsOnDisk(written(tmp_path / "a.csv"), "t")
    oracle = fp.Oracle(items, LEVENSHTEIN)
    assert oracle.items.values is items
    assert LEVENSHTEIN.prepare(oracle.items).values is items
    with pytest.raises(InputError, match="is a int, not a string"):
        LEVENSHTEIN.prepare(as_items(fp.ItemsOnDisk(iter(["a", 1]))))


def test_words_are_counted_without_a_list(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("ape bee\nbee cat\ncat ape ape\n" * 5, encoding="utf-8")
    vectors = fp.WordVectors(["ape", "bee", "cat"], np.eye(3))
    items = fp.ItemsOnDisk(tmp_path / "a.txt")
    mover = fp.WordMover(vectors)
    expected = fp.approximate(list(items), mover, landmarks=3, random_state=0).to_dense()
    found = fp.approximate(items, mover, landmarks=3, random_state=0).to_dense()
    np.testing.assert_array_equal(found, expected)


def test_tables_of_results_have_their_texts(tmp_path):
    items = fp.ItemsOnDisk(written(tmp_path / "a.csv"), "t")
    clusters = fp.cluster(items, LEVENSHTEIN, threshold=0.9, random_state=0)
    assert clusters.to_pandas(texts=True)["text"].tolist() == TEXTS
    pytest.importorskip("polars")
    assert clusters.to_polars(texts=True)["text"].to_list() == TEXTS
    pairs = fp.find_pairs(items, LEVENSHTEIN, above=0.9, random_state=0)
    assert pairs.to_pandas(texts=True)["left_text"].tolist() == items[pairs.left]


def test_ids_saving_journal_and_new_items_work_with_them(tmp_path):
    path = written(tmp_path / "a.jsonl")
    items = fp.ItemsOnDisk(path, "t")
    how = {"landmarks": 9, "random_state": 0, "journal": tmp_path / "j"}
    matrix = fp.approximate(items, LEVENSHTEIN, ids="id", **how)
    assert matrix.ids == IDS
    matrix.save(tmp_path / "m.fewpairs")
    again = fp.load(tmp_path / "m.fewpairs")
    assert list(again.source.items) == TEXTS
    assert again.ids == IDS
    oracle = fp.Oracle(TEXTS, LEVENSHTEIN, journal=tmp_path / "j")
    fp.approximate(oracle, landmarks=9, random_state=0)
    assert oracle.evaluations < 10  # all of it was there, whatever the items were kept in
    longer = matrix.extend(fp.ItemsOnDisk(iter(["new", "newer"])), ids=["n1", "n2"])
    np.testing.assert_array_equal(
        longer.to_dense(),
        fp.approximate(TEXTS, LEVENSHTEIN, **how).extend(["new", "newer"]).to_dense(),
    )
    assert longer.source.items.take([0, 150, 151]) == [TEXTS[0], "new", "newer"]
    with pytest.raises(InputError, match="no columns or fields"):
        fp.approximate(fp.TextLines(path), LEVENSHTEIN, ids="id", landmarks=9)


@pytest.mark.parametrize("order", [slice(None, None, -1), slice(5), slice(0)])
def test_ids_of_a_file_that_has_changed_are_not_given_to_other_items(tmp_path, order):
    path = tmp_path / "words.csv"
    lines = [f"{k},word {k}" for k in range(12)]
    path.write_text("\n".join(["id,name", *lines]), encoding="utf-8")
    items = fp.ItemsOnDisk(path, "name")
    assert items.column("id") == [str(k) for k in range(12)]
    for changed in (lines[order], [*lines, "12,more"]):
        path.write_text("\n".join(["id,name", *changed]), encoding="utf-8")
        with pytest.raises(FileFormatError, match="was changed after its items were read"):
            fp.approximate(items, LEVENSHTEIN, ids="id", landmarks=4)


def test_negative_positions_count_from_the_end():
    items = fp.ItemsOnDisk(iter("abcd"))
    assert items[[-1, -4, 0]] == ["d", "a", "a"]
    joined = Joined(items, fp.ItemsOnDisk(iter("xyz")))
    assert joined[[-1, -7]] == ["z", "a"]
    with pytest.raises(IndexError):
        joined[[-8]]


def test_what_is_sent_is_the_path_and_other_items_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t\n" + "a line\n" * 10_000, encoding="utf-8")
    items = fp.ItemsOnDisk(path)
    sent = pickle.dumps(items)
    assert len(sent) < 1000
    assert list(pickle.loads(sent)) == ["a line"] * 10_000  # noqa: S301 - our own
    for other in ("t\n" + "a line\n" * 9_999, "t\n" + "line a\n" * 10_000):
        path.write_text(other, encoding="utf-8")
        with pytest.raises(FileFormatError, match="10,000 where the run was started"):
            pickle.loads(sent)  # noqa: S301
    path.unlink()
    assert items[9_999] == "a line"  # a copy, which nothing happens to


def test_processes_read_them_again(tmp_path):
    items = fp.ItemsOnDisk(written(tmp_path / "a.csv"), "t")
    how = {"landmarks": 9, "random_state": 0}
    there = fp.approximate(items, LEVENSHTEIN, n_jobs=2, workers="processes", **how)
    here = fp.approximate(TEXTS, LEVENSHTEIN, **how)
    np.testing.assert_array_equal(there.to_dense(), here.to_dense())


def test_streams_of_items_and_of_parts_are_read_once():
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    table = frame()
    pieces = [table.iloc[:100], table.iloc[100:]]
    batches = arrow.Table.from_pandas(table).to_batches(40)
    for stream, column in (
        (iter(TEXTS), None),
        (iter(pieces), "t"),
        ((piece["t"] for piece in pieces), None),
        (iter(batches), "t"),
        ((batch["t"] for batch in batches), None),
    ):
        items = fp.ItemsOnDisk(stream, column)
        assert list(items) == TEXTS
        assert list(pickle.loads(pickle.dumps(items))) == TEXTS  # noqa: S301 - sent as they are
    with fp.max_memory(100), pytest.raises(MemoryError, match="items of a stream"):
        pickle.dumps(items)
    with pytest.raises(InputError, match="the columns id, t"):
        fp.ItemsOnDisk(iter(pieces))
    with pytest.raises(InputError, match="2 of 4 items are missing"):
        as_items(fp.ItemsOnDisk(iter(["a", None, "b", pandas.NA])))


def test_other_items_than_texts_come_back_as_they_are():
    mixed = [{"a": 1}, "text", 3.5, [1, 2], "\ud800", np.arange(3)]
    items = fp.ItemsOnDisk(iter(mixed))
    assert items[:5] == mixed[:5]
    np.testing.assert_array_equal(items[5], mixed[5])
    assert as_items(items).kind == "objects"
    numbers = as_items(fp.ItemsOnDisk(iter([1.5, 2.5])))
    assert numbers.kind == "numbers"
    assert digest(numbers) == digest(as_items([1.5, 2.5]))
    with pytest.raises(InputError, match="cannot be written"):
        fp.ItemsOnDisk(iter([lambda: None]))


def test_collections_of_dask_are_read_part_by_part(tmp_path):
    bags = pytest.importorskip("dask.bag", reason="needs the extra dask")
    frames = pytest.importorskip("dask.dataframe", reason="needs the extra dask and pandas")
    table = frames.from_pandas(frame().assign(x=np.arange(150) / 9), npartitions=4)
    how = {"landmarks": 9, "random_state": 0}
    plain = fp.approximate(TEXTS, LEVENSHTEIN, **how).to_dense()
    bag = bags.from_sequence(TEXTS, npartitions=4)
    for items in (bag, table["t"]):
        matrix = fp.approximate(items, LEVENSHTEIN, ids=table["id"], **how)
        assert isinstance(matrix.source.items.values, fp.ItemsOnDisk)
        assert matrix.ids == IDS
        np.testing.assert_array_equal(matrix.to_dense(), plain)
        there = pickle.loads(pickle.dumps(matrix.source.items.values))  # noqa: S301 - our own
        assert list(there) == TEXTS
    assert isinstance(as_items(table["x"]).values, np.ndarray)
    with pytest.raises(InputError, match="the columns id, t, x"):
        as_items(table)
    with pytest.raises(InputError, match="not those of a file"):
        fp.approximate(bag, LEVENSHTEIN, ids="id", **how)


def test_a_collection_that_gives_other_items_elsewhere_is_refused(tmp_path):
    bags = pytest.importorskip("dask.bag", reason="needs the extra dask")
    counter = tmp_path / "counter"
    counter.touch()

    def changing(text):
        with counter.open("a") as file:
            file.write(".")
        return f"{text} {counter.stat().st_size}"

    bag = bags.from_sequence(["a", "b"], npartitions=1).map(changing)
    with pytest.raises(FileFormatError, match="the Dask collection has 2 items here"):
        pickle.loads(cloudpickle.dumps(fp.ItemsOnDisk(bag)))  # noqa: S301 - our own


def test_faults_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        fp.ItemsOnDisk(tmp_path / "none.csv")
    with pytest.raises(InputError, match="the source is a int"):
        fp.ItemsOnDisk(5)
    (tmp_path / "a.xyz").touch()
    with pytest.raises(InputError, match="file ending"):
        fp.ItemsOnDisk(tmp_path / "a.xyz")
    (tmp_path / "a.jsonl").write_text('{"a": "x"}\n{"b": "y"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="1 of 2 items are missing"):
        as_items(fp.ItemsOnDisk(tmp_path / "a.jsonl", "a"))
    (tmp_path / "empty.csv").write_text("a\n", encoding="utf-8")
    with pytest.raises(InputError, match="no items"):
        as_items(fp.ItemsOnDisk(tmp_path / "empty.csv"))
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(b"a\nb\n" * 100)[:20])
    with pytest.raises(InputError, match="cannot be read"):
        fp.ItemsOnDisk(tmp_path / "torn.csv.gz")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told(monkeypatch):
    monkeypatch.setattr("fewpairs.items.spool.tempfile.TemporaryFile", lambda **_: FULL.open("wb"))
    with pytest.raises(UnwritableError, match="No space left"):
        fp.ItemsOnDisk(iter(TEXTS))


@pytest.mark.skipif(sys.platform == "win32", reason="files have names there while they are open")
def test_the_copy_has_no_name(tmp_path):
    items = fp.ItemsOnDisk(iter(TEXTS), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert list(items) == TEXTS


def test_a_text_file_that_changes_underneath_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ape\nbee\n" * 5000, encoding="utf-8")
    lines = fp.TextLines(path)
    assert lines[9_999] == "bee"
    path.write_text("ape\n", encoding="utf-8")  # to read beyond its end would end the process
    with pytest.raises(FileFormatError, match="was changed"):
        _ = lines[9_999]


def test_the_command_leaves_items_on_disk(tmp_path):
    from typer.testing import CliRunner

    from fewpairs.cli.app import app

    path = written(tmp_path / "a.csv")
    results = []
    for beside in (["--on-disk"], []):
        output = tmp_path / f"{len(beside)}.fewpairs"
        command = ["approximate", str(path), "--column", "t", "--id", "id", "-o", str(output)]
        how = [*command, "--landmarks", "5", *beside]
        ended = CliRunner().invoke(app, how, catch_exceptions=False)
        assert ended.exit_code == 0, ended.output
        results.append(fp.load(output))
    np.testing.assert_array_equal(*(result.to_dense() for result in results))
    assert results[0].ids == results[1].ids == IDS


def test_of_a_parquet_file_one_group_of_rows_is_in_memory(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    texts = [os.urandom(500).hex() for _ in range(2000)]  # which cannot be packed
    pq.write_table(pa.table({"t": texts}), tmp_path / "a.parquet", row_group_size=100)
    before, most = pa.total_allocated_bytes(), 0
    rows = parquet_rows(Source.of(tmp_path / "a.parquet"), lambda names: names)
    for (_, row), text in zip(rows, texts, strict=True):
        assert row == (text,)
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < sum(map(len, texts)) / 4
