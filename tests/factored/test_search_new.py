"""New items' neighbours within a budget, round by round."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix
from factored.test_extension import NEW, N, made, setting

import fewpairs as fp
from fewpairs.errors import BudgetError, InputError, NotAttachedError
from fewpairs.factored import search

KINDS = ("pair", "pairs", "block")


def counted(kind="pairs", *, symmetric=True, others=None, n=120, new=20, rank=6):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(n, rank=rank)
    counter = Counter(matrix)
    similarity = counter.similarity(kind, symmetric=symmetric and others is None)
    beside = {} if others is None else {"others": range(others)}
    K = fp.approximate(
        range(n - new), similarity, landmarks=15, error_pairs=0, random_state=0, **beside
    )
    counter.asked.clear()
    return K, counter, np.arange(n - new, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("symmetric", "others"), [(True, None), (False, None), (False, 60)])
def test_each_query_spends_its_budget_and_no_pair_is_asked_twice(kind, symmetric, others):
    K, counter, new = counted(kind, symmetric=symmetric, others=others)
    before = K.evaluations
    near = K.search(new, k=5, budget=12)
    assert near.evaluations == len(counter.asked) == len(set(counter.asked)) == 12 * len(new)
    assert K.evaluations == before + near.evaluations
    # The new item comes first, as in a row of the matrix.
    assert {i for i, _ in counter.asked} == set(new.tolist())
    np.testing.assert_allclose(
        near.similarities, counter.matrix[new[:, None], near.indices], rtol=1e-12
    )
    assert (np.diff(near.similarities, axis=1) <= 0).all()


def test_all_columns_give_the_true_neighbours_whatever_the_rounds():
    K, counter, new = counted()
    exact = counter.matrix[np.ix_(new, range(100))]
    for rounds in (1, 3, 1000):
        near = K.search(new, k=4, budget=10_000, rounds=rounds)
        np.testing.assert_array_equal(near.indices, np.argsort(-exact, axis=1)[:, :4])
        assert near.evaluations == exact.size


def test_rows_of_low_rank_are_found_from_few_evaluations():
    # Rank 6: once six entries are known, lines of the columns tell the rest.
    K, counter, new = counted(n=400, new=50)
    exact = counter.matrix[np.ix_(new, range(350))]
    last = np.partition(exact, -5, axis=1)[:, -5]
    near = K.search(new, k=5, budget=30, rounds=10)
    assert (near.similarities >= last[:, None] - 1e-12).mean() > 0.9
    once = K.search(new, k=5, budget=30, rounds=1)
    assert (once.similarities >= last[:, None] - 1e-12).mean() < 0.5


@pytest.mark.parametrize("guide", [True, False])
def test_what_is_expected_of_a_row_is_a_gaussian_process(guide):
    X, matrix = setting()
    K = made(X, matrix, guide=guide)
    rng = np.random.default_rng(0)
    likeness = search.Likeness.of(K)
    s = len(K.source.right_landmarks)
    lines = K.right[:, :s] - K.right[:, :s].mean(axis=1, keepdims=True)
    lines /= np.sqrt(np.mean((lines**2).sum(axis=1)))
    vectors = np.ldexp(K.right[:, s:-1], K.source.power)
    kernel = lines @ lines.T + search._SHARED + (vectors @ vectors.T if guide else 0)
    places = np.stack([rng.choice(N, 9, replace=False) for _ in range(3)])
    prior, values = rng.normal(size=(3, N)), rng.normal(size=(3, 9))
    got = search._updated(prior, search.Seen(places, values), likeness)
    for row, some in enumerate(places):
        gram = kernel[np.ix_(some, some)]
        gram = gram + search._NOISE * np.mean(np.diag(gram)) * np.eye(9)
        wanted = kernel[:, some] @ np.linalg.solve(gram, values[row] - prior[row, some])
        np.testing.assert_allclose(got[row], prior[row] + wanted, rtol=1e-6, atol=1e-8)


def test_a_guide_says_where_to_begin_and_rounds_improve_on_it():
    X, matrix = setting()
    new = np.arange(N, N + NEW)
    exact = matrix[np.ix_(new, range(N))]
    last = np.partition(exact, -10, axis=1)[:, -10]

    def recall(K, **options):
        near = K.search(new, k=10, budget=20, **options)
        return float((near.similarities >= last[:, None]).mean())

    K = made(X, matrix)
    first = np.argsort(-K.extend(new, evaluations=0).predicted(new, np.arange(N)), axis=1)[:, :20]
    wanted = np.take_along_axis(exact, first, axis=1) >= last[:, None]
    assert recall(K, rounds=1) == pytest.approx(wanted.sum() / (10 * NEW))
    assert recall(K) > recall(K, rounds=1)
    assert recall(K) > recall(made(X, matrix, guide=False)) + 0.1


def test_a_guide_without_an_encoder_is_given_beside_the_queries():
    X, matrix = setting()
    similarity = fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=True)
    options = {"budget": 0.2, "error_pairs": 0, "random_state": 0}
    K = fp.approximate(np.arange(N), similarity, guide=X[:N], **options)
    new = np.arange(N, N + 5)
    with pytest.raises(NotAttachedError, match="guide="):
        K.search(new, k=3, budget=10)
    found = K.search(new, k=3, budget=10, guide=X[new]).indices
    np.testing.assert_array_equal(found, made(X, matrix).search(new, k=3, budget=10).indices)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_the_similarity_does_not_matter(scale):
    X, matrix = setting()
    new = np.arange(N, N + 5)
    for guide in (True, False):
        plain = made(X, matrix, guide=guide).search(new, k=5, budget=30)
        other = made(X, scale * matrix, guide=guide).search(new, k=5, budget=30)
        np.testing.assert_array_equal(plain.indices, other.indices)


def test_many_queries_are_searched_as_each_alone():
    K, _, new = counted()
    together = K.search(new, k=3, budget=10)
    for row, query in enumerate(new.tolist()):
        alone = K.nearest(item=query, k=3, budget=10)
        assert alone.indices.tolist() == together.indices[row].tolist()
        assert alone.evaluations == 10


def test_an_item_of_the_matrix_spends_its_budget_on_what_is_not_known():
    K, counter, _ = counted()
    row = int(np.setdiff1d(np.arange(100), K.source.left_landmarks)[0])
    near = K.nearest(row, k=5, budget=7)
    assert near.evaluations == len(set(counter.asked)) == 7
    known = np.flatnonzero(~np.isnan(K.paid_in_row(row, np.arange(100))))
    known = known[known != row]
    best = known[np.argsort(-counter.matrix[row, known], kind="stable")][:5]
    assert near.indices.tolist() == best.tolist()
    # Everything: the true neighbours, and nothing is left to pay.
    whole = K.nearest(row, k=5, budget=1000)
    exact = counter.matrix[row, :100].copy()
    exact[row] = -np.inf
    assert whole.indices.tolist() == np.argsort(-exact)[:5].tolist()
    assert K.nearest(row, k=5, budget=1000).evaluations == 0


def test_a_symmetrised_similarity_costs_two_evaluations_for_a_score():
    matrix = asymmetric_matrix(60)
    counter = Counter(matrix)

    class Model:
        def predict(self, pairs):
            return counter.pairs([(int(a), int(b)) for a, b in pairs])

    texts = [str(k) for k in range(60)]
    similarity = fp.CrossEncoder(Model(), symmetric="mean")
    K = fp.approximate(texts[:50], similarity, landmarks=10, error_pairs=0, random_state=0)
    counter.asked.clear()
    near = K.search(texts[50:], k=3, budget=13)
    assert near.evaluations == len(counter.asked) == 12 * 10
    with pytest.raises(InputError, match="at least 6"):
        K.search(["50"], k=3, budget=5)


def test_search_refuses_nonsense_before_anything_is_bought():
    K, counter, new = counted()
    for options in ({"k": 0}, {"budget": 0}, {"budget": 10.5}, {"rounds": 0}, {"k": True}):
        with pytest.raises(InputError, match="rounds"):
            K.search(new, **({"k": 5, "budget": 10} | options))
    with pytest.raises(InputError, match="at least 5"):
        K.search(new, k=5, budget=4)
    with pytest.raises(InputError, match="one of them"):
        K.nearest(3, budget=10, rerank=10)
    with pytest.raises(NotAttachedError, match="landmarks"):
        fp.FactoredMatrix(np.eye(4), np.eye(4)).nearest(1, k=2, budget=2)
    assert not counter.asked


def recorded(tmp_path, n=120, new=20, **journal):
    counter = Counter(symmetric_matrix(n, rank=6))
    similarity = counter.similarity("pairs", version="1")
    K = fp.approximate(
        range(n - new), similarity, landmarks=15, error_pairs=0, random_state=0, journal=tmp_path
    )
    counter.asked.clear()
    return K, counter, np.arange(n - new, n), fp.Journal(tmp_path, **journal)


@pytest.mark.parametrize("one", [False, True])
def test_a_journal_is_compared_once_in_a_search_and_saves_all_of_it(tmp_path, one, monkeypatch):
    monkeypatch.setattr("fewpairs.factored.search._MOST_ROWS", 8)  # parts, as of many queries
    ask = {
        True: lambda K, new, journal: K.nearest(7, 4, budget=17, journal=journal),
        False: lambda K, new, journal: K.search(new, 4, budget=10, journal=journal),
    }[one]
    K, counter, new, journal = recorded(tmp_path)
    first = ask(K, new, journal)
    assert first.evaluations == len(counter.asked) == (17 if one else 10 * len(new))
    K, counter, new, journal = recorded(tmp_path)
    again = ask(K, new, journal)
    assert again.evaluations == len(counter.asked) == 3
    assert again.indices.tolist() == first.indices.tolist()


@pytest.mark.parametrize("item", [False, True])
def test_what_is_compared_with_a_journal_counts_within_the_budget(tmp_path, item):
    # The journal has pairs of the item that this search does not ask for.
    K, counter, new, journal = recorded(tmp_path)
    row = int(new[0]) if item else 7
    others = [k for k in range(50) if k != row]
    fp.score_pairs(K.source.similarity, [row] * len(others), others, journal=journal)
    K, counter, new, journal = recorded(tmp_path, check=20)
    which = {"item": row} if item else {"index": row}
    near = K.nearest(k=4, budget=40, journal=journal, **which)
    assert len(counter.asked) == near.evaluations <= 40


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_that_are_skipped_are_no_neighbours_and_count(kind):
    matrix = symmetric_matrix(80, rank=6)
    counter = Counter(matrix)
    similarity = counter.similarity(kind, on_nonfinite="skip")
    K = fp.approximate(range(70), similarity, landmarks=15, error_pairs=0, random_state=0)
    matrix[70:, ::7] = matrix[::7, 70:] = np.nan
    own = int(np.setdiff1d(np.arange(70), K.source.left_landmarks)[0])
    matrix[own, 1:70:7] = matrix[1:70:7, own] = np.nan
    counter.asked.clear()
    near = K.search(range(70, 80), k=4, budget=70)
    exact = np.where(np.isnan(matrix[70:, :70]), -np.inf, matrix[70:, :70])
    np.testing.assert_array_equal(near.indices, np.argsort(-exact, axis=1)[:, :4])
    assert near.evaluations == len(counter.asked) == 700
    most = K.search(range(70, 80), k=65, budget=70)
    assert (most.indices[:, 60:] == -1).all()
    assert np.isnan(most.similarities[:, 60:]).all()
    assert (most.indices[:, :60] >= 0).all()
    assert len(K.nearest(item=75, k=65, budget=70).indices) == 60
    columns = np.arange(1, 70, 7)
    gone = set(columns[np.isnan(K.paid_in_row(own, columns))].tolist()) - {own}
    assert gone
    assert not gone & set(K.nearest(own, k=69, budget=70).indices.tolist())


@pytest.mark.parametrize("one", [True, False])
def test_money_is_a_budget_of_all_queries_together(one):
    matrix = symmetric_matrix(120, rank=6)
    counter = Counter(matrix)
    similarity = counter.similarity("pairs", cost="0.01 USD")
    K = fp.approximate(range(100), similarity, landmarks=15, error_pairs=0, random_state=0)
    counter.asked.clear()
    new = np.arange(100, 120)
    if one:
        near, plain = K.nearest(item=110, k=5, budget="0.30 USD"), 30
        again = K.nearest(item=110, k=5, budget=plain)
        assert K.nearest(3, k=5, budget="0.10 USD").evaluations == 10
    else:
        near, plain = K.search(new, k=5, budget="2.59 USD"), 12  # 259 of 20 queries
        again = K.search(new, k=5, budget=plain)
    assert near.evaluations == again.evaluations == plain * (1 if one else 20)
    np.testing.assert_array_equal(near.indices, again.indices)


def test_money_that_buys_nothing_is_refused_before_anything_is_bought():
    K, counter, new = counted()
    for ask in (lambda b: K.search(new, k=5, budget=b), lambda b: K.nearest(2, k=5, budget=b)):
        with pytest.raises(BudgetError, match="nobody has said what an evaluation costs"):
            ask("5 USD")
    with pytest.raises(BudgetError, match="A text is an amount of money"):
        K.search(new, k=5, budget="plenty")
    priced = fp.approximate(
        range(100), counter.similarity("pairs", cost="1 USD"), landmarks=15, error_pairs=0
    )
    counter.asked.clear()
    with pytest.raises(InputError, match="4 evaluations of each item pays for fewer than k=5"):
        priced.search(new, k=5, budget="99 USD")
    assert not counter.asked
