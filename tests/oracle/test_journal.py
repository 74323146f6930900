"""The journal: nothing that was evaluated is paid for again, in whatever order items come."""

from __future__ import annotations

import contextlib
import json
import pickle
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, JournalError, JournalWarning, SimilarityError
from fewpairs.items.items import as_items
from fewpairs.items.keys import item_keys
from fewpairs.oracle.journal.upkeep import existing, faults

WORDS = [f"{a}{b}{c}" for a in ("ape", "bee", "cat", "dog") for b in "xyz" for c in "12345"]


class Point(NamedTuple):
    x: int
    y: int


class Swapped(NamedTuple):
    y: int
    x: int


class Counted:
    """A function of two texts that remembers which pairs it was asked for."""

    def __init__(self, factor=1.0, symmetric=True, kind="pair", version="1"):
        self.asked: list[tuple[str, str]] = []
        self.factor, self.symmetric, self.kind = factor, symmetric, kind
        self.similarity = fp.similarity(
            getattr(self, kind), kind=kind, symmetric=symmetric, name="counted", version=version
        )

    def pair(self, a, b):
        self.asked.append((a, b))
        shared = len(set(a) & set(b)) + sum(x == y for x, y in zip(a, b, strict=False)) / 3
        order = 0.0 if self.symmetric else 0.01 * (a < b)
        return self.factor * (shared / 7 + order)

    def pairs(self, pairs):
        return [self.pair(a, b) for a, b in pairs]

    def block(self, left, right):
        return [[self.pair(a, b) for b in right] for a in left]

    def different(self):
        """The pairs that were asked for, whatever their order if it does not matter."""
        return {tuple(sorted(p)) if self.symmetric else p for p in self.asked}


def silent(folder):
    """A journal that evaluates nothing again to see whether it has changed."""
    return fp.Journal(folder, check=0)


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_run_is_free_the_second_time_and_bit_for_bit_the_same(
    tmp_path, kind, symmetric, n_jobs
):
    def run(journal):
        counted = Counted(kind=kind, symmetric=symmetric)
        matrix = fp.approximate(
            WORDS,
            counted.similarity,
            landmarks=9,
            random_state=3,
            journal=journal,
            n_jobs=n_jobs,
            error_pairs=40,
        )
        return matrix, counted

    plain, without = run(None)
    first, bought = run(silent(tmp_path / "journal"))
    again, free = run(silent(tmp_path / "journal"))
    assert len(bought.asked) == len(without.asked)
    assert not free.asked
    for matrix in (first, again):
        assert np.array_equal(matrix.to_dense(), plain.to_dense())
        assert (matrix.evaluations, matrix.error) == (plain.evaluations, plain.error)


def test_reordered_added_and_removed_items_pay_only_for_what_is_new(tmp_path):
    counted = Counted()
    fp.Oracle(WORDS, counted.similarity, journal=silent(tmp_path)).columns([0, 1, 2])
    counted.asked.clear()
    items = ["new one", *WORDS[50:0:-1], WORDS[0]]  # ten are gone, and the order is another
    places = [items.index(word) for word in WORDS[:3]]
    oracle = fp.Oracle(items, counted.similarity, journal=silent(tmp_path))
    found = oracle.columns(places)
    assert {frozenset(pair) for pair in counted.asked} == {
        frozenset(("new one", word)) for word in WORDS[:3]
    }
    fresh = fp.Oracle(items, Counted().similarity).columns(places)
    assert np.array_equal(found, fresh)


def test_what_one_function_bought_the_next_finds(tmp_path):
    counted = Counted()
    everything = {"journal": silent(tmp_path), "random_state": 0}
    found = fp.find_pairs(WORDS, counted.similarity, above=0.75, **everything)
    bought = counted.different()
    assert len(counted.asked) == len(set(counted.asked))  # but for eight pairs in both orders
    counted.asked.clear()
    left, right = ([WORDS[k] for k in side] for side in (found.right, found.left))
    # In the other order, and in two sets: the similarity is symmetric.
    scores = fp.score_pairs(counted.similarity, left, right, journal=silent(tmp_path))
    assert np.array_equal(scores, found.similarities)
    assert not counted.asked
    pairs = np.column_stack([found.left, found.right])
    fp.recall_of(pairs, WORDS, counted.similarity, above=0.75, **everything)
    fp.find_nearest(WORDS, counted.similarity, k=2, **everything)
    fp.inspect(WORDS, counted.similarity, sample=5, journal=silent(tmp_path))
    fp.plan(WORDS, counted.similarity, journal=silent(tmp_path), timed=True)
    # inspect asks three pairs again on purpose, and one in both orders; two others ask eight so.
    on_purpose = 3 + 2 + 16 + 16
    assert len(counted.asked) - on_purpose <= len(counted.different() - bought)


