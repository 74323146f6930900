"""Files: everything comes back, nothing runs, and damage is refused."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from examples import symmetric_matrix
from fuzz.file_strategies import described, forged, opened
from safetensors.numpy import load_file, save_file

import fewpairs as fp
from fewpairs.errors import FileFormatError, InputError, NotAttachedError, UnwritableError
from fewpairs.files import archive as files

WORDS = [
    "",
    " ",
    "emoji 🙂",
    "nul \0 byte",
    "lone \ud800 surrogate",
    "line\nbreak",
    "x" * 10_000,
    "ß",
]


@pytest.fixture
def words(tmp_path) -> tuple[fp.FactoredMatrix, Path]:
    matrix = fp.approximate(WORDS, fp.StringSimilarity(), landmarks=4, random_state=0)
    path = tmp_path / "words ü.fewpairs"
    matrix.save(path)
    return matrix, path


def test_everything_comes_back(words):
    matrix, path = words
    loaded = fp.load(path)
    assert np.array_equal(loaded.to_dense(), matrix.to_dense())
    assert loaded.source.items.values == WORDS
    assert loaded.error == matrix.error
    assert loaded.evaluations == matrix.evaluations
    assert loaded.method == matrix.method
    assert loaded.symmetric == matrix.symmetric
    assert loaded.left is loaded.right
    assert loaded.known.columns.values is loaded.left  # written once


def test_what_needs_the_similarity_says_how_to_attach_it(words):
    _, path = words
    bare = fp.load(path)
    for call in (lambda: bare.extend(["new"]), lambda: bare.nearest(0, k=1, rerank=2)):
        with pytest.raises(NotAttachedError, match="similarity="):
            call()
    attached = fp.load(path, similarity=fp.StringSimilarity())
    assert attached.extend(["new"]).shape == (9, 9)
    with pytest.raises(InputError, match="jaro"):
        fp.load(path, similarity=fp.StringSimilarity("jaro"))
    with pytest.raises(InputError, match="3 items"):
        fp.load(path, items=["a", "b", "c"])


@pytest.mark.parametrize(
    "items",
    [
        np.arange(12.0).reshape(6, 2),
        np.arange(12, dtype=np.float32).reshape(6, 2),
        sp.csr_array(np.eye(6)),
        [[1.0, 2.0]] * 6,
    ],
)
def test_vectors_come_back(tmp_path, items):
    matrix = fp.approximate(items, fp.VectorSimilarity("rbf"), landmarks=3, random_state=0)
    matrix.save(tmp_path / "v.fewpairs")
    kept = items if isinstance(items, list) else None  # lists of lists are not stored
    loaded = fp.load(tmp_path / "v.fewpairs", fp.VectorSimilarity("rbf"), items=kept)
    assert np.allclose(loaded.extend(items).to_dense(), matrix.extend(items).to_dense())


def test_objects_are_not_stored(tmp_path):
    sim = fp.similarity(lambda a, b: float(a[0] == b[0]), kind="pair", symmetric=True, name="first")
    matrix = fp.approximate([("a", 1), ("b", 2), ("a", 3)], sim, landmarks=2, random_state=0)
    matrix.save(tmp_path / "o.fewpairs")
    loaded = fp.load(tmp_path / "o.fewpairs", similarity=sim)
    with pytest.raises(NotAttachedError, match="items="):
        loaded.extend([("a", 4)])


def test_every_flipped_byte_is_refused(words):
    matrix, path = words
    content = path.read_bytes()
    dense = matrix.to_dense()
    rng = np.random.default_rng(0)
    places = rng.choice(len(content), 400, replace=False).tolist() + list(range(64))
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = fp.load(path)
        except FileFormatError:
            continue
        # Only bytes that carry nothing (padding of the header) may pass, and change nothing.
        assert chr(damaged[place]).isspace()
        assert np.array_equal(loaded.to_dense(), dense)


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 100, -1])
def test_truncated_files_are_refused(words, cut):
    _, path = words
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FileFormatError):
        fp.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04}\x94.", b"PK\x03\x04" * 50, b"\xff" * 64, b"{}" * 40]
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.fewpairs"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a fewpairs file"):
        fp.load(path)


def test_a_safetensors_file_of_others_is_refused(tmp_path):
    save_file({"left": np.eye(3)}, tmp_path / "x", metadata={"a": "b"})
    with pytest.raises(FileFormatError, match="header"):
        fp.load(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        fp.load(tmp_path / "missing")


def test_a_newer_version_is_refused(words, monkeypatch, tmp_path):
    matrix, _ = words
    monkeypatch.setattr(files, "VERSION", 99)
    matrix.save(tmp_path / "new")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="Upgrade"):
        fp.load(tmp_path / "new")


@contextmanager
def full_disk():
    """Let no file grow: the system then fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("step", ["write", "replace", "fsync"])
