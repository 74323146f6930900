"""Files that were damaged or forged: our error, or the matrix itself, and never much memory."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import FewpairsError
from fewpairs.factored.storage import stored_similarity
from fewpairs.items.readers import READERS, read_items
from fewpairs.items.rows import ROWS as TABLES
from fewpairs.oracle.keeping import keep, restore
from fewpairs.similarities.named import saved_similarity
from fuzz.file_strategies import (
    FOLDER,
    VALUES,
    attempt,
    damaged,
    described,
    forged,
    hostile_arrays,
    hostile_files,
    hostile_headers,
    matrices,
    opened,
    stored,
)

#: Larger matrices are not written out.
_DENSE = 10**6


@given(st.data(), st.integers(0, 6))
def test_a_damaged_file_is_refused_or_gives_the_same_matrix(data: st.DataObject, which: int):
    dense, content = stored()[which]
    loaded = attempt(fp.load, data.draw(damaged(content)))
    if loaded is not None:
        np.testing.assert_array_equal(loaded.to_dense(), dense)


@given(st.data(), st.integers(0, 6))
def test_a_forged_file_is_refused_or_gives_a_matrix(data: st.DataObject, which: int):
    loaded = attempt(fp.load, data.draw(hostile_files(which)))
    if loaded is not None:
        with np.errstate(all="ignore"):  # numbers of any size were put in
            use(loaded)


@given(st.data(), st.integers(0, 6))
def test_a_forged_header_is_refused_or_changes_nothing(data: st.DataObject, which: int):
    dense, _ = stored()[which]
    loaded = attempt(fp.load, data.draw(hostile_headers(which)))
    if loaded is not None:
        np.testing.assert_array_equal(loaded.to_dense(), dense)


@given(st.integers(1, 10**5), st.sampled_from(["[", '{"a":', '"facts": [', "1", "\\u0000"]))
def test_a_header_of_any_depth_is_refused(depth: int, piece: str):
    text = '{"format": "fewpairs", "version": 3, "arrays": {}, "facts": ' + piece * depth
    assert attempt(fp.load, forged({}, text)) is None


def use(matrix: fp.FactoredMatrix) -> None:
    """Do with a matrix what people do; only our errors may come of it."""
    n, m = matrix.shape
    repr(matrix)
    if n * m > _DENSE or n * m == 0:
        return
    dense = matrix.to_dense()
    assert dense.shape == (n, m)
    assert np.shape(matrix @ np.ones(m)) == (n,)
    assert matrix[0].shape == (m,)
    for call in (
        lambda: matrix.nearest(0, k=1),
        lambda: matrix.extend(["new"]),
        lambda: matrix.nearest(0, k=1, rerank=2),
        lambda: matrix.check(k=1, rows=2, random_state=0),
        lambda: matrix.check(above=0.5, rows=2, random_state=0),
        lambda: matrix.save(Path(FOLDER.name) / "again"),
    ):
        try:
            call()
        except FewpairsError:
            continue


@given(st.data(), st.integers(0, 6), VALUES)
def test_a_forged_name_of_a_similarity_is_refused(data: st.DataObject, which: int, name: Any):
    arrays, facts = opened(stored()[which][1])
    known = facts["similarity"]
    cut = data.draw(st.integers(0, len(known)))
    facts["similarity"] = data.draw(st.sampled_from([name, known[:cut], known[:cut] + str(name)]))
    content = forged(arrays, described(arrays, facts))
    attempt(lambda path: saved_similarity(stored_similarity(path)), content)


@given(st.data(), st.booleans())
def test_forged_evaluations_are_refused_or_looked_up(data: st.DataObject, symmetric: bool):
    def make() -> fp.Oracle:
        sim = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=symmetric, name="one")
        return fp.Oracle(range(8), sim)

    oracle = make()
    oracle.columns([1, 2])
    oracle.entries([3, 4], [5, 6])
    path = Path(FOLDER.name) / "kept"
    keep(oracle, path, {})
    arrays, facts = opened(path.read_bytes())
    arrays = data.draw(hostile_arrays(arrays))

    def resume(path: Path) -> None:
        fresh = make()
        restore(fresh, path, {})
        assert np.isfinite(fresh.columns([1, 3])).all()
        assert np.isfinite(fresh.entries([3, 4], [5, 6])).all()

    attempt(resume, forged(arrays, described(arrays, facts)))


TEXTS = 'number,text\n1,one\n2,"two\nlines"\n'
ROWS = json.dumps({"text": "ein\u2028s"}) + "\n" + json.dumps({"text": ["a", 2]}) + "\n"


#: Without pyarrow Parquet is read by polars, which damaged files may end together with the tests.
ENDINGS = [e for e in sorted({*READERS, *TABLES}) if e != ".parquet" or find_spec("pyarrow")]


@given(st.data(), st.sampled_from(ENDINGS), st.sampled_from([None, "text"]))
def test_damaged_items_are_refused_or_read(data: st.DataObject, ending: str, column: str | None):
    plain = {".csv": TEXTS, ".jsonl": ROWS, ".txt": "one\ntwo\n", ".tsv": "n\ttext\n1\tone\n"}
    kind = ending.removesuffix(".gz")
    content = packed(kind, plain.get(kind, ""), zipped=ending.endswith(".gz"))
    found = attempt(
        lambda path: read_items(path, column), data.draw(damaged(content)), f"items{ending}"
    )
    assert found is None or len(found) >= 0


def packed(kind: str, text: str, *, zipped: bool) -> bytes:
    """Return the bytes of a small file of items."""
    import gzip
    import io

    content = text.encode()
    if kind == ".npy":
        file = io.BytesIO()
        np.save(file, np.arange(6.0).reshape(3, 2))
        content = file.getvalue()
    if kind == ".parquet":
        file = io.BytesIO()
        pl.DataFrame({"n": [1, 2], "text": ["one", "two"]}).write_parquet(file)
        content = file.getvalue()
    return gzip.compress(content) if zipped else content


@given(st.integers(0, 6))
def test_a_whole_file_comes_back(which: int):
    _, content = stored()[which]
    loaded = attempt(fp.load, content)
    matrix = matrices()[which]
    np.testing.assert_array_equal(loaded.to_dense(), matrix.to_dense())
    assert loaded.error == matrix.error
    assert loaded.curve == matrix.curve
