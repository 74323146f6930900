"""The pictures of the page on plots, from the code that it shows.

Writes docs/figures/plot-spectrum.png, docs/figures/plot-error.png, docs/figures/plot-recall.png,
docs/figures/plot-scores.png, docs/figures/plot-map.png, docs/figures/plot-block.png,
docs/figures/plot-agreement.png. Takes about a minute on one core.

    python -m benchmarks.face.pictures [--quick]
"""

from __future__ import annotations

import re

import matplotlib as mpl

from benchmarks.shared.command import arguments
from benchmarks.shared.tables import FIGURES

mpl.use("Agg")
PAGE = FIGURES.parent / "plots.md"
#: A block of code, and the picture that comes right after it, if one does.
BLOCK = re.compile(
    r"^```python\n(.*?)^```\n(?:\n!\[[^]]*\]\(figures/([\w.-]+)\))?", re.MULTILINE | re.DOTALL
)


def main() -> None:
    options = arguments(__doc__).parse_args()
    made: dict[str, object] = {}
    for code, picture in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        exec(compile(code, str(PAGE), "exec"), made)  # noqa: S102 - our own page
        if picture:
            if not options.quick:
                made["ax"].figure.savefig(FIGURES / picture, dpi=110, bbox_inches="tight")
            print(picture)


if __name__ == "__main__":
    main()
