"""find_pairs: right pairs, true statements, budgets, faults."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter

import fewpairs as fp
from fewpairs.error.recall import state_recall
from fewpairs.errors import BudgetError, InputError, RecallMissedWarning, SimilarityError
from fewpairs.items.items import as_items


def clustered(n=150, groups=40, seed=0, noise=0.15):
    """A Gaussian similarity of items in groups, and vectors that hint at it."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(groups, 6))
    points = centres[rng.integers(groups, size=n)] + noise * rng.normal(size=(n, 6))
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    hints = points + 0.1 * rng.normal(size=points.shape)
    return np.exp(-distances), hints


def true_pairs(matrix, above, *, symmetric=True, square=True):
    i, j = np.nonzero(matrix >= above)
    keep = (i < j) if symmetric else (i != j) if square else np.ones(len(i), bool)
    return set(zip(i[keep].tolist(), j[keep].tolist(), strict=True))


def pairs_of(found):
    return set(zip(found.left.tolist(), found.right.tolist(), strict=True))


def test_every_pair_is_a_match_and_its_score_is_exact():
    matrix, hints = clustered()
    found = fp.find_pairs(
        range(150), fp.Precomputed(matrix), above=0.5, guide=hints, random_state=0
    )
    truth = true_pairs(matrix, 0.5)
    assert pairs_of(found) <= truth
    assert len(found) >= found.recall.low * len(truth)
    assert found.recall.low >= 0.95
    assert found.evaluations < 0.7 * 150 * 149 / 2
    np.testing.assert_array_equal(found.similarities, matrix[found.left, found.right])
    assert (np.diff(found.similarities) <= 0).all()


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_evaluations_are_those_that_the_similarity_has_seen(kind, symmetric):
    matrix, hints = clustered(80)
    if not symmetric:
        matrix = matrix + 0.1 * np.triu(np.random.default_rng(1).random((80, 80)))
    counter = Counter(matrix)
    found = fp.find_pairs(
        range(80),
        counter.similarity(kind, symmetric=symmetric),
        above=0.5,
        guide=hints,
        random_state=0,
    )
    assert found.evaluations == len(counter.asked) == sum(found.spent.values())
    assert pairs_of(found) <= true_pairs(matrix, 0.5, symmetric=symmetric)
    assert not symmetric or (found.left < found.right).all()


@pytest.mark.parametrize("budget", [1, 7, 50, 400, 0.1, 0.5])
@pytest.mark.parametrize("guide", [True, False])
@pytest.mark.parametrize("others", [True, False])
def test_a_budget_is_never_exceeded(budget, guide, others):
    matrix, hints = clustered(70)
    counter = Counter(matrix)
    sets = {"others": range(40)} if others else {}
    given = (hints, hints[:40]) if others else hints
    found = fp.find_pairs(
        range(70),
        counter.similarity("pairs", symmetric=True),
        above=0.5,
        budget=budget,
        guide=given if guide else None,
        random_state=1,
        **sets,
    )
    everything = 70 * 40 if others else 70 * 69 // 2
    allowed = budget if isinstance(budget, int) else int(budget * everything)
    assert len(counter.asked) == found.evaluations <= allowed
    # And is used: what is left was drawn blindly before the search has reached it.
    assert found.evaluations >= 0.9 * allowed
    square = not others
    truth = true_pairs(matrix[:, :40] if others else matrix, 0.5, symmetric=square, square=square)
    assert pairs_of(found) <= truth
    assert found.recall.low <= len(found) / len(truth) + 1e-12


