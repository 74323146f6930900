"""f(UVᵀ): exact where theory says exact, better than the paper's coefficients elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import check_estimator

import fewpairs as fp
from fewpairs.sketches.entries import Sampler
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.judging import judged
from fewpairs.sketches.polynomial import fit_polynomial
from fewpairs.sketches.products import radius_of
from fewpairs.sketches.regression import Regression, coreset, k_centers, variances

COEFFICIENTS = ("tuned", "coreset", "ridge", "chebyshev", "taylor")


def rows(n=300, d=6, seed=0, scale=0.4):
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def relative(K, exact):
    return np.linalg.norm(K.to_dense() - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("coefficients", COEFFICIENTS)
def test_constant_and_linear_functions_are_exact(coefficients):
    u, v = rows(), rows(200, seed=1)
    options = {"coefficients": coefficients, "random_state": 0}
    constant = fp.elementwise(lambda x: 0 * x + 3.0, u, v, **options)
    np.testing.assert_allclose(constant.to_dense(), 3.0, rtol=1e-6)
    linear = fp.elementwise(lambda x: 2 * x - 1, u, v, **options)
    np.testing.assert_allclose(linear.to_dense(), 2 * u @ v.T - 1, atol=1e-6)


def test_polynomials_converge_with_the_sketch_size():
    u = rows()
    exact = 1 + (u @ u.T) ** 3
    off = [
        relative(
            fp.elementwise(
                lambda x: 1 + x**3, u, degree=3, sketch_size=m, coefficients="ridge", random_state=0
            ),
            exact,
        )
        for m in (10, 100, 1000)
    ]
    assert off[2] < 0.25
    assert off[0] > off[1] > off[2]


def test_polynomials_are_exact_when_all_their_monomials_fit():
    u, v = rows(200, 4), rows(100, 4, seed=1)
    f = lambda x: 1 - x + 3 * x**3
    K = fp.elementwise(f, u, v, degree=3, sketch_size=12, random_state=0)
    assert relative(K, f(u @ v.T)) < 1e-9
    K = fp.elementwise(f, u, degree=3, sketch_size=12, random_state=0)
    assert relative(K, f(u @ u.T)) < 1e-9


@pytest.mark.parametrize("coefficients", COEFFICIENTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_it_approximates_exp(coefficients, sparse):
    u, v = rows(), rows(250, seed=1)
    exact = np.exp(u @ v.T)
    given = (sp.csr_array(u), sp.csr_array(v)) if sparse else (u, v)
    K = fp.elementwise(
        np.exp, *given, degree=4, sketch_size=200, coefficients=coefficients, random_state=0
    )
    assert K.shape == (300, 250)
    assert K.left.shape[1] <= 801
    assert relative(K, exact) < 0.12
    assert K.error.low <= relative(K, exact) * 1.05
    assert K.error.high >= relative(K, exact) * 0.95


def test_tuning_and_exact_terms_beat_the_paper_at_equal_width():
    u = rows(400, 20, scale=0.25)
    exact = np.exp(u @ u.T)
    errors = {}
    for name, options in {
        "ours": {},
        "paper": {"coefficients": "coreset", "exact_terms": False},
        "taylor": {"coefficients": "taylor", "exact_terms": False},
    }.items():
        found = [fp.elementwise(np.exp, u, random_state=k, **options) for k in range(5)]
        assert all(K.left.shape[1] <= 101 for K in found)
        errors[name] = np.mean([relative(K, exact) for K in found])
    assert errors["ours"] < 0.5 * errors["paper"] < errors["paper"] < errors["taylor"]


def test_negative_coefficients_are_signs():
    u = rows()
    K = fp.elementwise(np.cos, u, degree=4, sketch_size=100, random_state=0)
    assert K.symmetric
    assert set(np.unique(np.diag(K.core))) == {-1.0, 1.0}
    assert relative(K, np.cos(u @ u.T)) < 0.02


def test_the_polynomial_states_its_range_and_error():
    u = rows()
    K = fp.elementwise(np.exp, u, coefficients="chebyshev", random_state=0)
    radius = (u**2).sum(axis=1).max()
    assert K.polynomial.radius == pytest.approx(radius)
    x = np.linspace(-radius, radius, 500)
    assert np.abs(K.polynomial(x) - np.exp(x)).max() <= K.polynomial.worst * 1.01 + 1e-12
    assert K.polynomial.worst < 1e-3 * np.exp(radius)


def test_coreset_of_all_rows_is_ridge():
    u = rows(40)
    options = {"degree": 5, "size": 10, "rng": np.random.default_rng(0)}
    ridge = fit_polynomial(np.exp, u, u, choice="ridge", **options)
    coreset = fit_polynomial(np.exp, u, u, choice="coreset", n_centers=40, **options)
    np.testing.assert_allclose(coreset.coefficients, ridge.coefficients, rtol=1e-6, atol=1e-9)
    positive = fit_polynomial(np.cos, u, u, choice="ridge", nonnegative=True, **options)
    assert (positive.coefficients >= 0).all()


def test_ridge_is_equation_3_5():
    """The paper's formula, dense, with the penalty of Definition 6: 2 + 3ʲ of the next power."""
    u, v, degree, size = rows(30), rows(20, seed=1), 4, 10
    found = fit_polynomial(np.exp, u, v, degree, size, choice="ridge", rng=np.random.default_rng(0))
    x = (u @ v.T).ravel()
    powers = x[:, None] ** np.arange(degree + 1)
    lengths = [(side**2).sum(axis=1) for side in (u, v)]
    penalty = np.zeros(degree + 1)
    for j in range(1, degree + 1):
        # ‖u‖²⁽ʲ⁺¹⁾ in units of the longest row: its square is left for the coefficient's own power.
        sums = np.prod([(length ** (j + 1)).sum() / length.max() for length in lengths])
        penalty[j] = degree * (2 + 3 ** (j + 1)) * sums / size
    by_hand = np.linalg.solve(powers.T @ powers + np.diag(penalty), powers.T @ np.exp(x))
    wanted = by_hand * found.radius ** np.arange(degree + 1)
    np.testing.assert_allclose(found.coefficients, wanted, rtol=1e-6)


