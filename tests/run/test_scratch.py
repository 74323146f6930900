"""Columns that do not fit are kept on disk, in single precision, and leave nothing behind."""

from __future__ import annotations

import errno
import gc
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, MemoryCeilingError, UnwritableError
from fewpairs.files import scratch

N, S = 30_000, 60
#: Columns take 14.4 MB: more than a quarter of this. Pools of pairs take 40.
CEILING = "45 MB"
#: What a run on disk does, done in memory.
PLAIN = {"method": "nystrom", "threshold": S * 1.2e-7}


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).random((N, 3))


def run(points, **how):
    near = fp.VectorSimilarity("laplacian", gamma=1.0)
    return fp.approximate(points, near, landmarks=S, random_state=0, **how)


@pytest.fixture(scope="module")
def plain(points):
    return run(points, **PLAIN)


@pytest.fixture
def on_disk(points, tmp_path):
    return run(points, method="nystrom", max_memory=CEILING, scratch=tmp_path)


@pytest.fixture
def few(points, monkeypatch):
    """Points so few that they go to disk only because everything does."""
    monkeypatch.setattr(scratch, "LARGE", 0.0)
    return points[:3000]


def test_the_factors_are_on_disk_and_the_same_but_for_rounding(on_disk, plain):
    assert scratch.is_on_disk(on_disk.left)
    assert on_disk.left.dtype == np.float32
    np.testing.assert_array_equal(on_disk.left, plain.left.astype(np.float32))
    assert on_disk.evaluations == plain.evaluations
    i, j = np.random.default_rng(1).integers(N, size=(2, 500))
    np.testing.assert_allclose(on_disk.entries(i, j), plain.entries(i, j), atol=1e-4)
    assert on_disk.error.value == pytest.approx(plain.error.value, rel=1e-3)


def test_what_is_read_from_disk_is_what_its_factors_say(on_disk):
    exact = fp.FactoredMatrix(on_disk.left.astype(np.float64), on_disk.core)
    x = np.random.default_rng(2).normal(size=(N, 2))
    np.testing.assert_allclose(on_disk @ x, exact @ x, rtol=1e-9)
    np.testing.assert_allclose(on_disk @ x[:, 0], exact @ x[:, 0], rtol=1e-9)
    np.testing.assert_allclose(on_disk[17], exact[17], atol=1e-12)
    np.testing.assert_allclose(
        on_disk.nearest(17, 5, rerank=0).similarities,
        exact.nearest(17, 5, rerank=0).similarities,
        atol=1e-12,
    )
    mine, other = on_disk.embedding(psd=True), exact.embedding(psd=True)
    assert scratch.is_on_disk(mine)
    np.testing.assert_allclose(mine[:50] @ mine[50:90].T, other[:50] @ other[50:90].T, atol=1e-5)


@pytest.mark.parametrize("how", [{"method": "nystrom"}, {"near": 0.0}, {}])
def test_what_a_ceiling_allows_a_larger_one_allows(points, tmp_path, how):
    """Of ceilings around those at which columns begin to stay in memory, none is refused."""

    class PlannedError(Exception):
        pass

    def stop(oracle, plan, rng):
        raise PlannedError(plan.memory, scratch.goes_to_disk(N, S))

    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fewpairs.run.approximate.run_at_scale", stop)
        for ceiling in range(45 * 10**6, 200 * 10**6, 5 * 10**6):
            with pytest.raises(PlannedError) as caught:
                run(points, max_memory=ceiling, scratch=tmp_path, **how)
            memory, on_disk = caught.value.args
            assert memory <= ceiling
            kept.append(on_disk)
    # From some ceiling on they are in memory, and never on disk again.
    assert kept == sorted(kept, reverse=True)
    assert kept[0]
    assert not kept[-1]


