"""The house: light to import, one-way data flow, every public name there and documented."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fewpairs as fp

OPTIONAL = ("pandas", "polars", "rapidfuzz", "matplotlib", "torch", "dask", "sentence_transformers")


def fresh(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_import_is_fast_and_light():
    code = "import time; t = time.perf_counter(); import fewpairs; print(time.perf_counter() - t)"
    assert min(float(fresh(code)) for _ in range(3)) < 0.5


def modules_after(code: str) -> set[str]:
    return set(fresh(f"import sys\n{code}\nprint(*sys.modules)").split())


def test_no_optional_library_is_imported():
    estimators = ("SimilarityFeatures", "WordMoverEmbedding", "DistanceGeometryVectors")
    estimators += ("PolynomialSketch", "RBFSketch")
    names = [n for n in fp.__all__ if n not in (*estimators, "train_word_vectors")]
    loaded = modules_after(f"import fewpairs\nfor n in {names!r}: getattr(fewpairs, n)")
    assert not loaded & {*OPTIONAL, "sklearn"}
    # scikit-learn itself imports pandas where it finds it.
    with_sklearn = modules_after(f"import fewpairs\nfor n in {estimators!r}: getattr(fewpairs, n)")
    theirs = modules_after("import sklearn.base, sklearn.utils.validation")
    assert not (with_sklearn - theirs) & set(OPTIONAL)


@pytest.mark.parametrize("name", [n for n in fp.__all__ if not n.startswith("_")])
def test_every_public_name_is_there_and_documented(name):
    assert getattr(fp, name).__doc__
    assert name in dir(fp)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="aproximate"):
        _ = fp.aproximate


def test_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(ImportError, match=r"fewpairs\[strings\]"):
        fp.StringSimilarity()


ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "fewpairs"


def test_the_page_on_architecture_names_every_module_and_no_other():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = page[page.index("## The rooms") : page.index("## A walk")]
    named = set(re.findall(r"(\w+\.py)`", rooms))
    there = {p.name for p in SOURCE.rglob("*.py") if p.name != "__init__.py"}
    assert named == there
    for room in SOURCE.iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert f"`{room.name}/`" in rooms, room.name


def test_the_walk_leads_through_files_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = page[page.index("## A walk") : page.index("## What the oracle promises")]
    for path in re.findall(r"`((?:\w+/)+\w+\.py)`", walk):
        assert (SOURCE / path).is_file(), path


def test_the_house_stays_small():
    loose = list(SOURCE.glob("*.py"))
    assert len(loose) <= 12
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = layers["tool"]["importlinter"]["contracts"]
    assert len(contract["layers"]) <= 16
    named = {name.strip() for row in contract["layers"] for name in row.split("|")}
    rooms = {p.stem for p in SOURCE.iterdir() if p.name[0] not in "_." and p.name != "py.typed"}
    assert named == {f"fewpairs.{room}" for room in rooms}


def test_nothing_outside_the_oracle_reads_its_memory():
    for path in SOURCE.rglob("*.py"):
        if "oracle" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"memory\.[a-z_]", text.replace("oracle.memory import", "")), path
            assert not re.search(r"isinstance\([^)]*Fitted\)|title\.startswith", text), path


def test_the_page_of_public_names_is_complete_and_right():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `fewpairs\.(\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert set(listed) == set(fp.__all__) - {"__version__"}
    for name, line in listed.items():
        assert line == inspect.getdoc(getattr(fp, name)).splitlines()[0]