def test_k_centers_cover():
    points = np.repeat(np.eye(4), 25, axis=0)
    chosen, sizes, miss = k_centers(points, 4, np.random.default_rng(0))
    assert len(set(np.argmax(points[chosen], axis=1))) == 4
    assert sizes.tolist() == [25.0] * 4
    assert miss == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("u", "options"),
    [
        (rows(50, 1), {}),
        (np.zeros((20, 3)), {}),
        (np.vstack([np.zeros((1, 3)), rows(20, 3)]), {}),
        (rows(50, 3), {"degree": 0}),
        (rows(50, 3), {"degree": 1}),
        (rows(50, 3), {"sketch_size": 1}),
        (rows(50, 200), {}),
        (rows(50, 3).astype(np.float32), {}),
        (np.arange(12).reshape(6, 2) % 2, {}),
    ],
)
def test_corner_cases_stay_finite(u, options):
    K = fp.elementwise(np.exp, u, random_state=0, **options)
    assert np.isfinite(K.to_dense()).all()
    assert K.left.shape[1] <= options.get("degree", 10) * options.get("sketch_size", 10) + 1


@pytest.mark.parametrize(
    ("f", "u", "words"),
    [
        (np.log, rows(), "from -"),
        (np.exp, 1e3 * rows(), "inf"),
        (lambda x: x.sum(), rows(), "shape"),
        (float, rows(), "failed on an array"),
        ("exp", rows(), "not callable"),
        (np.exp, np.full((3, 2), np.nan), "not finite"),
        (np.exp, np.ones(3), "shape"),
        (np.exp, [["a", "b"]], "dtype"),
    ],
)
def test_bad_input_is_named(f, u, words):
    with pytest.raises(fp.errors.InputError, match=words):
        fp.elementwise(f, u)


