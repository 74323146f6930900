"""A wanted error of f(UVᵀ): columns and degree that are chosen, and whether the claim is true.

exp(UUᵀ) on rows as in elementwise.py, but 1,200 of them: with 1,000 the stated error is computed
from all entries. A few long rows can dominate its entries. "Best rank" is the smallest rank that
any matrix with that error can have. Then, of ten runs: how many said that the target was reached,
how many of those were right, how often the stated interval held the truth. Writes
docs/tables/sketch-target.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.sketch_target [--quick]
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Kernel, rows
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

ROWS, RUNS, TARGETS = 1200, 10, (0.1, 0.03, 0.01)
CAPTION = (
    f"exp(UUᵀ) of {ROWS:,} rows with a wanted error, {RUNS} runs a line: medians of the columns "
    "and of the degree (0 where no polynomial takes part), the smallest rank that any matrix with "
    "that error can have; how many runs said that they had reached the target, how many of those "
    "had, and how often the stated 95 % interval held the truth; the mean true error."
)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    runs = 2 if options.quick else RUNS
    lines = []
    with threadpool_limits(1):
        for name in DATA:
            for bandwidth in BANDWIDTHS:
                u = Kernel(rows(name, ROWS), bandwidth).u
                exact = np.exp(u @ u.T)
                squares = np.sort(np.linalg.eigvalsh(exact) ** 2)[::-1]
                tails = np.sqrt(np.cumsum(squares[::-1])[::-1] / squares.sum())
                for target in TARGETS[: 1 if options.quick else None]:
                    found = []
                    for seed in range(runs):
                        K = fp.elementwise(np.exp, u, target_error=target, random_state=seed)
                        off = relative(K.to_dense(), exact)
                        said = K.stopped_because == "the target was reached"
                        found.append((
                            K.left.shape[1], K.curve[-1].degree, said, off <= target,
                            abs(off - np.clip(off, *K.error[1:3])) <= 1e-9 * off, off,
                        ))  # fmt: skip
                    columns, degrees, said, true, held, off = (
                        np.array(x) for x in zip(*found, strict=True)
                    )
                    lines.append([
                        name, f"{bandwidth}", f"{target}", f"{np.median(columns):.0f}",
                        int((tails > target).sum()), f"{np.median(degrees):.0f}",
                        f"{said.sum()} of {runs}", f"{(said & true).sum()} of {said.sum()}",
                        f"{held.sum()} of {runs}", f"{off.mean():.4f}",
                    ])  # fmt: skip
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "target", "columns", "best rank", "degree"]
    headings += ["said reached", "true", "interval holds", "true error"]
    text = f"{CAPTION}\n\n{table(headings, lines)}\n"
    publish("sketch-target", text, quick=options.quick)


if __name__ == "__main__":
    main()
