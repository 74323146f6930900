"""Whether `target_error` keeps its word, and at what price.

For each matrix and target there are five runs. Of those that claim success: how many have a true
error below the target, and how many evaluations they took, relative to the smallest budget at which
a run that does not estimate its error has a mean true error below the target. Writes
docs/tables/target.md. Takes about twenty minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.target [--quick]
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import (
    common_words,
    pmi,
    stored_matrix,
    strings,
    tanh_of_words,
    tweets_wmd,
)
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table


def cases(*, quick: bool) -> dict[str, tuple[np.ndarray, tuple[float, ...]]]:
    """Matrices, and targets that take from 6 to 89 % of their pairs."""
    n = 500 if quick else 600
    return {
        "STS-B large": (stored_matrix("STS-B large"), (0.4, 0.3, 0.2)),
        "RTE logits": (stored_matrix("RTE logits"), (0.2, 0.15, 0.1)),
        "WMD γ = 0.2": (np.exp(-0.2 * tweets_wmd(n)), (0.06, 0.04, 0.02)),
        "Levenshtein, words": (strings(common_words(n), "levenshtein"), (0.4, 0.3, 0.2)),
        "PMI, words": (pmi(n), (0.8, 0.7, 0.6)),
        "tanh, word vectors": (tanh_of_words(n), (0.3, 0.2, 0.1)),
    }


def enough(matrix: np.ndarray, target: float, seeds: range) -> int:
    """The smallest budget, to 2 %, whose mean true error is below the target."""
    n = len(matrix)

    def error(budget: int) -> float:
        return float(
            np.mean(
                [
                    relative(
                        fp.approximate(
                            range(n),
                            fp.Precomputed(matrix),
                            budget=budget,
                            error_pairs=0,
                            random_state=seed,
                        ).to_dense(),
                        matrix,
                    )
                    for seed in seeds
                ]
            )
        )

    low, high = 12 * n, n * (n + 1) // 2
    if error(low) <= target:
        return low
    while high > 1.02 * low:
        middle = int(np.sqrt(low * high))
        low, high = (low, middle) if error(middle) <= target else (middle, high)
    return high


def one(matrix: np.ndarray, target: float, seed: int) -> tuple[str, float, int, float, bool]:
    """Why a run stopped, its true error, evaluations, stated / true error, interval held."""
    with threadpool_limits(1):
        found = fp.approximate(
            range(len(matrix)), fp.Precomputed(matrix), target_error=target, random_state=seed
        )
    true, stated = relative(found.to_dense(), matrix), found.error
    covered = stated.low <= true <= stated.high
    return found.stopped_because, true, found.evaluations, stated.value / true, covered


def smallest(matrix: np.ndarray, target: float, seeds: range) -> int:
    with threadpool_limits(1):
        return enough(matrix, target, seeds)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    runs = range(2 if options.quick else 5)
    every = [
        (title, matrix, target)
        for title, (matrix, targets) in cases(quick=options.quick).items()
        for target in targets
    ]
    work = Parallel(n_jobs=2)
    needed = work(delayed(smallest)(matrix, target, range(2)) for _, matrix, target in every)
    done = work(delayed(one)(matrix, target, seed) for _, matrix, target in every for seed in runs)
    rows, kept, claims, covered = [], 0, 0, 0
    ratios: list[float] = []
    stated: list[float] = []
    for k, (title, matrix, target) in enumerate(every):
        mine = done[k * len(runs) : (k + 1) * len(runs)]
        claimed = [run[1:] for run in mine if "reached" in run[0]]
        true = sum(run[0] <= target for run in claimed)
        stated += [run[2] for run in claimed]
        covered += sum(run[3] for run in claimed)
        claims, kept = claims + len(claimed), kept + true
        price = [run[1] / needed[k] for run in claimed] or [np.nan]
        ratios.append(float(np.mean(price)))
        share = needed[k] / (len(matrix) * (len(matrix) + 1) / 2)
        rows.append(
            [
                title,
                f"{len(matrix):,}",
                target,
                f"{len(claimed)} of {len(mine)}",
                true,
                f"{np.mean([run[0] for run in claimed] or [np.nan]):.3f}",
                f"{needed[k]:,} ({share:.0%})",
                f"{np.mean(price):.2f}× ± {np.std(price):.2f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    summary = (
        f"{kept} of {claims} claims are true ({kept / max(claims, 1):.1%}); evaluations against "
        f"the smallest budget: mean {np.nanmean(ratios):.2f}×, at most {np.nanmax(ratios):.2f}×. "
        f"The interval of a claim holds the truth in {covered / max(claims, 1):.1%}; the stated "
        f"error is {np.mean(stated):.3f} of the true one, for a run ends when it looks small."
    )
    headings = [
        "matrix",
        "n",
        "target",
        "claims",
        "true",
        "mean true error",
        "smallest budget",
        "evaluations",
    ]
    text = f"{summary}\n\n{table(headings, rows)}\n"
    print("\n" + text)
    publish("target", text, quick=options.quick)


if __name__ == "__main__":
    main()
