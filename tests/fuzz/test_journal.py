"""Journals: a run that is stopped anywhere is the same run; damaged files are never believed."""

from __future__ import annotations

import functools
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import FewpairsWarning
from fewpairs.files import archive
from fewpairs.oracle import hearing
from fewpairs.oracle.journal.blocks import Block, read_block
from fewpairs.oracle.journal.folding import read_tail
from fewpairs.oracle.requests import Ordered
from fuzz.file_strategies import FOLDER, VALUES, attempt, damaged, described, forged, hostile_arrays

ITEMS = [f"item {k * k % 11}" for k in range(14)]  # some of them twice


class StopError(Exception):
    """What a similarity raises in the middle of a run."""


def score(a: str, b: str) -> float:
    """Depend on the order."""
    return ((hash_of(a) * 3 + hash_of(b) * 5) % 17 + 1) / 16


def hash_of(text: str) -> int:
    """Return a number that is the same in every process."""
    return sum(ord(c) * (k + 1) for k, c in enumerate(text))


def made(kind: str, asked: list[Any], stop_at: int | None, *, symmetric: bool) -> fp.Similarity:
    """Make a similarity that remembers what it was asked for, and stops at one of its pairs."""

    def one(a: str, b: str) -> float:
        asked.append((a, b))
        if len(asked) == stop_at:
            raise StopError
        return score(*sorted((a, b))) if symmetric else score(a, b)

    functions = {
        "pair": one,
        "pairs": lambda pairs: [one(a, b) for a, b in pairs],
        # The last bits depend on what is asked for beside a pair, as they do in matrix products.
        "block": lambda left, right: [
            [one(a, b) + 1e-13 * len(left) + 1e-12 * len(right) for b in right] for a in left
        ],
    }
    return fp.similarity(
        functions[kind], kind=kind, symmetric=symmetric, name="s", version="1", block_size=5
    )


@given(
    st.data(),
    st.sampled_from(["pair", "pairs", "block"]),
    st.booleans(),
    st.lists(st.integers(0, 13), min_size=2, max_size=14),
    st.none() | st.lists(st.integers(0, 13), min_size=2, max_size=8),
    st.sampled_from(["float64", "float32"]),
    st.sampled_from([1, 2]),
)
def test_a_run_with_a_journal_is_the_run_wherever_it_is_stopped(
    data: st.DataObject,
    kind: str,
    symmetric: bool,
    chosen: Any,
    across: Any,
    dtype: str,
    n_jobs: int,
):
    items = [ITEMS[k] for k in chosen]
    others = None if across is None else [ITEMS[k] for k in across]
    landmarks = data.draw(st.integers(1, min(len(items), len(others or items))))
    folder = Path(FOLDER.name) / "run"

    def run(journal: Any, stop_at: int | None = None) -> tuple[Any, list[Any]]:
        asked: list[Any] = []
        similarity = made(kind, asked, stop_at, symmetric=symmetric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewpairsWarning)
            try:
                matrix = fp.approximate(
                    items,
                    similarity,
                    others=others,
                    landmarks=landmarks,
                    random_state=3,
                    journal=journal,
                    n_jobs=n_jobs,
                )
            except fp.errors.SimilarityError:
                return None, asked
        return matrix, asked

    plain, price = run(None)
    journal = fp.Journal(folder, dtype=dtype, check=0)
    shutil.rmtree(folder, ignore_errors=True)
    undisturbed, _ = run(journal)
    shutil.rmtree(folder)
    for _ in range(data.draw(st.integers(0, 3))):
        run(journal, data.draw(st.integers(1, len(price) + 1)))
    matrix, _ = run(journal)
    again, asked = run(journal)
    assert not asked
    assert matrix.evaluations == plain.evaluations
    assert np.array_equal(matrix.to_dense(), undisturbed.to_dense())
    assert np.array_equal(matrix.to_dense(), again.to_dense())
    twins = any(len(set(side)) < len(side) for side in (items, others or items))
    if dtype == "float64" and (kind != "block" or not twins):
        assert np.array_equal(matrix.to_dense(), plain.to_dense())


@functools.cache
def whole() -> tuple[bytes, str]:
    """Return a block with records of every kind, and whose it is."""
    folder = Path(FOLDER.name) / "whole"
    similarity = made("pair", [], None, symmetric=True)
    fp.approximate(ITEMS, similarity, landmarks=4, random_state=0, journal=folder)
    (block,) = folder.glob("*/*.block")
    return block.read_bytes(), archive.read_facts(block)["identity"]


@given(st.data())
def test_a_damaged_block_is_refused_or_is_what_it_was(data: st.DataObject):
    content, identity = whole()
    path = Path(FOLDER.name) / "before"
    path.write_bytes(content)
    before = read_block(path, identity)
    found = attempt(lambda path: read_block(path, identity), data.draw(damaged(content)))
    if found is not None:
        assert np.array_equal(found.keys, before.keys)
        for one, other in zip(found.records, before.records, strict=True):
            assert np.array_equal(one.values, other.values)