def test_the_default_method_takes_a_ceiling(points, tmp_path):
    plain = run(points, near=0.0)
    on_disk = run(points, near=0.0, max_memory=CEILING, scratch=tmp_path)
    assert scratch.is_on_disk(on_disk.left)
    assert on_disk.evaluations == plain.evaluations
    assert on_disk.error.value == pytest.approx(plain.error.value, rel=1e-3)


@pytest.mark.parametrize("how", [{}, {"known": None}, {"diagonal": None, "near": 0.0}])
def test_the_default_method_gives_what_it_gives_in_memory(few, tmp_path, how):
    plain, n = run(few, **how), len(few)
    on_disk = run(few, **how, scratch=tmp_path)
    assert scratch.is_on_disk(on_disk.left)
    assert on_disk.evaluations == plain.evaluations
    assert on_disk.method == plain.method
    # Of pairs that are nearly as promising as each other, rounding may choose another.
    assert len(np.setxor1d(on_disk.known.keys, plain.known.keys)) <= 10
    assert on_disk.error.value == pytest.approx(plain.error.value, rel=1e-3)
    assert on_disk.error.high == pytest.approx(plain.error.high, rel=1e-3)
    i, j = np.random.default_rng(1).integers(n, size=(2, 500))
    np.testing.assert_allclose(on_disk.entries(i, j), plain.entries(i, j), atol=1e-4)
    x = np.random.default_rng(2).normal(size=n)
    assert np.linalg.norm(on_disk @ x - plain @ x) < 1e-4 * np.linalg.norm(plain @ x)
    np.testing.assert_array_equal(on_disk.nearest(17, 5).indices, plain.nearest(17, 5).indices)
    mine, other = on_disk.embedding(), plain.embedding()
    np.testing.assert_allclose(mine[:50] @ mine[50:90].T, other[:50] @ other[50:90].T, atol=1e-3)
    new = np.random.default_rng(3).random((5, 3))
    larger = on_disk.extend(new)
    assert scratch.is_on_disk(larger.left)
    np.testing.assert_allclose(larger[n], plain.extend(new)[n], atol=1e-4)


def test_what_is_known_and_the_factor_stay_one_array(few, tmp_path):
    matrix = run(few, scratch=tmp_path)
    larger = matrix.extend(np.random.default_rng(3).random((5, 3)))
    for one in (matrix, larger):
        assert one.known.columns.values is one.left
    near, room = fp.VectorSimilarity("laplacian"), 90 * len(few)
    grown = fp.approximate(few, near, budget=room, random_state=0, scratch=tmp_path)
    assert scratch.is_on_disk(grown.left)
    assert grown.known.columns.values is grown.left
    assert 0.99 * room < grown.evaluations <= room


def test_a_file_is_read_where_it_lies_if_it_is_large(points, tmp_path):
    matrix = run(points, near=0.0, max_memory=CEILING, scratch=tmp_path)
    path = tmp_path / "m.fewpairs"
    matrix.save(path)
    assert path.stat().st_size < 4.5 * N * S + 40 * N  # the columns once, in single precision
    with fp.max_memory("20 MB"):
        mapped = fp.load(path)
    assert isinstance(mapped.left.base, np.memmap)
    assert mapped.left is mapped.known.columns.values
    whole = fp.load(path)
    assert not isinstance(whole.left.base, np.memmap)
    np.testing.assert_array_equal(mapped.left, whole.left)
    np.testing.assert_array_equal(mapped[17], whole[17])
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(bytes(damaged))
    with fp.max_memory("20 MB"), pytest.raises(fp.errors.FileFormatError, match="checksum"):
        fp.load(path)


def test_new_items_stay_on_disk(on_disk, plain):
    new = np.random.default_rng(3).random((5, 3))
    larger = on_disk.extend(new)
    assert scratch.is_on_disk(larger.left)
    assert larger.shape == (N + 5, N + 5)
    np.testing.assert_array_equal(larger.left[:N], on_disk.left)
    np.testing.assert_allclose(larger[N], plain.extend(new)[N], atol=1e-4)


