"""What can be done with pairs that were found: frames, files, graphs, groups, assignments."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.tasks.matching.histogram import histogram_of

SCORES = np.array(
    [
        [1.0, 0.9, 0.1, 0.0],
        [0.9, 1.0, 0.8, 0.0],
        [0.1, 0.8, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
IDS = ["ann", "bob", "cem", "dov"]


def between(matrix):
    """The similarity of two sets of positions."""
    return fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=False)


def found_among_four(**options):
    return fp.find_pairs(range(4), fp.Precomputed(SCORES), above=0.5, random_state=0, **options)


def test_frames_have_the_users_ids():
    found = found_among_four(ids=IDS)
    rows = [("ann", "bob", 0.9), ("bob", "cem", 0.8)]
    assert list(found.to_pandas().itertuples(index=False, name=None)) == rows
    assert found.to_polars().rows() == rows
    assert found.to_pandas().columns.tolist() == ["left", "right", "similarity"]
    assert found.left_ids == ["ann", "bob"]


def test_without_ids_positions_serve():
    found = found_among_four()
    assert found.to_pandas()["right"].tolist() == [1, 2]


def test_ids_may_be_a_column_of_a_frame():
    pandas = pytest.importorskip("pandas")
    found = found_among_four(ids=pandas.Series([10, 20, 30, 40]))
    assert found.right_ids == [20, 30]


def test_csv(tmp_path):
    found_among_four(ids=IDS).to_csv(tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["left", "right", "similarity"],
            ["ann", "bob", "0.9"],
            ["bob", "cem", "0.8"],
        ]


def test_graph_has_both_orders_of_a_symmetric_similarity():
    expected = np.where((SCORES >= 0.5) & ~np.eye(4, dtype=bool), SCORES, 0.0)
    np.testing.assert_array_equal(found_among_four().to_graph().toarray(), expected)


def test_groups_are_linked_by_pairs():
    assert found_among_four().groups().tolist() == [0, 0, 0, 1]


def test_pairs_of_similarity_zero_link_too():
    matrix = -np.ones((3, 3))
    matrix[0, 1] = matrix[1, 0] = 0.0
    found = fp.find_pairs(range(3), fp.Precomputed(matrix), above=0.0)
    assert found.groups().tolist() == [0, 0, 1]


def test_one_to_one_has_the_largest_sum_beyond_the_threshold():
    scores = np.array([[0.99, 0.91, 0.0], [0.95, 0.0, 0.0], [0.9, 0.97, 0.92]])
    found = fp.find_pairs(range(3), between(scores), others=range(3), above=0.5, one_to_one=True)
    chosen = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert chosen == {(0, 1), (1, 0), (2, 2)}


def test_one_to_one_is_the_assignment_of_scipy():
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(0)
    scores = rng.random((30, 20))
    found = fp.find_pairs(range(30), between(scores), others=range(20), above=0.0, one_to_one=True)
    rows, columns = linear_sum_assignment(-scores)
    assert len(found) == 20
    assert found.similarities.sum() == pytest.approx(scores[rows, columns].sum())


def test_one_to_one_of_nothing_is_nothing():
    found = fp.find_pairs(
        range(2), between(np.zeros((2, 3))), others=range(3), above=1.0, one_to_one=True
    )
    assert len(found) == 0


def test_groups_of_two_sets_are_refused():
    found = fp.find_pairs(range(2), between(np.ones((2, 3))), others=range(3), above=0.5)
    with pytest.raises(InputError, match="two sets"):
        found.groups()


def test_two_sets_have_two_lists_of_ids():
    similarity = between(np.ones((2, 3)))
    with pytest.raises(InputError, match="two sets of items"):
        fp.find_pairs(range(2), similarity, others=range(3), above=0.5, ids=[1, 2])
    found = fp.find_pairs(
        range(2), similarity, others=range(3), above=0.5, ids=(["a", "b"], ["x", "y", "z"])
    )
    assert set(found.right_ids) == {"x", "y", "z"}


def test_repr_says_how_many_and_how_sure():
    assert repr(found_among_four()).startswith("<2 pairs, 6 evaluations; recall 1 (exact")


def test_histogram_counts_what_was_found_and_scales_what_was_drawn():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(250, 3))
    matrix = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
    found = fp.find_pairs(
        range(250), fp.Precomputed(matrix), above=0.7, guide=points, random_state=0
    )
    counts = found.histogram(20)
    assert counts.found.sum() == len(found)
    assert counts.expected.sum() == pytest.approx(250 * 249 / 2)
    below = np.mean(matrix[np.triu_indices(250, 1)] < 0.5)
    assert counts.expected[counts.edges[1:] < 0.5].sum() / counts.expected.sum() == pytest.approx(
        below, abs=0.1
    )
    with pytest.raises(InputError, match="bins is 0"):
        found.histogram(0)


def test_picture_of_scores():
    import matplotlib as mpl

    mpl.use("Agg")
    axes = fp.plots.plot_scores(found_among_four(), bins=4)
    assert "threshold" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert sum(bar.get_height() for bar in axes.patches) == 2


@pytest.mark.parametrize("distance", [False, True])
def test_suggested_threshold_has_the_best_f1(distance):
    rng = np.random.default_rng(1)
    labels = rng.random(200) < 0.3
    scores = np.round(rng.normal(size=200) + 1.5 * labels, 1)
    best = fp.suggest_threshold(-scores if distance else scores, labels, distance=distance)
    at = -best.threshold if distance else best.threshold

    def f1(threshold):
        chosen = scores >= threshold
        return 2 * (chosen & labels).sum() / (chosen.sum() + labels.sum())

    assert best.f1 == pytest.approx(f1(at)) == pytest.approx(max(map(f1, np.unique(scores))))
    assert best.n_pairs == 200


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([1.0, 2.0], [True], "one label"),
        ([np.nan], [True], "finite score"),
        ([1.0, 2.0], [False, False], "no labelled pair"),
        ([1.0, 2.0], [2, 0], "True and False"),
    ],
)
def test_labels_are_checked(scores, labels, message):
    with pytest.raises(InputError, match=message):
        fp.suggest_threshold(scores, labels)


def test_graph_of_neighbours_has_each_pair_as_it_was_found():
    found = fp.find_nearest(range(4), fp.Precomputed(SCORES), k=1)
    assert found.to_graph()[0, 1] == found.to_graph()[1, 0] == 0.9


def test_graph_keeps_distances_of_zero():
    distance = fp.similarity(lambda a, b: abs(a - b), kind="pair", symmetric=True)
    found = fp.find_pairs([1.0, 1.0, 5.0, 5.0, 9.0], distance, below=0.5)
    assert len(found) == 2
    assert found.to_graph().nnz == 4


def test_one_to_one_breaks_no_equal_pair_for_two_that_just_match():
    scores = 0.5 * np.eye(6) + np.eye(6, k=-1)
    found = fp.find_pairs(range(6), between(scores), others=range(6), above=0.5, one_to_one=True)
    assert found.similarities.tolist() == [1.0] * 5
    ours, theirs = ["bacon", "bacon rind"], ["bacon", "bacon salt"]
    kept = fp.find_pairs(ours, "jaro_winkler", others=theirs, above=0.9, one_to_one=True)
    assert list(zip(kept.left.tolist(), kept.right.tolist(), strict=True)) == [(0, 0)]


def test_one_to_one_prefers_more_pairs_where_all_just_match():
    scores = np.eye(6) + np.eye(6, k=-1)
    found = fp.find_pairs(range(6), between(scores), others=range(6), above=1.0, one_to_one=True)
    assert len(found) == 6


@pytest.mark.parametrize(("sign", "distance"), [(1.0, True), (-1.0, False)])
def test_one_to_one_of_neighbours_prefers_the_nearest(sign, distance):
    distances = np.array([[1.0, 5.0], [6.0, 2.0]])
    near = fp.find_nearest(
        range(2), between(sign * distances), others=range(2), k=2, distance=distance
    )
    assert np.abs(near.one_to_one().similarities).tolist() == [1.0, 2.0]


def test_one_to_one_of_a_distance_prefers_what_is_near():
    distances = np.array([[0.0, 2.9], [2.9, 9.0]])
    found = fp.find_pairs(range(2), between(distances), others=range(2), below=3, one_to_one=True)
    assert found.similarities.tolist() == [0.0]


PEOPLE = [{"id": k, "name": name} for k, name in enumerate(("ann", "anne", "bob"), start=10)]
BY_NAME = fp.RecordSimilarity({"name": "jaro_winkler"})


@pytest.mark.parametrize("form", ["records", "pandas", "polars"])
def test_ids_may_be_the_name_of_a_column(form):
    make = {
        "records": lambda rows: rows,
        "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
        "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows),
    }[form]
    found = fp.find_pairs(make(PEOPLE), BY_NAME, above=0.9, ids="id")
    assert (found.left_ids, found.right_ids) == ([10], [11])
    others = make([{"key": "x", "name": "rob"}, {"key": "y", "name": "anna"}])
    found = fp.find_pairs(make(PEOPLE), BY_NAME, others=others, above=0.9, ids=("id", "key"))
    assert (found.left_ids, found.right_ids) == ([10], ["y"])


@pytest.mark.parametrize(
    ("items", "similarity", "ids", "message"),
    [
        (["a", "b"], "jaro", "id", "no columns or fields"),
        (PEOPLE, BY_NAME, "key", 'unknown field "key"'),
        ([*PEOPLE, {"name": "cleo"}], BY_NAME, "id", "1 of 4 items have no id; first: item 3"),
    ],
)
def test_ids_that_no_column_holds(items, similarity, ids, message):
    with pytest.raises(InputError, match=message):
        fp.find_pairs(items, similarity, above=0.5, ids=ids)


@pytest.mark.parametrize(
    "values",
    [
        [0.9, np.nextafter(0.9, 1.0)],
        [1e17, 1e17],
        [-1.7e308, 1.7e308],
        [np.finfo(float).max] * 2,
        [0.0, 5e-324],
    ],
)
def test_histogram_has_different_edges_whatever_the_values(values):
    counts = histogram_of(np.array(values), np.empty(0), 0.0, 50)
    assert counts.found.sum() == 2
    assert np.isfinite(counts.edges).all()
    assert (np.diff(counts.edges) > 0).all()


@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("match", [5e-324, np.nextafter(1.0, 2.0), 1e300])
def test_a_threshold_between_neighbouring_numbers_tells_them_apart(match, distance):
    sign = -1.0 if distance else 1.0
    scores = sign * np.array([match, np.nextafter(match, 0.0)])
    threshold = fp.suggest_threshold(scores, [True, False], distance=distance).threshold
    assert (sign * scores >= sign * threshold).tolist() == [True, False]