def test_a_save_that_fails_is_our_error_and_leaves_the_old_file(words, monkeypatch, step):
    _, path = words
    old = path.read_bytes()
    other = fp.approximate(range(5), fp.Precomputed(symmetric_matrix(5)), landmarks=3)

    def die(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    if step == "replace":
        monkeypatch.setattr(Path, "replace", die)
    if step == "fsync":
        monkeypatch.setattr(os, "fsync", die)
    with (
        full_disk() if step == "write" else nullcontext(),
        pytest.raises(UnwritableError, match="was not written") as caught,
    ):
        other.save(path)
    assert isinstance(caught.value, OSError)
    assert "Make room" in str(caught.value)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no temporary file is left


@pytest.mark.parametrize("name", ["symmetric", "asymmetric", "two-sets"])
def test_files_of_the_first_version_still_load(name, tmp_path):
    folder = Path(__file__).parent.parent / "data"
    with np.load(folder / "v0.1.npz") as expected:
        loaded = fp.load(folder / f"v0.1-{name}.fewpairs")
        np.testing.assert_allclose(loaded.to_dense(), expected[name], rtol=1e-14)
        assert loaded.error[:3] == tuple(expected[f"{name}_error"])
        x = np.arange(loaded.shape[1])
        np.testing.assert_allclose(loaded @ x, expected[name] @ x, rtol=1e-8)
    loaded.save(tmp_path / "again.fewpairs")
    again = fp.load(tmp_path / "again.fewpairs")
    np.testing.assert_array_equal(again.to_dense(), loaded.to_dense())


def test_the_curve_and_the_reason_come_back(tmp_path):
    matrix = fp.approximate(
        range(150), fp.Precomputed(symmetric_matrix(150)), target_error=0.4, random_state=0
    )
    matrix.save(tmp_path / "x.fewpairs")
    loaded = fp.load(tmp_path / "x.fewpairs")
    assert loaded.stopped_because == matrix.stopped_because == "the target was reached"
    assert loaded.curve == matrix.curve
    sketch = fp.elementwise(
        np.exp, np.random.default_rng(0).normal(size=(60, 3)) / 3, target_error=0.1, random_state=0
    )
    sketch.save(tmp_path / "y.fewpairs")
    assert fp.load(tmp_path / "y.fewpairs").curve == sketch.curve


@pytest.mark.parametrize(
    "items",
    [
        np.array([2**64 - 1, 2**63, 7], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 2**53 + 1]),
        np.array([[1, 200], [3, 4], [5, 6]], dtype=np.uint8),
        np.array([True, False, True]),
        np.array([0.1, 65504, -2], dtype=np.float16),
        np.array([1.5, 2.5, 3.5], dtype=">f8"),
        sp.csr_array(np.array([[2**63 - 1, 0], [0, 2**53 + 1], [1, 2]])),
        [2**64 - 1, 2**63, 2**63 + 1],
        [2**53 + 1, 2, -3],
    ],
)
def test_numbers_come_back_exactly(tmp_path, items):
    sim = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True)
    matrix = fp.approximate(items, sim, landmarks=2, random_state=0)
    matrix.save(tmp_path / "n.fewpairs")
    back = fp.load(tmp_path / "n.fewpairs").source.items.values
    plain, expected = (x.toarray() if sp.issparse(x) else x for x in (back, items))
    assert plain.tolist() == (expected if isinstance(items, list) else expected.tolist())
    if not isinstance(items, list):
        assert plain.dtype == expected.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    "items", [[2**70, 1, 2], [2**64 - 1, 1, 3], [2**53 + 1, 0.5, 3], [np.longdouble(1) / 3, 2, 3]]
)
def test_numbers_that_would_change_are_not_stored(tmp_path, items):
    sim = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True)
    fp.approximate(items, sim, landmarks=2, random_state=0).save(tmp_path / "n.fewpairs")
    assert fp.load(tmp_path / "n.fewpairs").source.items is None
    assert fp.load(tmp_path / "n.fewpairs", items=items).source.items.values == items


