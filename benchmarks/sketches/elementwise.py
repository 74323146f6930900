"""Gaussian kernels by Poly-TensorSketch, as in the paper's Figure 1: error by size and degree.

K = exp(−γ|x − y|²) on 1,000 rows, with γ = 0.1 over the mean squared distance (entries around 0.9)
and 1 over it (around 0.4). All methods return as many columns, degree · size + 1 at most. The
paper's measure is the mean squared relative error of an entry; the relative Frobenius error is
beside it. "fewpairs, polynomial sketch" is one of the two families that `elementwise` and
`rbf_kernel` choose from, without landmarks; beside it are the same without one of its parts. What
they make of both families is measured by nystroem.py. Writes docs/tables/elementwise.md and draws
docs/figures/elementwise.svg. Takes about ten minutes on one core; with --keep, what is done is kept
in a file, and a run that was stopped goes on there.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.elementwise [--quick] [--trials 100] [--jobs 2]
        [--keep FILE]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.kernels import BANDWIDTHS, DATA, Errors, Kernel, rows
from benchmarks.shared.tables import FIGURES, publish, table

#: Options of `Kernel.sketched`.
METHODS = {
    "**fewpairs, polynomial sketch**": {
        "coefficients": "tuned",
        "exact_terms": True,
        "oversampling": 4,
    },
    "1 term a column": {"coefficients": "tuned", "exact_terms": True, "oversampling": 1},
    "all sketched, 4 terms a column": {"coefficients": "tuned", "oversampling": 4},
    "Coreset-TS": {"coefficients": "coreset"},
    "Coreset-TS, unshifted": {"coefficients": "coreset", "unshifted": True},
    "Taylor-TS": {"coefficients": "taylor"},
    "Chebyshev-TS": {"coefficients": "chebyshev"},
}
FOURIER = "random Fourier features"
#: Trials of what varies so little that this many tell the mean.
FEWER = dict(zip(METHODS, (20, 10, 10), strict=False))
SIZES, DEGREES = (5, 10, 20, 40), (2, 3, 5, 10, 20)


def errors_of(kernel: Kernel, title: str, degree: int, size: int, seed: int) -> Errors:
    """Errors of one draw of one method."""
    if title == FOURIER:
        return kernel.by_fourier_features(degree * size, seed)
    return kernel.sketched(degree, size, seed, **METHODS[title])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file for what is done")
    options = parser.parse_args()
    need_data()
    trials = 2 if options.quick else options.trials
    settings = [(10, size) for size in SIZES] + [(d, 10) for d in DEGREES if d != 10]
    titles = [*METHODS, FOURIER]
    lines, curves = [], {}
    kept = Kept(None if options.quick else options.keep, "sketches")
    with threadpool_limits(1):
        for name in DATA:
            for bandwidth in BANDWIDTHS:
                kernel = Kernel(rows(name), bandwidth)
                for degree, size in settings:
                    cells = []
                    for title in titles:
                        runs = min(trials, FEWER.get(title, trials))
                        part = f"{name} {bandwidth} {title} {degree} {size} {runs}"
                        if part not in kept:
                            found = Parallel(options.jobs)(
                                delayed(errors_of)(kernel, title, degree, size, k)
                                for k in range(runs)
                            )
                            kept.add(part, np.mean(found, axis=0).tolist())
                        squared, frobenius = kept[part]
                        curves[name, bandwidth, title, degree, size] = squared
                        cells.append(f"{squared:.1e} ({frobenius:.1e})")
                    lines.append([name, f"{bandwidth}", f"{degree}", f"{size}", *cells])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "degree r", "size m", *titles]
    text = (
        f"Means of {trials} trials (20 of the first method, which hardly varies, 10 of the two "
        "beside it): mean squared relative error of an entry (relative Frobenius error).\n\n"
        f"{table(headings, lines)}"
    )
    publish("elementwise", text, quick=options.quick)
    if not options.quick:
        draw(curves, titles)


def draw(curves: dict, titles: list[str]) -> None:
    """Errors at degree 10 against the size, on the wide kernels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    for axis, name in zip(axes, DATA, strict=True):
        for title in titles:
            errors = [curves[name, 0.1, title, 10, size] for size in SIZES]
            axis.loglog(SIZES, errors, marker="o", label=title.strip("*"))
        axis.set(title=name, xlabel="sketch size m, degree 10")
        axis.set_xticks(SIZES, labels=[str(size) for size in SIZES])
        axis.minorticks_off()
    axes[0].set_ylabel("mean squared relative error")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.tight_layout(rect=(0, 0.16, 1, 1))
    figure.savefig(FIGURES / "elementwise.svg")
    plt.close(figure)


if __name__ == "__main__":
    main()