@pytest.mark.parametrize("others", [None, WORDS[20:40]])
def test_what_is_asked_of_a_matrix_is_written_down_and_found(tmp_path, others):
    items, new = WORDS[:20], WORDS[50:53]
    counted = Counted()
    asked, scored = counted.asked, counted.similarity
    options = {"method": "skeleton", "landmarks": [1, 5, 9], "error_pairs": 0}
    if others is not None:
        options = {"landmarks": 3, "error_pairs": 0, "random_state": 0}

    def matrix():
        return fp.approximate(items, scored, others=others, **options)

    price = matrix().evaluations
    calls = [
        lambda K, **more: K.nearest(item=new[0], k=3, rerank=6, **more),
        lambda K, **more: K.nearest(2, k=3, rerank=6, **more),
        lambda K, **more: K.check(k=3, rows=4, random_state=0, **more).recall.value,
        lambda K, **more: K.extend(new, **more).to_dense(),
    ]
    for number, call in enumerate(calls):
        journal = silent(tmp_path / f"{number}")
        plain, matrices = call(matrix()), [matrix(), matrix()]
        before = len(asked)
        first = call(matrices[0], journal=journal)
        paid = len(asked) - before
        assert paid
        again = call(matrices[1], journal=journal)
        assert len(asked) == before + paid  # nothing more
        for found in (first, again):
            assert all(map(np.array_equal, np.atleast_1d(plain), np.atleast_1d(found)))
        assert matrices[0].source.journal is None
        if number < 3:
            assert matrices[0].evaluations == price + paid
            assert matrices[1].evaluations == price


def test_what_a_run_has_paid_for_a_matrix_finds(tmp_path):
    counted = Counted()
    asked, scored = counted.asked, counted.similarity
    journal = silent(tmp_path)
    whole = fp.Oracle(WORDS[:20], scored, journal=journal)
    whole.columns(range(20))
    K = fp.approximate(WORDS[:15], scored, landmarks=4, random_state=0)
    before = len(asked)
    K.nearest(3, k=5, journal=journal)
    K.nearest(item=WORDS[18], k=5, journal=journal)
    K.extend(WORDS[15:18], journal=journal)
    assert len(asked) == before


def test_found_pairs_are_extended_in_the_same_journal(tmp_path):
    counted = Counted()
    asked, scored = counted.asked, counted.similarity
    found = fp.find_pairs(WORDS[:20], scored, above=0.6, random_state=0, journal=silent(tmp_path))
    more = found.extend(WORDS[20:26], random_state=0)
    before = len(asked)
    again = found.extend(WORDS[20:26], random_state=0)
    assert len(asked) == before
    assert np.array_equal(again.left, more.left)
    named = fp.Journal(tmp_path / "named", key=WORDS[:20], check=0)
    found = fp.find_pairs(WORDS[:20], scored, above=0.6, random_state=0, journal=named)
    assert found.extend(WORDS[20:26], random_state=0).oracle.journal is None


