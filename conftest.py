"""For all tests: one BLAS thread, the three kinds, no doctests of what needs PyTorch without it."""

from __future__ import annotations

import importlib.util
import os

import pytest

# Before NumPy is loaded: many small products, whose threads would wait for each other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

collect_ignore: list[str] = []
if importlib.util.find_spec("torch") is None:
    collect_ignore.append("src/fewpairs/tasks/sketched_layers.py")
    collect_ignore.append("src/fewpairs/tasks/finetuning/epochs.py")
    collect_ignore.append("src/fewpairs/similarities/transformers/first_token.py")
    collect_ignore.append("src/fewpairs/similarities/transformers/mention_network.py")
    collect_ignore.append("src/fewpairs/similarities/transformers/mention_training.py")
    collect_ignore.append("src/fewpairs/similarities/transformers/network.py")
    collect_ignore.append("tests/similarities/tiny_models.py")


@pytest.fixture(params=["pair", "pairs", "block"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of similarity in turn."""
    return str(request.param)
