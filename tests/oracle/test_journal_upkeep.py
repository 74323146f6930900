"""Looking after a journal: what is compacted is found as before, and told if it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import (
    AsymmetryError,
    JournalError,
    SimilarityError,
    UnwritableError,
)
from fewpairs.oracle.journal import upkeep
from fewpairs.oracle.journal.folder import LOCK
from fewpairs.oracle.journal.lock import Lock, unwritable
from fewpairs.oracle.journal.upkeep import compact, existing, holdings, values_of

WORDS = [f"{a}{k * k}" for k in range(8) for a in ("ape", "bee", "cat")]


def silent(folder):
    return fp.Journal(folder, check=0)


def filled(folder, columns=4):
    """A journal of as many blocks as columns."""
    for k in range(columns):
        fp.Oracle(WORDS, fp.StringSimilarity("jaro"), journal=silent(folder)).columns([k])
    return existing(folder)


def blocks(folder):
    return sorted(folder.glob("*/*.block"))


def pairs_of(folder):
    """All pairs that a journal holds, by their keys, as often as they are there."""
    found = []
    for shelf in existing(folder).shelves():
        for keys, i, j, _ in values_of(shelf, []):
            found += [frozenset(pair) for pair in zip(keys[i], keys[j], strict=True)]
    return found


def test_a_run_between_two_sets_is_the_same_run_after_compacting(tmp_path):
    left, right = WORDS[:16], WORDS[10:]  # a pair of those in both is asked for in both orders

    def run(name, stop_at=None):
        calls = 0

        def block(a, b):  # the last bits of a value depend on what is asked beside it
            nonlocal calls
            calls += 1
            if calls == stop_at:
                raise ConnectionError
            shared = [[len(set(x) & set(y)) / 7 for y in b] for x in a]
            return np.array(shared) + 1e-13 * len(a) + 1e-12 * len(b)

        similarity = fp.similarity(
            block, kind="block", symmetric=True, name="company", version="1", block_size=12
        )
        run = {"others": right, "landmarks": 5, "random_state": 1}
        journal = silent(tmp_path / name)
        try:
            return fp.approximate(left, similarity, journal=journal, **run).to_dense(), calls
        except SimilarityError:
            return None, calls

    exact, calls = run("whole")
    compacted = 0
    for stop_at in range(4, calls, 4):
        name = f"{stop_at}"
        for _ in range(2):  # so that there are two blocks
            assert run(name, stop_at // 2)[0] is None
        compacted += compact(existing(tmp_path / name)) == (2, 1)
        assert np.array_equal(run(name)[0], exact), stop_at
    assert compacted > 3


def test_blocks_of_other_pairs_of_sets_stay_apart(tmp_path):
    similarity = fp.StringSimilarity("jaro")
    for start in (0, 1, 2):
        sets = WORDS[start : start + 9], WORDS[start + 5 : start + 14]
        fp.Oracle(sets[0], similarity, others=sets[1], journal=silent(tmp_path)).columns([0])
    fp.Oracle(WORDS[:3], similarity, others=WORDS[9:], journal=silent(tmp_path)).columns([0])
    fp.Oracle(WORDS, similarity, journal=silent(tmp_path)).columns([3])
    # Three pairs of sets that share items; and what needs no sign to be known again by.
    assert compact(existing(tmp_path)) == (5, 4)
    # Whatever is there is found in the other order, too.
    turned = fp.Oracle(WORDS[9:], similarity, others=WORDS[:3], journal=silent(tmp_path))
    turned.rows([0])
    assert turned.evaluations == 0


def test_pairs_whose_order_is_on_record_stay_on_record(tmp_path):
    def uneven(a, b):
        return len(a) + 0.1 * (a < b)

    similarity = fp.similarity(uneven, kind="pair", symmetric=True, name="u", version="1")
    fp.Oracle(WORDS, similarity, journal=silent(tmp_path)).columns([0, 1])
    rows, columns = np.array([0]), np.array([5])
    for _ in range(2):
        oracle = fp.Oracle(WORDS, similarity, journal=silent(tmp_path))
        with pytest.raises(AsymmetryError):
            oracle.check_symmetry(rows, columns)
        compact(existing(tmp_path))
    assert oracle.evaluations == 0


def test_nothing_is_removed_before_all_is_written(tmp_path, monkeypatch):
    folder = filled(tmp_path)
    whole = set(pairs_of(tmp_path))
    monkeypatch.setattr(upkeep, "_LARGEST", 1)  # as many new blocks as old ones

    plain, written = upkeep.write_block, []

    def write(path, *args):
        written.append(path)
        if len(written) == 3:
            raise unwritable(path, OSError("the disk is full"))
        plain(path, *args)

    monkeypatch.setattr(upkeep, "write_block", write)
    with pytest.raises(UnwritableError):
        compact(folder)
    assert set(pairs_of(tmp_path)) == whole


@pytest.mark.parametrize("removed", [0, 2])
def test_wherever_it_is_interrupted_the_next_attempt_loses_nothing(tmp_path, monkeypatch, removed):
    folder = filled(tmp_path)
    whole = sorted(map(sorted, pairs_of(tmp_path)))
    unlink, calls = Path.unlink, []

    def killed(path, **kwargs):
        calls.append(path)
        if len(calls) > removed:
            raise KeyboardInterrupt
        unlink(path, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            compact(folder)
    compact(folder)
    assert len(blocks(tmp_path)) == 1
    again = fp.Oracle(WORDS, fp.StringSimilarity("jaro"), journal=silent(tmp_path))
    again.columns([0, 1, 2, 3])
    assert again.evaluations == 0
    if not removed:
        assert sorted(map(sorted, pairs_of(tmp_path))) == whole


def test_it_takes_its_turn_with_other_writers(tmp_path):
    folder = filled(tmp_path)
    other = Lock(tmp_path / LOCK)
    other.acquire(0)
    with pytest.raises(JournalError, match="is being written"):
        compact(folder)
    assert len(blocks(tmp_path)) == 4
    other.release()
    assert compact(folder) == (4, 1)


def test_a_damaged_block_is_told_with_what_becomes_of_it(tmp_path):
    folder = filled(tmp_path)
    block = blocks(tmp_path)[1]
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.write_bytes(content)
    (held,) = holdings(folder)
    assert (held.blocks, held.damaged, held.bad) == (4, 1, 0)
    (shelf,) = folder.shelves()
    bad = []
    assert len(list(values_of(shelf, bad))) == 3
    assert bad == [block]
    assert compact(folder) == (3, 1)
    (held,) = holdings(folder)
    assert (held.blocks, held.damaged, held.bad) == (1, 0, 1)
