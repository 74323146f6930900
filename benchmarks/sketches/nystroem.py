"""The default sketch against Nyström at equal width, and against the best matrix of that rank.

Gaussian kernels as in elementwise.py, and narrow ones: γ = 10 over the mean squared distance. Rows
of `curved` and `clusters` are 3,000 of 22 dimensions, near a 3-dimensional plane and around 30
centres. Nyström looks at the data, as ours does and the paper's sketch does not, and is the rival
to beat. Mean squared relative error of an entry (only where no entry is tiny), relative Frobenius
error, and CPU seconds as a multiple of Nystroem's in the same run; means of three draws. Writes
docs/tables/nystroem.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.nystroem [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Kernel, rows
from benchmarks.shared.tables import publish, table

DRAWS = 3
#: γ times the mean squared distance of a narrow kernel, whose entries are mostly near zero.
NARROW = 10.0
CAPTION = (
    "Gaussian kernels at equal width: mean squared relative error of an entry (relative Frobenius "
    "error, alone where entries are tiny), of the default sketch, of scikit-learn's `Nystroem`, "
    "and of the best matrix of that rank; then the ratio of the Frobenius errors, and CPU time as "
    f"a multiple of `Nystroem`'s in the same run. Means of {DRAWS} draws, one thread; 1,000 rows "
    "of synthetic, segment and usps, 3,000 of the others."
)


def ours(kernel: Kernel, columns: int, seed: int) -> np.ndarray:
    found = fp.rbf_kernel(kernel.x, gamma=kernel.gamma, columns=columns, random_state=seed)
    return found.left


def nystroem(kernel: Kernel, columns: int, seed: int) -> np.ndarray:
    model = Nystroem(gamma=kernel.gamma, n_components=columns, random_state=seed)
    return model.fit_transform(kernel.x)


def drawn_rows(name: str) -> np.ndarray:
    """3,000 rows of 22 dimensions, or a data set."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(3000, 22))
    if name == "curved":
        return rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 22)) + 0.1 * noise
    if name == "clusters":
        return rng.normal(size=(30, 22))[rng.integers(0, 30, 3000)] + 0.2 * noise
    return rows(name)


def measured(
    method: Callable[[Kernel, int, int], np.ndarray], kernel: Kernel, columns: int
) -> np.ndarray:
    """Both errors and CPU seconds, means over draws."""
    found = []
    for seed in range(DRAWS):
        start = time.process_time()
        features = method(kernel, columns, seed)
        seconds = time.process_time() - start
        found.append((*kernel.errors(features @ features.T), seconds))
    return np.mean(found, axis=0)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    lines = []
    with threadpool_limits(1), np.errstate(all="ignore"):
        for name in ("curved",) if options.quick else (*DATA, "curved", "clusters"):
            for bandwidth in (*BANDWIDTHS, NARROW):
                kernel = Kernel(drawn_rows(name), bandwidth)
                values, vectors = np.linalg.eigh(kernel.exact)
                for columns in (51,) if options.quick else (51, 101, 201):
                    top = vectors[:, -columns:]
                    best = kernel.errors((top * values[-columns:]) @ top.T)
                    cells = [measured(method, kernel, columns) for method in (ours, nystroem)]
                    shown = [
                        f"{squared:.1e} ({whole:.1e})" for squared, whole, *_ in (*cells, best)
                    ]
                    if bandwidth == NARROW:  # relative errors of tiny entries say nothing
                        shown = [f"({whole:.1e})" for _, whole, *_ in (*cells, best)]
                    ratio = f"{cells[1][1] / cells[0][1]:.2g}×"
                    slower = f"{cells[0][2] / cells[1][2]:.0f}×"
                    lines.append([name, f"{bandwidth}", f"{columns}", *shown, ratio, slower])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "columns", "**fewpairs**", "Nystroem"]
    headings += ["best of that rank", "Nystroem / fewpairs", "CPU time / Nystroem's"]
    text = f"{CAPTION}\n\n{table(headings, lines)}\n"
    publish("nystroem", text, quick=options.quick)


if __name__ == "__main__":
    main()
