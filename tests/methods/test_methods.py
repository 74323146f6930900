"""The papers' methods: equal to their formulas, exact where theory says so, at the stated price."""

from __future__ import annotations

import numpy as np
import pytest
from examples import (
    METHODS,
    SYMMETRIC_ONLY,
    Counter,
    asymmetric_matrix,
    relative,
    symmetric_matrix,
)

import fewpairs as fp
from fewpairs.methods.nystrom import smallest_eigenvalue

S = np.array([3, 17, 8, 25, 11, 30, 2, 19, 6, 14])


def fitted(matrix, method, **arguments):
    arguments = {"landmarks": S, "error_pairs": 0, "random_state": 0} | arguments
    return fp.approximate(range(len(matrix)), fp.Precomputed(matrix), method=method, **arguments)


# ------------------------------------------------------------------ against NumPy one-liners


def test_nystrom_is_its_formula():
    k = symmetric_matrix(40)
    c = k[:, S]
    assert np.allclose(fitted(k, "nystrom").to_dense(), c @ np.linalg.inv(c[S]) @ c.T, atol=1e-9)


@pytest.mark.parametrize("shift_columns", [True, False])
@pytest.mark.parametrize("method", ["sms", "sms-rescaled"])
def test_sms_is_algorithm_1(method, shift_columns):
    k = symmetric_matrix(40)
    # With oversampling 4 the larger square is the whole matrix, whatever is drawn.
    found = fitted(k, method, oversampling=4.0, shift_columns=shift_columns)
    shift = -1.5 * np.linalg.eigvalsh(k)[0]
    c = k[:, S].copy()
    square = c[S]
    core = np.linalg.inv(square + shift * np.eye(10))
    if method == "sms-rescaled":
        core /= np.linalg.norm(square, 2) / np.linalg.norm(square + shift * np.eye(10), 2)
    if shift_columns:
        c[S, np.arange(10)] += shift
    assert np.allclose(found.to_dense(), c @ core @ c.T, atol=1e-10)


def test_sms_does_not_shift_a_positive_matrix():
    z = np.random.default_rng(0).normal(size=(40, 15))
    k = z @ z.T
    assert np.allclose(fitted(k, "sms").to_dense(), fitted(k, "nystrom").to_dense(), atol=1e-8)


def test_skeleton_is_its_formula():
    for k in (symmetric_matrix(40), asymmetric_matrix(40)):
        s1, s2 = S[:5], S[5:]
        expected = k[:, s1] @ np.linalg.pinv(k[np.ix_(s2, s1)]) @ k[s2]
        assert np.allclose(fitted(k, "skeleton").to_dense(), expected, atol=1e-9)


def test_sicur_is_its_formula():
    for k in (symmetric_matrix(40), asymmetric_matrix(40)):
        s1 = S[:5]
        expected = k[:, s1] @ np.linalg.pinv(k[np.ix_(S, s1)]) @ k[S]
        assert np.allclose(fitted(k, "sicur").to_dense(), expected, atol=1e-9)


@pytest.mark.parametrize("same", [True, False])
def test_stacur_is_its_formula(same):
    for k in (symmetric_matrix(40), asymmetric_matrix(40)):
        s1, s2 = (S, S) if same else (S[:5], S[5:])
        c, r = k[:, s1], k[s2]
        core = 40 / len(s2) * np.linalg.inv(c.T @ c) @ c[s2].T
        assert np.allclose(fitted(k, "stacur", same=same).to_dense(), c @ core @ r, atol=1e-8)


def test_optimal_is_the_best_of_its_rank():
    for k in (symmetric_matrix(40), asymmetric_matrix(40)):
        found = fitted(k, "optimal", landmarks=7, allow_all_pairs=True, error_pairs=None)
        sizes = np.linalg.svd(k, compute_uv=False)
        floor = np.sqrt((sizes[7:] ** 2).sum() / (sizes**2).sum())
        assert relative(found.to_dense(), k) == pytest.approx(floor, rel=1e-10)
        assert found.error.value == pytest.approx(floor, rel=1e-8)
        assert found.error.n_pairs == 0


def test_lanczos_finds_the_smallest_eigenvalue():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(1600, 1600))
    a = a + a.T
    assert smallest_eigenvalue(a) == pytest.approx(np.linalg.eigvalsh(a)[0], rel=1e-7)


# ------------------------------------------------------------------ exact regimes


@pytest.mark.parametrize("seed", range(5))
def test_low_rank_is_recovered(seed):
    k = symmetric_matrix(50, seed=seed, rank=4)
    for method in ("nystrom", "skeleton", "sicur"):
        found = fp.approximate(
            range(50), fp.Precomputed(k), landmarks=12, method=method, random_state=seed
        )
        assert relative(found.to_dense(), k) < 1e-9
        assert found.error.value < 1e-9
    a = asymmetric_matrix(50, seed=seed, rank=4)
    for method in ("skeleton", "sicur"):
        found = fp.approximate(
            range(50), fp.Precomputed(a), landmarks=12, method=method, random_state=seed
        )
        assert relative(found.to_dense(), a) < 1e-9


