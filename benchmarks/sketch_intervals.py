"""How often the stated interval of f(UVᵀ)'s error holds the truth.

exp(UUᵀ) on 1,000 rows as in elementwise.py. For each feature map, the error is estimated anew from
5,000 entries, 200 times; a 95 % interval should hold in 95 of 100. Writes
docs/sketch-intervals-table.md.

    FEWPAIRS_DATA=… python benchmarks/sketch_intervals.py [--quick]
"""

from __future__ import annotations

import numpy as np
from common import DOCS, arguments, need_data, relative, table
from elementwise import Kernel, rows
from threadpoolctl import threadpool_limits

from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.sampling import Sampler

MAPS = {
    "9 columns, degree 2": SketchOptions(degree=2, columns=9),
    "default, 101 columns": SketchOptions(),
    "Coreset-TS, 101 columns": SketchOptions(coefficients="coreset", exact_terms=False),
}
AUDITS, ENTRIES = 200, 5000


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    need_data()
    lines, shares = [], []
    with threadpool_limits(1):
        for name in ("synthetic", "segment", "usps"):
            for bandwidth in (0.1, 1.0):
                u = Kernel(rows(name), bandwidth).u
                exact = np.exp(u @ u.T)
                for title, how in MAPS.items():
                    made = make_map(np.exp, u, u, how, rng=np.random.default_rng(0))
                    features = made(u)
                    truth = relative((features * made.signs) @ features.T, exact)
                    found = []
                    for seed in range(5 if options.quick else AUDITS):
                        rng = np.random.default_rng(1 + seed)
                        sampler = Sampler(np.exp, u, u, None, rng)
                        error = estimate_error(made, sampler, ENTRIES, rng)
                        held = error.low <= truth <= error.high
                        found.append((held, truth > error.high, error.high / error.value - 1))
                    held, above, half = np.mean(found, axis=0)
                    shares.append(held)
                    cells = [name, f"{bandwidth}", title, f"{truth:.1e}", f"{held:.1%}"]
                    lines.append([*cells, f"{above:.1%}", f"±{half:.1%}"])
                    print(*lines[-1], sep=" | ", flush=True)
    summary = f"Mean {np.mean(shares):.1%}, from {min(shares):.1%} to {max(shares):.1%}."
    print(summary)
    headings = ["data", "γ · mean distance²", "map", "true error", "holds", "too low", "half-width"]
    if not options.quick:
        text = f"{table(headings, lines)}\n\n{summary}\n"
        (DOCS / "sketch-intervals-table.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
