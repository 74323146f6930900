"""Two kinds of random Fourier features beside Coreset-TS, at equal numbers of columns.

Pairs of cosine and sine have less variance than single cosines with random phases, which
scikit-learn's RBFSampler draws. Kernels, degree 10 and measure as in elementwise.py: mean squared
relative error of an entry. Writes docs/fourier-table.md.

    FEWPAIRS_DATA=… python benchmarks/fourier.py [--quick] [--trials 100]
"""

from __future__ import annotations

import numpy as np
from common import DOCS, arguments, need_data, table
from elementwise import SIZES, Kernel, rows
from sklearn.kernel_approximation import RBFSampler
from threadpoolctl import threadpool_limits

DEGREE = 10


def phases(kernel: Kernel, columns: int, seed: int) -> float:
    """The error of one draw of random phases."""
    sampler = RBFSampler(gamma=kernel.gamma, n_components=columns, random_state=seed)
    features = sampler.fit_transform(kernel.x)
    return kernel.errors(features @ features.T)[0]


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    need_data()
    trials = range(2 if options.quick else options.trials)
    lines = []
    with threadpool_limits(1):
        for name in ("synthetic", "segment", "usps"):
            for bandwidth in (0.1, 1.0):
                kernel = Kernel(rows(name), bandwidth)
                for size in SIZES:
                    found = [
                        np.mean([kernel.sketched(title, DEGREE, size, k)[0] for k in trials])
                        for title in ("Coreset-TS", "random Fourier features")
                    ]
                    found.append(np.mean([phases(kernel, DEGREE * size, k) for k in trials]))
                    cells = [name, f"{bandwidth}", str(DEGREE * size)]
                    lines.append([*cells, *(f"{value:.1e}" for value in found)])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "columns", "Coreset-TS", "cosines and sines"]
    if not options.quick:
        text = table([*headings, "random phases (RBFSampler)"], lines)
        (DOCS / "fourier-table.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