def test_landmarks_that_come_after_the_draw_leave_it_paid_for():
    """The guide tells groups of four and nothing of the rest, which blind pairs meet."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 4)
    matrix = (groups[:, None] == groups) * 1.0
    i, j = rng.integers(200, size=(2, 60))
    matrix[i, j] = matrix[j, i] = 1.0
    counter = Counter(matrix)
    hints = rng.normal(size=(50, 16))[groups] + 0.01 * rng.normal(size=(200, 16))
    found = fp.find_pairs(
        range(200),
        counter.similarity("pairs"),
        above=0.5,
        budget=5800,
        guide=hints,
        random_state=0,
    )
    assert found.spent["blind"] > 3000
    assert len(counter.asked) == found.evaluations <= 5800


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_check_of_symmetry_is_part_of_a_budget(share):
    matrix = np.triu(np.random.default_rng(0).random((20, 20)) < share, 1) * 1.0
    counter = Counter(matrix + matrix.T)
    found = fp.find_pairs(
        range(20), counter.similarity("pairs"), above=0.5, budget=150, guide=None, random_state=0
    )
    assert found.spent["symmetry"] == 16
    assert len(counter.asked) == found.evaluations <= 150


@pytest.mark.parametrize("spare", [0, 5, 9, 30])
@pytest.mark.parametrize("guide", [True, False])
def test_a_budget_of_all_pairs_pays_for_nothing_beside_them(spare, guide):
    matrix = np.eye(40)
    matrix[0, 1] = matrix[1, 0] = 1.0
    counter = Counter(matrix)
    hints = np.random.default_rng(2).normal(size=(40, 5)) if guide else None
    found = fp.find_pairs(
        range(40),
        counter.similarity("pairs"),
        above=0.5,
        budget=780 + spare,
        guide=hints,
        random_state=2,
    )
    assert len(counter.asked) == found.evaluations <= 780 + spare
    assert found.recall.reached


def test_statements_are_true_with_a_poor_guide():
    matrix, hints = clustered(90, groups=25)
    truth = len(true_pairs(matrix, 0.6))
    spoilt = np.where(np.random.default_rng(2).random((90, 1)) < 0.3, 0.0, hints)
    spoilt += 1e-3 * np.random.default_rng(3).normal(size=hints.shape)
    false = 0
    for seed in range(40):
        found = fp.find_pairs(
            range(90), fp.Precomputed(matrix), above=0.6, guide=spoilt, random_state=seed
        )
        share = len(found) / truth
        false += not found.recall.low <= share <= found.recall.high
    assert false <= 6  # 2 are expected of 40, 7 or more have a chance below 0.5 %


def test_the_search_does_not_know_what_blind_pairs_hold():
    """Other blind pairs, the same order: what is reached after the draw does not depend on them."""
    matrix, hints = clustered(200, groups=20)
    vague = hints + 1.5 * np.random.default_rng(4).normal(size=hints.shape)
    orders, dug = [], []
    for seed in range(2):
        counter = Counter(matrix)
        run, universe = _run(counter, seed_of_blind=seed)
        run.carry_out([_guide(vague)])
        blind = {tuple(map(int, universe.places(key))) for key in run._drawing.first.keys}
        orders.append([pair for pair in counter.asked if pair not in blind])
        dug.append(len(orders[-1]) - run._ranked_at_draw)
    first, second = orders
    both = set(first) & set(second)
    assert min(dug) > 100
    assert [pair for pair in first if pair in both] == [pair for pair in second if pair in both]


def _guide(hints):
    from fewpairs.guides.guides import as_guides

    items = fp.Oracle(range(len(hints)), fp.Precomputed(np.eye(len(hints)))).items
    return as_guides(hints, items, None, fp.Precomputed(np.eye(2)))[0]


def _run(counter, seed_of_blind):
    from fewpairs.tasks.matching.running import Run
    from fewpairs.tasks.matching.threshold import Threshold
    from fewpairs.tasks.matching.universe import Universe

    n = len(counter.matrix)
    oracle = fp.Oracle(range(n), counter.similarity("pair"))
    universe = Universe(n, n, square=True, symmetric=True)
    run = Run(
        oracle, universe, Threshold(0.5, above=True), universe.size, 0.95, np.random.default_rng(0)
    )
    run._drawing._rng = np.random.default_rng(seed_of_blind)
    return run, universe


def test_the_same_seed_gives_the_same_result_whatever_the_threads():
    matrix, hints = clustered(100)
    results = [
        fp.find_pairs(
            range(100),
            Counter(matrix).similarity("pairs"),
            above=0.5,
            guide=hints,
            random_state=3,
            n_jobs=jobs,
        )
        for jobs in (1, 2, 1)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].left, other.left)
        np.testing.assert_array_equal(results[0].similarities, other.similarities)
        assert results[0].spent == other.spent


@pytest.mark.parametrize("fault", [3, 300, 900, 1500])
def test_after_a_fault_only_the_rest_is_paid_for(fault):
    matrix, hints = clustered(80)
    whole = Counter(matrix)
    options = {"above": 0.5, "guide": hints, "random_state": 5}
    uninterrupted = fp.find_pairs(range(80), whole.similarity("pair"), **options)
    fault = min(fault, len(whole.asked) - 1)
    counter = Counter(matrix)

    def failing(a, b):
        if len(counter.asked) == fault:
            counter.asked.append((-1, -1))
            raise OSError
        return counter.pair(a, b)

    similarity = fp.similarity(failing, kind="pair", symmetric=True, name="counter")
    with pytest.raises(SimilarityError) as caught:
        fp.find_pairs(range(80), similarity, **options)
    found = fp.find_pairs(caught.value.oracle, **options)
    np.testing.assert_array_equal(found.left, uninterrupted.left)
    np.testing.assert_array_equal(found.right, uninterrupted.right)
    assert str(found.recall) == str(uninterrupted.recall)
    assert len(counter.asked) <= len(whole.asked) + 2


def test_a_distance_has_its_threshold_above():
    matrix, hints = clustered()
    found = fp.find_pairs(
        range(150), fp.Precomputed(1 - matrix), below=0.5, guide=hints, random_state=0
    )
    assert pairs_of(found) <= true_pairs(matrix, 0.5)
    assert (np.diff(found.similarities) >= 0).all()
    assert found.recall.low >= 0.95


def test_texts_are_their_own_guide():
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnop"))
    names = ["".join(rng.choice(letters, 12)) for _ in range(200)]
    names += [name[:5] + "x" + name[6:] for name in names[:150]]
    similarity = fp.StringSimilarity("levenshtein")
    found = fp.find_pairs(names, similarity, above=0.9, all_pairs=False, random_state=0)
    assert len(pairs_of(found) & {(k, 200 + k) for k in range(150)}) >= 148
    assert found.spent["ranked"] < 0.1 * 350 * 349 / 2
    assert found.recall.reached


@pytest.mark.parametrize(
    ("matrix", "above"),
    [
        (np.eye(40), 0.5),
        (np.ones((40, 40)), 0.5),
        (np.zeros((40, 40)), 0.5),
        (np.ones((1, 1)), 0.5),
        (np.ones((2, 2)), 0.5),
        (np.eye(3), 0.5),
        (np.kron(np.eye(2), np.ones((20, 20))), 1.0),
        (np.linspace(0, 1, 1600).reshape(40, 40), 2.0),
    ],
)
def test_hard_cases_state_the_truth(matrix, above):
    matrix = (matrix + matrix.T) / 2
    truth = true_pairs(matrix, above)
    n = len(matrix)
    for guide in (None, np.zeros((n, 3)), np.random.default_rng(0).normal(size=(n, 3))):
        found = fp.find_pairs(
            range(n), fp.Precomputed(matrix), above=above, guide=guide, random_state=0
        )
        assert pairs_of(found) <= truth
        share = len(found) / len(truth) if truth else 1.0
        assert found.recall.low <= share <= found.recall.high
        assert len(truth) > 20 or pairs_of(found) == truth


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either above= or below="),
        ({"above": 0.5, "below": 0.5}, "either above= or below="),
        ({"above": "high"}, "threshold is 'high'"),
        ({"above": float("nan")}, "threshold is nan"),
        ({"above": 0.5, "recall": 1.0}, "recall is 1.0"),
        ({"above": 0.5, "guide": "minilm"}, "guide is 'minilm'"),
        ({"above": 0.5, "guide": np.zeros((3, 2))}, "shape"),
        ({"above": 0.5, "guide": np.full((5, 2), np.nan)}, "not finite"),
        ({"above": 0.5, "guide": (np.ones((5, 2)), np.ones((5, 2)))}, "a pair of tables"),
        ({"above": 0.5, "ids": list("abcd")}, "4 entries for 5 items"),
        ({"above": 0.5, "ids": list("abcda")}, "'a' more than once"),
        ({"above": 0.5, "one_to_one": True}, "within one set"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_bought(options, message):
    counter = Counter(np.eye(5))
    with pytest.raises(InputError, match=message):
        fp.find_pairs(range(5), counter.similarity("pair"), **options)
    assert not counter.asked


def test_a_recall_that_is_not_reached_is_told(monkeypatch):
    """Too few matches for a statement, and too many pairs to evaluate all unasked."""
    from fewpairs.tasks.matching import all_pairs

    monkeypatch.setattr(all_pairs, "_FEW", 100)
    matrix = np.eye(200)
    matrix[0, 1] = matrix[1, 0] = 1.0
    hints = np.random.default_rng(0).normal(size=(200, 4))
    hints[1] = hints[0]
    with pytest.warns(RecallMissedWarning, match=r"0\.95 cannot be stated"):
        found = fp.find_pairs(
            range(200), fp.Precomputed(matrix), above=0.5, guide=hints, random_state=0
        )
    assert pairs_of(found) == {(0, 1)}
    assert not found.recall.reached


@pytest.mark.parametrize("wrong", [{"above": 80}, {"below": -1}])
def test_a_threshold_out_of_range_is_refused(wrong):
    with pytest.raises(InputError, match="between 0 and 1"):
        fp.find_pairs(["a", "b"], fp.StringSimilarity("jaro"), **wrong)


def test_a_function_that_ends_the_program_is_a_fault():
    def leaving(a, b):
        raise SystemExit(0)

    similarity = fp.similarity(leaving, kind="pair", symmetric=True)
    with pytest.raises(SimilarityError, match="SystemExit"):
        fp.find_pairs(range(5), similarity, above=0.5)


def test_a_second_draw_is_fresh_more_careful_and_loses_nothing():
    from fewpairs.tasks.matching.blind import Blind
    from fewpairs.tasks.matching.labels import Labels
    from fewpairs.tasks.matching.threshold import Threshold
    from fewpairs.tasks.matching.universe import Universe

    matrix, _ = clustered(120)
    oracle = fp.Oracle(range(120), fp.Precomputed(matrix))
    universe, threshold = Universe(120, 120, square=True, symmetric=True), Threshold(0.5, True)
    rng = np.random.default_rng(0)
    first = Blind(oracle, universe, threshold, Labels(), 2000, rng)
    second = Blind(oracle, universe, threshold, Labels(), 2000, rng, taken=first.keys)
    assert not set(first.keys) & set(second.keys)
    assert set(second.found(first.matches)) == set(first.matches) | set(second.matches)
    both = np.concatenate([first.matches, second.matches])
    facts = {"rest": 7140 - 2000, "drawn": 2000, "missed": len(second.matches), "left": 3140}
    lows = [
        state_recall(len(both), **facts, pairs=7140, met=0, tails=tails).low
        for tails in ((0.0025, 0.0), (0.045, 0.0))
    ]
    assert second.state(0.95, both).low == lows[0] < lows[1]


def test_the_search_learns_what_the_guide_does_not_say():
    """Matches lie on a few items, which the guide knows nothing of; what was found tells."""
    rng = np.random.default_rng(0)
    hints = rng.normal(size=(300, 5))
    hub = np.arange(300) < 12
    matrix = (hub[:, None] | hub[None]) * 0.9 + 0.05 * rng.random((300, 300))
    matrix = (matrix + matrix.T) / 2
    found = fp.find_pairs(
        range(300), fp.Precomputed(matrix), above=0.5, guide=hints, random_state=0
    )
    share = hub.sum() * 300 / (300 * 299 / 2)
    assert len(found) > 0.9 * (12 * 288 + 66)
    assert found.spent["ranked"] + found.spent["landmarks"] < 4 * share * 300 * 299 / 2


def test_a_guide_may_be_a_list_of_rows():
    matrix, hints = clustered(60)
    found = [
        fp.find_pairs(range(60), fp.Precomputed(matrix), above=0.5, guide=guide, random_state=0)
        for guide in (hints, hints.tolist(), list(hints), [hints], [hints.tolist()])
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].left, other.left)
        assert found[0].spent == other.spent


def test_rows_of_a_guide_are_as_long():
    with pytest.raises(InputError, match="different lengths"):
        fp.find_pairs(range(3), fp.Precomputed(np.eye(3)), above=0.5, guide=[[1.0], [1, 2], [3]])


@pytest.mark.parametrize("find", [fp.find_pairs, fp.find_nearest])
def test_a_share_is_one_of_the_pairs_that_can_be_asked_for(find):
    """Half of all pairs: nobody is asked for an item with itself."""
    asked = []
    options = {} if find is fp.find_nearest else {"above": 0.99}
    for budget in (0.5, 780 // 2):
        counter = Counter(clustered(40)[0])
        similarity = counter.similarity("pairs")
        find(range(40), similarity, budget=budget, guide=None, random_state=0, **options)
        asked.append(list(counter.asked))
    assert asked[0] == asked[1]
    assert len(asked[0]) <= 390


def test_a_share_of_all_pairs_is_below_one():
    with pytest.raises(BudgetError, match=r"budget is 1\.0"):
        fp.find_pairs(range(3), fp.Precomputed(np.eye(3)), above=0.5, budget=1.0)


def test_a_budget_of_all_pairs_is_no_limit():
    matrix, _ = clustered(60)
    found = fp.find_nearest(range(60), fp.Precomputed(matrix), k=2, budget=60 * 59 // 2)
    assert found.recall.complete


@pytest.mark.parametrize("power", [-1000, 1020])
def test_vectors_of_any_size_are_the_same_guide(power):
    from fewpairs.guides.guides import as_guides

    vectors = np.abs(np.random.default_rng(0).normal(size=(30, 5)))
    plain, scaled = (
        as_guides("auto", as_items(part), None, fp.VectorSimilarity("cosine"))
        for part in (vectors, np.ldexp(vectors, power))
    )
    for one, other in zip(plain, scaled, strict=True):
        assert np.isfinite(other.left).all()
        np.testing.assert_array_equal(one.left, other.left)
        np.testing.assert_array_equal(one.right, other.right)


def test_two_sets_of_vectors_of_different_widths_have_no_guide_of_their_own():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(8, 3)), rng.normal(size=(6, 5))
    alike = fp.similarity(lambda a, b: a[0] * b[0], kind="pair", symmetric=False)
    found = fp.find_pairs(left, alike, others=right, above=0.5)
    assert len(found) == (np.outer(left[:, 0], right[:, 0]) >= 0.5).sum()


@pytest.mark.parametrize("budget", [0.2, 0.5, 0.9])
def test_a_histogram_counts_all_pairs_also_those_that_were_reached(budget):
    """Blind pairs are drawn from the rest, which holds fewer of the similar ones."""
    points = np.random.default_rng(0).normal(size=(150, 3))
    matrix = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2) / 4)
    values = matrix[np.triu_indices(150, 1)]
    told, true = np.zeros(4), np.zeros(4)
    for seed in range(10):
        found = fp.find_pairs(
            range(150),
            fp.Precomputed(matrix),
            above=0.7,
            guide=points,
            budget=budget,
            random_state=seed,
        )
        shown = found.histogram(4)
        told += shown.expected
        true += np.histogram(values, shown.edges)[0]
        assert shown.expected.sum() == pytest.approx(len(values))
    np.testing.assert_allclose(told, true, rtol=0.12)
