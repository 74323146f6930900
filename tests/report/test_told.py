"""What pages say in words and colours is so."""

from __future__ import annotations

import re

import numpy as np
import pytest
from page_examples import ALIKE, NAMES, data_of, found_among_names, matrix_of_names, unpacked

import fewpairs as fp


@pytest.fixture
def page(tmp_path):
    def written(result, **options):
        result.report(tmp_path / "page.html", **options)
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return written


def facts(page: str) -> list[tuple[str, str]]:
    """Names and values of the headline."""
    found = re.findall(r'<div class="name">(.*?)</div><div class="value">(.*?)</div>', page)
    return [(name, value) for name, value in found]


def colours(page: str) -> np.ndarray:
    return unpacked(data_of(page)["labels"]["of"], "<u4")


# ------------------------------------------------------------------ colours


def test_the_largest_groups_have_the_first_colours(page):
    groups = np.array([0, 1, 1, 2, 2, 2])
    scores = fp.Precomputed((groups[:, None] == groups).astype(float))
    for result in (
        fp.find_pairs(range(6), scores, above=0.5),
        fp.cluster(range(6), scores, threshold=0.5),
    ):
        assert colours(page(result)).tolist() == [0, 2, 2, 1, 1, 1]


def test_clusters_keep_their_colours_where_not_all_items_are_shown(page):
    clusters = fp.cluster(NAMES, ALIKE, threshold=0.85, random_state=0)
    every, some = page(clusters), page(clusters, most=20)
    shown = [int(name) for name in data_of(some)["names"]]
    assert len(shown) == 20
    assert colours(some).tolist() == colours(every)[shown].tolist()


def test_labels_of_the_rows_leave_the_columns_grey(page):
    matrix = fp.approximate(NAMES[:20], ALIKE, others=NAMES[20:], landmarks=10, random_state=0)
    told = page(matrix, labels=[name[0] for name in NAMES[:20]])
    names = data_of(told)["labels"]["names"]
    assert [names[k] for k in colours(told)] == [*(n[0] for n in NAMES[:20]), *["others"] * 44]


# ------------------------------------------------------------------ numbers


def test_a_fact_is_told_once(page):
    for result in (
        matrix_of_names(),
        found_among_names(),
        fp.cluster(NAMES, ALIKE, threshold=0.9, budget=900, random_state=0),
    ):
        names = [name for name, _ in facts(page(result))]
        assert len(names) == len(set(names)) >= 3


def test_both_sets_are_counted_where_not_all_items_are_shown(page):
    matrix = fp.approximate(NAMES[:20], ALIKE, others=NAMES[20:], landmarks=10, random_state=0)
    assert "50 of 64 items are on this page" in page(matrix, most=30)
    assert "items are on this page" not in page(matrix)


def test_of_a_mean_of_two_orders_all_is_twice_as_many_evaluations(page):
    scores = np.random.default_rng(0).random((30, 30))
    both = fp.Precomputed(scores, symmetric=False).symmetrized()
    matrix = fp.approximate(range(30), both, landmarks=30, random_state=0)
    assert "100.00% of all" in page(matrix)
    found = fp.find_pairs(range(30), both, above=0.8, all_pairs=True)
    assert "100.00% of all" in page(found)


def test_what_was_looked_up_is_said_and_not_paid_for(page, tmp_path):
    def alike(a, b):
        return 1.0 / (1 + abs(len(a) - len(b)))

    once = fp.similarity(alike, kind="pair", symmetric=True, name="alike", version="1")
    for looked_up in (False, True):
        found = fp.find_pairs(
            NAMES[:30], once, above=0.9, all_pairs=True, cost="1 USD", journal=tmp_path / "journal"
        )
        told = page(found)
        paid = found.evaluations - found.looked_up
        assert (found.looked_up > 0) == looked_up
        assert dict(facts(told))["price"] == f"{paid:,.2f} USD"
        assert (f"{found.looked_up:,} of them were looked up" in told) == looked_up


# ------------------------------------------------------------------ sentences


def matrix_of(scores: np.ndarray, **options):
    similarity = fp.Precomputed(scores, **options)
    return fp.approximate(range(len(scores)), similarity, landmarks=len(scores), random_state=0)


def test_directions_are_as_many_as_hold_nine_tenths_of_the_squared_mass(page):
    # Squares 9, 1, 0.5: the first alone has 86 %.
    assert "2 directions hold 90% of the squared mass" in page(
        matrix_of(np.diag([3.0, 1.0, 0.5**0.5]))
    )
    assert "1 direction holds 90% of the squared mass" in page(
        matrix_of(np.diag([4.0, 1.0, 0.5**0.5]))
    )


def test_how_far_both_orders_differ_is_a_share_of_the_norm(page):
    scores = np.array([[1.0, 3.0], [1.0, 1.0]])  # norm √12; the difference has √8
    told = page(matrix_of(scores, symmetric=False))
    assert f"differ by {(8 / 12) ** 0.5:.1%} of the norm, among 2 items" in told


def test_a_near_duplicate_has_most_of_the_smaller_self_similarity(page):
    scores = np.array([[4.0, 1.0, 0.1], [1.0, 1.0, 0.1], [0.1, 0.1, 1.0]])
    assert "1 pair of items is a near-duplicate" in page(matrix_of(scores))


def test_near_duplicates_that_are_predicted_are_not_said_to_be_evaluated(page):
    x = np.random.default_rng(0).normal(size=(60, 2))
    x[1::2] = x[::2] + 1e-4
    matrix = fp.approximate(
        x, fp.VectorSimilarity("rbf", gamma=0.1), landmarks=10, method="nystrom", random_state=0
    )
    said = re.search(r"([\d,]+) pairs are near-duplicates .*?; ([\d,]+) of them", page(matrix))
    every, exact = (int(number.replace(",", "")) for number in said.groups())
    assert every > exact


def test_pairs_without_a_value_are_told(page):
    def alike(a, b):
        if {a, b} == {"a", "bb"}:
            raise RuntimeError
        return 1.0 / (1 + abs(len(a) - len(b)))

    similarity = fp.similarity(alike, kind="pair", symmetric=True)
    items = ["a", "bb", "ccc", "dddd", "eeeee"]
    matrix = fp.approximate(items, similarity, landmarks=5, on_error="skip", random_state=0)
    assert len(matrix.skipped) == 1
    assert "1 pairs were asked for and have no value" in page(matrix)


def test_a_pair_belongs_to_both_of_its_items_a_neighbour_to_one(page):
    assert data_of(page(found_among_names()))["links"]["both"]
    assert not data_of(page(fp.find_nearest(NAMES, ALIKE, k=2)))["links"]["both"]
