"""Examples run as they are, and each draws the picture that the gallery shows."""

from __future__ import annotations

import functools
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import fewpairs as fp

mpl.use("Agg")

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: Parsing the sources of three libraries takes most of an example's time.
docstrings = functools.cache(fp.datasets.docstrings)


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    monkeypatch.setattr(fp.datasets, "docstrings", docstrings)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_draws(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    picture = plt.imread(tmp_path / f"{path.stem}.png")
    assert picture.std() > 0.01  # something is drawn
    plt.close("all")


def test_every_example_has_its_place_and_picture_in_the_gallery():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    names = {path.stem for path in EXAMPLES}
    assert set(re.findall(r"\(\.\./examples/(\w+)\.py\)", page)) == names
    assert set(re.findall(r"\(figures/example-(\w+)\.png\)", page)) == names
