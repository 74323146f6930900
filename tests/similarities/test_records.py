"""Similarity of records: a weighted mean of what their fields say."""

from __future__ import annotations

import pickle
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, SimilarityError, UnknownNameError

PEOPLE = [
    {"name": "Anna Smith", "city": "Oslo", "born": 1970.0},
    {"name": "Anna Smyth", "city": "Oslo", "born": 1971.0},
    {"name": "Bob Jones", "city": "Bergen", "born": 1985.0},
    {"name": "Rob Johns", "city": "Bergen", "born": 1984.0},
    {"name": "Cleo Li", "city": "Molde", "born": 1990.0},
]
HOLES = [*PEOPLE, {"name": "Anna Smith", "city": "  ", "born": None}, {"city": None}]
FIELDS = {"name": ("jaro_winkler", 2.0), "city": "levenshtein"}


def letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def by_hand(a, b, missing="skip"):
    total = weights = 0.0
    for field, (scorer, weight) in {**FIELDS, "city": ("levenshtein", 1.0)}.items():
        x, y = (str(record.get(field) or "").strip() for record in (a, b))
        if x and y:
            total += weight * fp.StringSimilarity(scorer).pairs([(x, y)])[0]
            weights += weight
        elif missing != "skip":
            total += weight * missing
            weights += weight
    return total / weights if weights else 0.0


@pytest.mark.parametrize("missing", ["skip", 0.0, 0.5])
def test_it_is_the_weighted_mean_of_what_is_there(missing):
    alike = fp.RecordSimilarity(FIELDS, missing=missing)
    expected = np.array([[by_hand(a, b, missing) for b in HOLES] for a in HOLES])
    oracle = fp.Oracle(HOLES, alike)
    n = len(HOLES)
    assert np.allclose(oracle.columns(range(n)), expected)
    assert oracle.evaluations == n * (n - 1) // 2  # symmetric, and the diagonal is declared
    rows, columns = np.divmod(np.arange(n * n), n)
    scattered = fp.Oracle(HOLES, alike, others=HOLES).entries(rows, columns)
    assert np.allclose(scattered, expected.ravel())
    listed = alike.pairs([(a, b) for a in HOLES for b in HOLES])
    assert np.allclose(listed, expected.ravel())
    both = fp.Oracle(HOLES, alike, others=HOLES[:3]).columns(range(3))
    assert np.allclose(both, expected[:, :3])


def test_every_kind_of_record_gives_the_same():
    alike = fp.RecordSimilarity(FIELDS)
    expected = fp.Oracle(PEOPLE, alike).columns([0, 2])
    Row = namedtuple("Row", ["name", "city", "born"])  # noqa: PYI024 - as pandas makes them

    @dataclass
    class Person:
        name: str
        city: str
        born: float

    frame = pd.DataFrame(PEOPLE)
    kinds = (
        frame,
        pl.DataFrame(PEOPLE),
        frame.to_dict("records"),
        [row for _, row in frame.iterrows()],
        list(frame.itertuples()),
        [Row(**p) for p in PEOPLE],
        [Person(**p) for p in PEOPLE],
    )
    for items in kinds:
        assert np.array_equal(fp.Oracle(items, alike).columns([0, 2]), expected)


def test_what_data_frames_have_for_nothing_is_missing():
    rows = [{"name": name, "city": "Oslo"} for name in ("Ann", None, "Bob")]
    alike = fp.RecordSimilarity(FIELDS)
    expected = fp.Oracle(rows, alike).columns(range(3))
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows)):
        assert np.array_equal(fp.Oracle(frame, alike).columns(range(3)), expected)
    assert expected[0, 1] == 1.0


def test_parts_of_any_kind(kind):
    functions = {
        "pair": letters,
        "pairs": lambda pairs: [letters(a, b) for a, b in pairs],
        "block": lambda left, right: [[letters(a, b) for b in right] for a in left],
    }
    own = fp.similarity(functions[kind], kind=kind, symmetric=True, diagonal=1.0)
    years = fp.VectorSimilarity("rbf", gamma=0.01)
    alike = fp.RecordSimilarity({"name": own, "born": (years, 3.0)})
    assert ("block" in alike.kinds) == (kind == "block")
    found = fp.Oracle(PEOPLE, alike)
    for i, j in ((0, 1), (1, 4), (2, 2)):
        a, b = PEOPLE[i], PEOPLE[j]
        near = np.exp(-0.01 * (a["born"] - b["born"]) ** 2)
        expected = (letters(a["name"], b["name"]) + 3 * near) / 4
        assert found.columns([j])[i, 0] == pytest.approx(expected)
        assert fp.Oracle(PEOPLE, alike, others=PEOPLE).entries([i], [j]) == pytest.approx(expected)


