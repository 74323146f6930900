"""Files of a journal: what is damaged, foreign, newer or locked is told, and nothing is lost."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import (
    FewpairsError,
    FileFormatError,
    InputError,
    JournalError,
    JournalWarning,
    UnwritableError,
)
from fewpairs.files import archive
from fewpairs.items.items import as_items
from fewpairs.items.keys import item_keys
from fewpairs.oracle.journal import lock
from fewpairs.oracle.journal.blocks import Record, merged, read_block, write_block
from fewpairs.oracle.journal.folder import Folder
from fewpairs.oracle.journal.lock import Lock
from fewpairs.oracle.requests import Ordered, Rectangle, Scattered

WORDS = [f"{a}{k * k}" for k in range(12) for a in ("ape", "bee", "cat")]


def pair(a, b):
    return sum(x == y for x, y in zip(a, b, strict=False)) / max(len(a), len(b))


def oracle(folder, **more):
    asked = []

    def counted(a, b):
        asked.append((a, b))
        return pair(a, b)

    similarity = fp.similarity(counted, kind="pair", symmetric=True, name="same", version="1")
    made = fp.Oracle(WORDS, similarity, journal=fp.Journal(folder, check=0, **more))
    return made, asked


def filled(folder):
    """A journal of three blocks: three columns."""
    for k in range(3):
        oracle(folder)[0].columns([k])
    blocks = sorted(folder.glob("*/*.block"))
    assert len(blocks) == 3
    return blocks


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("how", ["truncated", "empty", "foreign", "another", "values"])
def test_a_bad_block_is_set_aside_told_once_and_evaluated_again(tmp_path, number, how):
    block = filled(tmp_path)[number]
    content = bytearray(block.read_bytes())
    if how == "truncated":
        block.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        block.write_bytes(b"")
    elif how == "foreign":
        block.write_bytes(b"name,price\nape,3\n" * 40)
    elif how == "another":  # a block of another similarity, whole and checksummed
        arrays, facts = archive.read(block)
        archive.write(block, arrays, facts | {"identity": "0" * 64})
    else:
        content[-3] ^= 4
        block.write_bytes(content)
    again, asked = oracle(tmp_path)
    with pytest.warns(JournalWarning, match="1 of the files") as told:
        columns = again.columns([0, 1, 2])
    assert len(told) == 1
    assert 30 < len(asked) <= 36  # the lost column, but for what the others have of it
    assert np.array_equal(columns, fp.Oracle(WORDS, again.similarity).columns([0, 1, 2]))
    assert block.with_name(block.name + ".bad").exists()
    last, asked = oracle(tmp_path)
    last.columns([0, 1, 2])
    assert not asked


def test_a_block_that_was_set_aside_keeps_its_number(tmp_path):
    filled(tmp_path)
    for damaged in (1, 2):
        last = max(tmp_path.glob("*/*.block"))
        last.write_bytes(b"")
        with pytest.warns(JournalWarning):
            oracle(tmp_path)[0].columns([0, 1, 2])
        assert len(list(tmp_path.glob("*/*.bad"))) == damaged


def test_every_flipped_bit_is_noticed(tmp_path):
    block = filled(tmp_path)[1]
    content = block.read_bytes()
    rng = np.random.default_rng(0)
    # All bytes of the header, and some of the arrays.
    for at in [*range(0, 300, 7), *rng.integers(300, len(content), 40).tolist()]:
        changed = bytearray(content)
        changed[at] ^= 1 << int(rng.integers(8))
        block.write_bytes(changed)
        checksum = archive.read_facts(filled_twin(tmp_path, block))["identity"]
        with pytest.raises(FewpairsError):
            read_block(block, checksum)


def filled_twin(folder, block):
    return next(other for other in folder.glob("*/*.block") if other != block)


def changed(array, at, value):
    copy = array.copy()
    copy[at] = value
    return copy


@pytest.mark.parametrize(
    ("change", "told"),
    [  # one thing each; the block has one single pair, and 35 rows of one column
        (lambda b: {"keys": b["keys"][:, :15]}, "keys"),
        (lambda b: {"keys": b["keys"].astype(np.int64)}, "keys"),
        (lambda b: {"records": b["records"].ravel()}, "records"),
        (lambda b: {"records": b["records"].astype(np.int32)}, "records"),
        (lambda b: {"records": changed(b["records"], (0, 0), 7)}, "records"),
        (lambda b: {"records": changed(b["records"], (0, 0), -1)}, "records"),
        (lambda b: {"records": np.array([[1, 1, 1], [0, -1, 37]])}, "records"),
        (lambda b: {"records": np.array([[0, 2**40, 2**40]])}, "longer than their places"),
        (lambda b: {"records": np.array([[1, 3, 35]])}, "pairs"),
        (lambda b: {"records": b["records"][1:]}, "places that belong to nothing"),
        (lambda b: {"places": changed(b["places"], 0, 36)}, "places"),
        (lambda b: {"places": b["places"].astype(np.int64)}, "places"),
        (lambda b: {"places": np.append(b["places"], b["places"][:1])}, "belong to nothing"),
        (lambda b: {"values": b["values"][1:]}, "too few values"),
        (lambda b: {"values": np.append(b["values"], 1.0)}, "values of nothing"),
        (lambda b: {"values": changed(b["values"], 3, np.nan)}, "not finite"),
        (lambda b: {"values": np.ones(36, dtype=np.int64)}, "values"),
    ],
)
def test_a_block_that_says_what_cannot_be_is_refused(tmp_path, change, told):
    block = filled(tmp_path)[0]
    arrays, facts = archive.read(block)
    archive.write(block, arrays | change(arrays), facts)
    with pytest.raises(FileFormatError, match=told):
        read_block(block, facts["identity"])


def test_neighbouring_requests_become_one_record():
    tiles = [
        Record(Rectangle(np.array([r]), np.arange(c, c + 2) + 9), np.array([[r + c, r + c + 1.0]]))
        for r in range(3)
        for c in (0, 2)
    ]
    (one,) = merged(tiles)
    assert one.request.size == 12
    assert np.array_equal(one.values, np.arange(3)[:, None] + np.arange(4.0))
    for again in (tiles[0], Record(Rectangle(np.array([9]), np.array([0])), np.array([[7.0]]))):
        assert len(merged([*tiles, again])) == 2  # a pair that is there already, in either order
    lists = [Record(kind(np.array([k]), np.array([k])), np.array([1.0 * k]))
             for k, kind in enumerate((Scattered, Scattered, Ordered, Scattered))]  # fmt: skip
    assert [type(r.request).__name__ for r in merged(lists)] == [
        "Scattered",
        "Ordered",
        "Scattered",
    ]


def test_a_block_comes_back_as_it_was(tmp_path):
    keys = np.array([bytes([k] * 16) for k in range(9)], dtype="S16")
    records = [
        Record(Rectangle(np.array([4, 2]), np.array([7])), np.array([[0.1], [0.2]])),
        Record(Ordered(np.array([1, 0]), np.array([0, 1])), np.array([3.0, 4.0])),
    ]
    write_block(tmp_path / "b", records, keys, "id", "float64")
    block = read_block(tmp_path / "b", "id")
    for there, here in zip(block.records, records, strict=True):
        assert type(there.request) is type(here.request)
        assert np.array_equal(block.keys[there.request.rows], keys[here.request.rows])
        assert np.array_equal(block.keys[there.request.columns], keys[here.request.columns])
        assert np.array_equal(there.values, here.values)


def test_of_a_pair_that_a_list_holds_twice_the_first_value_counts(tmp_path):
    oracle(tmp_path)[0].entries([2], [3])
    (shelf,) = Folder(tmp_path).shelves()
    most = np.arange(1, 25)  # so that the column becomes a whole line of the memory
    records = [
        Record(Rectangle(most, np.array([0])), np.ones((24, 1))),
        Record(Scattered(np.array([0, 30, 30]), np.array([30, 0, 0])), np.array([0.25, 0.5, 0.75])),
    ]
    keys = item_keys(as_items(WORDS))
    write_block(shelf.next_block(), records, keys, shelf.checksum, "float64")
    made, asked = oracle(tmp_path)
    assert made.entries([30, 0, 7], [0, 30, 0]).tolist() == [0.25, 0.25, 1.0]
    assert not asked


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_what_cannot_be_a_folder_is_refused_in_our_words(tmp_path, name):
    with pytest.raises((UnwritableError, InputError), match="journal"):
        oracle(tmp_path / name)


def test_what_is_no_journal_is_refused_before_anything_is_bought(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.doc").write_text("mine")
    newer = tmp_path / "newer"
    filled(newer)
    facts = json.loads((newer / "journal.json").read_text())
    (newer / "journal.json").write_text(json.dumps(facts | {"version": 99}))
    other = tmp_path / "other"
    other.mkdir()
    (other / "journal.json").write_text('{"format": "diary"}')
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "journal.json").write_text("[" * 10_000)
    for folder in (file, full, newer, other, broken):
        before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        with pytest.raises((JournalError, FileFormatError)):
            oracle(folder)
        assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert file.read_text() == "mine"


def test_a_newer_block_is_refused_and_left_where_it_is(tmp_path, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(archive, "VERSION", archive.VERSION + 1)
        blocks = filled(tmp_path)
    made, asked = oracle(tmp_path)
    with pytest.raises(FileFormatError, match="Upgrade"):
        made.columns([0])
    assert not asked
    assert all(block.exists() for block in blocks)


def test_the_folder_of_one_similarity_is_not_anothers(tmp_path):
    block = filled(tmp_path)[0]
    described = block.parent / "similarity.json"
    described.write_text(json.dumps({"identity": "another"}))
    made, asked = oracle(tmp_path)
    with pytest.raises(JournalError, match="another similarity"):
        made.columns([0])
    assert not asked


def test_damaged_seeds_are_set_aside_and_drawn_again(tmp_path):
    made, _ = oracle(tmp_path)
    first = made.generator(None, "call").random()
    assert oracle(tmp_path)[0].generator(None, "call").random() == first
    assert oracle(tmp_path)[0].generator(None, "another").random() != first
    turned = fp.Oracle(WORDS[::-1], made.similarity, journal=tmp_path)
    assert turned.generator(None, "call").random() != first
    (seeds,) = tmp_path.glob("*/seeds.json")
    seeds.write_text("{")
    with pytest.warns(JournalWarning):
        second = oracle(tmp_path)[0].generator(None, "call").random()
    assert second != first
    assert oracle(tmp_path)[0].generator(None, "call").random() == second


def as_somebody(work):
    """Do something without the rights of root, in a process of its own; return what it returns."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        said = "it did not end"
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            said = work()
        except Exception as error:  # noqa: BLE001 - told by the parent
            said = repr(error)
        finally:
            os.write(tell, str(said).encode())
            os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as pipe:
        return pipe.read()


