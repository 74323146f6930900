"""Neighbours: ranked exactly where the similarity is there, and never paid for twice."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, PositionError

N, M = 300, 200
KINDS = ("pair", "pairs", "block")


def made(kind="pair", *, symmetric=True, square=True, n=N, **arguments):
    matrix = symmetric_matrix(n) if symmetric else asymmetric_matrix(n)
    counter = Counter(matrix if square else matrix[:, :M])
    others = {} if square else {"others": range(M)}
    arguments = {"landmarks": 20, "error_pairs": 0, "random_state": 0} | others | arguments
    found = fp.approximate(range(n), counter.similarity(kind, symmetric=symmetric), **arguments)
    counter.asked.clear()
    return found, counter


def best(row, k, own=None):
    row = row.copy()
    if own is not None:
        row[own] = -np.inf
    return np.argsort(-row)[:k].tolist()


def test_by_factored_scores_the_item_is_left_out_and_nothing_is_evaluated():
    found, counter = made()
    near = found.nearest(7, k=5, rerank=0)
    assert near.indices.tolist() == best(found[7], 5, own=7)
    np.testing.assert_allclose(near.similarities, found[7][near.indices])
    assert len(found.nearest(7, k=1000, rerank=0).indices) == N - 1
    assert near.evaluations == len(counter.asked) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("symmetric", "square"), [(True, True), (False, True), (False, False)])
def test_candidates_are_ranked_exactly_by_default_and_what_is_known_is_free(
    kind, symmetric, square
):
    found, counter = made(kind, symmetric=symmetric, square=square)
    before = found.evaluations
    own = 7 if square else None
    candidates = best(found[7], 50, own)
    known = found.known.find(np.full(50, 7), np.array(candidates))
    near = found.nearest(7, k=3)
    np.testing.assert_allclose(near.similarities, counter.matrix[7, near.indices], rtol=1e-12)
    assert set(counter.asked) <= {(7, j) for j in candidates}
    assert near.evaluations == len(counter.asked) == np.isnan(known).sum()
    assert found.evaluations == before + near.evaluations
    again = found.nearest(7, k=3)
    assert again.evaluations == 0
    assert again.indices.tolist() == near.indices.tolist()


def test_ten_candidates_for_each_neighbour_and_at_least_fifty():
    for k, candidates in ((1, 50), (5, 50), (12, 120)):
        found, counter = made(known=None)  # so that nothing is known
        assert found.nearest(9, k=k).evaluations == len(counter.asked) == candidates


def test_all_candidates_give_the_true_neighbours():
    found, counter = made(n=40, landmarks=5)
    for index in range(40):
        near = found.nearest(index, k=4)
        assert near.indices.tolist() == best(counter.matrix[index], 4, own=index)
    # By then every pair that was not known is paid for, once.
    assert len(counter.asked) == len(counter.unordered)
    assert found.nearest(3, k=4, rerank=39).evaluations == 0


def test_a_pair_that_was_evaluated_in_one_order_is_not_asked_in_the_other():
    for symmetric in (True, False):
        found, counter = made(symmetric=symmetric, n=60, known=None)
        found.nearest(1, k=1, rerank=100)
        counter.asked.clear()
        found.nearest(2, k=1, rerank=100)
        assert ((2, 1) in counter.asked) is not symmetric


def test_known_entries_take_part_although_they_are_no_candidates():
    found, counter = made()
    exact = found.known_in_row(7, np.arange(N))
    near = found.nearest(7, k=5, rerank=5)
    candidates = best(found[7], 5, own=7)
    pool = [j for j in range(N) if j != 7 and (j in candidates or not np.isnan(exact[j]))]
    assert near.indices.tolist() == sorted(pool, key=lambda j: -counter.matrix[7, j])[:5]


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_new_item_costs_landmarks_and_candidates(symmetric):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(N)
    counter = Counter(matrix)
    sim = counter.similarity("pairs", symmetric=symmetric)
    found = fp.approximate(range(N - 1), sim, landmarks=20, error_pairs=0, random_state=0)
    plain = found.nearest(item=N - 1, k=4, rerank=0).evaluations
    counter.asked.clear()
    near = found.nearest(item=N - 1, k=4)
    np.testing.assert_allclose(near.similarities, matrix[N - 1, near.indices])
    assert near.evaluations == len(counter.asked) == len(set(counter.asked)) <= plain + 50


def test_the_matrix_itself_stays_as_it_is():
    found, _ = made()
    before = found.to_dense()
    found.nearest(7)
    found.check(rows=3, random_state=0)
    np.testing.assert_array_equal(found.to_dense(), before)


def test_a_matrix_without_its_similarity_or_its_items_still_answers(tmp_path):
    words = [f"{a}{b}{c}" for a in "abcdef" for b in "aeiou" for c in ("t", "n", "rd")]
    found = fp.approximate(words, fp.StringSimilarity(), landmarks=10, random_state=0)
    found.save(tmp_path / "words")
    loaded = fp.load(tmp_path / "words")
    near = loaded.nearest(3, k=5)
    assert near.evaluations == 0
    assert near.predicted
    assert repr(near).endswith("; predicted, not evaluated")
    assert "predicted, not evaluated" in near._repr_html_()
    assert near.indices.tolist() == found.nearest(3, k=5, rerank=0).indices.tolist()
    whole = fp.load(tmp_path / "words", similarity=fp.StringSimilarity())
    assert whole.nearest(3, k=5).evaluations > 0
    new = whole.nearest(item="zat", k=5), whole.nearest(item="zat", k=5, rerank=0)
    assert [near.predicted for near in (whole.nearest(3, k=5), *new)] == [False, False, True]
    # After its exact ones were bought, the factored scores are still predicted.
    assert whole.nearest(3, k=5, rerank=0).predicted
    landmark = int(whole.source.left_landmarks[0])
    assert not whole.nearest(landmark, k=5, rerank=0).predicted
    given = fp.FactoredMatrix(np.eye(4), np.eye(4))
    assert len(given.nearest(1, k=2).indices) == 2


@pytest.mark.parametrize("derive", [lambda m: m.T, lambda m: m.symmetrized()])
def test_what_is_derived_from_an_asymmetric_matrix_is_not_ranked_by_its_similarity(derive):
    found, counter = made(symmetric=False, known=None)
    other = derive(found)
    assert other.nearest(5).evaluations == len(counter.asked) == 0
    with pytest.raises(fp.errors.NotAttachedError, match="asymmetric"):
        other.nearest(5, rerank=10)


def test_the_result_unpacks_into_two_and_says_what_it_took():
    near = made()[0].nearest(7, k=2)
    indices, similarities = near
    assert len(near) == 2
    assert indices is near.indices
    assert similarities is near.similarities
    assert repr(near).endswith(f"evaluations={near.evaluations})")
    for other in (copy.copy(near), pickle.loads(pickle.dumps(near))):  # noqa: S301 - our own
        assert other.evaluations == near.evaluations > 0


def test_nearest_refuses_nonsense():
    found, _ = made()
    for arguments in ({}, {"index": 1, "item": 2}):
        with pytest.raises(InputError, match="either"):
            found.nearest(**arguments)
    for arguments in ({"k": 0}, {"k": 2.5}, {"rerank": -1}, {"rerank": "all"}):
        with pytest.raises(InputError, match="rerank"):
            found.nearest(1, **arguments)
    with pytest.raises(IndexError):
        found.nearest(N)


def test_a_text_in_place_of_a_position_is_told_to_be_an_item():
    similarity = fp.StringSimilarity("levenshtein")
    matrix = fp.approximate([f"name {k}" for k in range(30)], similarity, landmarks=5)
    with pytest.raises(PositionError, match="nearest\\(item=…\\)"):
        matrix.nearest("name 3")