def test_parts_are_asked_only_where_both_sides_are_filled():
    asked = []

    def record(a, b):
        asked.append((a, b))
        return 1.0

    own = fp.similarity(record, kind="pair", symmetric=True, diagonal=1.0)
    fp.Oracle(HOLES, fp.RecordSimilarity({"city": own, "name": "jaro"})).columns(range(7))
    assert len(asked) == 10  # pairs of the five records that have a city
    assert all(a.strip() and b.strip() for a, b in asked)


def test_what_is_declared_follows_from_the_parts():
    assert fp.RecordSimilarity(FIELDS).symmetric
    assert fp.RecordSimilarity(FIELDS).symmetry_proven
    assert not fp.RecordSimilarity({"name": "jaro", "city": "partial_ratio"}).symmetric
    own = fp.similarity(letters, kind="pair", symmetric=True)
    alike = fp.RecordSimilarity({"name": "jaro", "city": own})
    assert not alike.symmetry_proven
    assert alike.known_diagonal(alike.prepare(fp.Oracle(PEOPLE, alike).items)) is None
    diagonal = fp.Oracle(HOLES, fp.RecordSimilarity(FIELDS)).known().diagonal
    assert diagonal.tolist() == [1.0] * 6 + [0.0]
    assert fp.RecordSimilarity({"name": own.symmetrized()}).evaluations_per_entry == 1
    uneven = fp.similarity(letters, kind="pair", symmetric=False).symmetrized()
    assert fp.RecordSimilarity({"name": uneven, "city": "jaro"}).evaluations_per_entry == 2


def test_block_sizes_suit_every_part():
    def sized(size, kind="block"):
        return fp.similarity(letters, kind=kind, symmetric=True, block_size=size)

    def together(*parts):
        return fp.RecordSimilarity(dict(enumerate(parts))).block_size

    assert together("jaro", sized(100)) == 100
    assert together("jaro", sized(None, "pair")) == 256
    assert together(sized((10, 4)), sized((6, 8))) == (6, 4)
    assert together(sized((10, 4)), sized(12)) == (3, 4)
    assert together(sized((10, 40)), sized(12)) == (1, 12)


def test_the_fingerprint_holds_everything_that_changes_values():
    variants = [
        fp.RecordSimilarity(FIELDS),
        fp.RecordSimilarity(FIELDS, missing=0.0),
        fp.RecordSimilarity({"name": "jaro_winkler", "city": "levenshtein"}),
        fp.RecordSimilarity({"name": ("jaro", 2.0), "city": "levenshtein"}),
        fp.RecordSimilarity({"name": ("jaro_winkler", 2.0), "town": "levenshtein"}),
    ]
    assert len({alike.fingerprint for alike in variants}) == len(variants)
    copy = pickle.loads(pickle.dumps(variants[0]))  # noqa: S301 - our own
    assert copy.fingerprint == variants[0].fingerprint
    assert np.array_equal(
        fp.Oracle(PEOPLE, copy).columns([1]), fp.Oracle(PEOPLE, copy).columns([1])
    )


def test_a_matrix_of_records_takes_new_ones():
    items = PEOPLE * 6
    alike = fp.RecordSimilarity(FIELDS)
    matrix = fp.approximate(items, alike, landmarks=5, random_state=0)
    assert matrix.nearest(item={"name": "Anna Smith"}, k=1, rerank=30).similarities == 1.0
    assert matrix.extend(pl.DataFrame(PEOPLE[:2])).shape == (32, 32)
    features = fp.SimilarityFeatures(alike, n_components=3, random_state=0)
    assert features.fit_transform(pl.DataFrame(items)).shape[0] == 30


