"""What a killed process leaves of a journal: every answer that it has got, in the tail."""

from __future__ import annotations

import asyncio
import errno
import mmap
import os
import shutil
import threading
import time

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import AsymmetryError, JournalWarning, NewerVersionError
from fewpairs.oracle import calls, hearing
from fewpairs.oracle.journal import growing
from fewpairs.oracle.journal.folder import Folder
from fewpairs.oracle.journal.folding import read_tail
from fewpairs.oracle.journal.growing import Growing
from fewpairs.oracle.journal.tail import FORMAT, FRAME, VERSION, Tail
from fewpairs.oracle.journal.upkeep import compact, faults, holdings, values_of

WORDS = [f"{a}{k * k}" for k in range(10) for a in ("ape", "bee", "cat")]


def alike(a, b):
    return sum(x == y for x, y in zip(a, b, strict=False)) / max(len(a), len(b))


class Watched:
    """Notes what was asked and answered, and keeps a picture of the folder at one call.

    The picture is what the process would leave if it were killed there: all that the system knows.
    """

    def __init__(self, kind="pair", folder=None, picture=None, at=None, symmetric=True, **facts):
        self.asked, self.answered, self.at_picture = [], [], None
        self._folder, self._picture, self._at = folder, picture, at
        self._calls, self._lock = 0, threading.Lock()
        function = getattr(self, kind)
        kind = "pair" if kind == "later" else kind
        facts.setdefault("block_size", 16)
        self.similarity = fp.similarity(
            function, kind=kind, symmetric=symmetric, name="alike", version="1", **facts
        )

    def _begin(self):
        with self._lock:
            self._calls += 1
            if self._calls == self._at:
                self.at_picture = list(self.answered)
                time.sleep(0.2)  # what has just been answered in another thread is on its way
                shutil.copytree(self._folder, self._picture)

    def _score(self, pairs):
        self._begin()
        self.asked += pairs
        time.sleep(0.001)
        self.answered += pairs
        return [alike(a, b) for a, b in pairs]

    def pair(self, a, b):
        return self._score([(a, b)])[0]

    def pairs(self, pairs):
        return self._score(list(pairs))

    def block(self, left, right):
        found = self._score([(a, b) for a in left for b in right])
        return np.reshape(found, (len(left), len(right)))

    async def later(self, a, b):
        self._begin()
        self.asked.append((a, b))
        await asyncio.sleep(0.0005 * (len(self.asked) % 3))
        self.answered.append((a, b))
        return alike(a, b)


def run(watched, folder, **more):
    method = "nystrom" if watched.similarity.symmetric else "sicur"
    options = {"landmarks": 5, "method": method, "random_state": 0, "error_pairs": 10} | more
    return fp.approximate(
        WORDS, watched.similarity, journal=fp.Journal(folder, check=0), **options
    ).to_dense()


def killed(tmp_path, at=60, **facts):
    """A folder as it is at one call of a run, with what was answered by then."""
    watched = Watched(folder=tmp_path / "journal", picture=tmp_path / "left", at=at, **facts)
    matrix = run(watched, tmp_path / "journal")
    assert not list((tmp_path / "journal").rglob("*.tail"))  # nothing is left of an ended run
    return tmp_path / "left", watched, matrix


def tail_in(folder):
    (shelf,) = Folder(folder).shelves()
    (tail,) = shelf.tails()
    return shelf, tail


def filled(tail):
    """What a tail holds, without the room that was made for more."""
    data = tail.read_bytes()
    at = len(b"\n".join(data.split(b"\n", 3)[:3])) + 1
    while at + FRAME.size <= len(data) and (length := FRAME.unpack_from(data, at)[0]):
        at += FRAME.size + length
    assert not any(data[at:])
    return data[:at]


