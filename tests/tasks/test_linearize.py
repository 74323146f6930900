"""Linearised layers: the module is the sketch, near the layers it stands for, and it learns."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.special import expit

import fewpairs as fp


def test_without_pytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "fewpairs.tasks.sketched_layers", raising=False)
    with pytest.raises(fp.errors.MissingExtraError, match="transformers"):
        fp.linearize(None, None, expit, np.zeros((2, 3)))


torch = pytest.importorskip("torch", reason="PyTorch comes with the extra transformers")


def layers(bias=True):
    torch.manual_seed(0)
    return torch.nn.Linear(10, 80, bias=bias), torch.nn.Linear(80, 4, bias=bias)


def wanted(first, second, x):
    return second(torch.sigmoid(first(x)))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("exact_linear", [True, False])
def test_it_comes_near_with_a_large_sketch(bias, exact_linear):
    first, second = layers(bias)
    x = torch.randn(300, 10)
    truth = wanted(first, second, x).detach()
    options = {"exact_linear": exact_linear, "random_state": 0}
    errors = []
    for size in (30, 3000):
        model = fp.linearize(first, second, expit, x, sketch_size=size, **options)
        errors.append(float((model(x).detach() - truth).square().mean().sqrt() / truth.std()))
    assert errors[1] < 0.15
    assert errors[1] < 0.5 * errors[0] or errors[0] < 0.05


def test_a_linear_function_is_exact():
    first, second = layers()
    x = torch.randn(50, 10)
    model = fp.linearize(first, second, lambda z: 2 * z - 1, x, random_state=0)
    truth = second(2 * first(x) - 1)
    torch.testing.assert_close(model(x), truth, atol=1e-4, rtol=1e-4)


def test_it_learns_and_is_kept():
    first, second = layers()
    x = torch.randn(400, 10)
    truth = wanted(first, second, x).detach()
    model = fp.linearize(first, second, expit, x, sketch_size=20, random_state=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        loss = (model(x) - truth).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    again = fp.linearize(first, second, expit, x, sketch_size=20, random_state=1)
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(again(x), model(x))
    assert model.multiply_adds > 0


def test_layers_that_do_not_follow_are_refused():
    first, second = layers()
    with pytest.raises(fp.errors.InputError, match="follow"):
        fp.linearize(second, first, expit, torch.randn(5, 80))


@pytest.mark.parametrize("degree", [0, 1])
def test_low_degrees_need_no_sketch(degree):
    first, second = layers()
    x = torch.randn(20, 10)
    model = fp.linearize(first, second, expit, x, degree=degree, random_state=0)
    assert model(x).shape == (20, 4)
    assert model.multiply_adds > 0


def test_the_scale_of_the_inputs_does_not_matter():
    first, second = layers(bias=False)
    x = torch.randn(200, 10)
    plain = fp.linearize(first, second, expit, x, random_state=0)(x)
    with torch.no_grad():
        first.weight /= 1000
    scaled = fp.linearize(first, second, expit, 1000 * x, random_state=0)(1000 * x)
    torch.testing.assert_close(plain, scaled, atol=1e-3, rtol=1e-3)
