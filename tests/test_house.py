"""The house: light to import, one-way data flow, every public name there and documented."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app

OPTIONAL = (
    "pandas",
    "polars",
    "pyarrow",
    "rapidfuzz",
    "matplotlib",
    "torch",
    "dask",
    "sentence_transformers",
    "transformers",
    "onnxruntime",
)


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
    estimators += ("PolynomialSketch", "RBFSketch", "FactoredAgglomerative")
    estimators += ("SimilarityClassifier", "SimilarityNeighbors")
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


def test_the_page_on_architecture_names_every_module_in_its_room_and_no_other():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = page[page.index("### The ground") : page.index("### Beside the package")]
    loose = {p.name for p in SOURCE.glob("*.py")} - {"__init__.py"}
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    for section in told.split("### ")[1:]:
        title = section.splitlines()[0]
        mine = {room for room in rooms if f"`{room}/`" in title}
        there = {p.name for room in mine for p in (SOURCE / room).rglob("*.py")}
        there |= {name for name in loose if f"`{name}`" in title}
        assert set(re.findall(r"(\w+\.py)`", section)) == there - {"__init__.py"}, title
        rooms -= mine
        loose -= there
    assert not rooms
    assert not loose


def test_the_page_on_architecture_has_the_rooms_in_the_order_of_imports():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = page[page.index("## The rooms") : page.index("### The ground")].split("```")[1]
    told = [set(re.findall(r"\w+", line.replace(".py", ""))) for line in drawn.split("\n")[1:-1]]
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = layers["tool"]["importlinter"]["contracts"]
    rows = [set(row.replace("fewpairs.", "").split(" | ")) for row in contract["layers"]]
    assert told == rows[::-1]


def test_the_walk_is_the_one_that_a_run_takes(tmp_path):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = page[page.index("## A walk") : page.index("## What the oracle promises")]
    told = re.findall(r"(?:\w+/)*\w+\.py", walk)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"text number {i * i} of {i}" for i in range(120)))
    matrix = tmp_path / "texts.fewpairs"
    command = ["approximate", str(texts), "--landmarks", "20", "-o", str(matrix)]
    CliRunner().invoke(app, command)  # modules load on first use, which is not part of the walk
    entered: dict[str, None] = {}

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        function = frame.f_code.co_flags & inspect.CO_NEWLOCALS and frame.f_code.co_name[0] != "<"
        if event == "call" and function and path.is_relative_to(SOURCE):
            entered.setdefault(path.relative_to(SOURCE).as_posix())

    sys.setprofile(note)
    try:
        CliRunner().invoke(app, command)
        fp.load(matrix).nearest(17)
    finally:
        sys.setprofile(None)
    assert told == [name for name in entered if name != "__init__.py"]


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
            assert not re.search(
                r"(?<!/)memory\.[a-z_]", text.replace("oracle.memory import", "")
            ), path
            assert not re.search(r"isinstance\([^)]*Fitted\)|title\.startswith", text), path


def test_the_page_of_public_names_is_complete_and_right():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `fewpairs\.(\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert set(listed) == set(fp.__all__) - {"__version__"}
    for name, line in listed.items():
        assert line == inspect.getdoc(getattr(fp, name)).splitlines()[0]
