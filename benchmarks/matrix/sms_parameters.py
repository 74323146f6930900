"""Figure 9 of *Sublinear Time Approximation of Text Similarity Matrices*: α and z of SMS-Nyström.

The shift is −α·λmin of a square of z·s landmarks. Relative error by α, z and the share of
landmarks, on stored matrices of sentence-pair models, in both readings of the shift. Five minutes
of one core; writes docs/tables/sms-parameters.md.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.sms_parameters [--quick] [--keep FILE]
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.matrices import stored_matrix
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, spread, table

#: Matrices, and trials of each: the larger one varies less.
MATRICES = {"STS-B cross-encoder, clipped": 2, "STS-B cross-encoder": 2, "MRPC probabilities": 10,
            "MRPC logits": 10}  # fmt: skip
ALPHAS, FACTORS, SIZES = (0.5, 1.0, 1.5, 2.0), (1, 2, 3), (0.05, 0.1, 0.2, 0.3)
READINGS = {"Algorithm 1": True, "as coded": False}
TEXT = """\
Mean ± sd of the relative error over {trials} trials (STS-B, MRPC). The shift is −α·λmin of a square
of z·s landmarks; the paper takes α = 1.5 and z = 2. "Algorithm 1" shifts the columns too, "as
coded" the core only.

{verdict}

{table}
"""


def error(matrix: np.ndarray, share: float, trial: int, **options) -> float:
    """Relative error of one run."""
    n = len(matrix)
    found = fp.approximate(
        range(n), fp.Precomputed(matrix), landmarks=round(share * n), method="sms",
        error_pairs=0, random_state=trial, **options,
    )  # fmt: skip
    return relative(found.to_dense(), matrix)


def verdict(means: dict[tuple, float]) -> str:
    """Count where the paper's choice is near the best, and where z = 1 is worse than z = 2."""
    cells = {key[:3] for key in means}
    near = sum(
        means[*cell, 1.5, 2] <= 1.05 * min(means[*cell, a, z] for a in ALPHAS for z in FACTORS)
        for cell in cells
    )
    lower = sum(means[*cell, a, 1] > means[*cell, a, 2] for cell in cells for a in ALPHAS)
    small = sum(means[*cell, 0.5, z] > means[*cell, 1.5, z] for cell in cells for z in FACTORS)
    return (
        f"The paper's choice is within 5 % of the best of the {len(ALPHAS) * len(FACTORS)} in "
        f"{near} of {len(cells)} lines. z = 1 is worse than z = 2 in {lower} of {4 * len(cells)} "
        f"comparisons, α = 0.5 worse than 1.5 in {small} of {3 * len(cells)}."
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    options = parser.parse_args()
    need_data()
    kept = Kept(options.keep, "methods")
    titles = ["MRPC probabilities"] if options.quick else [*MATRICES]
    rows, means = [], {}
    for title in titles:
        matrix, trials = stored_matrix(title), 2 if options.quick else MATRICES[title]
        for (reading, shifted), share in product(READINGS.items(), SIZES):
            row = [title, reading, share]
            for alpha, factor in product(ALPHAS, FACTORS):
                part = f"{title}|{reading}|{share}|{alpha}|{factor}|{trials}"
                if part not in kept:
                    given = {
                        "alpha": alpha,
                        "oversampling": float(factor),
                        "shift_columns": shifted,
                    }
                    kept.add(part, [error(matrix, share, k, **given) for k in range(trials)])
                row.append(spread(kept[part]))
                means[title, reading, share, alpha, factor] = float(np.mean(kept[part]))
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    headings = [f"α = {a:g}, z = {z}" for a, z in product(ALPHAS, FACTORS)]
    text = TEXT.format(
        trials="2 and 10", verdict=verdict(means),
        table=table(["matrix", "shift", "s/n", *headings], rows),
    )  # fmt: skip
    print(text)
    publish("sms-parameters", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
