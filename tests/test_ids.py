"""Results are asked and read by the user's own ids."""

from __future__ import annotations

import json
import pickle
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, PositionError, UnknownIdError
from fewpairs.items import spelling

WORDS = [
    f"{stem}{end}" for stem in ("apple", "berry", "cherry", "dragon") for end in ("", "s", "y")
]
SKUS = [f"sku-{k}" for k in range(len(WORDS))]
LEVENSHTEIN = fp.StringSimilarity("levenshtein")


def matrix(items=WORDS, **options):
    return fp.approximate(items, LEVENSHTEIN, landmarks=6, random_state=0, **options)


def test_texts_are_ids_and_integers_are_positions():
    K = matrix(ids=SKUS)
    plain = matrix()
    assert K["sku-7", "sku-4"] == plain[7, 4]
    np.testing.assert_array_equal(K["sku-7"], plain[7])
    np.testing.assert_array_equal(K[:, "sku-7"], plain[:, 7])
    np.testing.assert_array_equal(K[["sku-7", "sku-1"]], plain[[7, 1]])
    np.testing.assert_array_equal(K[["sku-7", "sku-1"], [2, 3]], plain[[7, 1], [2, 3]])
    np.testing.assert_array_equal(K[np.array(SKUS[3:5], dtype=object), 0], plain[3:5, 0])
    np.testing.assert_array_equal(K.entries("sku-7", SKUS), plain[7])
    np.testing.assert_array_equal(K.query_vectors("sku-2"), plain.query_vectors([2]))
    assert K.ids == SKUS
    assert plain.ids is None


def test_integer_ids_never_stand_for_items():
    K = matrix(ids=[100 + k for k in range(len(WORDS))])
    np.testing.assert_array_equal(K[3], matrix()[3])
    with pytest.raises(IndexError):
        K[103]
    assert K.nearest(3, k=2).ids == [100 + k for k in K.nearest(3, k=2).indices]


