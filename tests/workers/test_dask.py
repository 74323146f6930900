"""A Dask cluster of real worker processes, which are killed, stopped and cut off."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
from elsewhere import LINGERS, Traced, items, makes_model, same, set_variable, traces

import fewpairs as fp
from fewpairs.errors import InputError, LostWorkersError, MissingExtraError
from fewpairs.workers.cluster import connected
from fewpairs.workers.dispatch import Done
from fewpairs.workers.elsewhere import HiredCrew

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

#: What is evaluated block by block, and nothing else: sleeping blocks are then all that takes time.
PLAIN = {"method": "nystrom", "error_pairs": 0, "landmarks": 10, "random_state": 0}


START = "import importlib, sys; importlib.import_module(sys.argv.pop(1)).main()"


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def both(client):
    """Both workers, also after a test that has killed one."""
    client.wait_for_workers(2, timeout=120)
    return client


def processes(client):
    return set(client.run(os.getpid).values())


def at_the_third_block(folder, act):
    """Do something when workers have begun a few blocks; returns the thread, to be joined."""

    def wait():
        deadline = time.monotonic() + 120
        while len(traces(folder)) < 3 and time.monotonic() < deadline:
            time.sleep(0.005)
        act(traces(folder)[-1][0])

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_cluster_gives_the_same_result_and_nothing_stays_on_it(both, tmp_path):
    matrix = fp.approximate(items(), Traced(tmp_path), landmarks=10, random_state=0, client=both)
    assert {process for process, _ in traces(tmp_path)} <= processes(both)
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), landmarks=10, random_state=0))
    left = both.run(lambda dask_worker: [n for n in dask_worker.plugins if "fewpairs" in n])
    assert set(map(tuple, left.values())) == {()}
    assert not both.futures


def test_every_door_takes_a_client(both, tmp_path):
    x, similarity = items(60), Traced(tmp_path)
    for question in (
        lambda **how: fp.find_pairs(x, similarity, above=0.99, random_state=0, **how).similarities,
        lambda **how: fp.find_nearest(x, similarity, k=2, random_state=0, **how).right,
        lambda **how: fp.cluster(x, similarity, threshold=0.9, random_state=0, **how).labels,
        lambda **how: fp.score_pairs(similarity, x[:9], x[9:18], **how),
        lambda **how: fp.Oracle(x, similarity, **how).columns([3, 5]),
    ):
        here = question()
        before = len(traces(tmp_path))
        found = question(client=both)
        assert os.getpid() not in [process for process, _ in traces(tmp_path)[before:]]
        np.testing.assert_array_equal(found, here)


def test_distances_of_documents_are_the_same_on_a_cluster(both):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(60)]
    vectors = fp.WordVectors(words, rng.normal(size=(60, 5)))
    documents = [" ".join(rng.choice(words, 6)) for _ in range(40)]
    here = fp.wmd(documents, None, vectors)  # first, so that workers find what is compiled
    np.testing.assert_array_equal(fp.wmd(documents, None, vectors, client=both), here)
    mover = fp.WordMover(vectors)
    matrix = fp.approximate(documents, mover, landmarks=8, random_state=0)
    there = fp.approximate(documents, mover, landmarks=8, random_state=0, client=both)
    assert same(there, matrix)


def test_a_factory_is_called_once_on_each_worker(both, tmp_path):
    both.run(set_variable, "FEWPAIRS_TEST_MADE", str(tmp_path))
    made = fp.similarity(
        makes_model, kind="block", symmetric=True, name="made", factory=True, block_size=(50, 10)
    )
    fp.approximate(items(), made, landmarks=10, random_state=0, client=both)
    made_in = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert len(made_in) == len(set(made_in))
    assert set(made_in) <= processes(both)


def test_a_worker_killed_in_the_middle_changes_nothing(both, tmp_path):
    slow = Traced(tmp_path, seconds=0.2)
    killer = at_the_third_block(tmp_path, lambda worker: os.kill(worker, signal.SIGKILL))
    matrix = fp.approximate(items(), slow, client=both, **PLAIN)
    killer.join()
    asked = sum(pairs for _, pairs in traces(tmp_path))
    # The worker had one block of 500 pairs under way, and one that it had not begun.
    assert matrix.evaluations <= asked <= matrix.evaluations + 2 * 500
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), **PLAIN))


def test_workers_that_are_restarted_go_on(both, tmp_path):
    slow = Traced(tmp_path, seconds=0.2)
    restart = at_the_third_block(tmp_path, lambda _: both.restart(wait_for_workers=False))
    matrix = fp.approximate(items(), slow, client=both, **PLAIN)
    restart.join()
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), **PLAIN))


def test_items_on_disk_are_read_by_the_workers_themselves(both, tmp_path):
    path = tmp_path / "a.csv"
    texts = [f"text number {k * k}" for k in range(100)]
    path.write_text("\n".join(["t", *texts]), encoding="utf-8")
    lines, near = fp.ItemsOnDisk(path), fp.StringSimilarity("levenshtein")
    how = {"landmarks": 8, "random_state": 0}
    plain = fp.approximate(texts, near, **how)
    assert same(fp.approximate(lines, near, client=both, **how), plain)
    bags = pytest.importorskip("dask.bag")
    bag = bags.from_sequence(texts, npartitions=3)
    for one in (bag, bag.persist()):  # whose parts only this client finds, so that they are sent
        assert same(fp.approximate(one, near, client=both, **how), plain)
    path.write_text("\n".join(["t", *texts[::-1]]), encoding="utf-8")
    with pytest.raises(LostWorkersError, match="in another order"):
        fp.approximate(lines, near, client=both, **how)


def test_a_block_that_kills_its_worker_is_told_and_all_else_is_kept(both, tmp_path):
    x, folder = items(), tmp_path / "journal"
    poisoned = Traced(tmp_path, poison=x[17])
    with pytest.raises(LostWorkersError, match="processes have died") as caught:
        fp.approximate(x, poisoned, client=both, journal=folder, **PLAIN)
    rows, columns = caught.value.block
    assert 17 in rows
    assert len(rows) * len(columns) <= 500
    deaths = [trace for trace in traces(tmp_path) if trace[1] == len(rows) * len(columns)]
    assert len(deaths) >= 2
    before = len(traces(tmp_path))
    again = fp.approximate(x, Traced(tmp_path), journal=folder, **PLAIN)
    assert same(again, fp.approximate(x, Traced(tmp_path / "journal"), **PLAIN))
    here = [pairs for process, pairs in traces(tmp_path)[before:] if process == os.getpid()]
    assert sum(here) < again.evaluations
    # Another cluster finds all of it there; three values are compared, on its workers.
    before = len(traces(tmp_path))
    assert same(again, fp.approximate(x, Traced(tmp_path), client=both, journal=folder, **PLAIN))
    assert [pairs for _, pairs in traces(tmp_path)[before:]] == [1, 1, 1]


@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_restart_while_a_suspect_is_alone_is_not_its_fault(tmp_path, all_of_them):
    def restart(client):
        deadline = time.monotonic() + 120
        while not (there := list(tmp_path.glob(f"{LINGERS}*"))) and time.monotonic() < deadline:
            time.sleep(0.01)
        process = int(there[0].name.removeprefix(LINGERS))
        if all_of_them:
            client.restart(wait_for_workers=False)
            return
        at = [address for address, pid in client.run(os.getpid).items() if pid == process]
        client.restart_workers(at, timeout=10, raise_for_error=False)

    with (
        distributed.LocalCluster(  # its own: a nanny may not survive what happens here
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        thread = threading.Thread(target=restart, args=(client,))
        thread.start()
        twice = Traced(tmp_path, poison=items()[17], shots=2)
        matrix = fp.approximate(items(), twice, client=client, **PLAIN)
        thread.join()
    assert (tmp_path / "shot1").exists()
    assert len(list(tmp_path.glob(f"{LINGERS}*"))) == 2  # one that went, one that has finished
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), **PLAIN))


def test_a_scheduler_without_patience_is_no_reason_to_stop(both, tmp_path):
    def allow(failures, dask_scheduler):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return before

    before = both.run_on_scheduler(allow, failures=0)
    try:
        once = Traced(tmp_path, poison=items()[17], shots=1)
        matrix = fp.approximate(items(), once, client=both, **PLAIN)
    finally:
        both.run_on_scheduler(allow, failures=before)
    assert (tmp_path / "shot0").exists()
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), **PLAIN))


def test_a_cluster_without_workers_is_not_waited_for_forever(monkeypatch):
    monkeypatch.setattr("fewpairs.workers.cluster.NOBODY", 0.2)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(LostWorkersError, match=r"no worker for 0\.2 s") as caught,
    ):
        fp.approximate(items(), fp.VectorSimilarity("rbf"), client=client)
    assert caught.value.oracle is not None


def test_a_worker_cut_off_and_back_later_changes_nothing(both, tmp_path, monkeypatch):
    monkeypatch.setattr("fewpairs.workers.dispatch._SLOW_AT_LEAST", 0.5)
    slow = Traced(tmp_path, seconds=0.2)
    stopped = []

    def stop(worker):
        os.kill(worker, signal.SIGSTOP)
        stopped.append(worker)

    stopper = at_the_third_block(tmp_path, stop)
    matrix = fp.approximate(items(), slow, client=both, **PLAIN)
    stopper.join()
    os.kill(stopped[0], signal.SIGCONT)
    # It was still there, and silent, when the run had ended: somebody else has made its block.
    assert same(matrix, fp.approximate(items(), Traced(tmp_path), **PLAIN))


def test_a_scheduler_that_disappears_leaves_what_was_evaluated(tmp_path):
    where = tmp_path / "scheduler.json"
    folder, out = tmp_path / "traces", tmp_path / "log"
    folder.mkdir()
    dask = [sys.executable, "-c", START]
    at = ["--scheduler-file", str(where), "--no-dashboard"]
    how = {"stdout": out.open("w"), "stderr": subprocess.STDOUT}
    scheduler = subprocess.Popen(
        [*dask, "distributed.cli.dask_scheduler", *at, "--host", "127.0.0.1", "--port", "0"],
        **how,
    )
    worker = subprocess.Popen(
        [
            *dask,
            "distributed.cli.dask_worker",
            *at,
            "--no-nanny",
            "--nthreads",
            "1",
            "--death-timeout",
            "20",
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        **how,
    )
    try:
        deadline = time.monotonic() + 120
        while not where.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = json.loads(where.read_text())["address"]
        with distributed.Client(address, timeout=5, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=120)
            slow = Traced(folder, seconds=0.2)
            killer = at_the_third_block(folder, lambda _: scheduler.kill())
            with pytest.raises(LostWorkersError, match="scheduler") as caught:
                fp.approximate(items(), slow, client=client, journal=tmp_path / "j", **PLAIN)
            killer.join()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
        how["stdout"].close()
    assert caught.value.oracle.evaluations > 0
    before = len(traces(folder))
    again = fp.approximate(items(), Traced(folder), journal=tmp_path / "j", **PLAIN)
    here = traces(folder)[before:]
    assert sum(pairs for _, pairs in here) < again.evaluations
    assert same(again, fp.approximate(items(), Traced(folder), **PLAIN))


def test_the_command_takes_the_address_of_a_scheduler(both, tmp_path):
    from typer.testing import CliRunner

    from fewpairs.cli.app import app

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"text number {k * k}" for k in range(40)), encoding="utf-8")
    results = []
    for beside in (["--scheduler", both.scheduler.address], []):
        output = tmp_path / f"{len(beside)}.fewpairs"
        command = ["approximate", str(texts), "-o", str(output), "--landmarks", "5", *beside]
        ended = CliRunner().invoke(app, command, catch_exceptions=False)
        assert ended.exit_code == 0, ended.output
        results.append(fp.load(output))
    assert same(*results)


def test_a_function_of_the_current_folder_is_sent_along(both, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fewpairs.cli.app import app

    body = f"    open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w').close()\n    return 1.0\n"
    source = f"import os\n\n\ndef alike(a, b):\n{body}"
    (tmp_path / "only_here.py").write_text(source, encoding="utf-8")
    (tmp_path / "texts.txt").write_text("\n".join("abcdefgh"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    similarity = ["--similarity", "only_here:alike", "--scheduler", both.scheduler.address]
    command = ["approximate", "texts.txt", "-o", "m.fewpairs", "--landmarks", "3", *similarity]
    ended = CliRunner().invoke(app, command, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    there = {int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()}
    assert there
    assert there <= processes(both)


def test_what_is_no_client_is_refused(both):
    near = fp.VectorSimilarity("rbf")
    with pytest.raises(InputError, match=r"client is 'tcp://127.0.0.1:8786'"):
        fp.approximate(items(), near, client="tcp://127.0.0.1:8786")
    with pytest.raises(InputError, match="beside a client"):
        fp.approximate(items(), near, client=both, workers="processes")
    for address in ("nonsense", "tcp://"):
        with pytest.raises(InputError, match="no scheduler answers"), connected(address):
            pass
    closed = distributed.Client(both.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(InputError, match="the client is closed"):
        fp.approximate(items(), near, client=closed)


def test_without_the_extra_the_message_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"fewpairs\[dask\]"):
        fp.approximate(items(), fp.VectorSimilarity("rbf"), client=object())


def test_what_was_cancelled_is_said_of_the_scheduler_not_of_versions():
    from distributed.client import FutureCancelledError

    from fewpairs.workers.cluster import _DaskWorkers

    crew = object.__new__(_DaskWorkers)
    with pytest.raises(LostWorkersError, match="the scheduler of the cluster has gone"):
        crew._read(1, FutureCancelledError("fewpairs-1", "scheduler-connection-lost"))


@pytest.mark.parametrize("told", [True, False])
def test_results_that_wait_are_given_before_it_is_told_that_the_scheduler_has_gone(told):
    from distributed.client import FutureCancelledError

    from fewpairs.workers.cluster import _DaskWorkers

    crew = object.__new__(_DaskWorkers)
    HiredCrew.__init__(crew)
    crew._client, crew._workers = types.SimpleNamespace(status="closed"), {}
    crew._back, crew._gone = queue.SimpleQueue(), queue.SimpleQueue()
    crew._futures = {key: object() for key in (1, 2, 3)}
    lost = FutureCancelledError("fewpairs-2", "scheduler-connection-lost")
    for key, answer in {1: ([7.0], 0.1), 2: lost, 3: ([9.0], 0.1)}.items():
        if told or key != 2:
            crew._back.put((key, crew._futures[key], answer))
    assert crew.news(0.0) == [Done(1, [7.0], 0.1), Done(3, [9.0], 0.1)]
    with pytest.raises(LostWorkersError, match="the scheduler of the cluster has gone"):
        crew.news(0.0)