@pytest.mark.parametrize(
    "fields", [{}, None, "name", {"name": ("jaro", 0)}, {"name": ("jaro", -1)}]
)
def test_senseless_fields_are_refused(fields):
    with pytest.raises(InputError):
        fp.RecordSimilarity(fields)


def test_an_async_function_of_a_field_is_refused():
    async def alike(a, b):
        return 1.0

    field = fp.similarity(alike, kind="pair", symmetric=True)
    with pytest.raises(InputError, match="async"):
        fp.RecordSimilarity({"name": field})


def test_senseless_arguments_are_refused():
    for missing in ("drop", None, float("nan"), True):
        with pytest.raises(InputError, match="missing is"):
            fp.RecordSimilarity(FIELDS, missing=missing)
    with pytest.raises(UnknownNameError, match='Did you mean "jaro_winkler"'):
        fp.RecordSimilarity({"name": "jaro_winkle"})
    with pytest.raises(InputError, match="must be declared"):
        fp.RecordSimilarity({"name": letters})
    for weight in (True, "2", float("inf"), float("nan")):
        with pytest.raises(InputError, match="the weight of the field 'name'"):
            fp.RecordSimilarity({"name": ("jaro", weight)})


def test_items_without_those_fields_are_refused():
    with pytest.raises(UnknownNameError, match='Did you mean "city"'):
        fp.Oracle(PEOPLE, fp.RecordSimilarity({"citi": "jaro"}))
    with pytest.raises(InputError, match=r"item 1 .* is a str, which has no fields"):
        fp.Oracle([PEOPLE[0], "Ann"], fp.RecordSimilarity(FIELDS))
    with pytest.raises(InputError, match="not a string") as caught:
        fp.Oracle(PEOPLE, fp.RecordSimilarity({"born": "jaro"}))
    assert "field 'born'" in caught.value.__notes__[0]


def test_a_part_that_returns_too_few_numbers_is_told():
    short = fp.similarity(lambda left, right: [[1.0]], kind="block", symmetric=True)
    with pytest.raises(SimilarityError, match=r"the part .* returned the shape"):
        fp.Oracle(PEOPLE, fp.RecordSimilarity({"name": short})).columns([0, 1])
    masked = fp.similarity(
        lambda a: np.ma.masked_all(len(a)), kind="pairs", symmetric=True, diagonal=1.0
    )
    with pytest.raises(fp.errors.NonFiniteError, match="Anna"):
        fp.Oracle(PEOPLE, fp.RecordSimilarity({"name": masked})).columns([0])


@pytest.mark.parametrize("weight", [1e308, 1e-300, 3.0])
@pytest.mark.parametrize("missing", ["skip", 0.5])
def test_only_the_ratio_of_weights_counts(weight, missing):
    people = [{"a": "anna", "b": "oslo"}, {"a": "anne", "b": "rome"}, {"a": "bob", "b": ""}]
    pairs = [(people[0], people[1]), (people[0], people[2])]
    means = [
        fp.RecordSimilarity({"a": ("jaro", w), "b": ("ratio", w)}, missing=missing).pairs(pairs)
        for w in (1.0, weight)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-15)


def test_weights_that_cannot_be_compared_are_refused():
    with pytest.raises(InputError, match="count for nothing"):
        fp.RecordSimilarity({"a": ("jaro", 1e308), "b": ("ratio", 1e-308)})


def apart(a, b):
    return abs(len(a) - len(b)) / 10


APART = fp.similarity(apart, kind="pair", symmetric=True, diagonal=0.0)
#: The first and the third have no field in common, nor have the last two.
FAR = [
    {"name": "Anna", "city": None},
    {"name": "Anna Bo", "city": "Oslo"},
    {"name": None, "city": "Rio"},
    {"name": "", "city": ""},
]


