"""Processes of this machine, started for a run and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
from elsewhere import Traced, items, makes_model, same, traces

import fewpairs as fp
from fewpairs.errors import InputError, LostWorkersError, UnknownNameError
from fewpairs.workers.dispatch import Done
from fewpairs.workers.processes import _Pool


def run(similarity, **how):
    return fp.approximate(items(), similarity, landmarks=10, random_state=0, **how)


def running():
    """Processes that this one has started, but for loky's own helper."""
    import psutil

    children = psutil.Process().children(recursive=True)
    return [child for child in children if "resource_tracker" not in " ".join(child.cmdline())]


def test_processes_give_the_same_result_and_are_gone_afterwards(tmp_path):
    before = running()
    matrix = run(Traced(tmp_path), n_jobs=2, workers="processes")
    who = {process for process, _ in traces(tmp_path)}
    assert 1 <= len(who) <= 2
    assert os.getpid() not in who
    assert running() == before
    assert same(matrix, run(Traced(tmp_path)))


def test_a_process_that_dies_changes_nothing(tmp_path):
    x = items()
    once = Traced(tmp_path, poison=x[17], shots=1, seconds=0.2)
    plain = {"method": "nystrom", "error_pairs": 0}
    matrix = run(once, n_jobs=2, workers="processes", **plain)
    assert (tmp_path / "shot0").exists()
    asked = sum(pairs for _, pairs in traces(tmp_path))
    # At most what was under way is evaluated again: of two processes four blocks of 500.
    assert matrix.evaluations < asked <= matrix.evaluations + 4 * 500
    assert same(matrix, run(Traced(tmp_path), **plain))


def test_a_block_that_kills_is_told_and_the_rest_is_kept(tmp_path):
    x = items()
    with pytest.raises(LostWorkersError, match="3 processes have died") as caught:
        run(Traced(tmp_path, poison=x[17]), n_jobs=2, workers="processes")
    rows, columns = caught.value.block
    assert 17 in rows
    assert len(rows) * len(columns) <= 500
    oracle = caught.value.oracle
    assert oracle.evaluations > 0
    paid = oracle.evaluations
    mended = fp.approximate(
        oracle, Traced(tmp_path), landmarks=10, random_state=0, n_jobs=1, workers="threads"
    )
    assert mended.evaluations == run(Traced(tmp_path)).evaluations
    assert oracle.evaluations - paid < mended.evaluations


@pytest.mark.parametrize("dies", [True, False])
def test_what_has_come_is_given_before_a_fault_is_told(dies):
    from joblib.externals.loky import BrokenProcessPool

    crew = _Pool(b"", 1)
    faults = {2: ValueError("unreadable"), 4: BrokenProcessPool("died")}
    for key in (1, 2, 3, 4)[: 3 + dies]:
        future = crew._futures[key] = Future()
        if key in faults:
            future.set_exception(faults[key])
        else:
            future.set_result(([float(key)], 0.1))
        crew._back.put((key, future))
    try:
        assert crew.news(0.0) == [Done(1, [1.0], 0.1), Done(3, [3.0], 0.1)]
        with pytest.raises(LostWorkersError, match="unreadable"):
            crew.news(0.0)
    finally:
        crew.close()


def test_a_factory_is_called_once_in_each_process(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWPAIRS_TEST_MADE", str(tmp_path))
    made = fp.similarity(
        makes_model, kind="block", symmetric=True, name="made", factory=True, block_size=(50, 10)
    )
    matrix = run(made, n_jobs=2, workers="processes")
    made_in = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    assert len(made_in) == len(set(made_in)) <= 2
    assert str(os.getpid()) not in made_in
    assert same(matrix, run(made))
    assert len(list(tmp_path.iterdir())) == len(made_in) + 1  # once more, here


def test_a_factory_needs_a_name_and_makes_a_function():
    with pytest.raises(InputError, match="without a name"):
        fp.similarity(lambda: 3, kind="pair", symmetric=True, factory=True)
    three = fp.similarity(lambda: 3, kind="pair", symmetric=True, factory=True, name="three")
    with pytest.raises(fp.errors.SimilarityError, match="returned a int"):
        run(three)


def test_faults_of_the_similarity_come_back_as_they_are(tmp_path):
    def fails(a, b):
        if a == b:
            return 1.0
        raise KeyError(a)

    similarity = fp.similarity(fails, kind="pair", symmetric=True)
    with pytest.raises(fp.errors.FailedCallError, match="KeyError") as caught:
        run(similarity, n_jobs=2, workers="processes")
    assert caught.value.pair is not None
    assert "Where it was evaluated" in "".join(caught.value.__notes__)
    assert caught.value.oracle is not None


def test_what_cannot_be_sent_is_refused_before_anything_is_paid():
    lock = threading.Lock()

    def locked(a, b):
        with lock:
            return 0.0

    with pytest.raises(InputError, match="cannot be sent"):
        run(fp.similarity(locked, kind="pair", symmetric=True), n_jobs=2, workers="processes")


def test_a_pace_is_kept_by_one_process_only():
    paced = fp.similarity(min, kind="pair", symmetric=True, per_second=100)
    with pytest.raises(InputError, match="per_second=100"):
        run(paced, n_jobs=2, workers="processes")


def test_other_workers_are_refused():
    with pytest.raises(UnknownNameError, match="threads"):
        run(fp.VectorSimilarity("rbf"), workers="thread")


def test_distances_of_documents_are_the_same_in_processes():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(60)]
    vectors = fp.WordVectors(words, rng.normal(size=(60, 5)))
    documents = [" ".join(rng.choice(words, 6)) for _ in range(40)]
    here = fp.wmd(documents, documents[:30], vectors)
    there = fp.wmd(documents, documents[:30], vectors, n_jobs=2, workers="processes")
    np.testing.assert_array_equal(here, there)


KILLED = """
import os, sys, time
import fewpairs as fp

def slow(a, b):
    with open(os.path.join(sys.argv[1], str(os.getpid())), "w"):
        time.sleep(0.05)
    return 1.0 / (1 + abs(a - b))

fp.approximate(range(2000), fp.similarity(slow, kind="pair", symmetric=True), workers="processes")
"""


@pytest.mark.skipif(os.name != "posix", reason="a process is sent signals")
def test_processes_end_after_one_that_was_killed(tmp_path):
    import psutil

    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)]) as parent:
        try:
            until(lambda: list(tmp_path.iterdir()))
        finally:
            parent.kill()
    (worker,) = (int(path.name) for path in tmp_path.iterdir())
    try:
        until(lambda: not psutil.pid_exists(worker))
    finally:
        if psutil.pid_exists(worker):
            os.kill(worker, signal.SIGKILL)


def until(happens):
    deadline = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.1)