@functools.cache
def tail() -> tuple[bytes, str]:
    """Return a tail with records of every kind, as a killed process leaves it, and whose it is."""
    folder = Path(FOLDER.name) / "tailed"
    left: list[bytes] = []

    def slow(a: str, b: str) -> float:
        left[:] = [path.read_bytes() for path in folder.glob("*/*.tail")] or left
        return score(*sorted((a, b)))

    similarity = fp.similarity(slow, kind="pair", symmetric=True, name="s", version="1")
    before, hearing.SLOW = hearing.SLOW, 0.0
    try:
        fp.approximate(ITEMS, similarity, landmarks=4, random_state=0, journal=folder)
    finally:
        hearing.SLOW = before
    (block,) = folder.glob("*/*.block")
    return left[0], archive.read_facts(block)["identity"]


def pairs_of(block: Block) -> dict[tuple[bytes, bytes, int], float]:
    """Return the values of a block by their keys and kinds."""
    found = {}
    for record in block.records:
        i, j = (block.keys[side].tolist() for side in record.request.pairs())
        kind = isinstance(record.request, Ordered)
        both = zip(i, j, [kind] * len(i), strict=True)
        found |= dict(zip(both, record.values.ravel().tolist(), strict=True))
    return found


@given(st.data())
def test_a_damaged_tail_gives_only_what_it_held(data: st.DataObject):
    content, identity = tail()
    path = Path(FOLDER.name) / "before"
    path.write_bytes(content)
    before = pairs_of(read_tail(path, identity)[0])
    found = attempt(lambda path: read_tail(path, identity), data.draw(damaged(content)))
    if found is not None:
        assert pairs_of(found[0]).items() <= before.items()


@given(st.data())
def test_a_journal_with_a_damaged_tail_is_used_all_the_same(data: st.DataObject):
    content, _ = tail()
    folder = Path(FOLDER.name) / "folded"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(FOLDER.name) / "tailed", folder)
    (block,) = folder.glob("*/*.block")
    block.unlink()
    similarity = made("pair", [], None, symmetric=True)

    def use(written: Path) -> bool:
        block.with_name("00000001.tail").write_bytes(written.read_bytes())
        oracle = fp.Oracle(ITEMS, similarity, journal=fp.Journal(folder, check=0))
        right = fp.Oracle(ITEMS, similarity).columns([0, 3])
        return np.array_equal(oracle.columns([0, 3]), right)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewpairsWarning)
        assert attempt(use, data.draw(damaged(content))) in (True, None)


@given(st.data())
def test_a_forged_block_is_set_aside_or_looked_up(data: st.DataObject):
    content, _ = whole()
    path = Path(FOLDER.name) / "taken apart"
    path.write_bytes(content)
    arrays, facts = archive.read(path)
    arrays = data.draw(hostile_arrays(arrays))
    folder = Path(FOLDER.name) / "forged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(FOLDER.name) / "whole", folder)
    (block,) = folder.glob("*/*.block")

    def look_up(written: Path) -> bool:
        block.write_bytes(written.read_bytes())
        similarity = made("pair", [], None, symmetric=True)
        oracle = fp.Oracle(ITEMS, similarity, journal=fp.Journal(folder, check=0))
        return bool(np.isfinite(oracle.columns([0, 3])).all())

    assert attempt(look_up, forged(arrays, described(arrays, facts))) in (True, None)


@given(
    st.data(),
    st.sampled_from(["journal.json", "*/similarity.json", "*/seeds.json", "lock"]),
    st.binary(max_size=30) | VALUES.map(lambda v: json.dumps(v).encode()),
)
def test_damaged_descriptions_are_refused_or_made_anew(
    data: st.DataObject, which: str, anything: bytes
):
    whole()
    folder = Path(FOLDER.name) / "described"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(FOLDER.name) / "whole", folder)
    similarity = made("pair", [], None, symmetric=True)
    fp.Oracle(ITEMS, similarity, journal=folder).generator(None, "call")
    (path,) = folder.glob(which)
    # Seeds are drawn, and holders have names: what is damaged must be the same each time.
    fixed = {"*/seeds.json": b'{"0a": "123"}', "lock": b'{"pid": 1, "host": "here"}'}
    content = data.draw(st.just(anything) | damaged(fixed.get(which) or path.read_bytes()))

    def use(written: Path) -> bool:
        path.write_bytes(written.read_bytes())
        oracle = fp.Oracle(ITEMS, similarity, journal=fp.Journal(folder, check=0))
        oracle.generator(None, "call")
        return bool(np.isfinite(oracle.columns([0, 3])).all())

    assert attempt(use, content) in (True, None)
