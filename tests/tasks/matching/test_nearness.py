"""How near the nearest of each item are."""

import numpy as np
import pytest

from fewpairs.guides.guides import Guide
from fewpairs.tasks.matching import nearness
from fewpairs.tasks.matching.features import Features
from fewpairs.tasks.matching.universe import Universe


def guide_of(left, right=None, name="guide"):
    left = np.asarray(left, dtype=np.float32)
    return Guide(name, left, left if right is None else np.asarray(right, dtype=np.float32))


def by_hand(left, right, *, square):
    products = left @ right.T
    if square:
        np.fill_diagonal(products, -np.inf)
    return np.sort(products, axis=1)[:, ::-1][:, :10].mean(axis=1)


@pytest.mark.parametrize("square", [True, False])
def test_it_is_the_mean_product_with_the_ten_nearest_others(square):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    guide = guide_of(left) if square else guide_of(left, right)
    (both,) = nearness.nearness_of([guide], rng, square=square)
    mine = by_hand(left, left if square else right, square=square)
    theirs = mine if square else by_hand(right, left, square=False)
    products = both.left @ both.right.T
    np.testing.assert_allclose(products, mine[:, None] + theirs, rtol=1e-5)


def test_of_many_items_a_sample_is_asked_and_nobody_is_near_to_himself(monkeypatch):
    monkeypatch.setattr(nearness, "_SAMPLE", 50)
    rows = np.eye(200)
    (both,) = nearness.nearness_of([guide_of(rows)], np.random.default_rng(0), square=True)
    assert both.left[:, 0].max() == 0.0


def test_of_one_set_both_sides_are_as_near_although_a_sample_is_asked(monkeypatch):
    """Guides of distances have other vectors on the right, with the same products."""
    monkeypatch.setattr(nearness, "_SAMPLE", 50)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 6))
    (both,) = nearness.nearness_of([guide_of(2 * rows, rows / 2)], rng, square=True)
    np.testing.assert_array_equal(both.left[:, 0], both.right[:, 1])


def test_narrow_guides_have_no_neighbourhood_and_tiny_sets_no_neighbours():
    rng = np.random.default_rng(0)
    assert nearness.nearness_of([guide_of(rng.normal(size=(9, 3)))], rng, square=True) == []
    (alone,) = nearness.nearness_of([guide_of(rng.normal(size=(1, 5)))], rng, square=True)
    assert alone.left.tolist() == [[0.0, 1.0]]


def test_before_anything_is_learnt_crowded_items_come_later():
    """The same product counts for less where the nearest are nearer."""
    crowd = np.tile([[1.0, 0, 0, 0, 0]], (12, 1))
    couple = np.array([[0, 0.9, 0.1, 0, 0], [0, 0.9, -0.1, 0, 0]])
    universe = Universe(14, 14, square=True, symmetric=True)
    rng = np.random.default_rng(0)
    features = Features(universe, [guide_of(np.vstack([crowd, couple]))], rng)
    of_crowd, of_couple = features.of(np.array([0, 12]), np.array([1, 13])) @ features.first_weights
    assert of_couple > of_crowd
    # A first guide that is too narrow has no nearness, though the second one has.
    two = [guide_of(rng.normal(size=(14, 2)), name="narrow"), guide_of(rng.normal(size=(14, 6)))]
    assert Features(universe, two, rng).first_weights.tolist() == [1.0, 0.0, 0.0, 0.0]