def test_nothing_is_left_in_the_folder(points, tmp_path):
    matrix = run(points, method="nystrom", max_memory=CEILING, scratch=tmp_path)
    assert not list(tmp_path.iterdir())  # it has no name from the beginning
    matrix.save(tmp_path / "m.fewpairs")
    again = fp.load(tmp_path / "m.fewpairs")
    np.testing.assert_array_equal(again.left, matrix.left)
    del matrix
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["m.fewpairs"]


@pytest.mark.parametrize("method", ["sicur", "auto"])
def test_rows_and_columns_go_to_disk_where_they_differ(few, tmp_path, method):
    def lopsided(left, right):
        gaps = left[:, None, 0] - right[None, :, 0]
        return np.exp(-(gaps**2)) * (1 + left[:, :1])

    given = fp.similarity(lopsided, kind="block", symmetric=False)
    matrix = fp.approximate(
        few,
        given,
        landmarks=S,
        method=method,
        random_state=0,
        scratch=tmp_path,
    )
    assert scratch.is_on_disk(matrix.left)
    assert scratch.is_on_disk(matrix.right)
    some = np.arange(0, len(few), 100)
    exact = lopsided(few[some], few[some])
    np.testing.assert_allclose(matrix.entries(some[:, None], some[None, :]), exact, atol=1e-3)


def test_a_small_run_stays_in_memory_and_is_exact(points, tmp_path, plain):
    matrix = run(points, **PLAIN, scratch=tmp_path)
    assert not scratch.is_on_disk(matrix.left)
    np.testing.assert_array_equal(matrix.left, plain.left)


def test_what_cannot_be_is_refused_before_anything_is_paid(points, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="the method is sms"):
        run(points, method="sms", max_memory=CEILING, scratch=tmp_path)
    with pytest.raises(InputError, match="there is a guide"):
        run(points, guide=points, max_memory=CEILING, scratch=tmp_path)
    # Its columns would fit, and what is made of them does not: on disk it cannot go on either.
    with pytest.raises(MemoryCeilingError):
        run(points, method="sms", max_memory="60 MB", scratch=tmp_path)
    with pytest.raises(InputError, match="no folder"):
        run(points, method="nystrom", max_memory=CEILING, scratch=tmp_path / "none")
    with pytest.raises(MemoryCeilingError):
        run(points, method="nystrom", max_memory="10 MB")
    small = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: small)
    with pytest.raises(MemoryCeilingError, match="1 kB are free"):
        run(points, method="nystrom", max_memory=CEILING, scratch=tmp_path)


@pytest.mark.parametrize("how", [{"method": "nystrom"}, {"near": 0}, {"known": None}])
def test_room_for_all_files_is_asked_for_before_anything_is_paid(few, tmp_path, monkeypatch, how):
    # Columns would fit; profiles beside them, and a plain result's own columns, do not.
    files = 3 if how == {"known": None} else 2
    usage = type("Usage", (), {"free": files * 4 * len(few) * S - 1})
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(MemoryCeilingError, match="the files of a run") as refused:
        run(few, scratch=tmp_path, **how)
    assert getattr(refused.value, "oracle", None) is None or not refused.value.oracle.evaluations
    usage.free += 1
    assert scratch.is_on_disk(run(few, scratch=tmp_path, **how).left)


def test_room_is_not_asked_for_again_where_the_columns_are(few, tmp_path, monkeypatch):
    oracle = fp.Oracle(few, fp.VectorSimilarity("laplacian", gamma=1.0))
    how = {"method": "nystrom", "landmarks": S, "random_state": 0, "scratch": tmp_path}
    matrix = fp.approximate(oracle, **how)
    usage = type("Usage", (), {"free": 4 * len(few) * S})
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: usage)
    np.testing.assert_array_equal(fp.approximate(oracle, **how).left, matrix.left)


