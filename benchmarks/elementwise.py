"""Gaussian kernels by Poly-TensorSketch, as in Figure 1: error by sketch size and by degree.

K = exp(−γ|x − y|²) on 1,000 rows, with γ = 0.1 over the mean squared distance (entries around 0.9)
and 1 over it (around 0.4). All methods return as many columns, degree · size + 1 at most. The
paper's measure is the mean squared relative error of an entry; the relative Frobenius error is
beside it.
Writes docs/elementwise-table.md and docs/figures/elementwise.svg.

    FEWPAIRS_DATA=… python benchmarks/elementwise.py [--quick] [--trials 100] [--jobs 2]
"""

from __future__ import annotations

import numpy as np
from common import DOCS, arguments, need_data, relative, table
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from fewpairs import datasets
from fewpairs.sketches import regression
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.fourier import fourier_features

#: Options of a sketch; "unshifted" takes the theorem's weights for each power as they are.
METHODS = {
    "**fewpairs (default)**": {"coefficients": "tuned", "exact_terms": True, "oversampling": 4},
    "1 term a column": {"coefficients": "tuned", "exact_terms": True, "oversampling": 1},
    "all sketched, 4 terms a column": {"coefficients": "tuned", "oversampling": 4},
    "Coreset-TS": {"coefficients": "coreset"},
    "Coreset-TS, unshifted": {"coefficients": "coreset"},
    "Taylor-TS": {"coefficients": "taylor"},
    "Chebyshev-TS": {"coefficients": "chebyshev"},
}
#: The default hardly varies, and what its parts are worth needs fewer trials.
FEWER = {"**fewpairs (default)**": 20, "1 term a column": 10, "all sketched, 4 terms a column": 10}
SIZES, DEGREES = (5, 10, 20, 40), (2, 3, 5, 10, 20)


def rows(name: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if name == "synthetic":
        return rng.normal(size=(1000, 50)) / np.sqrt(50)
    with np.load(datasets.benchmark_folder() / name / "data.npz") as file:
        x = file["X"].astype(np.float64)
    return x[rng.permutation(len(x))[:1000]]


class Kernel:
    """An exact kernel, and its form Z·exp(UUᵀ)·Z."""

    def __init__(self, x: np.ndarray, bandwidth: float) -> None:
        self.x = x - x.mean(axis=0)
        distances = ((self.x[:300, None] - self.x[None, :300]) ** 2).sum(axis=2)
        self.gamma = bandwidth / distances.mean()
        self.u = self.x * np.sqrt(2 * self.gamma)
        self.z = np.exp(-(self.u**2).sum(axis=1) / 2)
        self.exact = self.z[:, None] * np.exp(self.u @ self.u.T) * self.z

    def errors(self, guess: np.ndarray) -> tuple[float, float]:
        """Mean squared relative error of an entry, and relative Frobenius error."""
        return float(np.mean((guess / self.exact - 1) ** 2)), relative(guess, self.exact)

    def sketched(self, title: str, degree: int, size: int, seed: int) -> tuple[float, float]:
        """Errors of one draw of one method."""
        if title == "random Fourier features":
            features = fourier_features(self.x, degree * size, self.gamma, seed)
            return self.errors(features @ features.T)
        unshifted = "unshifted" in title
        before, regression.SHIFT = regression.SHIFT, 0 if unshifted else regression.SHIFT
        options = SketchOptions(degree, size, **{"exact_terms": False} | METHODS[title])
        made = make_map(
            np.exp, self.u, self.u, options, rng=np.random.default_rng(seed),
            scaling=(self.z, self.z),
        )  # fmt: skip
        regression.SHIFT = before
        features = made(self.u)
        guess = (features * made.signs) @ features.T
        return self.errors(self.z[:, None] * guess * self.z)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    need_data()
    trials = 2 if options.quick else options.trials
    settings = [(10, size) for size in SIZES] + [(d, 10) for d in DEGREES if d != 10]
    titles = [*METHODS, "random Fourier features"]
    lines, curves = [], {}
    with threadpool_limits(1):
        for name in ("synthetic", "segment", "usps"):
            for bandwidth in (0.1, 1.0):
                kernel = Kernel(rows(name), bandwidth)
                for degree, size in settings:
                    cells = []
                    for title in titles:
                        runs = min(trials, FEWER.get(title, trials))
                        found = Parallel(options.jobs)(
                            delayed(kernel.sketched)(title, degree, size, k) for k in range(runs)
                        )
                        squared, frobenius = np.mean(found, axis=0)
                        curves[name, bandwidth, title, degree, size] = squared
                        cells.append(f"{squared:.1e} ({frobenius:.1e})")
                    lines.append([name, f"{bandwidth}", f"{degree}", f"{size}", *cells])
                    print(*lines[-1], sep=" | ", flush=True)
    headings = ["data", "γ · mean distance²", "degree r", "size m", *titles]
    if not options.quick:
        (DOCS / "elementwise-table.md").write_text(
            f"Means of {trials} trials (20 for the default, which hardly varies, 10 for its two "
            "parts): mean squared relative error of an entry (relative Frobenius error).\n\n"
            f"{table(headings, lines)}\n",
            encoding="utf-8",
        )
        draw(curves, titles)


def draw(curves: dict, titles: list[str]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    for axis, name in zip(axes, ("synthetic", "segment", "usps"), strict=True):
        for title in titles:
            errors = [curves[name, 0.1, title, 10, size] for size in SIZES]
            axis.loglog(SIZES, errors, marker="o", label=title.strip("*"))
        axis.set(title=name, xlabel="sketch size m, degree 10")
        axis.set_xticks(SIZES, labels=[str(size) for size in SIZES])
        axis.minorticks_off()
    axes[0].set_ylabel("mean squared relative error")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.tight_layout(rect=(0, 0.16, 1, 1))
    figure.savefig(DOCS / "figures" / "elementwise.svg")
    plt.close(figure)


if __name__ == "__main__":
    main()
