"""How much the result depends on constants of the default method that nobody chooses.

Each constant takes other values, at the same seeds and budgets; shown are the mean error and the
mean number of single pairs that were bought. Writes docs/tables/constants.md. Takes about twenty
minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.constants [--quick]
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import common_words, stored_matrix, strings, tweets_wmd
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs.methods.fitted import choice, near_pairs, stage

#: Module, name, what it is, values; the middle one is the method's own.
CONSTANTS = (
    (stage, "_FOLDS_BESIDE_PAIRS", "folds beside pairs, first core", (0.03, 0.3, 3.0)),
    (near_pairs, "_DECAY", "decay of the squared error", (0.75, 1.5, 3.0)),
    (choice, "_FOLD_PAIRS", "pairs that the folds count as", (30, 300, 3000)),
)


def result(matrix: np.ndarray, seed: int, where, name: str, value: float) -> tuple[float, int]:
    """The error, and the single pairs bought, with one constant at another value."""
    with patch.object(where, name, value), threadpool_limits(1):
        found = fp.approximate(
            range(len(matrix)),
            fp.Precomputed(matrix),
            budget=0.15,
            error_pairs=0,
            random_state=seed,
        )
    return relative(found.to_dense(), matrix), len(found.known.keys)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(2 if options.quick else 6)
    matrices = {
        "STS-B cross-attention": stored_matrix("STS-B cross-attention"),
        "MRPC probabilities": stored_matrix("MRPC probabilities"),
        "RTE logits": stored_matrix("RTE logits"),
        "Levenshtein, words": strings(common_words(), "levenshtein"),
        "WMD γ = 0.5": np.exp(-0.5 * tweets_wmd()),
    }
    rows = []
    for title, matrix in matrices.items():
        for where, name, what, values in CONSTANTS:
            cells = []
            for value in values:
                every = Parallel(n_jobs=2)(
                    delayed(result)(matrix, seed, where, name, value) for seed in seeds
                )
                error, pairs = np.mean(every, axis=0)
                cells.append(f"{value:g}: {error:.4f}, {pairs:,.0f}")
            rows.append([title, what, *cells])
            print(*rows[-1], sep=" | ", flush=True)
    headings = ["matrix", "constant", "smaller", "the method's", "larger"]
    text = (
        "The value of the constant, the mean error with it, and the single pairs bought, at 15 % "
        f"of all pairs; {len(seeds)} seeds.\n\n{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("constants", text, quick=options.quick)


if __name__ == "__main__":
    main()
