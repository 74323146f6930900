"""A wanted error of f(UVᵀ): columns and degree that are chosen, and whether the claim is true.

exp(UUᵀ) on 1,000 rows as in elementwise.py, whose entries a few long rows can dominate. Beside the
columns are those of the best matrix of any kind with that error, and how often, in ten runs, the
target was said to be reached and was, and the stated interval held the truth. Writes
docs/sketch-target-table.md.

    FEWPAIRS_DATA=… python benchmarks/sketch_target.py [--quick]
"""

from __future__ import annotations

import time

import numpy as np
from common import DOCS, arguments, need_data, relative, table
from elementwise import Kernel, rows
from threadpoolctl import threadpool_limits

import fewpairs as fp

RUNS, TARGETS = 10, (0.1, 0.03, 0.01)


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    need_data()
    runs = 2 if options.quick else RUNS
    lines = []
    with threadpool_limits(1):
        for name in ("synthetic", "segment", "usps"):
            for bandwidth in (0.1, 1.0):
                u = Kernel(rows(name), bandwidth).u
                exact = np.exp(u @ u.T)
                squares = np.linalg.svd(exact, compute_uv=False) ** 2
                tails = np.sqrt(np.cumsum(squares[::-1])[::-1] / squares.sum())
                for target in TARGETS[: 1 if options.quick else None]:
                    start, found = time.process_time(), []
                    for seed in range(runs):
                        K = fp.elementwise(np.exp, u, target_error=target, random_state=seed)
                        off = relative(K.to_dense(), exact)
                        said = K.stopped_because == "the target was reached"
                        found.append((
                            K.left.shape[1], K.polynomial.degree, said, off <= target,
                            K.error.low <= off <= K.error.high, off,
                        ))  # fmt: skip
                    seconds = (time.process_time() - start) / runs
                    columns, degrees, said, true, held, off = (
                        np.array(x) for x in zip(*found, strict=True)
                    )
                    lines.append([
                        name, f"{bandwidth}", f"{target}", f"{np.median(columns):.0f}",
                        int((tails > target).sum()), f"{np.median(degrees):.0f}",
                        f"{said.sum()} of {runs}", f"{(said & true).sum()} of {said.sum()}",
                        f"{held.sum()} of {runs}", f"{off.mean():.4f}", f"{seconds:.1f}",
                    ])  # fmt: skip
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "target", "columns", "best rank", "degree"]
    headings += ["said reached", "true", "interval holds", "true error", "CPU s"]
    if not options.quick:
        (DOCS / "sketch-target-table.md").write_text(table(headings, lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