def test_bad_options_are_named():
    with pytest.raises(fp.errors.InputError, match="6 dimensions on one side and 3"):
        fp.elementwise(np.exp, rows(), rows(d=3))
    with pytest.raises(fp.errors.UnknownNameError, match="corset"):
        fp.elementwise(np.exp, rows(), coefficients="corset")
    wrong = {"degree": -1, "sketch_size": 2.5, "columns": 1.5, "error_pairs": True}
    for name, value in wrong.items():
        with pytest.raises(fp.errors.InputError, match=f"{name}( is)? {value}"):
            fp.elementwise(np.exp, rows(), **{name: value})
    with pytest.raises(fp.errors.InputError, match="gamma is 'scale'"):
        fp.RBFSketch(gamma="scale").fit(rows())


@pytest.mark.parametrize("sparse", [False, True])
def test_rbf_sketch_beats_fourier_features(sparse):
    x = rows(400, 10, scale=0.5)
    exact = rbf_kernel(x, gamma=0.1)
    given = sp.csr_array(x) if sparse else x
    ours, theirs = [], []
    for seed in range(5):
        z = fp.RBFSketch(gamma=0.1, random_state=seed).fit(given).transform(given)
        assert z.shape[1] <= 101
        ours.append(np.linalg.norm(z @ z.T - exact))
        angles = x @ np.random.default_rng(seed).normal(size=(10, 50), scale=np.sqrt(0.2))
        w = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(50)
        theirs.append(np.linalg.norm(w @ w.T - exact))
    assert np.mean(ours) < 0.5 * np.mean(theirs)


def test_rbf_sketch_does_not_mind_a_shift():
    x = rows(100, 4)
    one = fp.RBFSketch(random_state=0).fit_transform(x)
    two = fp.RBFSketch(random_state=0).fit_transform(x + 100)
    np.testing.assert_allclose(one, two, atol=1e-8)


@pytest.mark.parametrize(
    "estimator", [fp.RBFSketch(random_state=0), fp.PolynomialSketch(np.square, random_state=0)]
)
def test_scikit_learn_s_own_checks(estimator):
    found = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(x["check_name"], x["exception"]) for x in found if x["status"] == "failed"]
    assert not failed


@pytest.mark.parametrize("coefficients", ["tuned", "coreset"])
def test_a_number_of_columns_is_enough_to_ask_for(coefficients):
    u = rows(400, 12, scale=0.3)
    exact = np.exp(u @ u.T)
    K = fp.elementwise(np.exp, u, columns=40, coefficients=coefficients, random_state=0)
    assert K.left.shape[1] <= 40
    assert coefficients == "coreset" or K.left.shape[1] == 40
    tried = {point.degree: point.error.value for point in K.curve}
    assert 2 <= len(tried) <= 3
    assert K.curve[-1].error.value == min(tried.values())
    assert K.polynomial.degree == K.curve[-1].degree
    assert relative(K, exact) <= 1.3 * min(tried.values())