@pytest.mark.parametrize("mine", [True, False])
def test_a_folder_that_cannot_be_written_is_found_before_anything_is_bought(mine):
    with tempfile.TemporaryDirectory() as name:  # pytest's own are closed to others than root
        room = Path(name)
        room.chmod(0o755)
        folder = room / "journal"
        filled(folder)
        for path in (folder, *folder.rglob("*")):
            if mine and os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
            path.chmod(0o500 if path.is_dir() and mine else 0o755 if path.is_dir() else 0o644)
        if not mine and os.geteuid() != 0:
            pytest.skip("all folders here belong to who runs this")

        def attempt():
            made, asked = oracle(folder)
            try:
                made.columns([5])
            except UnwritableError as error:
                return f"{len(asked)} asked: {error}"
            return "written"

        said = as_somebody(attempt)
        folder.chmod(0o700)
    assert said.startswith("0 asked: the journal")
    assert "Permission denied" in said


def test_a_place_that_cannot_hold_a_folder_is_found_before_anything_is_bought(tmp_path):
    (tmp_path / "file").write_text("")
    made, asked = oracle(tmp_path / "file" / "journal")
    with pytest.raises(UnwritableError):
        made.columns([5])
    assert not asked


# ------------------------------------------------------------------ one writer

#: A user without rights.
NOBODY = 65534

