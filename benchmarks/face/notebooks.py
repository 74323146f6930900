"""The notebooks, executed from the first cell to the last, each in a kernel of its own.

Each runs in a temporary folder; what it shows is counted and thrown away, because notebooks are
kept without outputs. It prints, and writes nothing. Takes about three minutes on one core; a quick
run takes two of them.

    python -m benchmarks.face.notebooks [--quick]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.shared.command import arguments
from benchmarks.shared.tables import table

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
#: Those that the tests execute, too: a progress bar, results that show themselves, a picture.
QUICK = ("dedupe", "cluster")


def executed(path: Path, folder: str) -> Any:
    """Return the notebook with its outputs; a cell that fails raises CellExecutionError."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return notebook


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows = []
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if options.quick and path.stem not in QUICK:
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, folder)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        shown = sum(len(cell.outputs) for cell in cells)
        rows.append([path.stem, len(cells), shown, f"{time.perf_counter() - start:.1f}"])
    print(table(["notebook", "cells", "outputs", "s"], rows))


if __name__ == "__main__":
    main()
