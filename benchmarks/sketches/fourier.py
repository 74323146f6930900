"""Two kinds of random Fourier features beside Coreset-TS, at equal numbers of columns.

Pairs of cosine and sine have less variance than single cosines with random phases, which
scikit-learn's RBFSampler draws. Kernels as in elementwise.py, Coreset-TS of degree 10; the mean
squared relative error of an entry. Writes docs/tables/fourier.md. Takes about five minutes on one
core.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.fourier [--quick] [--trials 100]
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Kernel, rows
from benchmarks.shared.tables import publish, table

DEGREE, SIZES = 10, (5, 10, 20, 40)


def errors(kernel: Kernel, size: int, seed: int) -> list[float]:
    """Errors of one draw of each: Coreset-TS, cosines and sines, random phases."""
    columns = DEGREE * size
    sampler = RBFSampler(gamma=kernel.gamma, n_components=columns, random_state=seed)
    phases = sampler.fit_transform(kernel.x)
    every = (
        kernel.sketched(DEGREE, size, seed, coefficients="coreset"),
        kernel.by_fourier_features(columns, seed),
        kernel.errors(phases @ phases.T),
    )
    return [squared for squared, _ in every]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    need_data()
    trials = range(2 if options.quick else options.trials)
    lines = []
    with threadpool_limits(1):
        for name in DATA:
            for bandwidth in BANDWIDTHS:
                kernel = Kernel(rows(name), bandwidth)
                for size in SIZES:
                    found = np.mean([errors(kernel, size, k) for k in trials], axis=0)
                    cells = [name, f"{bandwidth}", f"{DEGREE * size}"]
                    lines.append([*cells, *(f"{value:.1e}" for value in found)])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "columns", "Coreset-TS", "cosines and sines"]
    text = table([*headings, "random phases (RBFSampler)"], lines)
    publish("fourier", text, quick=options.quick)


if __name__ == "__main__":
    main()