HOLD = """
import sys, time
from pathlib import Path
from fewpairs.oracle.journal.lock import Lock
Lock(Path(sys.argv[1]) / "lock").acquire(0)
print("held", flush=True)
time.sleep(60)
"""


def holding(folder):
    folder.mkdir(exist_ok=True)
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    return child


def test_a_second_writer_is_refused_with_the_name_of_the_first(tmp_path):
    child = holding(tmp_path)
    try:
        made, asked = oracle(tmp_path)
        with pytest.raises(JournalError, match=f"process {child.pid} on"):
            made.columns([0])
        with pytest.raises(JournalError):
            oracle(tmp_path, wait=0.2)[0].columns([0])
        assert not asked
    finally:
        child.kill()
        child.communicate()
    made.columns([0])  # the lock of a dead process is nobody's
    assert len(asked) == 36


def test_a_second_writer_may_wait(tmp_path):
    child = holding(tmp_path)
    killer = threading.Timer(0.5, child.kill)
    killer.start()
    made, asked = oracle(tmp_path, wait=30)
    made.columns([0])
    child.communicate()
    killer.join()
    assert len(asked) == 36


def test_the_lock_of_a_dead_holder_is_taken_from_its_children(tmp_path):
    # A child that was forked keeps the lock of its parent; the parent's name is in the file.
    script = HOLD.replace('print("held"', 'import os\nif os.fork(): os._exit(0)\nprint("held"')
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout.readline() == b"held\n"
    child.wait()
    try:
        Lock(tmp_path / "lock").acquire(0)
    finally:
        os.killpg(child.pid, 9)
        child.communicate()