@pytest.mark.parametrize(
    ("kind", "n_jobs", "at"),
    [("pair", 1, 60), ("pair", 3, 60), ("pairs", 1, 6), ("block", 1, 14), ("later", 1, 60)],
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_nothing_that_was_answered_is_asked_for_again(tmp_path, kind, n_jobs, at, symmetric):
    facts = {"kind": kind, "symmetric": symmetric}
    watched = Watched(folder=tmp_path / "journal", picture=tmp_path / "left", at=at, **facts)
    exact = run(watched, tmp_path / "journal", n_jobs=n_jobs)
    assert len(watched.at_picture) > 30
    assert len(set(watched.asked)) == len(watched.asked)
    again = Watched(**facts)
    assert np.array_equal(run(again, tmp_path / "left", n_jobs=n_jobs), exact)
    assert not set(again.asked) & set(watched.at_picture)
    assert len(again.asked) <= len(watched.asked) - len(watched.at_picture)
    # And now all of it is in blocks.
    assert not list((tmp_path / "left").rglob("*.tail"))
    once_more = Watched(**facts)
    assert np.array_equal(run(once_more, tmp_path / "left"), exact)
    assert not once_more.asked


def test_quick_answers_are_told_together(tmp_path, monkeypatch):
    told = []
    tell, singly = calls.Gathered.tell, Tail.singly

    def counted(self, to, places, *, at_once):
        told.append(at_once)
        tell(self, to, places, at_once=at_once)

    def counted_singly(self, request, pairs):
        write = singly(self, request, pairs)
        return lambda k, value: (told.append(True), write(k, value))

    monkeypatch.setattr(calls.Gathered, "tell", counted)
    monkeypatch.setattr(Tail, "singly", counted_singly)
    monkeypatch.setattr(hearing, "SLOW", np.inf)
    monkeypatch.setattr(hearing, "OFTEN", np.inf)
    watched = Watched()
    run(watched, tmp_path / "journal")
    assert not any(told)
    assert len(told) < len(watched.asked) / 5  # once for each request
    told.clear()
    monkeypatch.setattr(hearing, "OFTEN", 0.0)
    run(watched, tmp_path / "other")
    assert sum(told) == len(watched.asked) / 2


def test_quick_answers_are_safe_with_the_first_slow_one_after_them(tmp_path, monkeypatch):
    monkeypatch.setattr(hearing, "OFTEN", np.inf)
    monkeypatch.setattr(hearing, "SLOW", 0.02)

    class Slower(Watched):
        def pair(self, a, b):
            if len(self.asked) >= 19:  # the first two requests are quick, of 3 and of 16
                time.sleep(0.03)
            return super().pair(a, b)

    watched = Slower(folder=tmp_path / "journal", picture=tmp_path / "left", at=21)
    exact = run(watched, tmp_path / "journal", landmarks=2, error_pairs=0)
    assert len(watched.at_picture) == 20
    again = Watched()
    assert np.array_equal(run(again, tmp_path / "left", landmarks=2, error_pairs=0), exact)
    assert not set(again.asked) & set(watched.at_picture)


def test_answers_of_two_sets_are_found_under_their_own_items(tmp_path):
    watched = Watched(folder=tmp_path / "journal", picture=tmp_path / "left", at=60)
    options = {"landmarks": 5, "random_state": 0, "error_pairs": 10}

    def of_two_sets(watched, folder):
        journal = fp.Journal(folder, check=0)
        K = fp.approximate(
            WORDS[:18], watched.similarity, others=WORDS[18:], journal=journal, **options
        )
        return K.to_dense()

    exact = of_two_sets(watched, tmp_path / "journal")
    again = Watched()
    assert np.array_equal(of_two_sets(again, tmp_path / "left"), exact)
    assert not set(again.asked) & set(watched.at_picture)
    assert len(watched.at_picture) > 50


@pytest.mark.parametrize("room", [0, 1000])
def test_a_tail_that_was_cut_off_anywhere_gives_what_was_before(tmp_path, room):
    left, watched, exact = killed(tmp_path, at=40)
    shelf, tail = tail_in(left)
    whole = filled(tail)
    counts = []
    for end in range(0, len(whole) + 1, 7):
        tail.write_bytes(whole[:end] + bytes(room))
        block, good = read_tail(tail, shelf.checksum) if end > 120 else (None, True)
        assert good, end
        counts.append(0 if block is None else block.size)
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] >= len(watched.at_picture) - 1
    tail.write_bytes(whole[:-12] + bytes(room))  # not of a value alone, which may end in zeros
    again = Watched()
    assert np.array_equal(run(again, left), exact)  # and no warning: that is how a kill looks
    assert len(again.asked) == len(watched.asked) - len(watched.at_picture) + 1


