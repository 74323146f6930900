"""Single entries: kept in runs, found in all of them, the first answer counts."""

from __future__ import annotations

import numpy as np
import pytest

from fewpairs.oracle import stores
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.requests import Scattered
from fewpairs.oracle.stores import EntryStore


@pytest.fixture
def store(monkeypatch):
    """Three runs, which are not merged, with a key that comes three times."""
    monkeypatch.setattr(stores, "_LONGEST_RUN", 1)
    monkeypatch.setattr(stores, "_AT_A_TIME", 2)
    store = EntryStore()
    assert store.empty
    for keys, values in (
        ([9, 3, 5], [9.0, 3.0, 5.0]),
        ([5, 7], [50.0, 7.0]),
        ([5, 20], [0.0, 2.0]),
    ):
        store.add(np.array(keys), np.array(values))
    assert not store.empty
    return store


def test_the_first_answer_counts_in_whatever_run_it_is(store):
    wanted = np.array([20, 5, 4, 9, 7, 3, 100, 0])
    np.testing.assert_array_equal(
        store.find(wanted), [2.0, 5.0, np.nan, 9.0, 7.0, 3.0, np.nan, np.nan]
    )
    assert np.isnan(store.find(np.array([1, 2]))).all()
    assert len(store.find(np.empty(0, dtype=int))) == 0


def test_pieces_hold_everything_and_the_first_answer_last(store):
    last = {}
    for keys, values in store.pieces():
        assert len(keys) <= 2
        last |= dict(zip(keys.tolist(), values.tolist(), strict=True))
    keys, values = store.all()
    assert last == dict(zip(keys.tolist(), values.tolist(), strict=True))
    assert last == {3: 3.0, 5: 5.0, 7: 7.0, 9: 9.0, 20: 2.0}


def test_what_comes_in_order_is_kept_like_what_does_not():
    keys = np.random.default_rng(0).permutation(3000)[:2000]
    orders = keys, np.sort(keys), np.sort(keys)[::-1]
    kept = []
    for order in orders:
        store = EntryStore()
        for part in np.array_split(order, 90):
            store.add(part, part / 7)
        store.add(order[5:50], np.zeros(45))  # too late
        np.testing.assert_array_equal(
            store.find(np.arange(3000)),
            np.where(np.isin(np.arange(3000), keys), np.arange(3000) / 7, np.nan),
        )
        kept.append(store.all())
    for found, values in kept:
        np.testing.assert_array_equal(found, np.sort(keys))
        np.testing.assert_array_equal(values, np.sort(keys) / 7)


@pytest.mark.parametrize("symmetric", [True, False])
def test_new_lines_take_up_what_all_runs_hold(monkeypatch, symmetric):
    monkeypatch.setattr(stores, "_LONGEST_RUN", 1)
    memory = Memory(6, 6, square=True, symmetric=symmetric, diagonal=None)
    for rows, columns, values in (([0, 4], [2, 2], [2.0, 42.0]), ([2, 1], [3, 2], [23.0, 12.0])):
        memory.store(Scattered(np.array(rows), np.array(columns)), np.array(values))
    memory.add_columns(np.array([2]))
    expected = [2.0, 12.0, np.nan, 23.0 if symmetric else np.nan, 42.0, np.nan]
    np.testing.assert_array_equal(memory.columns.values[:, 0], expected)
    if not symmetric:
        memory.add_rows(np.array([2]))
        assert memory.rows.values[3, 0] == 23.0