def test_features_are_found_again_by_transform_and_by_the_next_fit(tmp_path):
    counted = Counted()
    features = fp.SimilarityFeatures(
        counted.similarity, 8, random_state=0, journal=silent(tmp_path)
    )
    there = features.fit_transform(WORDS)
    counted.asked.clear()
    again = features.fit(WORDS).transform(WORDS)
    diagonal = {(w, w) for w in WORDS}
    assert set(counted.asked) <= diagonal
    assert np.allclose(there, again, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["pair", "block"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_items_of_the_same_content_are_evaluated_once(tmp_path, kind, symmetric, n_jobs):
    items = WORDS[:12] + WORDS[5:20] + WORDS[:3]
    counted = Counted(kind=kind, symmetric=symmetric)
    run = {"landmarks": 6, "random_state": 0, "error_pairs": 60, "n_jobs": n_jobs}
    matrix = fp.approximate(items, counted.similarity, journal=silent(tmp_path), **run)
    # Both orders of a few pairs are asked for on purpose; and a row of single pairs of a block is
    # asked for whole, if one of them is missing.
    twice = 8 * symmetric + 8 * (kind == "block")
    assert len(counted.asked) - len(counted.different()) <= twice
    plain = fp.approximate(items, Counted(kind=kind, symmetric=symmetric).similarity, **run)
    assert np.array_equal(matrix.to_dense(), plain.to_dense())
    assert matrix.evaluations == plain.evaluations


def test_twins_of_a_pair_without_a_value_have_none_either(tmp_path):
    counted = Counted()
    lost = {WORDS[0], WORDS[3]}

    def patchy(a, b):
        value = counted.pair(a, b)
        return np.nan if {a, b} == lost else value

    similarity = fp.similarity(patchy, kind="pair", symmetric=True, name="patchy", version="1")
    matrix = fp.approximate(
        WORDS[:10] * 2,
        similarity,
        landmarks=[0, 10, 5],
        error_pairs=0,
        random_state=0,
        journal=silent(tmp_path),
        on_nonfinite="skip",
    )
    assert matrix.skipped.tolist() == [[0, 3], [0, 13], [3, 10], [10, 13]]
    assert sum(set(pair) == lost for pair in counted.asked) == 1


def test_two_sets_of_items_and_twins_in_both(tmp_path):
    counted = Counted(symmetric=False)
    rows, columns = WORDS[:10] * 2, WORDS[8:14] * 2
    oracle = fp.Oracle(rows, counted.similarity, others=columns, journal=silent(tmp_path))
    found = oracle.columns(range(12))
    assert sorted(counted.asked) == sorted({(a, b) for a in rows for b in columns})
    assert oracle.evaluations == 60
    assert oracle.spent == 240
    exact = [[Counted(symmetric=False).pair(a, b) for b in columns] for a in rows]
    assert np.array_equal(found, exact)
    counted.asked.clear()
    again = fp.Oracle(columns, counted.similarity, others=rows, journal=silent(tmp_path))
    again.entries([2, 3], [0, 1])  # the other order of an asymmetric one is another pair
    assert len(counted.asked) == 2


def test_both_orders_that_were_seen_stay_on_record(tmp_path):
    uneven = Counted(symmetric=True)
    uneven.symmetric = False  # what it declares is not what it does
    for _ in range(2):
        with pytest.raises(fp.errors.AsymmetryError):
            fp.approximate(
                WORDS, uneven.similarity, landmarks=5, random_state=0, journal=silent(tmp_path)
            )


def test_an_uneven_square_is_never_found_again_as_an_even_one(tmp_path):
    many = [f"{word}{k}" for k in range(10) for word in WORDS]
    for _ in range(2):
        uneven = Counted(symmetric=True, kind="block")
        uneven.symmetric = False
        with pytest.raises(fp.errors.AsymmetryError):
            fp.Oracle(many, uneven.similarity, journal=silent(tmp_path)).columns(range(8))


def test_a_function_needs_a_name_and_a_version(tmp_path):
    def bare(a, b):
        raise AssertionError

    for facts in ({}, {"name": "bare"}, {"version": "1"}):
        similarity = fp.similarity(bare, kind="pair", symmetric=True, **facts)
        with pytest.raises(InputError, match="no declared name and version"):
            fp.approximate(WORDS, similarity, landmarks=3, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()

    class Own(fp.Similarity):
        symmetric = True

        def pair(self, a, b):
            raise AssertionError

    with pytest.raises(InputError, match="no declared name and version"):
        fp.Oracle(WORDS, Own(), journal=tmp_path)
    dot = fp.VectorSimilarity(np.tanh)
    with pytest.raises(InputError, match="no declared name and version"):
        fp.Oracle(np.eye(3), dot, journal=tmp_path)
    fp.Oracle(np.eye(3), fp.VectorSimilarity(np.tanh, name="t", version="1"), journal=tmp_path)
    record = fp.RecordSimilarity({"a": fp.similarity(bare, kind="pair", symmetric=True)})
    with pytest.raises(InputError, match="no declared name and version"):
        fp.Oracle([{"a": "x"}], record, journal=tmp_path)


def test_parameters_that_have_no_lasting_name_are_refused(tmp_path):
    similarity = fp.similarity(
        lambda a, b: 1.0,
        kind="pair",
        symmetric=True,
        name="m",
        version="1",
        parameters={"model": object()},
    )
    with pytest.raises(InputError, match="JSON"):
        fp.Oracle(WORDS, similarity, journal=tmp_path)


def test_inspecting_what_is_known_tells_no_time(tmp_path):
    for known in (False, True):
        report = fp.inspect(WORDS, Counted().similarity, journal=silent(tmp_path))
        assert np.isnan(report.seconds_per_evaluation) == known
        assert ("unknown" in str(report)) == known


def test_another_version_begins_anew(tmp_path):
    Counted(version="1")
    for version, price in (("1", 60), ("2", 60), ("1", 0)):
        counted = Counted(version=version)
        fp.Oracle(WORDS, counted.similarity, journal=silent(tmp_path)).columns([0])
        assert len(counted.asked) == price


@pytest.mark.parametrize("factor", [1.1, 1.001])
def test_a_function_that_changed_under_its_name_is_noticed_and_refused(tmp_path, factor):
    fp.Oracle(WORDS, Counted().similarity, journal=tmp_path).columns([4])
    changed = Counted(factor=factor)
    oracle = fp.Oracle(WORDS, changed.similarity, journal=tmp_path)
    for _ in range(2):
        with pytest.raises(JournalError, match="pairs were compared") as told:
            oracle.columns([4])
    assert "items" in str(told.value)
    assert len(changed.asked) <= 6  # nothing was bought beside the pairs that were compared
    # So is one whose first answers come in a run.
    with pytest.raises(JournalError):
        fp.approximate(WORDS, Counted(factor=2).similarity, landmarks=3, journal=tmp_path)


def test_what_was_taken_for_symmetric_is_not_found_by_what_is_not(tmp_path):
    for symmetric in (True, False, True):
        counted = Counted(symmetric=symmetric)
        oracle = fp.Oracle(WORDS, counted.similarity, journal=silent(tmp_path / "journal"))
        columns = oracle.columns([0, 1])
        fresh = fp.Oracle(WORDS, Counted(symmetric=symmetric).similarity).columns([0, 1])
        assert np.array_equal(columns, fresh)
    assert not counted.asked


def test_a_function_that_repeats_itself_to_rounding_is_the_same(tmp_path):
    fp.Oracle(WORDS, Counted().similarity, journal=tmp_path).columns([4])
    rounding = fp.Oracle(WORDS, Counted(factor=1 + 1e-6).similarity, journal=tmp_path)
    rounding.columns([4])
    assert rounding.evaluations == 3


def test_what_is_compared_on_opening_is_counted(tmp_path):
    for k in (4, 5, 6):
        fp.Oracle(WORDS, Counted().similarity, journal=silent(tmp_path)).columns([k])
    counted = Counted()
    oracle = fp.Oracle(WORDS, counted.similarity, journal=fp.Journal(tmp_path, check=3))
    oracle.columns([4])
    assert oracle.evaluations == len(counted.asked) == 3
    assert oracle.spent == 60


def test_what_was_compared_once_is_trusted_from_then_on(tmp_path):
    fp.Oracle(WORDS, Counted().similarity, journal=silent(tmp_path)).columns([4])
    counted = Counted()
    oracle = fp.Oracle(WORDS, counted.similarity, journal=fp.Journal(tmp_path, check=3))
    oracle.columns([4])
    fp.Oracle(WORDS, Counted().similarity, journal=silent(tmp_path)).columns([5])
    oracle.columns([5])
    assert oracle.evaluations == len(counted.asked) == 3


@pytest.mark.parametrize("fault", ["on_nonfinite", "on_error"])
@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
def test_pairs_without_a_value_are_not_written_and_asked_for_again(tmp_path, kind, fault):
    lost = {frozenset((WORDS[k], WORDS[k + 3])) for k in range(0, 40, 7)}

    class Patchy(Counted):
        def pair(self, a, b):
            value = super().pair(a, b)
            if frozenset((a, b)) not in lost:
                return value
            if fault == "on_error":
                raise ConnectionError
            return np.nan

    def run():
        patchy = Patchy(kind=kind)
        matrix = fp.approximate(
            WORDS,
            patchy.similarity,
            landmarks=9,
            random_state=3,
            journal=silent(tmp_path),
            **{fault: "skip"},
        )
        return matrix, {frozenset(pair) for pair in patchy.asked}

    first, _ = run()
    again, asked = run()
    assert len(first.skipped) > 1
    assert np.array_equal(first.to_dense(), again.to_dense())
    skipped = {frozenset((WORDS[i], WORDS[j])) for i, j in first.skipped.tolist()}
    assert asked & lost == skipped
    if kind != "block":  # of a block, the rest of its row is asked for with it
        assert asked == skipped
    assert not list(faults(existing(tmp_path)))


def test_single_precision_is_rounded_before_it_is_used(tmp_path):
    half = fp.Journal(tmp_path / "half", dtype="float32", check=0)
    whole = silent(tmp_path / "whole")
    run = {"landmarks": 8, "random_state": 0}
    exact = fp.approximate(WORDS, Counted().similarity, journal=whole, **run)
    first = fp.approximate(WORDS, Counted().similarity, journal=half, **run)
    counted = Counted()
    again = fp.approximate(WORDS, counted.similarity, journal=half, **run)
    assert not counted.asked
    assert np.array_equal(first.to_dense(), again.to_dense())
    assert not np.array_equal(first.to_dense(), exact.to_dense())
    assert np.allclose(first.to_dense(), exact.to_dense(), atol=1e-4)
    # The journal keeps its type; another one that is asked for is refused.
    with pytest.raises(JournalError, match="float32"):
        fp.Oracle(
            WORDS, counted.similarity, journal=fp.Journal(half.folder, dtype="float64")
        ).columns([0])
    with pytest.raises(SimilarityError, match="single precision") as fault:
        fp.Oracle(WORDS, Counted(factor=1e300, version="2").similarity, journal=half).columns([0])
    assert fault.value.oracle is not None


def test_without_a_seed_the_same_call_draws_the_same_again(tmp_path):
    counted = Counted()
    run = {"landmarks": 6, "journal": silent(tmp_path)}
    first = fp.approximate(WORDS, counted.similarity, **run)
    counted.asked.clear()
    again = fp.approximate(WORDS, counted.similarity, **run)
    assert not counted.asked
    assert np.array_equal(first.to_dense(), again.to_dense())
    other = fp.approximate(WORDS[::-1], counted.similarity, **run)
    assert counted.asked
    assert not np.array_equal(first.to_dense(), other.to_dense()[::-1, ::-1])


def test_keys_of_the_users_own(tmp_path):
    class Thing:
        def __init__(self, text):
            self.text = text

    things = [Thing(word) for word in WORDS[:8]]
    counted = Counted()
    similarity = fp.similarity(
        lambda a, b: counted.pair(a.text, b.text),
        kind="pair",
        symmetric=True,
        name="things",
        version="1",
    )
    with pytest.raises(InputError, match=r"(?s)Thing.*key="):
        fp.Oracle(things, similarity, journal=tmp_path)
    by_text = fp.Journal(tmp_path, key=lambda thing: thing.text, check=0)
    fp.Oracle(things, similarity, journal=by_text).columns([0])
    counted.asked.clear()
    names = fp.Journal(tmp_path, key=WORDS[7::-1], check=0)
    fp.Oracle(things[::-1], similarity, journal=names).columns([7])
    two = fp.Journal(tmp_path, key=(WORDS[:3], WORDS[:1]), check=0)
    fp.Oracle(things[:3], similarity, others=things[:1], journal=two).columns([0])
    assert not counted.asked
    with pytest.raises(InputError, match="8 items"):
        fp.Oracle(things, similarity, journal=fp.Journal(tmp_path, key=WORDS[:3]))
    with pytest.raises(InputError, match="two"):
        fp.Oracle(things, similarity, others=things, journal=names)


@dataclass
class Person:
    name: str
    age: int


def test_keys_depend_on_content_and_on_nothing_else():
    different = [
        "a", "b", "", "1", b"a", 1, 1.5, 2**70, -1, None, ("a", "b"), ("ab",), ("a", ("b",)), [],
        {"a": 1}, {"a": 2}, {"b": 1}, Person("a", 1), Person("a", 2), np.arange(3.0),
        np.arange(4.0), np.arange(4.0).reshape(2, 2), {"a", "b"}, "\ud800", "\0", "a\0",
    ]  # fmt: skip
    from fewpairs.items.items import Items

    keys = item_keys(Items(different))
    assert len(np.unique(keys)) == len(different)
    assert np.array_equal(item_keys(Items(different[::-1])), keys[::-1])
    same = [
        [1, np.int8(1), np.uint64(1)], [1.0, np.float32(1)], [True, np.True_], [("a", 1), ["a", 1]],
        [2**70, int(2.0**70)], [10**9999, 10**9999], [Point(1, 2), Point(1, 2)],
    ]  # fmt: skip
    for group in same:
        assert len(np.unique(item_keys(Items(group)))) == 1


def test_what_a_function_can_tell_apart_has_keys_of_its_own(tmp_path):
    from fewpairs.items.items import Items

    # A function that writes numbers down, or reads fields by name, sees different things here.
    apart = [1, 1.0, True, "1", 0, 0.0, -0.0, False, Point(1, 2), Swapped(1, 2), (1, 2), {"a": 1},
             {"a": 1.0}, {"a": True}]  # fmt: skip
    assert len(np.unique(item_keys(Items(apart)))) == len(apart)
    for array in (np.arange(2), np.arange(2.0), np.array([False, True])):
        assert np.array_equal(item_keys(as_items(array)), item_keys(Items(array.tolist())))

    wide = fp.similarity(
        lambda a, b: 10.0 * a.x + b.x, kind="pair", symmetric=False, name="wide", version="1"
    )
    points = [Point(1, 2), Swapped(1, 2), Point(5, 6)]
    scores = fp.score_pairs(wide, points, points, journal=tmp_path / "paid")
    assert scores.tolist() == [11.0, 22.0, 55.0]


def test_a_key_that_items_share_is_told_and_a_missing_one_refused(tmp_path):
    product = fp.similarity(
        lambda a, b: float(a["x"] * b["x"]), kind="pair", symmetric=True, name="x", version="1"
    )
    items = [{"x": 1, "id": "a"}, {"x": 2}, {"x": 3, "id": "a"}, {"x": 1, "id": "a"}]
    for key in (lambda item: item.get("id"), ["a", "b", float("nan"), "c"]):
        with pytest.raises(InputError, match=r"key of item \d .* is (None|nan)"):
            fp.Oracle(items, product, journal=fp.Journal(tmp_path / "paid", key=key))
    with pytest.raises(InputError, match="keys of the items are a int"):
        fp.Oracle(items, product, journal=fp.Journal(tmp_path / "paid", key=5))
    # Item 3 holds what item 0 does, item 2 does not.
    with pytest.warns(JournalWarning, match=r"(?s)1 items have the key.*'a' of item 0"):
        fp.Oracle(items, product, journal=fp.Journal(tmp_path / "paid", key=["a", "b", "a", "a"]))


def test_keys_of_records_do_not_depend_on_the_order_of_fields():
    from fewpairs.items.items import Items

    assert item_keys(Items([{"a": 1, "b": 2}]))[0] == item_keys(Items([{"b": 2, "a": 1}]))[0]


def test_the_layout_of_an_array_does_not_matter():
    vectors = np.random.default_rng(0).integers(-9, 9, (20, 5))
    expected = item_keys(as_items(vectors.astype(float)))
    for other in (
        vectors,
        vectors.astype(np.float32),
        vectors.astype(">f8"),
        np.asfortranarray(vectors),
        vectors.astype(np.int8),
    ):
        assert np.array_equal(item_keys(as_items(other)), expected)
    assert np.array_equal(item_keys(as_items(range(5))), item_keys(as_items([0, 1, 2, 3, 4])))
    import scipy.sparse as sp

    sparse = sp.random_array((20, 50), density=0.2, rng=np.random.default_rng(1), format="csr")
    messy = sp.vstack([sparse, sparse]).tocsc().tocsr()
    assert np.array_equal(item_keys(as_items(messy))[20:], item_keys(as_items(sparse)))


def test_records_are_known_by_the_fields_that_are_compared(tmp_path):
    people = [{"name": word, "seen": k} for k, word in enumerate(WORDS)]
    alike = fp.RecordSimilarity({"name": "jaro_winkler"})
    first = fp.Oracle(people, alike, journal=silent(tmp_path))
    column = first.columns([3])
    later = [{"name": word, "seen": 99} for word in WORDS]
    again = fp.Oracle(later, alike, journal=silent(tmp_path))
    assert np.array_equal(again.columns([3]), column)
    assert (first.evaluations, again.evaluations) == (59, 0)


@pytest.mark.parametrize(
    ("items", "similarity"),
    [
        (WORDS, fp.StringSimilarity("jaro_winkler")),
        (WORDS, fp.StringSimilarity("partial_ratio").symmetrized()),
        (np.random.default_rng(0).random((60, 3)), fp.VectorSimilarity("rbf")),
        (range(60), fp.Precomputed(np.random.default_rng(0).random((60, 60)))),
    ],
)
def test_ready_similarities_need_nothing(tmp_path, items, similarity):
    first = fp.Oracle(items, similarity, journal=tmp_path)
    column = first.columns([3])
    again = fp.Oracle(items, similarity, journal=silent(tmp_path))
    assert np.array_equal(again.columns([3]), column)
    assert again.evaluations == 0 < first.evaluations


def test_another_matrix_or_table_of_vectors_is_another_similarity(tmp_path):
    matrix = np.random.default_rng(0).random((9, 9))
    other = matrix.copy()
    other[7, 8] += 1e-9
    for given, price in ((matrix, 9), (other, 9), (matrix, 0)):
        oracle = fp.Oracle(range(9), fp.Precomputed(given), journal=silent(tmp_path))
        oracle.columns([0])
        assert oracle.evaluations == price


def test_a_fault_leaves_what_was_evaluated_in_the_journal(tmp_path):
    counted = Counted()

    def failing(a, b):
        if len(counted.asked) == 700:
            message = "the line is dead"
            raise ConnectionError(message)
        return counted.pair(a, b)

    similarity = fp.similarity(failing, kind="pair", symmetric=True, name="f", version="1")
    run = {"landmarks": 20, "random_state": 0, "journal": silent(tmp_path)}
    with pytest.raises(SimilarityError, match="dead") as fault:
        fp.approximate(WORDS, similarity, **run)
    assert any("the same call goes on" in note for note in fault.value.__notes__)
    mended = Counted()
    good = fp.similarity(mended.pair, kind="pair", symmetric=True, name="f", version="1")
    matrix = fp.approximate(WORDS, good, **run)
    whole = Counted()
    plain = fp.approximate(WORDS, whole.similarity, landmarks=20, random_state=0)
    assert len(mended.asked) + 700 == len(whole.asked)
    assert np.array_equal(matrix.to_dense(), plain.to_dense())


def test_a_fault_can_be_sent_to_another_process_with_its_journal(tmp_path):
    def broken(a, b):
        raise ValueError

    similarity = fp.similarity(broken, kind="pair", symmetric=True, name="b", version="1")
    with pytest.raises(SimilarityError) as fault:
        fp.approximate(WORDS, similarity, landmarks=3, journal=tmp_path)
    fault.value.oracle.similarity = fp.StringSimilarity()  # what cannot be pickled stays behind
    sent = pickle.loads(pickle.dumps(fault.value))  # noqa: S301 - made here
    assert sent.oracle.journal.path == tmp_path


def test_an_oracle_goes_on_with_its_own_journal_and_with_no_other(tmp_path):
    counted = Counted()
    oracle = fp.Oracle(WORDS, counted.similarity, journal=tmp_path / "mine")
    fp.approximate(oracle, landmarks=3, journal=str(tmp_path / "mine"))
    with pytest.raises(InputError, match="does not write to it"):
        fp.approximate(oracle, landmarks=3, journal=tmp_path / "other")


def test_a_run_writes_few_files_and_little_more_than_its_values(tmp_path):
    vectors = np.random.default_rng(0).random((2000, 8))
    oracle = fp.Oracle(vectors, fp.VectorSimilarity("rbf"), journal=tmp_path)
    fp.approximate(oracle, landmarks=100, random_state=0, error_pairs=100)
    blocks = list(tmp_path.glob("*/*.block"))
    size = sum(block.stat().st_size for block in blocks)
    assert size < 9.5 * oracle.evaluations
    assert json.loads((tmp_path / "journal.json").read_text())["dtype"] == "float64"


def test_options_are_checked():
    for wrong in (
        {"folder": ""},
        {"folder": 3},
        {"folder": "x", "dtype": "float16"},
        {"folder": "x", "check": -1},
        {"folder": "x", "wait": "long"},
        {"folder": "x", "wait": -1},
        {"folder": "x", "wait": np.nan},  # would be waited for without end
    ):
        with pytest.raises(InputError):
            fp.Journal(**wrong)
    with warnings.catch_warnings(), pytest.raises(InputError):
        fp.approximate(WORDS, Counted().similarity, journal=7)


class Company:
    """A block similarity whose last bits depend on what is asked beside a pair."""

    def __init__(self, symmetric, stop_at=None):
        self.calls, self.stop_at = 0, stop_at
        self.similarity = fp.similarity(
            self.block,
            kind="block",
            symmetric=symmetric,
            name="company",
            version="1",
            block_size=12,
        )

    def block(self, left, right):
        self.calls += 1
        if self.calls == self.stop_at:
            raise ConnectionError
        plain = np.array([[len(set(a) & set(b)) / 7 for b in right] for a in left])
        return plain + 1e-13 * len(left) + 1e-12 * len(right)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"landmarks": 5}, False),
        ({"landmarks": 5}, True),
        ({"landmarks": 5, "method": "sicur"}, False),
        ({"target_error": 0.3}, False),  # blocks come after single pairs that lie in them
    ],
)
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewpairsWarning")
def test_blocks_are_asked_for_in_the_same_company_when_a_run_goes_on(
    tmp_path, monkeypatch, symmetric, twins, others, options, few
):
    if not few:  # as of many items: blocks may ask once more for single pairs that lie in them
        monkeypatch.setattr("fewpairs.oracle.planner._FEW_ENTRIES", 0)
    items = WORDS[:40] + (WORDS[5:12] if twins else [])
    columns = (WORDS[30:40] + (WORDS[31:35] if twins else [])) if others else None

    def run(name, stop_at=None):
        company = Company(symmetric, stop_at)
        try:
            matrix = fp.approximate(
                items,
                company.similarity,
                others=columns,
                random_state=1,
                journal=silent(tmp_path / name),
                **options,
            )
        except SimilarityError:
            return None, company.calls
        return matrix.to_dense(), company.calls

    exact, calls = run("whole")
    for stop_at in range(1, calls + 1, 1 + calls // 7):
        assert run(f"{stop_at}", stop_at)[0] is None
        again, more = run(f"{stop_at}")
        assert np.array_equal(again, exact), stop_at
        assert stop_at - 1 + more <= calls


@pytest.mark.parametrize("stop", [None, 1, 2, 3, 4, 5, 6])
def test_twins_of_a_block_that_depends_on_its_company_are_found_as_they_were_used(tmp_path, stop):
    # The symmetry of three pairs is checked, two of them of the same content.
    items = ["a"] * 10 + ["b", "a", "a", "b"]
    values = {"aa": 0.2, "ab": 0.25, "bb": 0.5}
    left = [stop or 0]

    def block(rows, columns):
        left[0] -= 1
        if left[0] == 0:
            raise RuntimeError
        company = 1e-13 * len(rows) + 1e-12 * len(columns)
        return [[values["".join(sorted(a + b))] + company for b in columns] for a in rows]

    similarity = fp.similarity(
        block, kind="block", symmetric=True, name="s", version="1", block_size=5
    )

    def run(folder):
        journal = fp.Journal(tmp_path / folder, check=0)
        return fp.approximate(items, similarity, landmarks=10, random_state=3, journal=journal)

    if stop:
        with contextlib.suppress(fp.errors.SimilarityError):
            run("stopped")
    else:
        run("stopped")
    left[0] = 0
    np.testing.assert_array_equal(run("stopped").to_dense(), run("whole").to_dense())
