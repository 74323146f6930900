"""Degree and columns that are chosen: for a number of columns, or for a wanted error."""

from __future__ import annotations

import numpy as np
import pytest
from sketch_examples import relative, rows

import fewpairs as fp


@pytest.mark.parametrize("coefficients", ["tuned", "coreset"])
def test_a_number_of_columns_is_enough_to_ask_for(coefficients):
    u = rows(400, 12, scale=0.3)
    exact = np.exp(u @ u.T)
    K = fp.elementwise(np.exp, u, columns=40, coefficients=coefficients, random_state=0)
    assert K.left.shape[1] <= 40
    assert coefficients == "coreset" or K.left.shape[1] == 40
    tried = {point.degree: point.error.value for point in K.curve}
    assert (1 if coefficients == "tuned" else 2) <= len(tried) <= 4
    assert K.curve[-1].error.value == min(tried.values())
    assert (K.polynomial.degree if K.polynomial else 0) == K.curve[-1].degree
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
    with pytest.warns(fp.errors.TargetMissedWarning, match="0.001 was not reached.*30 columns"):
        K = fp.elementwise(np.exp, u, target_error=0.001, columns=30, random_state=0)
    assert K.stopped_because == "30 columns were not enough"
    assert K.left.shape[1] <= 30
    for wrong in (2, "small"):
        with pytest.raises(fp.errors.InputError, match=f"target_error is {wrong!r}"):
            fp.elementwise(np.exp, u, target_error=wrong)
    assert fp.elementwise(np.exp, u, error_pairs=1, random_state=0).error.n_pairs == 0  # all
    assert fp.elementwise(np.exp, u, error_pairs=0, random_state=0).error is None
    with pytest.raises(fp.errors.InputError, match="columns is 0"):
        fp.elementwise(np.exp, u, columns=0)


@pytest.mark.parametrize("factor", [1e-160, 1.0, 1e90])
def test_any_order_of_magnitude_will_do(factor):
    u = rows()
    K = fp.elementwise(lambda x: factor * np.exp(x), u, target_error=0.05, random_state=0)
    assert K.stopped_because == "the target was reached"
    assert relative(K, factor * np.exp(u @ u.T)) <= 0.05


def test_a_target_is_claimed_by_the_upper_end_alone():
    """Of sparse rows, intervals are wide: an estimate below the target is not enough."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=(1500, 60)) * (rng.random((1500, 60)) < 0.05)
    for seed in range(4):
        K = fp.elementwise(np.square, u, target_error=0.3, random_state=seed)
        assert K.error.n_pairs > 0  # it is an estimate
        assert K.stopped_because == "the target was reached"
        assert K.error.high <= 0.3
