"""What is done otherwise with a thousand landmarks: the same answers, from less arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from examples import symmetric_matrix

import fewpairs as fp
from fewpairs.error import profiles as profiles_room
from fewpairs.methods import nystrom
from fewpairs.methods.fitted import cores as cores_room
from fewpairs.methods.fitted import folds as folds_room
from fewpairs.methods.fitted.cores import Cores, gap_of
from fewpairs.methods.fitted.near_pairs import Queue


@pytest.mark.parametrize("rank", [3, 12])
def test_profiles_of_many_columns_have_the_same_products(monkeypatch, rank):
    rng = np.random.default_rng(0)
    columns = 5 + rng.normal(size=(200, rank)) @ rng.normal(size=(rank, 12))
    rows = np.arange(3, 200)
    before = profiles_room.profiles(columns, rows)
    monkeypatch.setattr(profiles_room, "_MANY", 12)
    after = profiles_room.profiles(columns, rows)
    assert not np.allclose(before, after, atol=1e-3)  # other axes
    np.testing.assert_allclose(after @ after.T, before @ before.T, atol=3e-6)


@pytest.mark.parametrize("many", [1000, 8])
def test_profiles_of_rows_and_columns_are_those_of_both_side_by_side(monkeypatch, many):
    rng = np.random.default_rng(0)
    columns, lines = 5 + rng.normal(size=(2, 200, 9))
    rows = np.arange(3, 200)
    before = profiles_room.profiles(np.hstack([columns, lines]), rows)
    monkeypatch.setattr(profiles_room, "_MANY", many)
    after = profiles_room.profiles(columns, rows, lines)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1, rtol=1e-6)
    if many > 18:  # the same axes, and every bit
        np.testing.assert_array_equal(after, before)
    np.testing.assert_allclose(after @ after.T, before @ before.T, atol=3e-6)


def test_a_core_that_was_asked_for_last_is_not_worked_out_again(monkeypatch):
    rng = np.random.default_rng(0)
    cores = asymmetric_cores(rng)
    one, other = rng.uniform(size=(2, cores.count))
    first = cores.combined(one)
    second = cores.combined(other)
    np.testing.assert_array_equal(cores.combined(one), first)
    assert not np.array_equal(first, second)
    monkeypatch.delattr(Cores, "_sum_of")
    assert cores.combined(one.copy()) is cores.combined(one)


def test_an_asymmetric_matrix_is_the_same_to_rounding(monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 6))
    matrix = np.tanh(vectors @ vectors.T / 3) * (1 + 0.1 * np.sin(vectors[:, :1]))

    def found() -> np.ndarray:
        return fp.approximate(
            range(200), fp.Precomputed(matrix), landmarks=30, error_pairs=0, random_state=0
        ).to_dense()

    monkeypatch.setattr(profiles_room, "_MANY", 30)
    after = found()
    monkeypatch.setattr(profiles_room, "_units", full_product(profiles_room._units))
    np.testing.assert_allclose(found(), after, rtol=1e-9, atol=1e-12)


def full_product(units):
    """Axes as if they were no triangle."""

    def all_of_it(lines, rows, centre, axes, *, triangular=False):
        assert triangular or lines.others is None
        return units(lines, rows, centre, axes)

    return all_of_it


def test_profiles_of_equal_items_are_zero(monkeypatch):
    monkeypatch.setattr(profiles_room, "_MANY", 2)
    assert not profiles_room.profiles(np.ones((9, 4)), np.arange(9)).any()


def test_one_fold_holds_out_a_fifth_of_many_landmarks(monkeypatch):
    matrix = symmetric_matrix(120)
    landmarks, rows = np.arange(40), np.arange(40, 120)
    left, crossing = matrix[:, landmarks], matrix[:40, :40]
    gap = gap_of(crossing)
    monkeypatch.setattr(folds_room, "_MANY", 40)
    found = folds_room.landmark_folds(
        left, crossing, rows, gap, np.random.default_rng(1), symmetric=True
    )
    rng = np.random.default_rng(1)
    some, across = rng.permutation(rows), rng.permutation(40)
    held, kept = across[::5], np.setdiff1d(across, across[::5])
    cores = Cores.of(crossing[np.ix_(kept, kept)], gap, symmetric=True)
    to_held = crossing[np.ix_(held, kept)]
    rows_of = [np.repeat(left[[i]][:, kept], len(held), axis=0) for i in some]
    told = np.stack([cores.predictions(row, to_held) for row in rows_of])
    gram = np.einsum("ihc,ihd->cd", told, told) / told[..., 0].size
    target = np.einsum("ihc,ih->c", told, left[np.ix_(some, held)]) / told[..., 0].size
    scale = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    np.testing.assert_allclose(found.pairs.gram / scale, gram / scale, atol=1e-8)
    np.testing.assert_allclose(found.pairs.target, target, rtol=1e-6)


def test_one_fold_is_as_good_as_five(monkeypatch):
    matrix = symmetric_matrix(200)

    def error() -> float:
        found = [
            fp.approximate(
                range(200), fp.Precomputed(matrix), landmarks=60, error_pairs=0, random_state=seed
            ).to_dense()
            for seed in range(4)
        ]
        return float(np.mean([np.linalg.norm(dense - matrix) for dense in found]))

    five = error()
    monkeypatch.setattr(folds_room, "_MANY", 20)
    assert error() == pytest.approx(five, rel=0.03)


def test_pairs_of_a_queue_are_believed_in_growing_windows():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 50, (2, 1000))
    asked = []

    def believed(i, j):
        asked.append(len(i))
        return 100.0 * i + j

    queue = Queue(rows, columns, (np.empty(0), np.empty(0)))
    for start in range(0, 1000, 20):
        mine = np.arange(start, start + 20, 2)
        expected = 100.0 * rows[mine] + columns[mine]
        np.testing.assert_array_equal(queue.believed_at(mine, believed), expected)
    assert len(asked) <= 8
    assert sum(asked) == 1000
    assert asked[0] == 19  # no more than it takes where the first batch is the last


def test_the_smallest_eigenvalue_is_found_where_lanczos_would_go_on(monkeypatch):
    n = 300
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([-1 + 1e-6 * np.arange(n - 1), [1e3]])
    matrix = (basis * values) @ basis.T
    matrix = (matrix + matrix.T) / 2
    monkeypatch.setattr(nystrom, "_LARGE", n)
    assert nystrom.smallest_eigenvalue(matrix) == pytest.approx(-1, rel=1e-9)


@pytest.mark.parametrize("n", [9, 20, 30])
@pytest.mark.parametrize("value", [1.0, -2.5])
def test_a_constant_matrix_is_found_from_three_landmarks(n, value):
    matrix = np.full((n, n), value)
    found = fp.approximate(
        range(n), fp.Precomputed(matrix), landmarks=3, error_pairs=0, random_state=0
    )
    np.testing.assert_allclose(found.to_dense(), matrix, rtol=1e-6)


def asymmetric_cores(rng: np.random.Generator) -> Cores:
    square = rng.normal(size=(12, 12)) + 5 * np.eye(12)
    return Cores.of(square, gap_of(square), symmetric=False)


def test_each_item_is_taken_to_the_bases_of_many_landmarks_once(monkeypatch):
    rng = np.random.default_rng(0)
    cores = asymmetric_cores(rng)
    left, right = rng.normal(size=(30, 12)), rng.normal(size=(40, 12))
    rows, columns = rng.integers(30, size=2500), rng.integers(40, size=2500)
    before = cores.pair_predictions(left, right, rows, columns)
    np.testing.assert_allclose(before, cores.predictions(left[rows], right[columns]), rtol=1e-9)
    monkeypatch.setattr(cores_room, "_MANY", 12)
    monkeypatch.delattr(Cores, "predictions")  # the other way
    after = cores.pair_predictions(left, right, rows, columns)
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-12)


def test_nuggets_without_weight_are_left_out_of_the_core():
    rng = np.random.default_rng(0)
    cores = asymmetric_cores(rng)
    weights = rng.uniform(size=cores.count)
    weights[len(weights) // 5 : 2 * len(weights) // 5] = 0
    each = [cores.combined(np.eye(cores.count)[k]) for k in range(cores.count)]
    wanted = np.einsum("k,kij->ij", weights, np.stack(each))
    np.testing.assert_allclose(cores.combined(weights), wanted, rtol=1e-9, atol=1e-12)


def test_three_nuggets_are_as_good_as_five_where_each_takes_a_decomposition(monkeypatch):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(150, 5))
    matrix = np.tanh(0.3 * factors @ factors.T) * (1 + 0.2 * np.sin(factors[:, :1]))
    matrix += 0.5 * np.eye(150)

    def found() -> tuple[float, set[int]]:
        asked, errors = set(), []
        whole = Cores.of

        def counted(*arguments, **options):
            made = whole(*arguments, **options)
            asked.add(len(made.families))
            return made

        monkeypatch.setattr(Cores, "of", counted)
        for seed in range(4):
            K = fp.approximate(
                range(150),
                fp.Precomputed(matrix, symmetric=False),
                landmarks=50,
                error_pairs=0,
                random_state=seed,
            )
            errors.append(np.linalg.norm(K.to_dense() - matrix))
        monkeypatch.setattr(Cores, "of", whole)
        return float(np.mean(errors)), asked

    five, asked = found()
    assert asked == {5}
    monkeypatch.setattr(cores_room, "_MANY", 50)
    three, asked = found()
    assert asked == {3}  # of the folds too, whose landmarks are fewer
    assert three == pytest.approx(five, rel=0.03)


def test_a_symmetric_matrix_keeps_its_nuggets_which_cost_no_decomposition(monkeypatch):
    monkeypatch.setattr(cores_room, "_MANY", 12)
    assert cores_room.nuggets_for(11, symmetric=False) == cores_room.NUGGETS
    assert cores_room.nuggets_for(12, symmetric=False) == cores_room.FEW_NUGGETS
    assert cores_room.nuggets_for(12, symmetric=True) == cores_room.NUGGETS
