"""Compare the rules for choosing landmarks, at the same number of evaluated pairs.

Writes docs/selection-table.md.

    FEWPAIRS_DATA=… python benchmarks/selection.py [--quick]
"""

from __future__ import annotations

import numpy as np
from common import DOCS, arguments, need_data, relative, table
from matrices import all_matrices

import fewpairs as fp

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
    options = arguments(__doc__.splitlines()[0]).parse_args()
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
                                budget=n * s - s * (s - 1) // 2,
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
    if not options.quick:
        (DOCS / "selection-table.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
