"""The picture of the README: one indefinite similarity of real texts by three methods, equal cost.

Items are the docstrings of numpy, scipy and scikit-learn, so anyone can run it; the similarity is
the demo's. Prints its table and draws docs/figures/picture.png. Takes about five minutes on one
core.

    python -m benchmarks.matrix.picture [--quick]
"""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import FIGURES, table
from fewpairs.demo import WordOverlap
from fewpairs.plots import plot_errors, plot_spectrum

SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)


def main() -> None:
    options = arguments(__doc__).parse_args()
    texts = fp.datasets.docstrings().texts[:: 4 if options.quick else 1]
    n = len(texts)
    overlap = WordOverlap(texts)
    items = np.arange(n)
    exact = overlap.block(items, items)
    seeds = range(3)
    curves = {"scikit-learn Nystroem": [], "SMS-Nyström (paper)": [], "fewpairs": []}
    stated = []
    for share in SHARES:
        budget = int(share * n * (n + 1) / 2)
        errors = {name: [] for name in curves}
        for seed in seeds:
            ours = fp.approximate(items, overlap, budget=budget, random_state=seed)
            paper = fp.approximate(
                items, overlap, budget=budget, method="sms", error_pairs=0, random_state=seed
            )
            columns = fp.plan(
                items, overlap, budget=budget, method="nystrom", error_pairs=0, timed=False
            ).n_landmarks
            features = Nystroem(
                kernel=lambda a, b: exact[int(a[0]), int(b[0])],
                n_components=columns,
                random_state=seed,
            ).fit_transform(items[:, None].astype(float))
            errors["fewpairs"].append(relative(ours.to_dense(), exact))
            errors["SMS-Nyström (paper)"].append(relative(paper.to_dense(), exact))
            errors["scikit-learn Nystroem"].append(relative(features @ features.T, exact))
            if seed == 0:
                stated.append(ours.error)
        for name, values in errors.items():
            curves[name].append((share, np.mean(values), np.std(values)))
    rows = [
        [f"{share:.0%}", *(f"{curves[name][k][1]:.3f}" for name in curves), str(stated[k])]
        for k, share in enumerate(SHARES)
    ]
    print(f"{n:,} texts, mean relative error of {len(seeds)} seeds\n")
    print(table(["pairs evaluated", *curves, "fewpairs says (first seed)"], rows))
    if options.quick:
        return
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.7), layout="constrained", width_ratios=(2, 3))
    plot_spectrum(
        fp.inspect(items, overlap, sample=400).eigenvalues,
        title="A similarity that is not positive definite",
        ax=axes[0],
    )
    plot_errors(
        {name: tuple(zip(*points, strict=True)) for name, points in curves.items()},
        title=f"Error of all {n * (n + 1) // 2:,} similarities of {n:,} texts",
        highest=1.2,
        ax=axes[1],
    )
    axes[1].errorbar(
        [100 * s for s in SHARES],
        [e.value for e in stated],
        yerr=[[e.value - e.low for e in stated], [e.high - e.value for e in stated]],
        fmt="none",
        ecolor="black",
        capsize=3,
        label="what fewpairs states (95 %)",
    )
    axes[1].legend(frameon=False, fontsize=8)
    figure.savefig(FIGURES / "picture.png", dpi=110)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
