"""The default sketch against Nyström at equal width, and against the best matrix of that rank.

Gaussian kernels as in elementwise.py. Nyström looks at the data, as ours does and the paper's
sketch does not, and is the rival to beat. Mean squared relative error of an entry (relative
Frobenius error), five draws. Writes docs/tables/nystroem.md.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.nystroem [--quick]
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Kernel, rows
from benchmarks.shared.tables import publish, table

DRAWS = 5


def ours(kernel: Kernel, columns: int, seed: int) -> np.ndarray:
    found = fp.rbf_kernel(
        kernel.x, gamma=kernel.gamma, columns=columns, error_pairs=2000, random_state=seed
    )
    return found.to_dense()


def nystroem(kernel: Kernel, columns: int, seed: int) -> np.ndarray:
    model = Nystroem(gamma=kernel.gamma, n_components=columns, random_state=seed)
    features = model.fit_transform(kernel.x)
    return features @ features.T


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    lines = []
    with threadpool_limits(1):
        for name in DATA:
            for bandwidth in BANDWIDTHS:
                kernel = Kernel(rows(name), bandwidth)
                values, vectors = np.linalg.eigh(kernel.exact)
                for columns in (51,) if options.quick else (51, 101, 201):
                    cells = []
                    for method in (ours, nystroem):
                        found = [kernel.errors(method(kernel, columns, k)) for k in range(DRAWS)]
                        cells.append(np.mean(found, axis=0))
                    top = vectors[:, -columns:]
                    cells.append(kernel.errors((top * values[-columns:]) @ top.T))
                    shown = [f"{squared:.1e} ({frobenius:.1e})" for squared, frobenius in cells]
                    ratio = f"{cells[1][0] / cells[0][0]:.2g}×"
                    lines.append([name, f"{bandwidth}", f"{columns}", *shown, ratio])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "columns", "**fewpairs**", "Nystroem"]
    headings += ["best of that rank", "Nystroem / fewpairs"]
    publish("nystroem", table(headings, lines), quick=options.quick)


if __name__ == "__main__":
    main()
