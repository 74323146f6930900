"""Clusters of any matrix: merged as by brute force, within the budget, and truly stated."""

from __future__ import annotations

import warnings

import numpy as np
from examples import Counter
from hypothesis import given
from hypothesis import strategies as st
from limits import MOST_ITEMS
from matrix_strategies import SYMMETRIC, matrices
from promises import HELD, only_our_warnings
from sklearn.cluster import AgglomerativeClustering

import fewpairs as fp
from fewpairs.errors import BudgetError, SimilarityError

#: Sums of rounded numbers, beside the largest entry.
ROUNDING = 1e-9

shares = st.floats(0, 1)
seeds = st.integers(0, 2**32 - 1)
#: Squares of entries are in no error, but products of factors are: half of all exponents.
ordinary = matrices(least=2, most=min(MOST_ITEMS, 120)).filter(lambda m: abs(m.exponent) <= 140)


def off_diagonal(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


def threshold_of(matrix, share, *, between):
    """Return one of the entries, or a number between two of them."""
    entries = np.sort(off_diagonal(matrix))
    at = round(share * (len(entries) - 1))
    if between:
        return float(entries[at] / 2 + entries[max(at - 1, 0)] / 2)
    return float(entries[at])


def check_merges(matrix, children, averages, least):
    """Merge as the tree says: each average is right, and the best that there was; no more is left.

    The matrix has entries of the size of 1; where some are equal, any of the best will do. Return
    whether there were none.
    """
    n = len(matrix)
    sums, sizes = matrix.copy(), np.ones(n)
    place = {item: item for item in range(n)}  # of each cluster, a row of the sums
    alive = np.ones(n, dtype=bool)

    def best():
        means = sums / np.outer(sizes, sizes)
        means[~alive] = means[:, ~alive] = -np.inf
        np.fill_diagonal(means, -np.inf)
        return means

    clear = True
    for step, ((a, b), average) in enumerate(zip(children, averages, strict=True)):
        means, i, j = best(), place.pop(a), place.pop(b)
        clear &= (means > average - ROUNDING).sum() <= 2  # in both orders
        assert abs(means[i, j] - average) <= ROUNDING
        assert average >= means.max() - ROUNDING, "there was a better merge"
        assert average >= least - ROUNDING
        sums[i] += sums[j]
        sums[:, i] += sums[:, j]
        sizes[i] += sizes[j]
        alive[j] = False
        place[n + step] = i
    if alive.sum() < 2:
        return clear
    left = best().max()
    assert left <= least + ROUNDING, "one more merge reaches it"
    return clear and left < least - ROUNDING


def labels_by(children, n):
    """Return the first item of each item's cluster."""
    first = np.arange(n)
    members = {item: [item] for item in range(n)}
    for step, (a, b) in enumerate(children):
        members[n + step] = members.pop(a) + members.pop(b)
        first[members[n + step]] = min(members[n + step])
    return first


def same_partition(one, other):
    together = len(set(zip(one.tolist(), other.tolist(), strict=True)))
    return together == len(set(one.tolist())) == len(set(other.tolist()))


def unit_of(matrix):
    """Return a power of two near the largest entry of two different items."""
    return 2.0 ** np.frexp(np.abs(off_diagonal(matrix)).max(initial=0.0))[1]


@given(
    matrix=ordinary, landmarks=st.integers(1, 40), share=shares, between=st.booleans(),
    below=st.booleans(), known=st.booleans(),
)  # fmt: skip
def test_a_factored_matrix_is_clustered_as_its_entries_are(
    matrix, landmarks, share, between, below, known
):
    exact, n = matrix.make(), matrix.n
    symmetric = matrix.kind in SYMMETRIC
    with only_our_warnings():
        K = fp.approximate(
            range(n),
            Counter(exact).similarity("pairs", symmetric=symmetric),
            landmarks=min(landmarks, n),
            error_pairs=0,
            known="exact" if known else None,
            random_state=0,
        )
    dense = K.to_dense()
    dense = dense / 2 + dense.T / 2
    at = threshold_of(dense, share, between=between)
    unit, sign = unit_of(dense), -1 if below else 1
    dense, least = sign * dense / unit, sign * at / unit
    # What the diagonal or a factor is larger by than the entries is lost by rounding.
    size = max(
        np.abs(np.diag(dense)).max(), np.abs(K.left).max() ** 2 * np.abs(K.core).max() / unit
    )
    if not np.isfinite(size) or size > 1e6:
        return
    clusters = fp.cluster(K, **{"below" if below else "threshold": at})
    children = clusters.tree.children.tolist()
    clear = check_merges(dense, children, sign * clusters.merges / unit, least)
    assert same_partition(clusters.labels, labels_by(children, n))
    whole = fp.FactoredAgglomerative(1, small_is_near=below).fit(K)
    heights = sign * whole.similarities_ / unit
    whole_clear = check_merges(dense, whole.children_.tolist(), heights, -np.inf)
    distances = 10 - dense
    np.fill_diagonal(distances, 0)
    call = {"metric": "precomputed", "linkage": "average"}
    theirs = AgglomerativeClustering(None, **call, distance_threshold=10 - least).fit(distances)
    if whole_clear and n > 1:
        np.testing.assert_allclose(10 - theirs.distances_, heights, atol=ROUNDING)
    if clear and np.abs(heights - least).min(initial=1) > ROUNDING:
        assert same_partition(clusters.labels, theirs.labels_)


def tally(kind, share, true):
    if not np.isnan(true):
        place = "below" if true < share.low - 1e-12 else "above"
        holds = share.low - 1e-12 <= true <= share.high + 1e-12
        HELD[f"{kind} of clusters", "held" if holds else place] += 1


@given(
    matrix=matrices(most=min(MOST_ITEMS, 100)), share=shares, between=st.booleans(),
    below=st.booleans(), holes=st.sampled_from([0, 0, 0.05]), seed=seeds,
    budget=st.one_of(st.none(), st.floats(0.01, 0.99), st.integers(1, 6000)),
    diagonal=st.booleans(),
)  # fmt: skip
def test_a_run_keeps_its_budget_and_states_the_truth(
    matrix, share, between, below, holes, seed, budget, diagonal
):
    exact, n = matrix.make(), matrix.n
    symmetric = matrix.kind in SYMMETRIC
    mean = exact / 2 + exact.T / 2
    at = threshold_of(mean, share, between=between) if n > 1 else 0.0
    gone = np.random.default_rng(seed).random((n, n)) < holes
    shown = np.where(gone | gone.T, np.nan, exact)
    if diagonal:
        np.fill_diagonal(shown, exact[0, 0])
    counter = Counter(shown)
    facts = {"diagonal": float(exact[0, 0])} if diagonal else {}
    similarity = counter.similarity("pairs", symmetric=symmetric, on_nonfinite="skip", **facts)
    where = {"below" if below else "threshold": at}
    try:
        with only_our_warnings():
            clusters = fp.cluster(range(n), similarity, **where, budget=budget, random_state=seed)
    except BudgetError:
        assert not counter.asked, "refused after evaluations were bought"
        return
    except SimilarityError:
        assert holes  # too many, which is an outage
        return
    each = 1 if symmetric else 2
    pairs = n * (n - 1) // 2 * each
    everything = pairs + (0 if diagonal else n * each)
    assert len(counter.asked) == clusters.evaluations == sum(clusters.spent.values())
    if budget is not None:
        allowed = budget * pairs if isinstance(budget, float) else budget
        assert clusters.evaluations <= allowed
    # Numbered by their first items.
    _, first = np.unique(clusters.labels, return_index=True)
    assert np.array_equal(clusters.labels[np.sort(first)], np.arange(len(first)))
    check_statement(clusters, shown / 2 + shown.T / 2, at, below=below)
    if n > 1 and clusters.spent["matrix"] == everything and not np.isnan(shown).any():
        sign, unit = -1 if below else 1, unit_of(mean)
        scaled = sign * mean / unit
        averages = sign * clusters.merges / unit
        check_merges(scaled, clusters.tree.children.tolist(), averages, sign * at / unit)


def check_statement(clusters, mean, at, *, below):
    """A pair without a value is no match; where all was evaluated, what is stated is the truth."""
    upper = np.triu_indices(len(mean), 1)
    match = mean[upper] <= at if below else mean[upper] >= at
    same = (clusters.labels[:, None] == clusters.labels)[upper]
    precision = np.mean(match[same]) if same.any() else np.nan
    recall = np.sum(match & same) / match.sum() if match.any() else np.nan
    for kind, stated, true in (
        ("precision", clusters.precision, precision),
        ("recall", clusters.recall, recall),
    ):
        assert 0 <= stated.low <= stated.high <= 1
        if not np.isnan(stated.value):
            assert stated.low <= stated.value <= stated.high
        if stated.low == stated.high and not np.isnan(true):
            assert abs(stated.low - true) <= 1e-12, f"{kind} {stated}, and {true} is true"
        else:
            tally(kind, stated, true)


@given(
    matrix=matrices(least=2, most=min(MOST_ITEMS, 100)), share=shares, between=st.booleans(),
    below=st.booleans(),
)  # fmt: skip
def test_groups_of_found_pairs_are_those_of_all_pairs(matrix, share, between, below):
    exact, n = matrix.make(), matrix.n
    mean = exact / 2 + exact.T / 2
    at = threshold_of(mean, share, between=between)
    similarity = Counter(mean).similarity("pairs")
    where = {"below" if below else "above": at}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fp.find_pairs(range(n), similarity, **where, all_pairs=True)
    groups = found.averaged_groups()
    sign, unit = -1 if below else 1, unit_of(mean)
    scaled, least = sign * mean / unit, sign * at / unit
    np.fill_diagonal(scaled, 0)
    members = (groups[:, None] == np.unique(groups)).astype(float)
    sizes = members.sum(axis=0)
    averages = members.T @ scaled @ members / np.outer(sizes, sizes)
    np.fill_diagonal(averages, -np.inf)
    assert averages.max() <= least + ROUNDING, "two groups reach the threshold"
    K = fp.approximate(range(n), similarity, landmarks=n, error_pairs=0, random_state=0)
    clusters = fp.cluster(K, **{"below" if below else "threshold": at})
    merges = sign * clusters.merges / unit
    clear = check_merges(scaled, clusters.tree.children.tolist(), merges, least)
    if clear and np.abs(merges - least).min(initial=1) > ROUNDING:
        assert same_partition(groups, clusters.labels)
