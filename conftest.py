"""For all tests: one BLAS thread, the three kinds, no doctests of what needs PyTorch without it."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

# Before NumPy is loaded: many small products, whose threads would wait for each other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Files that load PyTorch when they are imported; found, so that none can be forgotten.
collect_ignore: list[str] = []
if importlib.util.find_spec("torch") is None:
    _here = Path(__file__).parent
    collect_ignore = [
        str(path.relative_to(_here))
        for folder in ("src", "tests")
        for path in sorted((_here / folder).rglob("*.py"))
        if re.search(
            r"^(import|from) (torch|transformers)\b", path.read_text("utf-8"), re.MULTILINE
        )
    ]


@pytest.fixture(params=["pair", "pairs", "block"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of similarity in turn."""
    return str(request.param)