def test_all_items_as_landmarks_is_exact():
    k = symmetric_matrix(30)
    assert relative(fitted(k, "nystrom", landmarks=30).to_dense(), k) < 1e-10
    for method in METHODS:
        found = fitted(k, method, landmarks=30, known="exact")
        assert np.array_equal(found.to_dense(), k)


def test_known_exact_puts_every_evaluated_entry_back():
    for k in (symmetric_matrix(40), asymmetric_matrix(40)):
        for method in METHODS:
            if method in SYMMETRIC_ONLY and not np.array_equal(k, k.T):
                continue
            counter = Counter(k)
            sim = counter.similarity("pair", symmetric=bool(np.array_equal(k, k.T)))
            found = fp.approximate(
                range(40), sim, landmarks=S, method=method, known="exact", error_pairs=0
            )
            i, j = np.array(counter.asked).T
            assert np.array_equal(found.entries(i, j), k[i, j])
            if sim.symmetric:
                assert np.array_equal(found.entries(j, i), k[j, i])
            plain = fp.approximate(
                range(40), sim, landmarks=S, method=method, error_pairs=0, random_state=0
            )
            seen = np.zeros(k.shape, dtype=bool)
            seen[i, j] = True
            if sim.symmetric:
                seen |= seen.T
            if method not in ("sms", "sms-rescaled"):  # their square is drawn anew
                assert np.allclose(found.to_dense()[~seen], plain.to_dense()[~seen])


# ------------------------------------------------------------------ price


def formula(method: str, n: int, s: int) -> int:
    columns = n * s - s * (s - 1) // 2
    if method.startswith("sms"):
        more = min(n, 2 * s) - s
        return columns + more * (more + 1) // 2
    return columns


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("s", [1, 2, 7, 20, 33, 50])
@pytest.mark.parametrize("kind", ["pair", "pairs"])
def test_evaluations_equal_the_formula(method, s, kind):
    counter = Counter(symmetric_matrix(50))
    found = fp.approximate(
        range(50), counter.similarity(kind), landmarks=s, method=method, error_pairs=0
    )
    assert found.evaluations == len(counter.asked) == formula(method, 50, s)
    assert len(counter.unordered) == len(counter.asked)


@pytest.mark.parametrize(
    ("method", "price"),
    [
        ("skeleton", 50 * 20 - 100),
        ("sicur", 50 * 30 - 200),
        ("stacur", 50 * 40 - 400),
    ],
)
def test_asymmetric_evaluations_equal_the_formula(method, price):
    counter = Counter(asymmetric_matrix(50))
    sim = counter.similarity("pair", symmetric=False)
    found = fp.approximate(range(50), sim, landmarks=20, method=method, error_pairs=0)
    assert found.evaluations == len(counter.asked) == len(set(counter.asked)) == price


@pytest.mark.parametrize("method", METHODS)
def test_what_was_planned_is_what_is_spent(method, kind):
    for symmetric in (True, False):
        if method in SYMMETRIC_ONLY and not symmetric:
            continue
        counter = Counter((symmetric_matrix if symmetric else asymmetric_matrix)(60))
        sim = counter.similarity(kind, symmetric=symmetric)
        for share in (0.3, 0.6, 900):
            counter.asked.clear()
            plan = fp.plan(range(60), sim, budget=share, method=method, timed=False)
            found = fp.approximate(range(60), sim, budget=share, method=method, random_state=0)
            total = 60 * 61 // 2 if symmetric else 3600
            limit = share if isinstance(share, int) else share * total
            assert found.evaluations == len(counter.asked) == plan.evaluations <= limit
            more = fp.plan(
                range(60), sim, landmarks=plan.n_landmarks + 1, method=method, timed=False
            )
            assert more.evaluations > limit  # the largest number of landmarks that fits


@pytest.mark.parametrize("method", SYMMETRIC_ONLY)
def test_nystrom_family_refuses_an_asymmetric_similarity(method):
    counter = Counter(asymmetric_matrix(20))
    with pytest.raises(fp.errors.AsymmetryError, match="symmetrized"):
        fp.approximate(range(20), counter.similarity("pair", symmetric=False), method=method)
    assert counter.asked == []
    sim = fp.Precomputed(counter.matrix).symmetrized()
    found = fp.approximate(range(20), sim, landmarks=20, method="nystrom", error_pairs=0)
    assert relative(found.to_dense(), (counter.matrix + counter.matrix.T) / 2) < 1e-8
    assert found.evaluations == 2 * 20 * 21 // 2


# ------------------------------------------------------------------ determinism, small n


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_seed_alone_decides(method):
    x = np.random.default_rng(0).normal(size=(80, 6))

    def run(n_jobs, block_size):
        sim = fp.VectorSimilarity("sigmoid", gamma=0.3)
        sim.block_size = block_size
        return fp.approximate(x, sim, landmarks=15, method=method, random_state=7, n_jobs=n_jobs)

    base = run(1, 64)
    for n_jobs in (2, 4):
        other = run(n_jobs, 64)
        assert np.array_equal(base.to_dense(), other.to_dense())
        assert base.error == other.error
    for block_size in (1, 1000, (7, 3)):
        assert relative(run(1, block_size).to_dense(), base.to_dense()) < 1e-10