def test_our_files_are_safetensors_files(words):
    matrix, path = words
    arrays = load_file(path)
    np.testing.assert_array_equal(arrays["left"], matrix.left)


def test_the_transpose_of_two_sets_comes_back(tmp_path):
    sim = fp.similarity(lambda a, b: a - 2.0 * b, kind="pair", symmetric=False)
    matrix = fp.approximate([1, 2, 3, 4], sim, others=[5, 6, 7], landmarks=2, random_state=0)
    for turned in (matrix.T, matrix.T.T, matrix.scaled(np.ones(4), np.ones(3))):
        turned.save(tmp_path / "t.fewpairs")
        loaded = fp.load(tmp_path / "t.fewpairs")
        np.testing.assert_array_equal(loaded.to_dense(), turned.to_dense())


FACTS = ("stored_as", "items", "square", "symmetric_known", "similarity", "evaluations", "nugget")
WRONG = [None, -1, True, "x", [], {}, [[1, 2]], 1e300, {"left": "nowhere"}, 2**70]


@pytest.mark.parametrize("fact", [*FACTS, "others", "symmetric", "derived", "method", "error"])
def test_facts_that_are_missing_or_wrong_are_refused_in_spite_of_a_right_checksum(words, fact):
    _, path = words
    arrays, facts = opened(path.read_bytes())
    for wrong in WRONG:
        if type(wrong) is type(facts[fact]) and fact not in ("stored_as", "items", "error"):
            continue  # another value of the right kind
        if wrong is None and fact == "error":
            continue  # no error is stated
        path.write_bytes(forged(arrays, described(arrays, facts | {fact: wrong})))
        with pytest.raises(FileFormatError, match="damaged"):
            fp.load(path)
    del facts[fact]
    path.write_bytes(forged(arrays, described(arrays, facts)))
    with pytest.raises(FileFormatError, match=fact):
        fp.load(path)


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5, '{"version": 1' + "0" * 5000 + "}"])
def test_a_header_without_end_is_refused(tmp_path, text):
    (tmp_path / "deep").write_bytes(forged({}, text))
    with pytest.raises(FileFormatError, match="damaged"):
        fp.load(tmp_path / "deep")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("left", np.empty((10**12, 0))),
        ("left", np.zeros((8, 4), dtype=np.int64)),
        ("left", np.full((8, 4), np.nan)),
        ("core", np.zeros((3, 4))),
        ("known.columns.index", np.array([0, 1, 2, -1])),
        ("known.columns.index", np.array([0, 1, 2, 8])),
        ("known.columns.index", np.array([0, 1, 2, 2])),
        ("known.diagonal", np.zeros(7)),
        ("known.keys", np.array([64])),
        ("known.keys", np.array([-1])),
        ("landmarks.left", np.array([0, 1, 2, 99])),
        ("items.ends", np.array([-5, 3, 2, 1, 0, 9, 9, 9])),
        ("items.ends", np.array([10**15] * 8)),
        ("items.text", np.full(9, 255, dtype=np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_spite_of_a_right_checksum(words, name, wrong):
    _, path = words
    arrays, facts = opened(path.read_bytes())
    arrays[name] = wrong
    path.write_bytes(forged(arrays, described(arrays, facts)))
    with pytest.raises(FileFormatError, match="damaged"):
        fp.load(path)


def test_a_matrix_that_nobody_could_load_is_not_saved(tmp_path):
    matrix = fp.approximate(range(5), fp.Precomputed(symmetric_matrix(5)), landmarks=3)
    with np.errstate(all="ignore"):
        broken = matrix.scaled(np.full(5, np.inf), np.ones(5))
    with pytest.raises(InputError, match="not finite"):
        broken.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()