@pytest.mark.parametrize("target", [0.1, 0.01])
def test_a_target_error_is_reached_with_few_columns(target):
    u, v = rows(300, 8), rows(250, 8, seed=1)
    K = fp.elementwise(np.exp, u, v, target_error=target, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert K.error.high <= target
    assert relative(K, np.exp(u @ v.T)) <= target
    # Not many more columns than the best matrix of any kind needs.
    singular = np.linalg.svd(np.exp(u @ v.T), compute_uv=False)
    tail = np.sqrt(np.cumsum(singular[::-1] ** 2)[::-1] / (singular**2).sum())
    assert K.left.shape[1] <= max(9, 6 * int((tail > target).sum()))


def test_a_target_out_of_reach_is_said():
    u = rows(200, 8, scale=0.6)
    K = fp.elementwise(np.exp, u, target_error=0.001, columns=30, random_state=0)
    assert K.stopped_because == "30 columns were not enough"
    assert K.left.shape[1] <= 30
    for wrong in (2, "small"):
        with pytest.raises(fp.errors.InputError, match=f"target_error is {wrong!r}"):
            fp.elementwise(np.exp, u, target_error=wrong)
    assert 500 <= fp.elementwise(np.exp, u, error_pairs=1, random_state=0).error.n_pairs < 600
    assert fp.elementwise(np.exp, u, error_pairs=0, random_state=0).error is None
    with pytest.raises(fp.errors.InputError, match="columns is 0"):
        fp.elementwise(np.exp, u, columns=0)


def test_the_bound_of_lemma_4_holds_on_average():
    u = rows(100, 5)
    exact = np.exp(u @ u.T)
    penalty = variances(u, u, 4, 30)
    entries = Regression.of(np.exp, u, np.ones(100), u, radius_of(u, u), 4)
    options = {"degree": 4, "sketch_size": 30, "coefficients": "ridge", "exact_terms": False}
    off = [fp.elementwise(np.exp, u, random_state=k, **options) for k in range(20)]
    errors = [relative(K, exact) ** 2 for K in off]
    assert np.sqrt(np.mean(errors)) <= entries.bound(penalty)
    unpenalised = Regression.of(np.exp, u, np.ones(100), u, radius_of(u, u), 12)
    assert unpenalised.bound(np.zeros(13)) < 1e-6


@pytest.mark.parametrize("sparse", [False, True])
def test_rbf_kernel_between_two_sets(sparse):
    x, y = rows(200, 6) + 5, rows(150, 6, seed=1) + 5
    exact = rbf_kernel(x, y, gamma=0.3)
    given = [sp.csr_array(z - 5) if sparse else z for z in (x, y)]
    K = fp.rbf_kernel(*given, gamma=0.3, target_error=0.01, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert relative(K, exact) <= 0.01
    assert fp.rbf_kernel(*given, gamma=0.3, columns=25, random_state=0).left.shape[1] == 25
    assert fp.rbf_kernel(*given, gamma=0.3, sketch_size=3, random_state=0).left.shape[1] == 31
    same = fp.rbf_kernel(given[0], gamma=0.3, random_state=0)
    assert same.symmetric
    assert relative(same, rbf_kernel(x, gamma=0.3)) < 0.01
    assert abs(same.error.value - relative(same, rbf_kernel(x, gamma=0.3))) < 0.3 * same.error.value


def test_rbf_kernel_has_scikit_learn_s_default_and_checks():
    x = rows(100, 8)
    assert relative(fp.rbf_kernel(x, random_state=0), rbf_kernel(x)) < 0.01
    with pytest.raises(fp.errors.InputError, match="gamma is -1"):
        fp.rbf_kernel(x, gamma=-1)
    with pytest.raises(fp.errors.InputError, match="8 dimensions on one side and 3"):
        fp.rbf_kernel(x, rows(5, 3))


def test_only_the_product_of_both_scales_counts():
    u, v = rows(300, 8), rows(250, 8, seed=1)
    exact = np.exp(u @ v.T)
    errors = [
        relative(fp.elementwise(np.exp, c * u, v / c, random_state=0), exact)
        for c in (1.0, 10.0, 1e6)
    ]
    np.testing.assert_allclose(errors, errors[0], rtol=1e-3)


def test_a_few_long_rows_among_many_are_seen():
    u = rows(6000, 10, scale=0.3)
    u[:6] *= 4
    K = fp.elementwise(np.exp, u, random_state=0)
    some = np.r_[:300]
    exact = np.exp(u[some] @ u[some].T)
    assert np.linalg.norm(K[some][:, some] - exact) < 0.1 * np.linalg.norm(exact)
    assert K.error.high < 0.2


def test_rows_may_be_dense_on_one_side_only():
    u, v = rows(100, 5), rows(80, 5, seed=1)
    exact = np.exp(u @ v.T)
    for left, right in ((sp.csr_array(u), v), (u, sp.csr_array(v))):
        assert relative(fp.elementwise(np.exp, left, right, random_state=0), exact) < 0.01


def test_rbf_sketch_takes_sparse_rows_after_dense_ones():
    x = rows(100, 5) + 1
    model = fp.RBFSketch(random_state=0).fit(x)
    np.testing.assert_allclose(model.transform(sp.csr_array(x)), model.transform(x), atol=1e-12)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    u = rows(9000, 5)
    one, again, two = (fp.elementwise(np.exp, u, random_state=3, n_jobs=jobs) for jobs in (1, 1, 2))
    assert np.array_equal(one.left, again.left)
    assert np.array_equal(one.left, two.left)
    assert one.error == two.error


def test_single_precision_is_as_good_as_its_digits():
    u = rows(300, 5)
    exact = np.exp(u @ u.T)
    double = relative(fp.elementwise(np.exp, u, random_state=0), exact)
    single = relative(fp.elementwise(np.exp, u.astype(np.float32), random_state=0), exact)
    assert single < 1.5 * double + 1e-6


def test_a_taylor_series_stays_clear_of_poles():
    u = rows(100, 3)
    u *= np.sqrt(0.5) / np.linalg.norm(u, axis=1).max()
    f = lambda x: 1 / (1 - x)
    K = fp.elementwise(f, u, coefficients="taylor", degree=12, sketch_size=200, random_state=0)
    assert K.polynomial.worst < 1e-3
    real_only = lambda x: np.real(x) / (np.imag(x) == 0)
    with pytest.raises(fp.errors.InputError, match="not analytic"):
        fp.elementwise(real_only, u, coefficients="taylor")


@pytest.mark.parametrize(
    ("f", "u", "words"),
    [
        (np.log, rows(20, 2), r"from -1\.\d+ to 1\.\d+"),
        (np.exp, 8 * rows(50, 5), "1e150"),
        (np.exp, sp.csr_array([[0.0, 1.0], [np.inf, 0.0]]), "row 1"),
    ],
)
def test_what_is_wrong_is_named_exactly(f, u, words):
    if f is np.log:
        u = u / np.linalg.norm(u, axis=1).max() * 1.1
    if words == "1e150":
        u = u * np.sqrt(400) / np.linalg.norm(u, axis=1).max()
    with pytest.raises(fp.errors.InputError, match=words):
        fp.elementwise(f, u)


@pytest.mark.parametrize("option", ["n_centers", "oversampling", "sketch_size"])
def test_there_is_at_least_one_of_each(option):
    with pytest.raises(fp.errors.InputError, match=f"{option} 0"):
        fp.elementwise(np.exp, rows(), **{option: 0})
    with pytest.raises(fp.errors.InputError, match="error_pairs is -1"):
        fp.elementwise(np.exp, rows(), error_pairs=-1)


def test_the_coreset_is_of_the_side_that_it_stands_for_better():
    few, many = np.repeat(rows(5, 4), 40, axis=0), rows(200, 4, seed=1)
    rng = np.random.default_rng(0)
    _, sizes, others = coreset(few, many, 5, rng)
    assert others is many
    assert sizes.sum() == 200
    assert coreset(many, few, 5, rng)[2] is many


def test_no_row_is_left_to_chance():
    """High powers belong to a few rows, which sampled entries would miss: fits must not be wild."""
    u = rows(600, 30, scale=0.25)
    exact = np.exp(u @ u.T)
    options = {"degree": 20, "sketch_size": 2}
    off = [relative(fp.elementwise(np.exp, u, random_state=k, **options), exact) for k in range(15)]
    assert max(off) < 1.2 * np.median(off)


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_stated_error_sees_a_row_unlike_all_others(two_sided):
    """It holds most of the error, little of the matrix, and is not long."""
    u = np.hstack([rows(500, 4), np.zeros((500, 2))])
    u[7] = [0, 0, 0, 0, 0.7, 0.7]
    v = u[:300].copy() if two_sided else u
    usual = np.delete(u, 7, axis=0)
    made = make_map(np.exp, usual, usual, SketchOptions(), rng=np.random.default_rng(0))
    guess = (made(u) * made.signs) @ made(v, side="right").T
    exact = np.exp(u @ v.T)
    off = (guess - exact) ** 2
    assert off[7, 7] > 0.5 * off.sum()
    truth, held = np.linalg.norm(guess - exact) / np.linalg.norm(exact), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        error = judged(made, Sampler(np.exp, u, v, None, rng), 1000, rng)
        held += error.low <= truth <= error.high
    assert held >= 17


def test_rows_that_match_on_the_other_side_are_found():
    """V is U in another order: the large entries are on a diagonal that nobody was told of."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(500, 30))
        y = x[rng.permutation(500)]
        K = fp.rbf_kernel(x, y, gamma=0.03, columns=60, random_state=seed)
        assert K.error.low <= relative(K, rbf_kernel(x, y, gamma=0.03)) <= K.error.high


def test_duplicates_of_rows_are_found():
    x = np.repeat(rows(150, 30, scale=1.0), 2, axis=0)
    held = 0
    for seed in range(10):
        K = fp.rbf_kernel(x, gamma=0.03, columns=60, random_state=seed)
        held += K.error.low <= relative(K, rbf_kernel(x, gamma=0.03)) <= K.error.high
    assert held >= 8


@pytest.mark.parametrize("factor", [1e-160, 1.0, 1e90])
def test_any_order_of_magnitude_will_do(factor):
    u = rows()
    K = fp.elementwise(lambda x: factor * np.exp(x), u, target_error=0.05, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert relative(K, factor * np.exp(u @ u.T)) <= 0.05


def test_more_dimensions_than_rows():
    u = rows(300, 2500, scale=0.02)
    K = fp.elementwise(lambda x: 1.0 * x, u, degree=1, sketch_size=300, random_state=0)
    assert relative(K, u @ u.T) < 1e-10
    assert fp.RBFSketch(random_state=0).fit_transform(np.ones((300, 2500))).shape == (300, 1)


def test_a_function_may_write_to_its_argument():
    def writes(x):
        x[x < 0] = 0
        return x

    for coefficients in ("tuned", "coreset"):
        made = [
            fp.elementwise(f, rows(), coefficients=coefficients, random_state=0)
            for f in (writes, lambda x: np.maximum(x, 0))
        ]
        np.testing.assert_array_equal(made[0].left, made[1].left)
        assert made[0].polynomial.worst == made[1].polynomial.worst


def test_taylor_series_are_those_of_the_function():
    u = rows(50)
    options = {"coefficients": "taylor", "degree": 5, "random_state": 0}
    found = fp.elementwise(lambda x: np.tanh(3 * x), u, **options).polynomial
    by_hand = found.coefficients / found.radius ** np.arange(6)
    np.testing.assert_allclose(by_hand, [0, 3, 0, -9, 0, 2 * 3**5 / 15], atol=1e-5)
    with pytest.raises(fp.errors.InputError, match="not analytic"):
        fp.elementwise(np.abs, u, **options)


def test_the_stated_error_sees_a_single_entry_of_the_diagonal():
    """Neither long, nor bad in its row: only with itself."""

    def bump(x):
        return x + 5 * np.exp(-(((x - 0.98) / 0.02) ** 2))

    u = np.hstack([rows(400, 4, scale=0.1), np.zeros((400, 2))])
    u[:40, :4] = 1.3 * np.eye(4)[np.arange(40) % 4]
    u[50] = [0, 0, 0, 0, 0.7, 0.7]
    made = make_map(
        lambda x: x, u, u, SketchOptions(degree=1, sketch_size=20), rng=np.random.default_rng(0)
    )
    guess, exact = (made(u) * made.signs) @ made(u).T, bump(u @ u.T)
    off = (guess - exact) ** 2
    own = off[50, 50] / off.sum()
    truth, held = np.linalg.norm(guess - exact) / np.linalg.norm(exact), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        error = judged(made, Sampler(bump, u, u, None, rng), 1000, rng)
        held += error.low <= truth <= error.high
    assert own > 0.99
    assert held >= 17


def test_a_linear_term_with_more_axes_than_are_found_is_sketched_beside():
    u = rows(1050, 2100, scale=0.02)
    linear = {"f": lambda x: 1.0 * x, "degree": 1, "sketch_size": 700, "random_state": 0}
    K = fp.elementwise(U=u, **linear)
    assert K.left.shape[1] > 201
    exact = u @ u.T
    whole = np.linalg.eigvalsh(exact)[::-1]
    axes_alone = np.sqrt((whole[200:] ** 2).sum() / (whole**2).sum())
    assert relative(K, exact) < 0.9 * axes_alone
