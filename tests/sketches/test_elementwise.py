"""f(UVᵀ): exact where theory says exact, better than the paper's coefficients elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sketch_examples import relative, rows

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.sketches.elementwise import ElementwiseMatrix

COEFFICIENTS = ("tuned", "coreset", "ridge", "chebyshev", "taylor")


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
    errors = [
        relative(
            fp.elementwise(
                lambda x: 1 + x**3, u, degree=3, sketch_size=m, coefficients="ridge", random_state=0
            ),
            exact,
        )
        for m in (10, 100, 1000)
    ]
    assert errors[2] < 0.3
    assert errors[0] > errors[1] > errors[2]


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
    assert relative(K, exact) < 0.14
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


def test_the_matrix_is_complete_when_it_is_made():
    K = fp.elementwise(np.exp, rows(), columns=20, random_state=0)
    again = ElementwiseMatrix(
        K.left, K.core, polynomial=K.polynomial, curve=K.curve, stopped_because="asked", error=None
    )
    assert again.polynomial is K.polynomial
    assert again.curve == K.curve != []
    assert again.stopped_because == "asked"


def test_only_the_product_of_both_scales_counts():
    u, v = rows(300, 8), rows(250, 8, seed=1)
    exact = np.exp(u @ v.T)
    errors = [
        relative(fp.elementwise(np.exp, c * u, v / c, random_state=0), exact)
        for c in (1.0, 10.0, 1e6)
    ]
    np.testing.assert_allclose(errors, errors[0], rtol=1e-3)


def test_an_inner_product_of_zero_stays_zero():
    """The cube root is so steep there that a rounded one would be wrong by a hundred-thousandth."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        u, v = np.round(rng.normal(size=(20, 4))) / 2, 3 * np.round(rng.normal(size=(15, 4)))
        K = fp.elementwise(np.cbrt, u, v, random_state=0)
        assert K.error.value == pytest.approx(relative(K, np.cbrt(u @ v.T)), rel=1e-6, abs=1e-9)


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


@pytest.mark.parametrize(
    ("f", "u", "words"),
    [
        (np.log, rows(20, 2), r"from -1\.\d+ to 1\.\d+"),
        (np.exp, 8 * rows(50, 5), "inf at 710"),
        (np.exp, sp.csr_array([[0.0, 1.0], [np.inf, 0.0]]), "row 1"),
    ],
)
def test_what_is_wrong_is_named_exactly(f, u, words):
    if f is np.log:
        u = u / np.linalg.norm(u, axis=1).max() * 1.1
    if f is np.exp and not sp.issparse(u):
        u = u * np.sqrt(800) / np.linalg.norm(u, axis=1).max()
    with pytest.raises(fp.errors.InputError, match=words):
        fp.elementwise(f, u)


OPTIONS = [
    {},
    {"columns": 20},
    {"target_error": 0.05},
    {"exact_terms": False},
    {"coefficients": "coreset"},
    {"coefficients": "chebyshev"},
    {"coefficients": "taylor"},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("f", [np.exp, np.tanh])
def test_a_power_of_two_times_f_changes_no_digit(f, two_sided, options):
    u, v = rows(120, 6), rows(80, 6, seed=1) if two_sided else None
    plain = fp.elementwise(f, u, v, random_state=0, **options)
    for power in (-990, -333, -1, 1, 501, 990):
        c = 2.0**power
        scaled = fp.elementwise(lambda x, c=c: c * f(x), u, v, random_state=0, **options)
        assert scaled.error == plain.error
        assert scaled.curve == plain.curve
        np.testing.assert_array_equal(scaled.to_dense(), np.ldexp(plain.to_dense(), power))
        if plain.polynomial is not None:
            wanted = np.ldexp(plain.polynomial(0.3), power)
            assert scaled.polynomial(0.3) == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize("c", [1e-300, 1e-160, 1e160, 1e300])
def test_f_of_any_size_is_factored(c):
    u = rows(1500, 6)  # more than a million entries: the error is estimated
    K = fp.elementwise(lambda x: c * np.cos(x), u, target_error=0.02, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert np.linalg.norm(K.to_dense() / c - np.cos(u @ u.T)) <= 0.02 * np.linalg.norm(
        np.cos(u @ u.T)
    )


def test_the_scale_is_that_of_entries_not_of_a_range_that_they_do_not_reach():
    """Rows of both sides are long and orthogonal: exp is 1e130 where no inner product is."""
    u, v = (
        np.hstack([rows(100, 3), np.zeros((100, 3))]),
        np.hstack([rows(90, 3, 1), np.zeros((90, 3))]),
    )
    u[:, 3], v[:, 4] = 17.0, 17.0
    K = fp.elementwise(np.exp, u, v, columns=40, random_state=0)
    assert relative(K, np.exp(u @ v.T)) < 1e-3
    spike = fp.elementwise(lambda x: np.where(x > 250, 1e140, 1e-300), u, v, random_state=0)
    assert np.isfinite(spike.to_dense()).all()


@pytest.mark.parametrize("option", ["n_centers", "oversampling", "sketch_size"])
def test_there_is_at_least_one_of_each(option):
    with pytest.raises(fp.errors.InputError, match=f"{option} 0"):
        fp.elementwise(np.exp, rows(), **{option: 0})
    with pytest.raises(fp.errors.InputError, match="error_pairs is -1"):
        fp.elementwise(np.exp, rows(), error_pairs=-1)


def test_no_row_is_left_to_chance():
    """High powers belong to a few rows, which sampled entries would miss: fits must not be wild."""
    u = rows(600, 30, scale=0.25)
    exact = np.exp(u @ u.T)
    options = {"degree": 20, "sketch_size": 2}
    drawn = [fp.elementwise(np.exp, u, random_state=k, **options) for k in range(15)]
    errors = [relative(K, exact) for K in drawn]
    assert max(errors) < 1.2 * np.median(errors)


def test_more_dimensions_than_rows():
    u = rows(300, 2500, scale=0.02)
    K = fp.elementwise(lambda x: 1.0 * x, u, degree=1, sketch_size=300, random_state=0)
    assert relative(K, u @ u.T) < 1e-10
    assert fp.RBFSketch(random_state=0).fit_transform(np.ones((300, 2500))).shape == (300, 1)


@pytest.mark.parametrize("coefficients", ["tuned", "coreset", "taylor"])
def test_complex_values_are_refused(coefficients):
    U = rows(30, 3)

    def wave(x):
        return np.exp(1j * x)

    with pytest.raises(InputError, match="complex numbers"):
        fp.elementwise(wave, U, coefficients=coefficients)
    with pytest.raises(InputError, match="complex numbers"):
        fp.PolynomialSketch(wave, coefficients=coefficients).fit(U)
    real = fp.elementwise(lambda x: wave(x).real, U, coefficients=coefficients, random_state=0)
    assert np.isfinite(real.to_dense()).all()


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
        assert made[0].error == made[1].error


def test_a_linear_term_with_more_axes_than_are_found_is_sketched_beside():
    u = rows(1050, 2100, scale=0.02)
    linear = {"f": lambda x: 1.0 * x, "degree": 1, "sketch_size": 700, "random_state": 0}
    K = fp.elementwise(U=u, **linear)
    assert K.left.shape[1] > 201
    exact = u @ u.T
    whole = np.linalg.eigvalsh(exact)[::-1]
    axes_alone = np.sqrt((whole[200:] ** 2).sum() / (whole**2).sum())
    assert relative(K, exact) < 0.9 * axes_alone