@pytest.mark.parametrize("ask", [
    lambda *given: fp.find_pairs(*given, below=0.2),
    lambda *given: fp.find_nearest(*given, k=1, distance=True),
    lambda *given: fp.recall_of([(0, 1)], *given, below=0.2),
    lambda *given: fp.find_pairs(given[0][:2], given[1], below=0.2).extend(given[0][2:]),
    lambda *given: fp.find_pairs(given[0][:1], given[1], others=given[0][2:3], below=0.2),
    lambda *given: fp.find_pairs([given[0][3], given[0][3]], given[1], below=0.2),
])  # fmt: skip
def test_nothing_to_compare_is_no_perfect_match_of_distances(ask):
    asked = []

    def counted(a, b):
        asked.append((a, b))
        return apart(a, b)

    own = fp.similarity(counted, kind="pair", symmetric=True, diagonal=0.0)
    fields = {"name": own, "city": own}
    with pytest.raises(InputError, match="no field in common") as caught:
        ask(FAR, fp.RecordSimilarity(fields))
    assert "incomparable=" in str(caught.value)
    assert len(asked) <= 1  # of the pair that is extended
    for told in ({"incomparable": 5.0}, {"missing": 3.0}):
        found = ask(FAR, fp.RecordSimilarity(fields, **told))
        assert isinstance(found, fp.Recall) or found.similarities.max(initial=0.0) <= 5.0


def test_what_is_said_of_records_with_nothing_to_compare():
    far = fp.RecordSimilarity({"name": APART, "city": APART}, incomparable=5.0)
    assert fp.Oracle(FAR, far).columns([0])[:, 0].tolist() == [0.0, 0.3, 5.0, 5.0]
    found = fp.find_pairs(FAR, far, below=0.4)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(1, 2), (0, 1)]
    plain = fp.RecordSimilarity({"name": APART, "city": APART})
    assert far.fingerprint != plain.fingerprint
    assert "incomparable" not in plain.fingerprint
    assert fp.find_pairs(FAR[1:3], plain, below=0.4).left.tolist() == [0]  # nothing is amiss
    # One empty record is in no pair with itself.
    assert len(fp.find_pairs([FAR[1], FAR[1]], plain, below=0.4)) == 1
    with pytest.raises(InputError, match="items 0"):
        fp.find_pairs([FAR[3], FAR[1]], plain, below=0.4)
    for senseless in (float("nan"), "far", True):
        with pytest.raises(InputError, match="incomparable is"):
            fp.RecordSimilarity(FIELDS, incomparable=senseless)
    with pytest.raises(InputError, match="beside missing"):
        fp.RecordSimilarity(FIELDS, missing=0.0, incomparable=1.0)


def test_the_mean_lies_where_its_fields_do():
    assert fp.RecordSimilarity(FIELDS).value_range == (0.0, 1.0)
    assert fp.RecordSimilarity(FIELDS, incomparable=-1.0).value_range == (-1.0, 1.0)
    assert fp.RecordSimilarity({"name": "jaro", "city": APART}).value_range is None
    near = fp.RecordSimilarity({"name": "jaro", "at": fp.VectorSimilarity("rbf")})
    assert near.value_range == (0.0, 1.0)
    with pytest.raises(InputError, match="lies between 0 and 1"):
        fp.find_pairs(PEOPLE, fp.RecordSimilarity(FIELDS), above=90)
    for outside in (2, -1, 1.5):
        with pytest.raises(
            InputError, match=r"missing is .*\n.*'name', which lies between 0 and 1"
        ):
            fp.RecordSimilarity(FIELDS, missing=outside)
    assert fp.RecordSimilarity({"name": APART}, missing=7).missing == 7.0  # nobody knows its range


def test_pairs_of_records_are_a_table_with_their_fields():
    ours = [{"sku": 7, "name": "Anna Berg"}, {"sku": 9, "name": "Bob Stone", "town": "Oslo"}]
    theirs = [{"name": "Ana Berg", "price": 2.5}, {"name": "Carl May", "price": 3.5}]
    alike = fp.RecordSimilarity({"name": "jaro_winkler"})
    found = fp.find_pairs(ours, alike, others=theirs, above=0.9)
    table = found.to_polars(texts=True)
    assert table.columns == [
        *("left", "right", "similarity"),
        *("left_sku", "left_name", "right_name", "right_price"),
    ]
    assert table.row(0)[3:] == (7, "Anna Berg", "Ana Berg", 2.5)
    assert found.to_polars().columns == ["left", "right", "similarity"]
    none = fp.find_pairs(ours, alike, others=theirs, above=0.999)
    assert "right_price" in none.to_polars(texts=True).columns
