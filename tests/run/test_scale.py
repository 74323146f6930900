"""Any finite numbers: the result for c·K is c times the result for K, from 1e-300 to 1e300."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from examples import SYMMETRIC_ONLY, Counter, asymmetric_matrix, relative, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import AsymmetryError
from fewpairs.run.approximate import carry_out

POWERS = [-990, -330, -101, 101, 330, 990]
METHODS = ["fitted", "nystrom", "sms", "sms-rescaled", "skeleton", "sicur", "stacur", "optimal"]
RUNS = [{"landmarks": 15}, {"budget": 0.5}, {"landmarks": 15, "known": "exact"}]


def run(matrix, **options):
    if options.get("method") == "optimal":
        options = {"landmarks": 15, "allow_all_pairs": True, "method": "optimal"}
    return fp.approximate(range(len(matrix)), fp.Precomputed(matrix), random_state=0, **options)


@pytest.mark.parametrize("options", RUNS)
@pytest.mark.parametrize(
    ("method", "symmetric"),
    [(m, s) for m in METHODS for s in (True, False) if s or m not in SYMMETRIC_ONLY],
)
def test_a_power_of_two_changes_no_digit(method, symmetric, options):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(40)
    plain = run(matrix, method=method, **options)
    for power in POWERS:
        scaled = run(np.ldexp(matrix, power), method=method, **options)
        assert scaled.error == plain.error
        assert scaled.evaluations == plain.evaluations
        np.testing.assert_array_equal(scaled.to_dense(), np.ldexp(plain.to_dense(), power))


@pytest.mark.parametrize("options", [{"known": None}, {"target_error": 0.3}])
@pytest.mark.parametrize("power", [-990, 990])
def test_plain_results_and_targets_are_scale_free_too(options, power):
    matrix = symmetric_matrix(60)
    plain, scaled = run(matrix, **options), run(np.ldexp(matrix, power), **options)
    assert scaled.error == plain.error
    assert scaled.stopped_because == plain.stopped_because
    np.testing.assert_array_equal(scaled.to_dense(), np.ldexp(plain.to_dense(), power))


def test_random_pivots_are_those_of_a_matrix_twice_as_large():
    # Labels have ties, which a square root of two would break by its rounding.
    for seed in range(40):
        labels = np.random.default_rng(seed).integers(0, 2, (11, 11)) * 1.0
        one, two = (
            fp.approximate(
                range(11),
                fp.similarity(
                    lambda a, b, f=f, of=labels: f * of[a, b], kind="pair", symmetric=False
                ),
                landmarks=3,
                selection="pivoted",
                random_state=seed,
            )
            for f in (1.0, 2.0)
        )
        np.testing.assert_array_equal(two.known.columns.index, one.known.columns.index)


@pytest.mark.parametrize("c", [1e-300, 1e-162, 1e100, 1e153, 1e300])
def test_a_low_rank_matrix_is_found_at_any_scale(c):
    matrix = c * symmetric_matrix(60, rank=5)
    found = run(matrix, landmarks=12, method="nystrom")
    assert relative(found.to_dense() / c, matrix / c) < 1e-9
    assert found.error.value < 1e-9


class Bells:
    """c·exp(−‖a − b‖²), times something that depends on the first item alone if asymmetric."""

    def __init__(self, c, *, symmetric):
        self.c, self.symmetric = c, symmetric

    name = "bells"

    def block(self, left, right):
        left, right = np.asarray(left), np.asarray(right)
        bells = np.exp(-((left[:, None] - right) ** 2).sum(-1))
        return self.c * (bells if self.symmetric else bells * np.exp(0.3 * left[:, :1]))


@pytest.mark.parametrize("options", [{"landmarks": 30}, {"landmarks": 30, "known": None}])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("c", [2.0**-990, 2.0**990])
def test_everything_that_is_read_from_a_result_is_scaled(c, symmetric, options, tmp_path):
    rng = np.random.default_rng(0)
    items, new, x = rng.normal(size=(80, 3)), rng.normal(size=(4, 3)), rng.normal(size=80)
    bells = [Bells(factor, symmetric=symmetric) for factor in (1.0, c)]
    plain, scaled = (fp.approximate(items, b, random_state=1, **options) for b in bells)
    scaled.save(tmp_path / "scaled.fewpairs")
    loaded = fp.load(tmp_path / "scaled.fewpairs", similarity=bells[1])
    for found in (scaled, loaded):
        # The smallest entries are subnormal numbers at 1e-300, and have fewer digits.
        larger = found.extend(new).to_dense() / c
        np.testing.assert_allclose(larger, plain.extend(new).to_dense(), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found @ x, c * (plain @ x), rtol=1e-9)
        for question in ({"index": 3}, {"item": new[0]}, {"item": new[0], "budget": 20}):
            here, there = plain.nearest(k=5, **question), found.nearest(k=5, **question)
            np.testing.assert_array_equal(there.indices, here.indices)
            np.testing.assert_allclose(there.similarities, c * here.similarities, rtol=1e-9)
        mean = plain.symmetrized().embedding(), found.symmetrized().embedding()
        inner = [z @ z.T for z in mean]
        np.testing.assert_allclose(inner[1] / c, inner[0], atol=1e-9)


@pytest.mark.parametrize("c", [2.0**-990, 2.0**990])
def test_a_matrix_between_two_sets_is_scale_free(c):
    rng = np.random.default_rng(0)
    rows, columns = rng.normal(size=(60, 3)), rng.normal(size=(40, 3))
    plain, scaled = (
        fp.approximate(
            rows, Bells(factor, symmetric=True), others=columns, landmarks=12, random_state=1
        )
        for factor in (1.0, c)
    )
    assert scaled.error == plain.error
    np.testing.assert_array_equal(scaled.to_dense(), c * plain.to_dense())


@pytest.mark.parametrize("c", [2.0**-990, 2.0**990])
def test_features_are_scale_free(c):
    items = np.random.default_rng(0).normal(size=(60, 3))
    features = []
    for factor in (1.0, c):
        mapping = fp.SimilarityFeatures(Bells(factor, symmetric=True), n_components=15)
        mapping.set_params(random_state=0)
        features.append(mapping.fit(items).transform(items[:20]) / np.sqrt(factor))
    np.testing.assert_allclose(features[1], features[0], rtol=1e-9, atol=1e-12)


def test_evaluated_entries_come_back_as_they_were_answered():
    # Beside 1e300 the others vanish, but they are the user's own numbers.
    matrix = 1e300 * symmetric_matrix(40)
    matrix[5] = matrix[:, 5] = 1.2345678901234567e-12
    found = run(matrix, landmarks=list(range(10)))
    np.testing.assert_array_equal(found[:, :10], matrix[:, :10])


def test_a_run_whose_later_values_are_far_larger_starts_again_and_pays_for_the_rest(monkeypatch):
    begun = []

    def counted(*arguments):
        begun.append(arguments)
        return carry_out(*arguments)

    # The package has a function of the module's name.
    monkeypatch.setattr(sys.modules[carry_out.__module__], "carry_out", counted)
    matrix = 1e-200 * symmetric_matrix(60)
    matrix[50, 55] = matrix[55, 50] = 1e200
    counter = Counter(matrix)
    # The columns of the landmarks are tiny; the pairs of the error meet the large value.
    found = fp.approximate(
        range(60), counter.similarity("pair"), landmarks=list(range(10)), error_pairs=1200,
        random_state=0,
    )  # fmt: skip
    assert len(begun) == 2
    assert len(counter.asked) == len(set(counter.asked)) == found.evaluations
    assert (50, 55) in counter.unordered
    # It is all that counts in the matrix, and an error is stated from pairs that are not used.
    assert found.error.value == pytest.approx(1.0)
    np.testing.assert_array_equal(found[:, :10], matrix[:, :10])
    assert np.isfinite(found.to_dense()).all()


def test_one_value_far_larger_than_all_others_in_a_column_is_right():
    matrix = 1e-200 * symmetric_matrix(60)
    matrix[50, 55] = matrix[55, 50] = 1e200
    found = run(matrix, landmarks=[*range(10), 50])
    assert found[50, 55] == 1e200
    assert np.isfinite(found.to_dense()).all()


@pytest.mark.parametrize("c", [1e-300, 1e300])
def test_asymmetry_is_named_in_the_similaritys_own_numbers(c):
    matrix = c * np.triu(np.ones((40, 40)))
    similarity = fp.similarity(lambda a, b: matrix[a, b], kind="pair", symmetric=True)
    with pytest.raises(AsymmetryError, match=f"{c:g}".replace("+", r"\+")):
        fp.approximate(range(40), similarity, landmarks=10, random_state=0)


@pytest.mark.parametrize("c", [2.0**-990, 2.0**990])
def test_inspection_is_scale_free(c):
    matrix = asymmetric_matrix(30)
    plain, scaled = (fp.inspect(range(30), fp.Precomputed(f * matrix)) for f in (1.0, c))
    assert scaled.asymmetry == plain.asymmetry
    assert scaled.negative_share == plain.negative_share
    assert scaled.range == (c * plain.range[0], c * plain.range[1])
    np.testing.assert_array_equal(scaled.eigenvalues, c * plain.eigenvalues)


@pytest.mark.parametrize("landmarks", [1, 3])
def test_sms_rescaled_gives_an_item_without_similarities_a_row_of_zeros(landmarks):
    matrix = np.zeros((12, 12))
    matrix[6:, 6:] = np.ones((6, 6)) - 2 * np.eye(6)
    chosen = list(range(landmarks))
    found = run(matrix, landmarks=chosen, method="sms-rescaled", oversampling=12.0)
    np.testing.assert_array_equal(found.to_dense(), np.zeros((12, 12)))
