"""Profiles: how many examples the tests of this folder run, and that they are the same each time.

Tests here are plain functions with `@given`, without `@settings` and without fixtures, so that
benchmarks/reliability/fuzz.py can run the same functions with many more examples and fresh seeds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent

settings.register_profile(
    "fuzz-few",
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the profile to the tests of this folder, and to no other."""
    functions = {
        item.function
        for item in items
        if isinstance(item, pytest.Function) and item.path.parent == HERE
    }
    for function in functions:
        if hasattr(function, "hypothesis"):
            settings.get_profile("fuzz-few")(function)
