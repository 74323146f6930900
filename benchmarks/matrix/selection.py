"""Compare the rules for choosing landmarks, at the same number of evaluated pairs.

Error of the default method by each rule, and relative to uniform landmarks. Writes
docs/tables/selection.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.selection [--quick]
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import all_matrices
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

SELECTIONS = ("uniform", "k-centre", "d2", "leverage", "pivoted")
SHOWN = (
    "STS-B cross-encoder",
    "STS-B cross-attention",
    "MRPC logits",
    "MRPC probabilities",
    "RTE probabilities",
    "WMD γ = 0.2",
    "WMD γ = 0.5",
    "Levenshtein, words",
    "PMI, words",
    "tanh, word vectors",
)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(2 if options.quick else 3)
    rows = []
    ratios: dict[str, list[float]] = {name: [] for name in SELECTIONS}
    for title, matrix in all_matrices(quick=True):
        if title not in SHOWN:
            continue
        n, similarity = len(matrix), fp.Precomputed(matrix)
        for share in (0.1, 0.2):
            s = round(share * n)
            errors = {
                name: np.mean(
                    [
                        relative(
                            fp.approximate(
                                range(n),
                                similarity,
                                budget=cost_of_columns(n, s),
                                selection=name,
                                error_pairs=0,
                                random_state=seed,
                            ).to_dense(),
                            matrix,
                        )
                        for seed in seeds
                    ]
                )
                for name in SELECTIONS
            }
            for name in SELECTIONS:
                ratios[name].append(errors[name] / errors["uniform"])
            rows.append([title, share, *(f"{errors[name]:.3f}" for name in SELECTIONS)])
            print(*rows[-1], sep=" | ", flush=True)
    summary = [
        "all, against uniform",
        "",
        *(
            f"{np.exp(np.mean(np.log(ratios[name]))):.3f} "
            f"({min(ratios[name]):.2f}–{max(ratios[name]):.2f})"
            for name in SELECTIONS
        ),
    ]
    text = table(["matrix", "s/n", *SELECTIONS], [*rows, summary])
    print("\n" + text)
    publish("selection", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
