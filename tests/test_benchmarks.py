"""Benchmarks stay runnable: they import, their list is complete, and quick runs publish nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.__main__ import benchmarks, subjects
from benchmarks.shared import tables
from benchmarks.shared.fourier_features import fourier_features

ROOT = Path(__file__).resolve().parent.parent
NAMES = [f"benchmarks.{s.name}.{path.stem}" for s in subjects() for path in benchmarks(s)]


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported_and_run(name):
    assert callable(importlib.import_module(name).main)


def test_all_benchmarks_are_listed():
    command = [sys.executable, "-m", "benchmarks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert [word for word in done.stdout.split() if word.startswith("benchmarks.")] == NAMES


def test_a_quick_run_publishes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_DOCS", tmp_path)
    (tmp_path / "tables").mkdir()
    tables.publish("some", "| a |", quick=True)
    assert not list((tmp_path / "tables").iterdir())
    tables.publish("some", "| a |", quick=False)
    assert (tmp_path / "tables" / "some.md").read_text(encoding="utf-8") == "| a |\n"


def test_fourier_features_approach_the_gaussian_kernel():
    x = np.random.default_rng(0).normal(size=(50, 4))
    features = fourier_features(x, 100_000, 0.3, 0)
    # Each entry is a mean of 50,000 cosines: 5 standard deviations at most.
    np.testing.assert_allclose(features @ features.T, rbf_kernel(x, gamma=0.3), atol=0.025)