@pytest.mark.parametrize("room", [0, 1000])
def test_every_flipped_byte_of_a_tail_is_noticed(tmp_path, room):
    left, watched, _ = killed(tmp_path, at=8)
    shelf, tail = tail_in(left)
    whole = filled(tail)
    names = {}
    for block in [read_tail(tail, shelf.checksum)[0]]:
        for record in block.records:
            i, j = (block.keys[side].tolist() for side in record.request.pairs())
            names |= dict(zip(zip(i, j, strict=True), record.values.tolist(), strict=True))
    assert len(names) == len(watched.at_picture)
    for k in range(len(whole)):
        flipped = whole[:k] + bytes([whole[k] ^ 0x10]) + whole[k + 1 :]
        tail.write_bytes(flipped + bytes(room))
        try:
            block, _ = read_tail(tail, shelf.checksum)
        except fp.errors.FileFormatError:
            continue
        for record in block.records:
            i, j = (block.keys[side].tolist() for side in record.request.pairs())
            found = dict(zip(zip(i, j, strict=True), record.values.tolist(), strict=True))
            assert found.items() <= names.items(), k
        # Only the sign of the items' order is not checked: it says what may be read backwards.
        assert block.size < len(names) or whole[:k].count(b"\n") == 2, k


def test_a_damaged_tail_is_set_aside_and_what_is_before_the_damage_kept(tmp_path):
    left, watched, exact = killed(tmp_path, at=40)
    _, tail = tail_in(left)
    whole = bytearray(filled(tail))
    whole[len(whole) // 2] ^= 1
    tail.write_bytes(whole)
    again = Watched()
    with pytest.warns(JournalWarning, match=r"00000001\.tail"):
        assert np.array_equal(run(again, left), exact)
    known = len(watched.asked) - len(again.asked)
    assert len(watched.at_picture) / 3 < known < len(watched.at_picture)
    assert [path.name for path in left.rglob("*.bad")] == ["00000001.tail.bad"]


def test_the_tail_of_another_similarity_or_of_a_newer_version_is_not_used(tmp_path):
    left, watched, exact = killed(tmp_path)
    shelf, tail = tail_in(left)
    whole = tail.read_bytes()
    newer = FORMAT + b"%d" % (VERSION + 1)
    tail.write_bytes(whole.replace(FORMAT + b"%d" % VERSION, newer, 1))
    with pytest.raises(NewerVersionError, match="Upgrade"):
        run(Watched(), left)
    assert tail.exists()
    tail.write_bytes(whole.replace(shelf.checksum.encode(), b"0" * 64, 1))
    again = Watched()
    with pytest.warns(JournalWarning, match="damaged"):
        assert np.array_equal(run(again, left), exact)
    assert len(again.asked) == len(watched.asked)


def test_what_is_in_a_tail_is_counted_exported_verified_and_compacted(tmp_path):
    left, watched, _ = killed(tmp_path)
    shelf, tail = tail_in(left)
    count = len(watched.at_picture)
    (held,) = holdings(Folder(left))
    assert held.values == count
    assert sum(len(values) for _, _, _, values in values_of(shelf, [])) == count
    assert not list(faults(Folder(left)))
    whole = tail.read_bytes()
    tail.write_bytes(whole[:200] + b"?" + whole[201:])
    assert [path for path, _ in faults(Folder(left))] == [tail]
    tail.write_bytes(whole)
    assert compact(Folder(left)) == (1, 1)
    assert not tail.exists()
    assert next(holdings(Folder(left))).values == count


def test_ctrl_c_at_any_moment_of_a_request_loses_no_answer(tmp_path, monkeypatch):
    # Not in the similarity, where it is noticed, but between two of our own lines.
    places = calls.Gathered.places.fget
    moments = []

    def interrupted(self):
        moments.append(None)
        if len(moments) == 4:
            raise KeyboardInterrupt
        return places(self)

    exact = run(Watched(), tmp_path / "whole")
    first = Watched()
    with monkeypatch.context() as patch:
        patch.setattr(calls.Gathered, "places", property(interrupted))
        with pytest.raises(KeyboardInterrupt):
            run(first, tmp_path / "journal")
    again = Watched()
    assert np.array_equal(run(again, tmp_path / "journal"), exact)
    assert not set(again.asked) & set(first.answered)


def test_ctrl_c_with_the_last_answer_of_a_request_is_not_forgotten():
    def tell(*_, at_once):
        raise KeyboardInterrupt

    found = calls.Caller().each(lambda a, b: float(a == b), [("a", "b")], tell)
    assert found.answers == [0.0]
    assert isinstance(found.interrupt, KeyboardInterrupt)


def test_an_uneven_square_is_not_in_the_tail(tmp_path, monkeypatch):
    monkeypatch.setattr("fewpairs.oracle.planner._FEW_ENTRIES", 0)  # squares have both orders
    monkeypatch.setattr(hearing, "SLOW", 0.0)

    def uneven(left, right):
        return np.array([[len(a) + 2 * len(b) for b in right] for a in left], dtype=float)

    similarity = fp.similarity(uneven, kind="block", symmetric=True, name="uneven", version="1")
    for _ in range(2):
        with pytest.raises(AsymmetryError):
            fp.approximate(WORDS, similarity, landmarks=8, random_state=0, journal=tmp_path)


def test_single_precision_is_rounded_in_a_tail_too(tmp_path):
    watched = Watched(folder=tmp_path / "journal", picture=tmp_path / "left", at=60)
    journal = fp.Journal(tmp_path / "journal", dtype="float32", check=0)
    options = {"landmarks": 5, "method": "nystrom", "random_state": 0, "error_pairs": 10}
    exact = fp.approximate(WORDS, watched.similarity, journal=journal, **options).to_dense()
    again = Watched()
    assert np.array_equal(run(again, tmp_path / "left"), exact)
    assert len(again.asked) == len(watched.asked) - len(watched.at_picture)


def test_a_tail_that_was_just_being_made_holds_nothing_and_is_no_damage(tmp_path):
    left, watched, exact = killed(tmp_path)
    _, tail = tail_in(left)
    tail.write_bytes(bytes(2**16))
    again = Watched()
    assert np.array_equal(run(again, left), exact)
    assert len(again.asked) == len(watched.asked)


@pytest.mark.parametrize("room", [1, FRAME.size - 1, FRAME.size, FRAME.size + 1, 2 * FRAME.size])
def test_little_room_after_the_last_record_is_no_damage(tmp_path, room):
    left, _, _ = killed(tmp_path, at=40)
    shelf, tail = tail_in(left)
    before, _ = read_tail(tail, shelf.checksum)
    assert before.size > 0
    tail.write_bytes(filled(tail) + bytes(room))
    block, good = read_tail(tail, shelf.checksum)
    assert good
    assert block.size == before.size


def without(monkeypatch, fault):
    def refused(*_):
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(os, "posix_fallocate", refused)


@pytest.mark.parametrize("fault", [errno.EOPNOTSUPP, errno.ENOSPC, errno.EFBIG])
def test_where_no_room_can_be_made_answers_are_written(tmp_path, monkeypatch, fault):
    without(monkeypatch, fault)
    left, watched, exact = killed(tmp_path)
    _, tail = tail_in(left)
    assert tail.read_bytes() == filled(tail)
    again = Watched()
    assert np.array_equal(run(again, left), exact)
    assert not set(again.asked) & set(watched.at_picture)


def test_a_system_that_cannot_make_room_writes(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    file = Growing(tmp_path / "a")
    assert file.append(b"some")
    assert file.append(b"thing")
    assert (tmp_path / "a").read_bytes() == b"something"
    file.close()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no room can be made here")
def test_a_file_grows_in_memory_and_ends_where_it_was_filled(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "_ROOM", mmap.PAGESIZE)
    file, parts = Growing(tmp_path / "a"), [bytes([k]) * (k * 97) for k in range(1, 120)]
    for k, part in enumerate(parts):
        assert file.append(part)
        held = (tmp_path / "a").read_bytes()  # by anybody, before it is closed
        assert held.startswith(b"".join(parts[: k + 1]))
        assert not any(held[sum(map(len, parts[: k + 1])) :])
    file.close()
    assert (tmp_path / "a").read_bytes() == b"".join(parts)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no room can be made here")
def test_where_no_more_room_can_be_made_what_is_there_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "_ROOM", mmap.PAGESIZE)
    file = Growing(tmp_path / "a")
    assert file.append(b"x" * 4000)
    without(monkeypatch, errno.ENOSPC)
    assert file.append(b"y" * 4000)
    assert (tmp_path / "a").read_bytes() == b"x" * 4000 + b"y" * 4000
    monkeypatch.setattr(os, "write", lambda _handle, data: len(data) // 2)
    assert not file.append(b"z" * 10)
    file.close()
    assert (tmp_path / "a").read_bytes() == b"x" * 4000 + b"y" * 4000
