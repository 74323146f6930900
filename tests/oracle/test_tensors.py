"""Answers that are tensors, on whatever device: brought here once, as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp

X = np.random.default_rng(0).random(60)
EXACT = fp.similarity(
    lambda a, b: np.exp(-np.abs(np.subtract.outer(a, b))), kind="block", symmetric=True
)


class Tensor:
    """What a tensor on a device does: NumPy cannot read it before it was moved."""

    moves = 0

    def __init__(self, values, where="cuda:0"):
        self.values, self.where = values, where

    def detach(self):
        return self

    def cpu(self):
        Tensor.moves += 1
        return Tensor(self.values, "cpu")

    def double(self):
        return Tensor(self.values.astype(np.float64), self.where)

    def is_floating_point(self):
        return True

    def numpy(self):
        if self.where != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self.values

    def __array__(self, *args, **kwargs):
        return self.numpy()


def columns(function, kind):
    return fp.Oracle(X, fp.similarity(function, kind=kind, symmetric=True)).columns([0, 7])


def test_a_block_is_moved_once():
    calls = []

    def block(a, b):
        calls.append(len(a))
        return Tensor(np.exp(-np.abs(np.subtract.outer(a, b))))

    Tensor.moves = 0
    found = columns(block, "block")
    np.testing.assert_array_equal(found, fp.Oracle(X, EXACT).columns([0, 7]))
    assert Tensor.moves == len(calls)


def test_single_numbers_are_moved_too():
    found = columns(lambda a, b: Tensor(np.array(np.exp(-abs(a - b)))), "pair")
    np.testing.assert_allclose(found, fp.Oracle(X, EXACT).columns([0, 7]), rtol=1e-15)


def test_tensors_of_pytorch_with_gradients_and_of_few_digits():
    torch = pytest.importorskip("torch", reason="needs PyTorch")

    def scored(pairs):
        a, b = (torch.tensor([pair[side] for pair in pairs]) for side in (0, 1))
        return torch.exp(-torch.abs(a - b)).requires_grad_()

    exact = fp.Oracle(X, EXACT).columns([0, 7])
    np.testing.assert_allclose(columns(scored, "pairs"), exact, rtol=1e-6)
    rough = columns(lambda pairs: scored(pairs).to(torch.bfloat16), "pairs")
    np.testing.assert_allclose(rough, exact, rtol=0.01)
