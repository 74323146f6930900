"""The house: light to import, one-way data flow, every public name there and documented."""

from __future__ import annotations

import subprocess
import sys

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
