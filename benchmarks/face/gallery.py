"""The pictures of the gallery, by the examples themselves.

Each of examples/ runs in a temporary folder, as somebody who copies it would run it. Writes
docs/figures/example-clusters.png, docs/figures/example-corpus_to_matrix.png,
docs/figures/example-dedupe_report.png, docs/figures/example-functions_of_products.png,
docs/figures/example-match_catalogues.png, docs/figures/example-own_function.png,
docs/figures/example-search_with_a_budget.png, docs/figures/example-word_vectors.png. Takes about
two minutes on one core.

    python -m benchmarks.face.gallery [--quick]
"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl

from benchmarks.shared.command import arguments
from benchmarks.shared.tables import FIGURES

mpl.use("Agg")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def main() -> None:
    options = arguments(__doc__).parse_args()
    for path in sorted(EXAMPLES.glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            runpy.run_path(str(path))
            if not options.quick:
                shutil.copy(f"{path.stem}.png", FIGURES / f"example-{path.stem}.png")
            os.chdir(EXAMPLES)
        print(f"example-{path.stem}.png\n")


if __name__ == "__main__":
    main()
