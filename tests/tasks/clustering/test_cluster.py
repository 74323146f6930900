"""cluster(): what it merges, what it may spend, and what it states."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from examples import Counter
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import fewpairs as fp
from fewpairs.cli.grouping import _averaged
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.files import scratch
from fewpairs.tasks.clustering import stating
from fewpairs.tasks.clustering.decisions import Decisions, Noise
from fewpairs.tasks.clustering.pairs import Pairs
from fewpairs.tasks.clustering.spending import noise_of


def blobs(n=240, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n // 6, 6))
    x = centres[rng.integers(len(centres), size=n)] + 0.3 * rng.normal(size=(n, 6))
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    return np.exp(-0.2 * squares)


def exact_clusters(dense, threshold):
    distances = 1 - dense
    np.fill_diagonal(distances, 0)
    return (
        AgglomerativeClustering(
            None, metric="precomputed", linkage="average", distance_threshold=1 - threshold
        )
        .fit(distances)
        .labels_
    )


def pairwise(dense, labels, threshold):
    upper = np.triu_indices(len(dense), 1)
    match, same = dense[upper] >= threshold, (labels[:, None] == labels)[upper]
    return np.sum(match & same) / max(same.sum(), 1), np.sum(match & same) / max(match.sum(), 1)


# ---------------------------------------------------------------------- of a matrix


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.9])
def test_clusters_of_a_matrix_are_those_of_the_dense_one(threshold):
    dense = blobs()
    matrix = fp.approximate(range(240), fp.Precomputed(dense), landmarks=40, random_state=0)
    clusters = fp.cluster(matrix, threshold=threshold)
    whole = matrix.to_dense()
    assert adjusted_rand_score(clusters.labels, exact_clusters(whole, threshold)) == 1
    assert clusters.evaluations == matrix.evaluations
    assert clusters.precision is None
    assert clusters.undecided is not None
    assert clusters.merges.min() >= threshold


def test_a_matrix_without_a_stated_error_does_not_know_what_is_undecided():
    clusters = fp.cluster(FactoredMatrix(np.eye(4), np.eye(4)), threshold=0.5)
    assert clusters.undecided is None
    assert clusters.labels.tolist() == [0, 1, 2, 3]


def test_a_better_matrix_leaves_fewer_undecided():
    dense = blobs(400)
    counts = [
        fp.cluster(
            fp.approximate(range(400), fp.Precomputed(dense), landmarks=s, random_state=0),
            threshold=0.5,
        ).undecided
        for s in (15, 60, 400)
    ]
    assert counts[0] > counts[1] > counts[2] == 0


def skewed(n=120, seed=0):
    return blobs(n, seed) * np.random.default_rng(seed).uniform(0.8, 1, (n, n))


@pytest.mark.parametrize("landmarks", [20, 120])
def test_an_asymmetric_matrix_is_clustered_by_the_mean_of_both_orders_and_says_so(landmarks):
    matrix = fp.approximate(
        range(120),
        fp.Precomputed(skewed(), symmetric=False),
        landmarks=landmarks,
        error_pairs=0,
        random_state=0,
    )
    clusters = fp.cluster(matrix, threshold=0.5)
    dense = matrix.to_dense()
    wanted = exact_clusters((dense + dense.T) / 2, 0.5)
    assert adjusted_rand_score(clusters.labels, wanted) == 1
    assert clusters.symmetrized
    assert clusters.exact_sums
    even = fp.approximate(range(120), fp.Precomputed(blobs(120)), landmarks=20, random_state=0)
    assert not fp.cluster(even, threshold=0.5).symmetrized


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_run_says_whether_it_has_clustered_the_mean_of_both_orders(symmetric):
    similarity = fp.Precomputed(blobs(60) if symmetric else skewed(60), symmetric=symmetric)
    clusters = fp.cluster(range(60), similarity, threshold=0.5, random_state=0)
    assert clusters.symmetrized != symmetric


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_of_an_asymmetric_similarity_is_known_by_half(monkeypatch, seed):
    dense, seen = skewed(60, seed), []
    counted = stating._count_known
    monkeypatch.setattr(stating, "_count_known", lambda *args: seen.append(args) or counted(*args))
    similarity = fp.Precomputed(dense, symmetric=False)
    fp.cluster(range(60), similarity, threshold=0.5, budget=1400, random_state=seed)
    ((pairs, _, _),) = seen
    i, j = np.triu_indices(60, 1)
    values = pairs.known.find(i, j)
    known = ~np.isnan(values)
    assert 100 < known.sum() <= 1400 / 2  # both orders of each were paid for
    np.testing.assert_allclose(values[known], ((dense + dense.T) / 2)[i, j][known])


def test_an_oracle_of_single_orders_is_refused():
    oracle = fp.Oracle(range(60), fp.Precomputed(skewed(60), symmetric=False))
    with pytest.raises(fp.errors.InputError, match="not symmetric"):
        fp.cluster(oracle, threshold=0.5)
    assert oracle.evaluations == 0


def test_the_noise_of_a_matrix_is_what_its_unseen_entries_are_off_by():
    dense = blobs(300)
    for landmarks in (20, 80):
        matrix = fp.approximate(
            range(300),
            fp.Precomputed(dense),
            landmarks=landmarks,
            error_pairs=10_000,
            random_state=0,
        )
        i, j = np.indices(dense.shape).reshape(2, -1)
        unseen = np.isnan(matrix.known.find(i, j))
        off = (matrix.to_dense() - dense).ravel()[unseen]
        noise = noise_of(matrix, np.random.default_rng(0))
        assert noise == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.1)


@pytest.mark.parametrize("value", [1.0, 0.7, 0.1])
def test_averages_that_equal_the_threshold_reach_it(value):
    kind = np.random.default_rng(1).integers(12, size=90)
    dense = np.where(kind[:, None] == kind, value, 0.0)
    np.fill_diagonal(dense, 1)
    similarity = fp.Precomputed(dense)
    matrix = fp.approximate(range(90), similarity, landmarks=60, random_state=0, error_pairs=0)
    for clusters in (
        fp.cluster(range(90), similarity, threshold=value, random_state=0),
        fp.cluster(matrix, threshold=value),
        fp.cluster(fp.approximate(range(90), fp.Precomputed(-dense), landmarks=90), below=-value),
    ):
        assert adjusted_rand_score(clusters.labels, kind) == 1
    model = fp.FactoredAgglomerative(threshold=value).fit(matrix)
    assert adjusted_rand_score(model.labels_, kind) == 1


@pytest.mark.parametrize("power", [-900, -50, 900])
def test_clusters_do_not_depend_on_the_scale(power):
    dense, at = blobs(80), 0.5
    call = {"budget": 1000, "random_state": 0}
    wanted = fp.cluster(range(80), fp.Precomputed(dense), threshold=at, **call)
    scaled, there = np.ldexp(dense, power), float(np.ldexp(at, power))
    found = fp.cluster(range(80), fp.Precomputed(scaled), threshold=there, **call)
    assert np.array_equal(found.labels, wanted.labels)
    assert (found.undecided, found.spent) == (wanted.undecided, wanted.spent)
    assert np.ldexp(found.noise, -power) == pytest.approx(wanted.noise)


@pytest.mark.parametrize("large", [1e14, 1e18])
def test_a_large_diagonal_is_nobodys_similarity(large):
    dense = blobs(60)
    wanted = exact_clusters(dense, 0.5)
    np.fill_diagonal(dense, large)
    matrix = fp.approximate(range(60), fp.Precomputed(dense), landmarks=60, error_pairs=0)
    assert adjusted_rand_score(fp.cluster(matrix, threshold=0.5).labels, wanted) == 1


def test_undecided_is_what_lies_within_two_deviations():
    noise = Noise(0.1, 0.36)
    # One pair is off by all of it; of many, what they have in common is left; known ones are not.
    off = noise.of_average(np.array([1.0, 1e12, 0.0, 1.0]), np.array([1.0, 1e12, 4.0, 4.0]))
    np.testing.assert_allclose(off, [0.1, 0.06, 0.0, 0.025], rtol=1e-5)
    none = np.empty((4, 2), dtype=np.int64)
    decisions = Decisions(np.arange(4), none, none, np.array([0.69, 0.63, 0.5, 0.54]), off)
    assert decisions.open_at(0.5).tolist() == [True, False, False, True]


def test_forms_of_the_answer(tmp_path):
    words = ["ape", "apes", "bee", "cat", "cats"]
    clusters = fp.cluster(words, fp.StringSimilarity(), threshold=0.7, ids=words)
    assert clusters.n_clusters == len(clusters) == 3
    assert clusters.sizes.tolist() == [2, 1, 2]
    assert clusters.groups() == [["ape", "apes"], ["cat", "cats"]]
    assert clusters.groups(1)[-1] == ["bee"]
    frame = clusters.to_pandas()
    assert list(frame.columns) == ["id", "cluster"]
    assert frame["id"].tolist() == words
    assert clusters.to_polars()["cluster"].to_list() == [0, 0, 1, 2, 2]
    clusters.to_csv(tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text().splitlines()[:2] == ["id,cluster", "ape,0"]
    assert "5 items in 3 clusters, 2 of more than one item" in repr(clusters)


def test_ids_of_a_matrix():
    matrix = FactoredMatrix(np.eye(3), np.eye(3))
    assert fp.cluster(matrix, threshold=-1, ids=["a", "b", "c"]).groups() == [["a", "b", "c"]]
    with pytest.raises(fp.errors.InputError, match="2 entries for 3 items"):
        fp.cluster(matrix, threshold=0, ids=["a", "b"])
    with pytest.raises(fp.errors.InputError, match="items are not there"):
        fp.cluster(matrix, threshold=0, ids="name")


# ---------------------------------------------------------------------- degenerate


def test_one_item_none_alike_all_alike():
    one = fp.cluster(["a"], fp.StringSimilarity(), threshold=0.5)
    assert one.labels.tolist() == [0]
    assert one.evaluations == 0
    assert fp.cluster(FactoredMatrix(np.ones((1, 1)), np.eye(1)), threshold=0).n_clusters == 1
    matrix = FactoredMatrix(np.eye(50), np.eye(50))
    assert fp.cluster(matrix, threshold=0.5).n_clusters == 50
    assert fp.cluster(matrix, threshold=-7).n_clusters == 1
    assert fp.cluster(matrix, threshold=7).n_clusters == 50


def test_all_single_items_have_no_precision_to_state():
    clusters = fp.cluster(["ab", "cd", "ef"], fp.StringSimilarity(), threshold=0.9)
    assert clusters.n_clusters == 3
    assert np.isnan(clusters.precision.value)
    assert clusters.recall.value == 1


def test_where_no_match_was_met_the_recall_is_unknown():
    clusters = fp.cluster(
        range(60), fp.Precomputed(np.eye(60)), threshold=0.5, budget=0.3, random_state=0
    )
    assert clusters.n_clusters == 60
    assert np.isnan(clusters.recall.value)
    assert (clusters.recall.low, clusters.recall.high) == (0, 1)
    assert "recall unknown" in repr(clusters)


def test_thresholds_that_a_similarity_cannot_reach_are_refused():
    with pytest.raises(fp.errors.InputError, match="lies between 0 and 1") as refused:
        fp.cluster(["a", "b", "c"], fp.StringSimilarity(), threshold=1.5)
    assert "above=" not in str(refused.value)  # an argument that cluster does not have


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either threshold= or below="),
        ({"threshold": 1, "below": 1}, "either threshold= or below="),
        ({"threshold": "high"}, "threshold is 'high'"),
        ({"threshold": float("nan")}, "threshold is nan"),
    ],
)
def test_thresholds_without_a_meaning(arguments, message):
    with pytest.raises(fp.errors.InputError, match=message):
        fp.cluster(FactoredMatrix(np.eye(3), np.eye(3)), **arguments)


def test_a_matrix_takes_nothing_to_evaluate_with():
    with pytest.raises(fp.errors.InputError, match="need no evaluations"):
        fp.cluster(FactoredMatrix(np.eye(3), np.eye(3)), threshold=1, budget=100)


def test_a_budget_below_one_landmark_is_refused():
    with pytest.raises(fp.errors.BudgetError, match="a budget of 50 evaluations"):
        fp.cluster(range(240), fp.Precomputed(blobs()), threshold=0.5, budget=50)


@pytest.mark.parametrize("n", [3, 12, 60])
@pytest.mark.parametrize(("symmetric", "diagonal"), [(True, 1.0), (True, None), (False, None)])
def test_a_budget_that_is_advised_is_enough(n, symmetric, diagonal):
    similarity = fp.similarity(
        lambda a, b: 1 / (1 + abs(a - b)), kind="pair", symmetric=symmetric, diagonal=diagonal
    )
    with pytest.raises(fp.errors.BudgetError, match="Raise it to") as refused:
        fp.cluster(range(n), similarity, threshold=0.4, budget=1)
    advised = int(re.findall(r"Raise it to ([\d,]+)", str(refused.value))[0].replace(",", ""))
    clusters = fp.cluster(range(n), similarity, threshold=0.4, budget=advised, random_state=0)
    assert clusters.evaluations <= advised <= n * (n + 1) // 2 * (1 if symmetric else 2)


@pytest.mark.parametrize("of_matrix", [True, False])
@pytest.mark.parametrize(
    ("argument", "message"),
    [({"n_jobs": 0}, "n_jobs is 0"), ({"progress": "x"}, "progress is 'x'")],
)
def test_means_without_a_meaning(of_matrix, argument, message):
    matrix, similarity = FactoredMatrix(np.eye(3), np.eye(3)), fp.Precomputed(np.eye(3))
    given = [matrix] if of_matrix else [range(3), similarity]
    with pytest.raises(fp.errors.InputError, match=message):
        fp.cluster(*given, threshold=1, **argument)


def test_a_guide_of_the_wrong_length_is_told_although_all_pairs_are_evaluated():
    with pytest.raises(fp.errors.InputError, match="for 120 items"):
        fp.cluster(range(120), fp.Precomputed(blobs(120)), threshold=0.5, guide=np.ones((5, 2)))


def test_nan_is_a_fault_or_skipped():
    dense = blobs(120)
    dense[3, 50] = dense[50, 3] = np.nan
    with pytest.raises(fp.errors.SimilarityError):
        fp.cluster(range(120), fp.Precomputed(dense), threshold=0.5)
    clusters = fp.cluster(
        range(120), fp.Precomputed(dense), threshold=0.5, on_nonfinite="skip", random_state=0
    )
    assert len(clusters.labels) == 120


# ---------------------------------------------------------------------- spending


@pytest.mark.parametrize("budget", [3000, 8000, 0.2])
@pytest.mark.parametrize("symmetric", [True, False])
def test_no_more_is_asked_for_than_the_budget(budget, symmetric):
    counter = Counter(blobs())
    similarity = counter.similarity("pair", symmetric=symmetric)
    clusters = fp.cluster(range(240), similarity, threshold=0.5, budget=budget, random_state=0)
    everything = 240 * 241 // 2 * (1 if symmetric else 2)
    most = budget if budget > 1 else int(budget * everything)
    assert len(counter.asked) == clusters.evaluations == sum(clusters.spent.values())
    assert clusters.evaluations <= most


def test_a_pair_without_a_value_is_asked_for_once(monkeypatch):
    dense, asked = blobs(150), []
    holes = np.triu(np.random.default_rng(0).random(dense.shape) < 0.2, 1)
    dense[holes | holes.T] = np.nan
    exact = Pairs.exact

    def noted(self, rows, columns):
        asked.extend(zip(np.minimum(rows, columns), np.maximum(rows, columns), strict=True))
        return exact(self, rows, columns)

    monkeypatch.setattr(Pairs, "exact", noted)
    fp.cluster(
        range(150),
        fp.Precomputed(dense),
        threshold=0.5,
        budget=0.4,
        on_nonfinite="skip",
        random_state=0,
    )
    assert len(set(asked)) == len(asked) > 500
    assert any(np.isnan(dense[i, j]) for i, j in asked)


def test_what_was_bought_stands_for_the_rest_between_the_same_clusters():
    similarity = fp.Precomputed(np.full((7, 7), 0.9))
    matrix = FactoredMatrix(np.zeros((7, 1)), np.eye(1))
    pairs = Pairs(fp.Oracle(range(7), similarity), matrix, 1)
    bought = np.array([0, 1]), np.array([3, 4])
    pairs.buy(*bought, groups=np.zeros(2, int), certain=np.array([0, 0, 0, 1, 1, 1, 2]))
    better = pairs.matrix(Noise(1.0, 0.5)).to_dense()
    # Two of nine pairs are 0.9 above their prediction; half of one's noise is common to all.
    wanted = np.zeros((7, 7))
    wanted[:3, 3:6] = 0.9 * 2 * 0.5 / 1.5
    wanted[bought] = 0.9
    np.testing.assert_allclose(np.triu(better), wanted)


@pytest.mark.parametrize("budget", [3000, 8000])
def test_blind_pairs_drawn_without_a_list_are_as_many_and_as_fair(monkeypatch, budget):
    dense = blobs()
    call = {"threshold": 0.5, "budget": budget, "random_state": 0}
    listed = fp.cluster(range(240), fp.Precomputed(dense), **call)
    monkeypatch.setattr(stating, "_LISTED", 0)
    drawn = fp.cluster(range(240), fp.Precomputed(dense), **call)
    assert drawn.spent == listed.spent  # none that was evaluated before, and none twice
    assert np.array_equal(drawn.labels, listed.labels)
    truth = pairwise(dense, drawn.labels, 0.5)
    for share, true in zip((drawn.precision, drawn.recall), truth, strict=True):
        assert share.low <= true <= share.high


@pytest.mark.parametrize("listed", [10**6, 0])
def test_blind_pairs_are_drawn_as_often_as_each_other(monkeypatch, listed):
    monkeypatch.setattr(stating, "_LISTED", listed)
    labels = np.repeat([0, 1, 2], [5, 4, 3])
    matrix = FactoredMatrix(np.zeros((12, 1)), np.eye(1))
    pairs = Pairs(fp.Oracle(range(12), fp.Precomputed(np.eye(12))), matrix, 1)
    same = np.triu(labels[:, None] == labels, 1)
    for draw, wanted in (
        (stating._draw_within, same),
        (stating._draw_between, np.triu(~(same | same.T | np.eye(12, dtype=bool)))),
    ):
        counts = np.zeros((12, 12))
        for seed in range(600):
            i, j = draw(pairs, labels, 5, np.random.default_rng(seed))
            assert len(i) == 5
            np.add.at(counts, (i, j), 1)
        assert not counts[~wanted].any()
        mean = 3000 / wanted.sum()
        assert np.abs(counts[wanted] - mean).max() < 5 * np.sqrt(mean)


def test_a_small_budget_leaves_merges_undecided_and_a_larger_one_fewer():
    dense = blobs()
    counts = [
        fp.cluster(
            range(240), fp.Precomputed(dense), threshold=0.5, budget=budget, random_state=0
        ).undecided
        for budget in (3000, 15_000)
    ]
    assert counts[0] > counts[1]
    assert counts[0] > 20


@pytest.mark.parametrize("budget", [3000, 9000])
def test_every_pair_that_was_asked_for_in_vain_is_counted_once(budget):
    dense, holes = blobs(150), set()
    lost = np.triu(np.random.default_rng(0).random(dense.shape) < 0.2, 1)
    dense[lost | lost.T] = np.nan

    def value(i, j):
        if np.isnan(dense[i, j]):
            holes.add((min(i, j), max(i, j)))
        return dense[i, j]

    similarity = fp.similarity(value, kind="pair", symmetric=True, diagonal=1.0)
    clusters = fp.cluster(
        range(150),
        similarity,
        threshold=0.5,
        budget=budget,
        on_nonfinite="skip",
        random_state=0,
    )
    assert clusters.spent["blind"] > 100
    assert clusters.skipped == len(holes) > 300


@pytest.mark.filterwarnings("ignore::fewpairs.errors.ErrorEstimateWarning")
@pytest.mark.parametrize("kind", ["pair", "block"])
@pytest.mark.parametrize("diagonal", [None, 1.0])
def test_all_that_is_allowed_is_enough_and_no_more_is_asked_for(kind, diagonal):
    # Of more than 512 items, a block similarity is asked for some pairs in both orders.
    dense = blobs(520)
    counter = Counter(dense)
    similarity = counter.similarity(kind, diagonal=diagonal)
    pairs = 520 * 519 // 2
    call = {"threshold": 0.5, "random_state": 0}
    clusters = fp.cluster(range(520), similarity, budget=pairs + 520, **call)
    assert len(counter.asked) == clusters.evaluations <= pairs + 520
    assert adjusted_rand_score(clusters.labels, exact_clusters(dense, 0.5)) > 0.99
    if kind == "pair" and diagonal is not None:
        whole = fp.cluster(range(520), similarity, budget=pairs, **call)
        assert whole.evaluations == pairs
        assert whole.recall.low == whole.recall.high


def test_a_share_is_one_of_all_pairs_as_find_pairs_counts_them():
    counter = Counter(blobs(30))
    fp.cluster(range(30), counter.similarity("pair", diagonal=1.0), threshold=0.5, budget=0.5)
    assert len(counter.asked) <= 0.5 * 30 * 29 / 2


def test_with_all_pairs_the_clusters_are_exact():
    dense = blobs()
    clusters = fp.cluster(range(240), fp.Precomputed(dense), threshold=0.5, budget=10**6)
    assert adjusted_rand_score(clusters.labels, exact_clusters(dense, 0.5)) == 1
    precision, recall = pairwise(dense, clusters.labels, 0.5)
    assert clusters.precision == (precision,) * 3
    assert clusters.recall == (recall,) * 3
    assert clusters.undecided == 0


def test_spending_on_decisions_is_better_than_none():
    gains = []
    for seed in range(3):
        dense = blobs(400, seed)
        truth = exact_clusters(dense, 0.7)
        similarity = fp.Precomputed(dense)
        spent = fp.cluster(range(400), similarity, threshold=0.7, budget=0.2, random_state=seed)
        plain = fp.cluster(
            fp.approximate(range(400), similarity, budget=0.2, random_state=seed), threshold=0.7
        )
        assert spent.evaluations <= 0.2 * 400 * 401 / 2
        scores = [adjusted_rand_score(truth, result.labels) for result in (spent, plain)]
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 0.02


def test_the_same_seed_gives_the_same_clusters():
    dense = blobs()
    one, other = (
        fp.cluster(range(240), fp.Precomputed(dense), threshold=0.5, budget=0.2, random_state=3)
        for _ in range(2)
    )
    assert np.array_equal(one.labels, other.labels)
    assert one.recall == other.recall


def test_distances_below():
    dense = blobs()
    far = fp.cluster(range(240), fp.Precomputed(1 - dense), below=0.5, budget=0.4, random_state=3)
    assert adjusted_rand_score(far.labels, exact_clusters(dense, 0.5)) > 0.85
    assert far.merges.max() <= 0.5
    assert far.precision.low <= pairwise(dense, far.labels, 0.5)[0] <= far.precision.high
    whole = fp.cluster(range(240), fp.Precomputed(1 - dense), below=0.5, budget=10**6)
    assert adjusted_rand_score(whole.labels, exact_clusters(dense, 0.5)) == 1


def test_a_journal_pays_once(tmp_path):
    counter = Counter(blobs(100))
    similarity = counter.similarity("pair", version="1")
    call = {"threshold": 0.5, "budget": 2500, "random_state": 0, "journal": tmp_path / "paid"}
    first = fp.cluster(range(100), similarity, **call)
    asked = len(counter.asked)
    again = fp.cluster(range(100), similarity, **call)
    assert len(counter.asked) <= asked + 8  # a few are asked again, whether they are the same
    assert np.array_equal(first.labels, again.labels)


def test_stated_intervals_hold():
    wrong = np.zeros(2)
    runs = 30
    for seed in range(runs):
        dense = blobs(150, seed)
        clusters = fp.cluster(
            range(150), fp.Precomputed(dense), threshold=0.5, budget=0.25, random_state=seed
        )
        truth = pairwise(dense, clusters.labels, 0.5)
        for k, share in enumerate((clusters.precision, clusters.recall)):
            wrong[k] += not share.low - 1e-12 <= truth[k] <= share.high + 1e-12
    assert wrong.max() <= 5  # of 30 at 5 %: more has a chance below 0.002


# ---------------------------------------------------------------------- of found pairs


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
def test_average_linkage_of_found_pairs_is_that_of_all(threshold):
    dense = blobs()
    found = fp.find_pairs(range(240), fp.Precomputed(dense), above=threshold, all_pairs=True)
    labels = found.averaged_groups()
    assert adjusted_rand_score(labels, exact_clusters(dense, threshold)) == 1
    assert labels[0] == 0


def test_average_linkage_of_found_pairs_of_a_distance():
    dense = 1 - blobs()
    found = fp.find_pairs(range(240), fp.Precomputed(dense), below=0.5, all_pairs=True)
    assert adjusted_rand_score(found.averaged_groups(), exact_clusters(1 - dense, 0.5)) == 1


def test_average_linkage_of_found_pairs_is_by_the_mean_of_both_orders():
    dense = skewed()
    found = fp.find_pairs(
        range(120), fp.Precomputed(dense, symmetric=False), above=0.5, all_pairs=True
    )
    wanted = exact_clusters((dense + dense.T) / 2, 0.5)
    assert adjusted_rand_score(found.averaged_groups(), wanted) == 1


def test_average_linkage_of_found_pairs_keeps_a_budget():
    place = np.arange(40.0)
    dense = np.exp(-0.1 * np.abs(place[:, None] - place))
    vectors = np.column_stack([np.cos(place / 40), np.sin(place / 40)])
    found = fp.find_pairs(
        range(40), fp.Precomputed(dense), above=0.85, budget=300, guide=vectors, random_state=0
    )
    before = found.oracle.evaluations
    with pytest.raises(fp.errors.BudgetError, match="3 are left"):
        found.averaged_groups(budget=3)
    assert found.oracle.evaluations == before
    assert len(found.averaged_groups(budget=780)) == 40


def test_the_command_spends_on_groups_what_is_left_of_a_share_of_all_pairs():
    asked = []
    found = SimpleNamespace(
        oracle=fp.Oracle(range(20), fp.Precomputed(np.eye(20))),
        evaluations=40,
        recall=SimpleNamespace(pairs=190),
        averaged_groups=asked.append,
    )
    _averaged(found, 0.5)
    assert asked == [95 - 40]


@pytest.mark.parametrize("budget", [-1, 0.5, "5 USD", True])
def test_a_budget_of_averaged_groups_is_a_number_of_evaluations(budget):
    found = fp.find_pairs(range(60), fp.Precomputed(blobs(60)), above=0.5, random_state=0)
    with pytest.raises(fp.errors.BudgetError, match="how many more evaluations"):
        found.averaged_groups(budget)


@pytest.mark.parametrize("power", [-1000, 0, 1023])
def test_average_linkage_of_found_pairs_does_not_depend_on_the_scale(power):
    dense = np.ldexp(2 * blobs(60) - 1, power)
    threshold = float(np.ldexp(0.1, power))
    found = fp.find_pairs(range(60), fp.Precomputed(dense), above=threshold, random_state=0)
    exact = exact_clusters(2 * blobs(60) - 1, 0.1)
    assert adjusted_rand_score(found.averaged_groups(), exact) == 1


def test_linked_items_without_a_value_count_as_far():
    dense = np.eye(4)
    for (i, j), value in {(0, 1): 0.9, (1, 2): 0.8, (2, 3): 0.8, (0, 2): np.nan}.items():
        dense[i, j] = dense[j, i] = value
    similarity = fp.Precomputed(dense).with_patience(on_nonfinite="skip")
    found = fp.find_pairs(range(4), similarity, above=0.7, all_pairs=True)
    assert found.groups().tolist() == [0, 0, 0, 0]
    assert found.averaged_groups().tolist() == [0, 0, 1, 1]


def groups_with_holes(entries, n, **threshold):
    dense = np.full((n, n), 0.0 if "above" in threshold else 9.0)
    for (i, j), value in entries.items():
        dense[i, j] = dense[j, i] = value
    similarity = fp.Precomputed(dense).with_patience(on_nonfinite="skip")
    found = fp.find_pairs(range(n), similarity, all_pairs=True, **threshold)
    return found.averaged_groups().tolist()


def test_what_a_pair_without_a_value_counts_as_does_not_depend_on_other_items():
    ends = {(0, 1): 0.9, (1, 2): 0.9, (0, 2): np.nan}
    assert groups_with_holes(ends, 3, above=0.7) == [0, 0, 1]
    others = {(3, 4): 0.9, (4, 5): 0.75, (3, 5): -8.0}
    assert groups_with_holes(ends | others, 6, above=0.7)[:3] == [0, 0, 1]
    # As 0: beside two of 0.9 the average is 0.6.
    two = {(0, 1): 0.95, (0, 2): 0.95, (1, 2): 0.95, (0, 3): 0.9, (1, 3): 0.9, (2, 3): np.nan}
    assert groups_with_holes(two, 4, above=0.61) == [0, 0, 0, 1]
    assert groups_with_holes(two | {(4, 5): 9.0}, 6, above=0.59) == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize(
    ("values", "threshold", "together"),
    [
        ((2.0, 2.0), {"below": 2.9}, False),  # twice that: the average of 2.0 and 5.8 is 3.9
        ((0.1, 0.1), {"below": 2.9}, False),  # of 0.1 and 5.8 it is 2.95
        ((0.0, 0.0), {"below": 2.9}, True),  # and of 0.0 and 5.8 it is 2.9
        ((3.0, 3.0), {"above": 0.0}, True),  # 3 below 0
        ((2.9, 3.0), {"above": 0.0}, False),
        ((0.2, 0.3), {"above": -0.5}, True),  # of 0.2 and -1 it is -0.4
        ((-0.1, 0.3), {"above": -0.5}, False),
    ],
)
def test_a_pair_without_a_value_at_any_threshold(values, threshold, together, size):
    entries = {(0, 1): size * values[1], (1, 2): size * values[0], (0, 2): np.nan}
    name, at = next(iter(threshold.items()))
    found = groups_with_holes(entries, 3, **{name: size * at})
    assert found == ([0, 0, 0] if together else [0, 0, 1])


@pytest.mark.parametrize(("one", "other"), [(0.1, 0.7), (0.2, 0.4), (0.3, 0.5), (0.1, 0.9)])
def test_averages_of_found_pairs_that_equal_the_threshold_reach_it(one, other):
    entries = {(0, 1): 0.95, (0, 2): one, (1, 2): other}
    at = round((one + other) / 2, 3)
    assert groups_with_holes(entries, 3, above=at) == [0, 0, 0]
    assert groups_with_holes(entries, 3, above=at + 1e-9) == [0, 0, 1]


@pytest.mark.parametrize("min_samples", [1, 2, 4, 9])
@pytest.mark.parametrize("seed", range(4))
def test_communities_are_those_of_dbscan(min_samples, seed):
    dense = blobs(seed=seed)
    found = fp.find_pairs(range(240), fp.Precomputed(dense), above=0.6, all_pairs=True)
    distances = np.clip(1 - dense, 0, None)
    other = DBSCAN(eps=0.4, min_samples=min_samples, metric="precomputed").fit(distances)
    assert np.array_equal(found.communities(min_samples), other.labels_)


def test_communities_need_a_number():
    found = fp.find_pairs(["a", "b"], fp.StringSimilarity(), above=0.5)
    with pytest.raises(fp.errors.InputError, match="min_samples is 0"):
        found.communities(0)


def test_where_pairs_are_cheap_all_are_evaluated_and_clusters_are_exact():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(80, 6))
    points = centres[rng.integers(80, size=500)] + 0.3 * rng.normal(size=(500, 6))
    clusters = fp.cluster(points, "rbf", threshold=0.6, random_state=0)
    assert clusters.evaluations == 500 * 499 // 2 > 200 * 500
    dense = fp.approximate(points, "rbf", landmarks=500, random_state=0).to_dense()
    assert adjusted_rand_score(clusters.labels, exact_clusters(dense, 0.6)) == 1
    assert fp.cluster(points, "rbf", threshold=0.6, budget=0.5, random_state=0).evaluations < 62_500


def test_factors_on_disk_have_the_clusters_of_those_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "LARGE", 0.0)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 4))[rng.integers(60, size=1500)] + rng.normal(
        size=(1500, 4), scale=0.05
    )
    K = fp.approximate(
        points,
        fp.VectorSimilarity("rbf", gamma=0.5),
        landmarks=40,
        random_state=0,
        scratch=tmp_path,
    )
    assert scratch.is_on_disk(K.left)
    made, mapped = [], scratch._mapped
    monkeypatch.setattr(scratch, "_mapped", lambda *args: made.append(args) or mapped(*args))
    there = fp.cluster(K, threshold=0.6, max_memory="30 MB")
    # Vectors in the order of both signs, those vectors added up, whole lines, and averages.
    assert {(args[1], args[2]) for args in made} >= {(1500, 40)}
    assert len(made) >= 4
    in_memory = K._with(left=K.left.astype(np.float64), core=K.core, known=_in_memory(K.known))
    here = fp.cluster(in_memory, threshold=0.6)
    assert 20 < here.n_clusters < 200
    np.testing.assert_array_equal(there.labels, here.labels)
    np.testing.assert_allclose(there.tree.similarity, here.tree.similarity, atol=1e-9)
    assert not list(tmp_path.iterdir())


def _in_memory(known):
    columns = replace(known.columns, values=known.columns.values.astype(np.float64))
    return replace(known, columns=columns, rows=columns)


@pytest.mark.parametrize("above", [0.5, 0.0])
def test_links_of_which_only_one_order_has_a_value_are_far(above):
    values = np.array([[1.0, 0.9, -1.0], [np.nan, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    alike = fp.similarity(
        lambda a, b: values[np.ix_(a, b)], kind="block", symmetric=False, on_nonfinite="skip"
    )
    found = fp.find_pairs(range(3), alike, above=above, all_pairs=True)
    assert len(found) == 1
    assert found.averaged_groups().tolist() == [0, 1, 2]


def test_clusters_that_do_not_fit_are_refused_before_anything_is_bought():
    counter = Counter(np.ones((5000, 5000)))
    similarity = counter.similarity("block")
    model = fp.FactoredAgglomerative(threshold=0.5, similarity=similarity, landmarks=2)
    with fp.max_memory("3 MB"):
        with pytest.raises(fp.errors.MemoryCeilingError, match="sums over clusters"):
            fp.cluster(range(5000), similarity, threshold=0.5, budget=20_000)
        with pytest.raises(fp.errors.MemoryCeilingError, match="sums over clusters"):
            model.fit(np.arange(5000))
    assert not counter.asked