@pytest.mark.filterwarnings("ignore::fewpairs.errors.ErrorEstimateWarning")
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_any_number_of_items_works(n, method):
    k = symmetric_matrix(n)
    for s in range(1, n + 1):
        found = fp.approximate(
            range(n), fp.Precomputed(k), landmarks=s, method=method, random_state=0
        )
        assert np.isfinite(found.to_dense()).all()


def test_more_landmarks_than_items_are_cut_with_a_warning():
    k = symmetric_matrix(6)
    with pytest.warns(fp.errors.LandmarksCutWarning, match="6 items"):
        found = fp.approximate(range(6), fp.Precomputed(k), landmarks=10, method="nystrom")
    assert relative(found.to_dense(), k) < 1e-10


@pytest.mark.parametrize("k", [np.zeros((9, 9)), np.ones((9, 9)), -np.eye(9), 1e150 * np.eye(9)])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_degenerate_matrices_give_finite_results(k, method):
    found = fp.approximate(
        range(9), fp.Precomputed(k), landmarks=4, method=method, random_state=0, error_pairs=0
    )
    assert np.isfinite(found.to_dense()).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9])
@pytest.mark.parametrize("method", ["auto", "nystrom", "sms", "sicur"])
def test_results_scale_with_the_similarity(scale, method):
    k = symmetric_matrix(40)
    plain, scaled = fitted(k, method), fitted(scale * k, method)
    assert np.allclose(scaled.to_dense() / scale, plain.to_dense(), rtol=1e-6, atol=1e-8)


def test_own_selector():
    class First:
        def select(self, oracle, count, rng):
            return np.arange(count)

    k = symmetric_matrix(30)
    found = fp.approximate(
        range(30), fp.Precomputed(k), landmarks=4, selection=First(), random_state=0
    )
    assert found.source.left_landmarks.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("selection", ["uniform", "k-centre", "d2", "leverage", "pivoted"])
@pytest.mark.parametrize("method", ["nystrom", "sicur", "auto"])
def test_every_selection_stays_in_its_budget(selection, method, kind):
    counter = Counter(symmetric_matrix(90))
    found = fp.approximate(
        range(90),
        counter.similarity(kind),
        budget=2200,
        method=method,
        selection=selection,
        random_state=0,
    )
    assert found.evaluations == len(counter.asked) <= 2200
    landmarks = found.source.right_landmarks
    assert len(set(landmarks.tolist())) == len(landmarks) >= 5
    if kind != "block":  # the symmetry check asks in both orders, and again if columns were read
        repeated = 8 if selection == "uniform" else 16
        assert len(counter.unordered) >= len(counter.asked) - repeated


@pytest.mark.parametrize("selection", ["k-centre", "d2", "leverage", "pivoted"])
@pytest.mark.parametrize("k", [np.zeros((12, 12)), np.ones((12, 12)), -np.eye(12), np.eye(12)])
def test_selections_survive_degenerate_matrices(selection, k):
    found = fp.approximate(
        range(12),
        fp.Precomputed(k),
        landmarks=12,
        method="nystrom",
        selection=selection,
        error_pairs=0,
        random_state=0,
    )
    assert np.allclose(found.to_dense(), k, atol=1e-8)


def test_k_centre_covers_clusters():
    x = np.repeat(np.eye(6) * 10, 5, axis=0) + np.random.default_rng(0).normal(size=(30, 6))
    found = fp.approximate(
        x, fp.VectorSimilarity("rbf"), landmarks=6, selection="k-centre", error_pairs=0
    )
    assert set((found.source.left_landmarks // 5).tolist()) == set(range(6))


def test_random_pivots_recover_a_low_rank_positive_matrix():
    z = np.random.default_rng(0).normal(size=(60, 5))
    found = fp.approximate(
        range(60),
        fp.Precomputed(z @ z.T),
        landmarks=5,
        method="nystrom",
        selection="pivoted",
        error_pairs=0,
        random_state=0,
    )
    assert relative(found.to_dense(), z @ z.T) < 1e-9


@pytest.mark.parametrize("method", ["auto", "nystrom", "sicur"])
@pytest.mark.parametrize("known", [None, "exact"])
def test_a_title_claims_of_known_entries_what_is_true(method, known):
    similarity = fp.Precomputed(symmetric_matrix(40))
    matrix = fp.approximate(
        range(40), similarity, landmarks=6, method=method, known=known, random_state=0
    )
    for one in (matrix, matrix.T, matrix.symmetrized()):
        assert one.known.empty == (known is None)
        assert ("evaluated entries exact" in repr(one)) == (known == "exact")
        assert f"known={'exact' if known is None else None}" not in one.method