def test_a_folder_that_is_removed_during_a_run_is_told(few, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()

    def removes(left, right):
        if folder.exists():
            folder.rmdir()
        return np.exp(-np.abs(left[:, None] - right[None]).sum(axis=-1))

    near = fp.similarity(removes, kind="block", symmetric=True, name="removes")
    with pytest.raises(UnwritableError, match=r"the scratch folder .* No such file") as caught:
        fp.approximate(few, near, landmarks=S, method="nystrom", random_state=0, scratch=folder)
    assert caught.value.oracle.evaluations


def test_a_folder_that_nothing_can_be_written_to_any_more_is_told(tmp_path, monkeypatch):
    def refuses(**_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(scratch, "goes_to_disk", lambda *_: True)
    monkeypatch.setattr(scratch.tempfile, "mkstemp", refuses)
    with (
        scratch.scratch_in(tmp_path),
        pytest.raises(UnwritableError, match="Permission denied"),
    ):
        scratch.tall_array(10, 10, "it", "less")


@pytest.mark.parametrize("size", [1e-150, 1e-40, 1e35, 1e150])
def test_numbers_that_single_precision_has_no_room_for_are_refused(points, tmp_path, size):
    def far_from_one(left, right):
        return size * (2 + np.asarray(left)[:, :1] @ np.asarray(right)[:, :1].T)

    asked = fp.similarity(far_from_one, kind="block", symmetric=True, name=f"{size}")
    for method in ("nystrom", "sicur"):
        with pytest.raises(InputError, match="single precision") as refused:
            fp.approximate(
                points,
                asked,
                landmarks=S,
                method=method,
                random_state=0,
                max_memory=CEILING,
                scratch=tmp_path,
            )
        assert refused.value.oracle.evaluations < N * S / 4  # not after all of it was paid for


def test_a_few_tiny_numbers_beside_ordinary_ones_are_nothing():
    seen = scratch.SinglePrecision()
    seen.look_at(np.array([1e-60, np.nan]))
    seen.look_at(np.array([[0.5], [-1e-60]]))
    seen.look_at(np.full(5000, 1e-60))
    seen.done()


def test_room_on_disk_is_taken_before_it_is_mapped(tmp_path, monkeypatch):
    # A page of a mapped file for which there is no room ends the process.
    taken = []
    mapped = np.memmap

    def looked_at(name, **how):
        taken.append(512 * Path(name).stat().st_blocks)
        return mapped(name, **how)

    monkeypatch.setattr(np, "memmap", looked_at)
    monkeypatch.setattr(scratch, "goes_to_disk", lambda *_: True)
    with scratch.scratch_in(tmp_path):
        scratch.tall_array(1000, 100, "it", "less")
        assert taken[0] >= 4 * 1000 * 100

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "posix_fallocate", full)
        with pytest.raises(MemoryCeilingError, match="No space left"):
            scratch.tall_array(1000, 100, "it", "less")
    assert not list(tmp_path.iterdir())


def test_clusters_are_refused_before_anything_tall_is_made_of_the_columns(few, tmp_path):
    on_disk = run(few, method="nystrom", scratch=tmp_path)
    cluster = fp.cluster  # imported now
    tracemalloc.start()
    try:
        with fp.max_memory("2.5 MB"), pytest.raises(MemoryCeilingError, match="sums over clusters"):
            cluster(on_disk, threshold=0.5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(few)


@pytest.mark.parametrize("threshold", [0.5, 2.0])
def test_clusters_of_columns_on_disk_are_those_of_columns_in_memory(few, tmp_path, threshold):
    on_disk = run(few, method="nystrom", scratch=tmp_path)
    assert scratch.is_on_disk(on_disk.left)
    plain = fp.FactoredMatrix(np.array(on_disk.left), on_disk.core, np.array(on_disk.right))
    found, wanted = (fp.cluster(one, threshold=threshold) for one in (on_disk, plain))
    assert len(set(wanted.labels)) == (3000 if threshold > 1 else len(set(found.labels)))
    np.testing.assert_array_equal(found.labels, wanted.labels)
