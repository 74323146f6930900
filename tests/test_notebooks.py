"""Notebooks run, are kept without outputs, and show a progress bar and results as they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.face.notebooks import NOTEBOOKS, QUICK, executed
from fewpairs.notebook import bar
from fewpairs.oracle import progress

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
TASKS = ("match", "dedupe", "search", "cluster", "classify", "score_pairs")
TASKS += ("word_vectors", "kernels", "transport")


def test_there_is_one_for_each_task():
    assert {path.stem for path in FILES} == set(TASKS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kept_without_outputs_and_pages_named_exist(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            assert cell["execution_count"] is None
            compile("".join(cell["source"]), str(path), "exec")
    named = [word.strip("`.,") for word in "".join(cells[0]["source"]).split() if "docs/" in word]
    assert named
    assert all((ROOT / name).is_file() for name in named)


@pytest.fixture(scope="module", params=QUICK)
def ran(request, tmp_path_factory):
    pytest.importorskip("nbclient", reason="nbclient comes with the extra test")
    pytest.importorskip("ipykernel", reason="ipykernel comes with the extra test")
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, executed(NOTEBOOKS / f"{request.param}.ipynb", str(folder))


@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
def test_it_runs_and_shows_tables_and_no_complaints(ran):
    name, notebook = ran
    outputs = [output for cell in notebook.cells[1:] for output in cell.outputs]
    complaints = [o.text for o in outputs if o.get("name") == "stderr"]
    assert not complaints
    shown = [o.data for o in outputs if "data" in o]
    assert any("<table" in data.get("text/html", "") for data in shown)
    if name == "dedupe":  # asks for a bar, which ends with nothing left
        (drawn,) = [data["text/html"] for data in shown if "<progress" in data.get("text/html", "")]
        assert "left 0:00:00" in drawn
    if name == "cluster":
        assert any("image/png" in data for data in shown)


@pytest.fixture
def displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(bar, "_display", lambda data, **options: shown.append((data, options)))
    return shown


def test_a_bar_that_was_asked_for_is_one_line_that_is_replaced(displayed, monkeypatch):
    monkeypatch.setattr(bar, "_PAUSE", 0.0)
    with progress.Progress(100, True, unit="<steps>") as watching:
        for done in (0, 50, 100):
            watching.update(done)
    first, *later = displayed
    assert not first[1]["update"]
    assert later
    assert all(options["update"] for _, options in later)
    assert len({options["display_id"] for _, options in displayed}) == 1
    data = displayed[-1][0]
    assert 'value="100" max="100"' in data["text/html"]
    assert "&lt;steps&gt;" in data["text/html"]
    assert "100 of 100" in data["text/plain"]


def test_a_short_run_displays_nothing_by_itself(displayed):
    with progress.Progress(100) as watching:
        watching.update(100)
        watching.tell("all pairs would have been quicker")
    assert not displayed


def test_a_long_run_is_displayed_by_itself(displayed, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.Progress(100) as watching:
        watching.update(40)
        watching.tell("a <line>")
    assert "40 of 100" in displayed[0][0]["text/plain"]
    assert any("a &lt;line&gt;" in data["text/html"] for data, _ in displayed)


def test_no_bar_where_none_is_wanted(displayed):
    with progress.Progress(100, False) as watching:
        watching.update(100)
    assert not displayed


def test_without_a_kernel_this_is_no_notebook():
    assert not bar.in_notebook()
