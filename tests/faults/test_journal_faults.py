"""A journal and everything that can stop its writer: every system call, signals, full disks."""

from __future__ import annotations

import errno
import io
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from faulty import small_files

import fewpairs as fp
from fewpairs.errors import SimilarityError, UnwritableError
from fewpairs.items.items import as_items
from fewpairs.items.keys import item_keys
from fewpairs.oracle import hearing
from fewpairs.oracle.journal import writer
from fewpairs.oracle.journal.blocks import read_block
from fewpairs.oracle.journal.folder import Folder
from fewpairs.oracle.journal.folding import read_tail

real_mmap = mmap.mmap
WORDS = [f"{a}{k * k}" for k in range(12) for a in ("ape", "bee", "cat")]


class DiedError(BaseException):
    """The process is gone: nothing that it might still do reaches the disk."""


class FaultyFiles:
    """Fails at the k-th call that changes something on the disk.

    Parameters
    ----------
    fail_at : int or None
        None counts the calls only.
    error : int or None
        What the system says; None is the death of the process, in the middle of a write.
    lasting : bool
        Whether all later calls fail as well, as they do when a disk is full or a process is dead.
    """

    CALLS = ("open", "fsync", "replace", "rename", "mkdir", "write", "unlink", "posix_fallocate")

    def __init__(self, fail_at=None, error=None, lasting=True):
        self.fail_at, self.error, self.lasting = fail_at, error, lasting
        self.count = 0

    def reached(self):
        self.count += 1
        if self.fail_at is None:
            return False
        return self.count == self.fail_at or (self.lasting and self.count > self.fail_at)

    def fault(self):
        return DiedError() if self.error is None else OSError(self.error, os.strerror(self.error))

    @contextmanager
    def installed(self, monkeypatch):
        with monkeypatch.context() as patch:
            for name in filter(partial(hasattr, os), self.CALLS):
                patch.setattr(os, name, self._wrapped(name, getattr(os, name)))
            patch.setattr(io, "open", self._opened(io.open))
            if self.error is None:
                # No system call, but a process may be killed there as well.
                patch.setattr(mmap, "mmap", partial(_Mapped, self))
            yield self

    def _wrapped(self, name, call):
        def instead(*args, **kwargs):
            reads = name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR)
            if not reads and self.reached():
                raise self.fault()
            # No power is cut here, and the real thing takes most of the time.
            return None if name == "fsync" else call(*args, **kwargs)

        return instead

    def _opened(self, call):
        def instead(file, mode="r", *args, **kwargs):
            opened = call(file, mode, *args, **kwargs)
            if set(mode) & set("wax+") and mode != "rb+":
                write = opened.write

                def faulty(data):
                    if self.reached():
                        write(data[: len(data) // 2])  # what reached the disk before it happened
                        opened.flush()
                        raise self.fault()
                    return write(data)

                if isinstance(opened, io.TextIOWrapper):
                    return opened
                return _Writing(opened, faulty)
            return opened

        return instead


class _Mapped:
    """Memory of a file, in which half of what is stored may be the last that is."""

    def __init__(self, faults, handle, size):
        self._faults, self._memory = faults, real_mmap(handle, size)
        self.close = self._memory.close

    def __setitem__(self, where, data):
        if self._faults.reached():
            self._memory[where.start : where.start + len(data) // 2] = data[: len(data) // 2]
            raise self._faults.fault()
        self._memory[where] = data


class _Writing:
    def __init__(self, file, write):
        self._file, self.write = file, write

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def alike(a, b):
    return sum(x == y for x, y in zip(a, b, strict=False)) / max(len(a), len(b))


def run(folder, asked, **more):
    def counted(a, b):
        asked.append((a, b))
        return alike(a, b)

    similarity = fp.similarity(
        counted, kind="pair", symmetric=True, name="alike", version="1", block_size=16
    )
    journal = None if folder is None else fp.Journal(folder, check=0)
    return fp.approximate(
        WORDS,
        similarity,
        landmarks=6,
        method="nystrom",
        random_state=0,
        error_pairs=10,
        journal=journal,
        **more,
    )


def written(folder):
    """The pairs that a journal holds, in the order in which they were written."""
    names = dict(zip(item_keys(as_items(WORDS)).tolist(), WORDS, strict=True))
    pairs = []
    for shelf in Folder(Path(folder)).shelves() if Path(folder).exists() else ():
        blocks = [read_block(path, shelf.checksum) for path in shelf.blocks()]
        tails = [read_tail(path, shelf.checksum) for path in shelf.tails()]
        assert all(whole for _, whole in tails)
        for block in (*blocks, *(tail for tail, _ in tails)):
            for record in block.records:
                i, j = (block.keys[side] for side in record.request.pairs())
                both = zip(i.tolist(), j.tolist(), strict=True)
                pairs += [(names[a], names[b]) for a, b in both]
    return pairs


def fault_of(function, *args):
    try:
        function(*args)
    except (DiedError, UnwritableError) as fault:
        return fault
    return None


@pytest.fixture(scope="module")
def undisturbed():
    asked = []
    return run(None, asked).to_dense(), asked


@pytest.mark.parametrize(
    ("error", "lasting", "often"),
    [(None, True, 0.0), (errno.ENOSPC, True, np.inf), (errno.EIO, False, np.inf)],
)
def test_a_run_that_dies_at_any_system_call_goes_on_from_what_was_answered(
    tmp_path, monkeypatch, undisturbed, error, lasting, often
):
    # No clock decides what is written: each answer at once, or blocks alone.
    monkeypatch.setattr(hearing, "SLOW", np.inf)
    monkeypatch.setattr(hearing, "OFTEN", often)
    exact, price = undisturbed
    monkeypatch.setattr(writer, "_VALUES", 60)  # several blocks
    monkeypatch.setattr(writer, "_SOONEST", np.inf)
    counting = FaultyFiles()
    with counting.installed(monkeypatch):
        run(tmp_path / "whole", [])
    assert counting.count > 40
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for k in range(1, counting.count + 1):
        folder = tmp_path / f"{k}"
        before, after = [], []
        with FaultyFiles(k, error, lasting).installed(monkeypatch):
            fault = fault_of(run, folder, before)
        if before and isinstance(fault, UnwritableError):
            assert fault.oracle.evaluations == len(before)
        kept = written(folder)
        matrix = run(folder, after)
        assert np.array_equal(matrix.to_dense(), exact), k
        assert not set(after) & set(kept), k
        assert len(after) + len(set(kept)) == len(price), k
        if error is None and before:
            # All that was answered, but for the pair whose answer was just being written.
            assert len(set(before) - set(kept)) <= 1, k
    assert len(written(tmp_path / "whole")) == len(price)


def test_a_disk_that_is_full_from_the_start_is_found_before_anything_is_bought(
    tmp_path, monkeypatch
):
    for error in (errno.ENOSPC, errno.EROFS, errno.EDQUOT):
        asked = []
        with FaultyFiles(1, error).installed(monkeypatch), pytest.raises(UnwritableError) as told:
            run(tmp_path / "journal", asked)
        assert not asked
        assert "cannot be written" in str(told.value) or "was not written" in str(told.value)


def test_a_disk_that_is_full_by_now_is_found_before_anything_is_bought(tmp_path, monkeypatch):
    run(tmp_path, [], n_jobs=1)
    for k in range(1, 5):  # the lock, its holder's name, a file to see whether one can be written
        asked = []
        with FaultyFiles(k, errno.ENOSPC).installed(monkeypatch):
            fault = fault_of(run, tmp_path, asked)
        assert isinstance(fault, UnwritableError)
        assert not asked


def test_a_disk_with_room_for_names_only_is_found_before_anything_is_bought(tmp_path):
    asked = []
    with small_files(10_000):  # more than the lock, less than any run would write
        fault = fault_of(run, tmp_path, asked)
    assert isinstance(fault, UnwritableError)
    assert not asked


def test_after_a_full_disk_the_oracle_goes_on_and_writes_what_was_waiting(
    tmp_path, monkeypatch, undisturbed
):
    exact, price = undisturbed
    monkeypatch.setattr(writer, "_VALUES", 60)
    # Blocks alone, in whose order no clock has a say; a tail would hold some of it twice.
    monkeypatch.setattr(hearing, "SLOW", np.inf)
    monkeypatch.setattr(hearing, "OFTEN", np.inf)
    asked = []
    with FaultyFiles(30, errno.ENOSPC).installed(monkeypatch):
        fault = fault_of(run, tmp_path, asked)
    assert isinstance(fault, UnwritableError)
    assert any("error.oracle" in note for note in fault.__notes__)
    paid = len(asked)
    assert paid
    matrix = fp.approximate(
        fault.oracle, landmarks=6, method="nystrom", random_state=0, error_pairs=10
    )
    assert np.array_equal(matrix.to_dense(), exact)
    assert len(asked) == len(price)
    assert sorted(written(tmp_path)) == sorted(price)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_leaves_a_clean_journal_and_says_how_to_go_on(tmp_path, undisturbed, n_jobs):
    exact, price = undisturbed
    asked = []

    class Interrupting(list):
        def append(self, pair):
            super().append(pair)
            if len(self) == 100:
                raise KeyboardInterrupt

    interrupted = Interrupting()
    with pytest.raises(KeyboardInterrupt) as stop:
        run(tmp_path, interrupted, n_jobs=n_jobs)
    assert any("the same call goes on" in note for note in stop.value.__notes__)
    kept = written(tmp_path)
    assert len(kept) >= 99
    matrix = run(tmp_path, asked, n_jobs=n_jobs)
    assert np.array_equal(matrix.to_dense(), exact)
    assert len(asked) == len(price) - len(kept)
    assert not list(tmp_path.rglob("*.fewpairs-part"))


@pytest.mark.parametrize(("seconds", "many"), [(1.0, True), (0.001, False)])
def test_blocks_are_written_while_a_run_lasts_and_not_for_each_answer(
    tmp_path, monkeypatch, seconds, many
):
    clock, there = [0.0], []
    monkeypatch.setattr(writer, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    class Slow(list):
        def append(self, pair):
            super().append(pair)
            clock[0] += seconds
            there.append(len(list(tmp_path.glob("*/*.block"))))

    run(tmp_path, Slow())  # in requests of up to 16 pairs
    assert there[0] == 0
    assert (there[-1] > 4) == many
    assert many or there[-1] == 0


def test_a_fault_outside_a_run_is_written_too(tmp_path):
    asked = []

    def failing(a, b):
        asked.append((a, b))
        if len(asked) == 20:
            raise ValueError
        return alike(a, b)

    similarity = fp.similarity(failing, kind="pair", symmetric=True, name="alike", version="1")
    oracle = fp.Oracle(WORDS, similarity, journal=tmp_path)
    with pytest.raises(SimilarityError):
        oracle.columns([0, 1])
    assert len(written(tmp_path)) == 19


KILLED = """
import os, sys, time
import fewpairs as fp
from fewpairs.oracle import hearing
from fewpairs.oracle.journal import writer
writer._SOONEST = writer._LATEST = 0.03
folder, log, output = sys.argv[1:]
handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
words = [f"{a}{k * k}" for k in range(12) for a in ("ape", "bee", "cat")]

def alike(a, b):
    os.write(handle, f"{a} {b}\\n".encode())
    time.sleep(0.002)
    return sum(x == y for x, y in zip(a, b)) / max(len(a), len(b))

similarity = fp.similarity(
    alike, kind="pair", symmetric=True, name="alike", version="1", block_size=4
)
print("begun", flush=True)
K = fp.approximate(
    words, similarity, landmarks=14, random_state=0, journal=fp.Journal(folder, check=0)
)
with open(output, "wb") as file:
    file.write(K.to_dense().tobytes())
"""


def test_five_kills_at_random_moments_repeat_nothing_that_was_answered(tmp_path):
    script, log, output = tmp_path / "run.py", tmp_path / "asked", tmp_path / "matrix"
    script.write_text(KILLED)
    folder = tmp_path / "journal"
    command = [sys.executable, str(script), str(folder), str(log), str(output)]
    chance = random.Random(0)
    kills, complete, read = 0, set(), 0
    while not output.exists():
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"begun\n"
        if kills < 5:
            time.sleep(chance.uniform(0.02, 0.25))
            child.send_signal(signal.SIGKILL)
        child.communicate(timeout=120)
        kills += child.returncode == -signal.SIGKILL
        lines = log.read_text().splitlines() if log.exists() else []
        asked = {tuple(line.split()) for line in lines[read:]}
        assert not asked & complete  # nothing that was written down before is asked for again
        read, complete = len(lines), set(written(folder))
    assert kills == 5
    calm = tmp_path / "calm"
    subprocess.run(
        [*command[:2], str(tmp_path / "other"), str(tmp_path / "log"), str(calm)], check=True
    )
    assert output.read_bytes() == calm.read_bytes()
    calmly, killed = ((path.read_text().splitlines()) for path in (tmp_path / "log", log))
    assert set(calmly) == set(killed)
    assert len(killed) <= len(calmly) + kills  # what was under way, and nothing else
