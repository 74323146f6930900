"""How often the stated interval of f(UVᵀ)'s error holds the truth.

exp(UUᵀ) on 1,000 rows as in elementwise.py. The error of each feature map is estimated 200 times,
each time from 5,000 fresh entries; a 95 % interval should hold the truth in 95 of 100. Writes
docs/tables/sketch-intervals.md.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.sketch_intervals [--quick]
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Kernel, rows
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.sampling import Sampler

MAPS = {
    "9 columns, degree 2": SketchOptions(degree=2, columns=9),
    "default, 101 columns": SketchOptions(),
    "Coreset-TS, 101 columns": SketchOptions(coefficients="coreset", exact_terms=False),
}
ESTIMATES, ENTRIES = 200, 5000


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    lines, shares = [], []
    with threadpool_limits(1):
        for name in DATA:
            for bandwidth in BANDWIDTHS:
                u = Kernel(rows(name), bandwidth).u
                exact = np.exp(u @ u.T)
                for title, how in MAPS.items():
                    made = make_map(np.exp, u, u, how, rng=np.random.default_rng(0))
                    features = made(u)
                    truth = relative((features * made.signs) @ features.T, exact)
                    found = []
                    for seed in range(5 if options.quick else ESTIMATES):
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
    text = f"{table(headings, lines)}\n\n{summary}\n"
    publish("sketch-intervals", text, quick=options.quick)


if __name__ == "__main__":
    main()