def test_an_unknown_id_is_a_key_error_with_a_suggestion():
    K = matrix(ids=SKUS)
    with pytest.raises(KeyError) as caught:
        K["sku_7"]
    assert str(caught.value) == "none of the 12 ids is 'sku_7'.\nDid you mean 'sku-7'?"
    assert isinstance(caught.value, InputError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
    with pytest.raises(UnknownIdError, match="The first is 'sku-0'"):
        K.nearest("something else")
    with pytest.raises(PositionError, match="the items have no ids"):
        matrix()["sku-7"]


def test_ids_are_checked_before_anything_is_evaluated():
    asked = []
    similarity = fp.similarity(lambda a, b: asked.append(1) or 1.0, kind="pair", symmetric=True)
    for ids, message in ((SKUS[:3], "3 entries for 12"), (["a"] * 12, "more than once")):
        with pytest.raises(InputError, match=message):
            fp.approximate(WORDS, similarity, landmarks=3, ids=ids)
    assert not asked


@pytest.mark.parametrize("form", ["series", "frame", "polars", "arrow array", "arrow column"])
def test_columns_of_every_library_are_items(form):
    items = {
        "series": pd.Series(WORDS),
        "frame": pd.DataFrame({"word": WORDS}),
        "polars": pl.Series(WORDS),
        "arrow array": pa.array(WORDS),
        "arrow column": pa.table({"word": WORDS})["word"],
    }[form]
    K = matrix(items)
    np.testing.assert_array_equal(K[:], matrix()[:])
    assert list(K.source.items) == WORDS
    assert K.ids is None


def test_a_pandas_index_is_the_ids():
    series = pd.Series(WORDS, index=SKUS)
    K = matrix(series)
    assert K.ids == SKUS
    assert K["sku-7", "sku-4"] == matrix()[7, 4]
    found = fp.find_pairs(series, LEVENSHTEIN, above=0.7)
    assert set(found.left_ids) <= set(SKUS)
    assert fp.cluster(series, LEVENSHTEIN, threshold=0.7).groups()[0][0] in SKUS
    numbers = pd.DataFrame(np.eye(12), index=SKUS)
    assert fp.approximate(numbers, fp.VectorSimilarity("rbf"), landmarks=4).ids == SKUS


def test_an_index_that_only_counts_or_repeats_is_none():
    assert matrix(pd.Series(WORDS)).ids is None
    assert matrix(pd.Series(WORDS, index=["a"] * 12)).ids is None
    assert matrix(pd.Series(WORDS, index=[*SKUS[:11], None])).ids is None
    kept = pd.Series(WORDS)[::2]
    assert fp.approximate(kept, LEVENSHTEIN, landmarks=3).ids == [0, 2, 4, 6, 8, 10]


def test_integers_of_an_index_are_no_candidates():
    kept = pd.Series(WORDS)[::2]
    stated = fp.recall_of([(0, 1)], kept, LEVENSHTEIN, above=0.5)
    assert stated.pairs == 15
    with pytest.raises(KeyError, match="Did you mean 'sku-3'"):
        fp.recall_of([("sku-1", "sku_3")], WORDS, LEVENSHTEIN, above=0.5, ids=SKUS)


@pytest.mark.parametrize(
    "index",
    [
        np.random.default_rng(1).permutation(12),  # as after `sample` or `sort_values`
        np.arange(12) * 0.5,
        pd.date_range("2024-02-27", periods=12),
        pd.date_range("2024-02-27", periods=12, tz="Europe/Berlin"),
        pd.date_range("2024-02-27", periods=12).date,
        pd.MultiIndex.from_product([["a", "b", "c"], range(4)]),
    ],
    ids=["shuffled", "floats", "times", "times of a place", "dates", "levels"],
)
def test_our_own_table_of_pairs_names_the_items_by_their_index(index):
    items = pd.Series(WORDS, index=index)
    found = fp.find_pairs(items, LEVENSHTEIN, above=0.5)
    table = found.to_pandas()
    for candidates in (
        table,
        found.to_polars(),
        pd.MultiIndex.from_tuples(list(zip(table["left"], table["right"], strict=True))),
    ):
        stated = fp.recall_of(candidates, items, LEVENSHTEIN, above=0.5)
        assert (stated.value, stated.precision, stated.found) == (1, 1, len(found))


def test_pairs_of_dates_are_ids():
    days = pd.date_range("2024-02-27", periods=12)
    found = fp.find_pairs(pd.Series(WORDS, index=days), LEVENSHTEIN, above=0.5)
    pairs = list(zip(found.left_ids, found.right_ids, strict=True))
    stated = fp.recall_of(pairs, pd.Series(WORDS, index=days), LEVENSHTEIN, above=0.5)
    assert (stated.value, stated.found) == (1, len(found))


def test_neighbours_are_a_table_with_ids_and_texts():
    K = matrix(ids=SKUS)
    near = K.nearest("sku-0", k=3)
    indices, similarities = near
    assert near.ids == [SKUS[k] for k in indices]
    assert near.texts == [WORDS[k] for k in indices]
    table = near.to_pandas()
    assert list(table.columns) == ["id", "similarity", "text"]
    assert table["text"].tolist() == near.texts
    assert near.to_polars(texts=False).columns == ["id", "similarity"]
    assert "sku-1" in near._repr_html_()
    plain = matrix().nearest(0, k=3)
    assert plain.ids == indices.tolist()
    assert plain.to_polars()["similarity"].to_list() == similarities.tolist()


def test_many_queries_name_theirs():
    K = matrix(ids=SKUS)
    near = K.search(pd.Series(["apples", "cherries"], index=["q1", "q2"]), k=2, budget=6)
    table = near.to_pandas()
    assert table["query"].tolist() == ["q1", "q1", "q2", "q2"]
    assert table["id"].tolist() == [*near.ids[0], *near.ids[1]]
    assert K.search(["apples"], k=2, budget=6).to_pandas()["query"].tolist() == [0, 0]
    assert "q1" in near._repr_html_()


def test_ids_are_kept_by_files(tmp_path):
    path = tmp_path / "words.fewpairs"
    for ids in (SKUS, list(range(100, 112)), None):
        matrix(ids=ids).save(path)
        assert fp.load(path).ids == ids
    assert fp.load(path, ids=SKUS)["sku-3", "sku-4"] == matrix()[3, 4]
    assert fp.load(path, items=pd.Series(WORDS, index=SKUS)).ids == SKUS
    with pytest.raises(InputError, match="2 entries for 12"):
        fp.load(path, ids=["a", "b"])


def test_ids_of_two_sets_are_kept_and_swapped_by_the_transpose(tmp_path):
    left, right = SKUS[:5], [f"b{k}" for k in range(7)]
    K = fp.approximate(
        WORDS[:5], LEVENSHTEIN, others=WORDS[5:], ids=(left, right), landmarks=3, random_state=0
    )
    assert K["sku-2", "b3"] == K[2, 3] == K.T["b3", "sku-2"]
    assert K.nearest("sku-2", k=2).ids[0].startswith("b")
    K.save(tmp_path / "two.fewpairs")
    again = fp.load(tmp_path / "two.fewpairs")
    assert again["sku-2", "b3"] == K[2, 3]
    only = fp.approximate(WORDS[:5], LEVENSHTEIN, others=WORDS[5:], ids=(None, right), landmarks=3)
    assert only[2, "b3"] == only[2, 3]
    with pytest.raises(PositionError, match="no ids"):
        only["sku-2"]
    with pytest.raises(InputError, match="two sets"):
        fp.approximate(WORDS[:5], LEVENSHTEIN, others=WORDS[5:], ids=left, landmarks=3)


def test_new_items_bring_ids(tmp_path):
    K = matrix(ids=SKUS)
    larger = K.extend(["apply", "drag"], ids=["new-0", "new-1"])
    assert larger.ids == [*SKUS, "new-0", "new-1"]
    assert larger["new-1", "sku-9"] == larger[13, 9]
    assert K.extend(pd.Series(["apply"], index=["new-7"])).ids[-1] == "new-7"
    with pytest.raises(InputError, match="none were given for the new"):
        K.extend(["apply"])
    with pytest.raises(InputError, match="'sku-3' more than once"):
        K.extend(["apply"], ids=["sku-3"])
    with pytest.raises(InputError, match="the old ones have none"):
        matrix().extend(["apply"], ids=["a"])
    assert matrix().extend(pd.Series(["apply"], index=["a"])).ids is None
    found = fp.find_pairs(pd.Series(WORDS, index=SKUS), LEVENSHTEIN, above=0.7)
    assert "new" in found.extend(pd.Series(["applesy"], index=["new"])).right_ids


def test_ids_follow_into_clusters_reports_and_derived_matrices(tmp_path):
    K = matrix(ids=SKUS)
    assert fp.cluster(K, threshold=0.7).groups()[0][0] in SKUS
    assert fp.cluster(K, threshold=0.7, ids=WORDS).groups()[0][0] in WORDS
    ones = np.ones(12)
    assert K.scaled(ones, ones)["sku-3", "sku-4"] == pytest.approx(K[3, 4])
    K.report(tmp_path / "page.html")
    assert "sku-11" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_texts_stand_beside_ids_on_request():
    found = fp.find_pairs(WORDS, LEVENSHTEIN, above=0.7, ids=SKUS)
    table = found.to_pandas(texts=True)
    assert table["left_text"].tolist() == [WORDS[k] for k in found.left]
    assert list(found.to_pandas().columns) == ["left", "right", "similarity"]
    clusters = fp.cluster(WORDS, LEVENSHTEIN, threshold=0.7, ids=SKUS)
    assert clusters.to_polars(texts=True)["text"].to_list() == WORDS


def test_an_index_of_several_levels_names_by_tuples_unless_it_has_gaps():
    levels = pd.MultiIndex.from_product([["a", "b", "c"], range(4)])
    assert matrix(pd.Series(WORDS, index=levels)).ids == levels.tolist()
    gaps = pd.MultiIndex.from_tuples([(None, 0), *levels.tolist()[1:]])
    assert matrix(pd.Series(WORDS, index=gaps)).ids is None


def test_ids_are_no_ends_of_a_slice():
    with pytest.raises(PositionError, match="slice"):
        _ = matrix(ids=SKUS)["sku-1":"sku-3"]
    with pytest.raises(PositionError, match="slice"):
        _ = matrix()[:, ::0]


def test_ids_of_several_kinds_stand_in_every_table(tmp_path):
    levels = pd.MultiIndex.from_product([["a", "b", "c"], range(4)])
    for index in (levels, [True, *SKUS[1:]]):
        named = pd.Series(WORDS, index=index)
        names = named.index.tolist()
        found = fp.find_pairs(named, LEVENSHTEIN, above=0.7)
        assert found.to_polars()["left"].to_list() == [names[k] for k in found.left]
        assert found.to_pandas()["left"].tolist() == [names[k] for k in found.left]
        clusters = fp.cluster(named, LEVENSHTEIN, threshold=0.7)
        assert clusters.to_polars()["id"].to_list() == names


def test_a_page_of_broken_texts_is_written(tmp_path):
    broken = [*WORDS[:-1], "half \ud800 a letter"]
    matrix(broken).report(tmp_path / "page.html")
    assert "half ? a letter" in (tmp_path / "page.html").read_text(encoding="utf-8")


VIENNA = ZoneInfo("Europe/Vienna")
DAYS = pd.date_range("2024-01-01", periods=len(WORDS))
#: Things that name items, and whether files keep them.
KINDS = {
    "days of pandas": (DAYS, True),
    "times with a zone": (
        pd.date_range("2024-03-31", periods=12, freq="7ns", tz="Europe/Vienna"),
        True,
    ),
    "levels": (pd.MultiIndex.from_product([["north", "south"], [1, 2], DAYS[:3]]), True),
    "categories": (pd.CategoricalIndex(SKUS), True),
    "dates": ([day.date() for day in DAYS], True),
    "times of NumPy": (DAYS.to_numpy().astype("datetime64[ns]"), True),
    "dates of polars": (pl.Series(DAYS.to_numpy()).cast(pl.Date), True),
    "times of polars": (pl.Series(DAYS.to_numpy()), True),
    "categories of polars": (pl.Series(SKUS, dtype=pl.Categorical), True),
    "times of Arrow": (pa.array(DAYS.to_numpy()), True),
    "texts and numbers": (["a", 1, 2.5, *SKUS[3:]], True),
    "months": (pd.period_range("2024-01", periods=12, freq="M"), False),
    "tuples of tuples": ([((1, 2), k) for k in range(12)], False),
    "an hour that is there twice": (
        [datetime(2026, 10, 25, 2, k, fold=k % 2, tzinfo=VIENNA) for k in range(12)],
        True,
    ),
    "an hour that is not there": (
        [datetime(2026, 3, 29, 2, k, tzinfo=VIENNA) for k in range(12)],
        False,
    ),
    "lengths": (list(np.arange(12).astype("timedelta64[ns]")), False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_keeps_ids_or_says_that_it_does_not(kind, tmp_path):
    ids, kept = KINDS[kind]
    K = matrix(ids=ids)
    assert not any(isinstance(name, int) for name in K.ids if kind != "texts and numbers")
    if not kept:
        with pytest.warns(fp.errors.IdsDroppedWarning, match="fewpairs.load"):
            K.save(tmp_path / "k.fewpairs")
        assert fp.load(tmp_path / "k.fewpairs").ids is None
        assert fp.load(tmp_path / "k.fewpairs", ids=ids).ids == K.ids
        return
    K.save(tmp_path / "k.fewpairs")
    back = fp.load(tmp_path / "k.fewpairs").ids
    assert back == K.ids
    assert list(map(type, back)) == list(map(type, K.ids))
    assert list(map(str, back)) == list(map(str, K.ids))
    if isinstance(ids, pd.Index):
        assert matrix(pd.Series(WORDS, index=ids)).ids == K.ids


def test_dates_are_ids():
    K = matrix(ids=DAYS)
    assert K[DAYS[7], DAYS[4]] == matrix()[7, 4]
    np.testing.assert_array_equal(K[list(DAYS[3:5])], matrix()[3:5])
    assert K.nearest(DAYS[0].to_pydatetime(), k=1).ids == [
        DAYS[matrix().nearest(0, k=1).indices[0]]
    ]
    with pytest.raises(UnknownIdError, match="none of the 12 ids"):
        K.nearest(pd.Timestamp("1999-01-01"))


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "nothing", "null2", '{"date": "May"}', '{"time": "1"}', '[["a"]]', "[" * 5000),
        *('{"date": null}', '{"datetime": null}', '{"timestamp": null, "zone": "UTC"}', "{}"),
    ],
)
def test_what_is_no_name_in_a_file_is_refused(wrong):
    with pytest.raises(ValueError, match=r"ids|Expecting|isoformat|Extra|JSON"):
        spelling.read([wrong])


@pytest.mark.parametrize("zone", ["", "a" * 5000, "../UTC", "UTC\0", "Nowhere"])
@pytest.mark.parametrize("kind", ["datetime", "timestamp"])
def test_a_zone_that_nobody_knows_leaves_the_time(kind, zone):
    (found,) = spelling.read([json.dumps({kind: "2024-01-01T00:00:00+01:00", "zone": zone})])
    assert found == datetime(2024, 1, 1, tzinfo=VIENNA)


@pytest.mark.parametrize("ids", [["x", None, "y", "z"], [1.0, float("nan"), 2.0, 3.0]])
def test_an_id_that_is_missing_is_called_an_id(ids):
    names = ["Ann", "Anne", "Bob", "Rob"]
    with pytest.raises(fp.errors.InputError, match=r"1 of 4 ids are missing .*positions 1") as no:
        fp.find_pairs(names, fp.StringSimilarity(), above=0.5, ids=ids)
    assert "leave ids out" in str(no.value)
    with pytest.raises(fp.errors.InputError, match="1 of 4 ids of the others are missing"):
        fp.find_pairs(names, fp.StringSimilarity(), above=0.5, others=names, ids=(names, ids))