def test_a_lock_on_another_machine_is_not_judged_from_here(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    path = tmp_path / "lock"
    with path.open("w") as file:
        json.dump({"pid": gone.pid, "host": "elsewhere", "since": "today"}, file)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(JournalError, match=f"process {gone.pid} on elsewhere"):
            Lock(path).acquire(0)
    Lock(path).acquire(0)


def test_a_lock_that_was_taken_away_while_it_was_opened_is_nobodys(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    flock, locked = fcntl.flock, []

    def late(handle, how):
        if not locked:
            path.unlink()  # as by another process, which recovers it just now
        locked.append(handle)
        flock(handle, how)

    monkeypatch.setattr("fewpairs.oracle.journal.lock.fcntl.flock", late)
    mine = Lock(path)
    mine.acquire(5)
    with pytest.raises(JournalError, match=f"process {os.getpid()} on"):
        Lock(path).acquire(0)
    mine.release()


def test_a_lock_that_is_just_being_signed_is_not_taken_for_that_of_a_dead_holder(
    tmp_path, monkeypatch
):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    name = {"pid": dead.pid, "host": socket.gethostname(), "since": "yesterday"}
    (tmp_path / "lock").write_text(json.dumps(name))
    begun, go_on = threading.Event(), threading.Event()
    sign = lock._sign

    def slowly(handle):
        begun.set()
        go_on.wait(10)
        sign(handle)

    monkeypatch.setattr(lock, "_sign", slowly)
    first, second, refused = Lock(tmp_path / "lock"), Lock(tmp_path / "lock"), []

    def late():
        try:
            second.acquire(0)
        except JournalError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=first.acquire, args=(0,)), threading.Thread(target=late)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    threads[1].join(0.2)  # it waits, or would have both hold the lock
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert f"process {os.getpid()} on" in refused[0]
    first.release()
    Lock(tmp_path / "lock").acquire(0)


def test_whoever_was_forked_neither_keeps_a_lock_nor_gives_it_back(tmp_path):
    mine = Lock(tmp_path / "lock")
    mine.acquire(0)
    end, wait = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if not child:
        mine.release()  # as whatever unwinds in it would
        os.write(wait, b"x")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(end, 1)
        with pytest.raises(JournalError, match=f"process {os.getpid()} on"):
            Lock(tmp_path / "lock").acquire(0)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    try:
        mine.release()
        Lock(tmp_path / "lock").acquire(0)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(end)
        os.close(wait)


@pytest.mark.parametrize("name", ["lock", "lock.recovery"])
def test_a_lock_that_is_a_link_is_not_followed(tmp_path, name):
    folder = tmp_path / "journal"
    oracle(folder)[0].columns([0])
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(precious)
    if name == "lock.recovery":  # needed only where the lock names somebody
        (folder / "lock").write_text("{}")
    made, asked = oracle(folder)
    with pytest.raises(UnwritableError, match="journal"):
        made.columns([0])
    assert precious.read_text() == "mine"
    assert not asked


def test_a_lock_where_the_system_has_none_is_a_file_that_stays_while_it_is_open(
    tmp_path, monkeypatch
):
    # As on Windows: there is no fcntl, and a file cannot be removed while somebody has it open.
    monkeypatch.setattr(lock, "fcntl", None)
    monkeypatch.setattr(lock, "_OPEN_FILES_STAY", True)
    unlink = Path.unlink
    alive = {}

    def removed(path, *args, **more):
        if alive.get(path):
            raise PermissionError
        return unlink(path, *args, **more)

    monkeypatch.setattr(Path, "unlink", removed)
    path = tmp_path / "lock"
    first, second = lock.Lock(path), lock.Lock(path)
    first.acquire(0)
    alive[path] = True
    with pytest.raises(JournalError, match=f"process {os.getpid()} on"):
        second.acquire(0.1)
    alive[path] = False
    first.release()
    assert not path.exists()
    second.acquire(0)
    alive[path] = False  # it dies, and its file stays
    first.acquire(0)
    alive[path] = True
    second.release()  # which must not take the file of the next
    assert path.exists()
    alive[path] = False
    first.release()


def test_two_oracles_in_one_process_take_turns(tmp_path):
    first, asked_first = oracle(tmp_path)
    second, asked_second = oracle(tmp_path)
    first.columns([0])
    second.columns([0, 1])
    first.columns([1, 2])
    assert len(asked_first) == 36 + 34  # the second column was bought by the other one
    assert len(asked_second) == 35
    with first.run(0, np.random.default_rng(0)), pytest.raises(JournalError, match="is being"):
        second.columns([3])


TWO = """
import sys
import fewpairs as fp
def pair(a, b):
    with open(sys.argv[2], "a") as log:
        log.write(f"{a} {b}\\n")
    return 1.0 / (1 + abs(len(a) - len(b)) + (a[0] != b[0]))
words = [f"{a}{k * k}" for k in range(12) for a in ("ape", "bee", "cat")]
similarity = fp.similarity(pair, kind="pair", symmetric=True, name="two", version="1")
journal = fp.Journal(sys.argv[1], wait=60, check=0)
K = fp.approximate(words, similarity, landmarks=8, random_state=0, journal=journal, error_pairs=0,
                   method="nystrom")
print(repr(K.to_dense().tobytes().hex()))
"""


def test_two_processes_on_one_journal_pay_once(tmp_path):
    script = tmp_path / "two.py"
    script.write_text(textwrap.dedent(TWO))
    log = tmp_path / "asked"
    arguments = [sys.executable, str(script), str(tmp_path / "journal"), str(log)]
    children = [subprocess.Popen(arguments, stdout=subprocess.PIPE) for _ in range(2)]
    results = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert results[0] == results[1]
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 8 * 28 + 8 * 9 // 2


def test_readers_need_no_lock(tmp_path):
    filled(tmp_path / "journal")
    shutil.copytree(tmp_path / "journal", tmp_path / "copy")
    child = holding(tmp_path / "journal")
    try:
        block = next((tmp_path / "journal").glob("*/*.block"))
        identity = archive.read_facts(block)["identity"]
        assert read_block(block, identity).size
    finally:
        child.kill()
        child.communicate()


def test_clocks_and_paths_never_enter_keys(tmp_path, monkeypatch):
    here = tmp_path / "ein Ordner, ö und ein sehr langer Name" / ("x" * 120)
    filled(here)
    shutil.move(here, tmp_path / "moved")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 1e9)
    made, asked = oracle(tmp_path / "moved")
    made.columns([0, 1, 2])
    assert not asked


def test_items_without_a_place_in_a_journal_are_told(tmp_path):
    same = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, name="o", version="1")
    with pytest.raises(InputError, match="key="):
        fp.Oracle([object()], same, journal=tmp_path)
