"""Figure 1 of Poly-TensorSketch at the settings of its authors: kernel error by size and degree.

K = exp(−‖x − y‖²) of rows X/√(10·d), not centred, as the authors' public code scales them, on 1,000
rows, the synthetic ones standard normal in 50 dimensions; f(x) = exp(2x) on their inner products.
Fourier features are single cosines with random phases (scikit-learn's RBFSampler). All methods
return as many columns, degree · size + 1 at most. The paper's measure, the mean relative error of
an entry, is beside the mean squared one, which the authors' code has. "By pairs" are Fourier
features of cosines and sines, and the last column is `fp.rbf_kernel`. A table of its own, as in the
paper's supplement, has Coreset-TS beside the optimal coefficients, which take all inner products
where it takes those of ten centres. Writes docs/tables/poly-figure1.md and
docs/tables/poly-optimal.md and draws docs/figures/poly-figure1.png. Takes about eight minutes on
one core; with --keep, what is done is kept in a file, and a run that was stopped goes on there.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.poly_figure1 [--quick] [--trials 100]
        [--keep FILE]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.fourier_features import fourier_features
from benchmarks.shared.kept import Kept
from benchmarks.shared.kernels import DATA, rows
from benchmarks.shared.tables import FIGURES, publish, table

SETTINGS = [(10, size) for size in (5, 10, 20, 40)] + [(d, 10) for d in (2, 3, 5, 20)]
SKETCHES = {
    "Coreset-TS": "coreset",
    "Taylor-TS": "taylor",
    "Chebyshev-TS": "chebyshev",
}
PHASES, PAIRS, OURS = "Fourier features", "Fourier, by pairs", "**fewpairs**"
TITLES = [*SKETCHES, PHASES, PAIRS, OURS]
OPTIMAL = "Optimal"
#: Coefficients from the inner products of ten centres, and from all: the second table.
BOTH = {"Coreset-TS": "coreset", OPTIMAL: "ridge"}


def unscaled(name: str) -> np.ndarray:
    """Rows as the authors have them; other benchmarks take normal ones of length one."""
    return rows(name) * np.sqrt(50) if name == "synthetic" else rows(name)


class Kernel:
    """The authors' kernel of some rows."""

    def __init__(self, x: np.ndarray) -> None:
        self.u = x / np.sqrt(10 * x.shape[1])
        squares = (self.u**2).sum(axis=1)
        self.z = np.exp(-squares)
        self.exact = self.z[:, None] * np.exp(2 * self.u @ self.u.T) * self.z

    def guess(self, title: str, degree: int, size: int, seed: int) -> np.ndarray:
        """The whole kernel, as one draw of a method has it."""
        columns = degree * size
        if title == PHASES:
            sampler = RBFSampler(gamma=1.0, n_components=columns, random_state=seed)
            features = sampler.fit_transform(self.u)
            return features @ features.T
        if title == PAIRS:
            features = fourier_features(self.u, columns, 1.0, seed)
            return features @ features.T
        if title == OURS:
            made = fp.rbf_kernel(
                self.u, gamma=1.0, degree=degree, sketch_size=size, random_state=seed
            )
            return made.to_dense()
        made = fp.elementwise(
            lambda x: np.exp(2 * x),
            self.u,
            degree=degree,
            sketch_size=size,
            coefficients=(SKETCHES | BOTH)[title],
            exact_terms=False,
            error_pairs=0,
            random_state=seed,
        )
        return self.z[:, None] * made.to_dense() * self.z

    def errors(self, title: str, degree: int, size: int, seed: int) -> tuple[float, float]:
        """Mean relative error of an entry, and its mean square."""
        relative = np.abs(self.guess(title, degree, size, seed) / self.exact - 1)
        return float(relative.mean()), float((relative**2).mean())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="a file for what is done")
    options = parser.parse_args()
    need_data()
    trials = 2 if options.quick else options.trials
    lines, optimal, curves = [], [], {}
    kept = Kept(None if options.quick else options.keep, "sketches")
    with threadpool_limits(1):
        for name in DATA:
            kernel = Kernel(unscaled(name))
            for degree, size in SETTINGS:
                cells = {}
                for title in [*TITLES, OPTIMAL]:
                    # Ours hardly varies, and takes longer.
                    seeds = range(min(trials, 10) if title == OURS else trials)
                    part = f"{name} {title} {degree} {size} {len(seeds)}"
                    if part not in kept:
                        errors = [kernel.errors(title, degree, size, k) for k in seeds]
                        kept.add(part, np.mean(errors, axis=0).tolist())
                    found = kept[part]
                    curves[name, title, degree, size] = found[0]
                    cells[title] = f"{found[0]:.1e} ({found[1]:.1e})"
                setting = [name, f"{degree}", f"{size}"]
                lines.append([*setting, *(cells[title] for title in TITLES)])
                optimal.append([*setting, *(cells[title] for title in BOTH)])
                print(*lines[-1], optimal[-1][-1], sep=" | ", flush=True)
    measure = "mean relative error of an entry (mean squared relative error)"
    headings = ["data", "degree r", "size m"]
    text = (
        f"Means of {trials} trials (10 of fewpairs): {measure}.\n\n"
        f"{table([*headings, *TITLES], lines)}"
    )
    print("\n" + text)
    publish("poly-figure1", text, quick=options.quick)
    text = (
        f"Coefficients from the inner products of ten centres, and from all, at the settings of "
        f"Figure 1; means of {trials} trials: {measure}.\n\n{table([*headings, *BOTH], optimal)}"
    )
    print("\n" + text)
    publish("poly-optimal", text, quick=options.quick)
    if not options.quick:
        draw(curves)


def draw(curves: dict) -> None:
    """As in the paper: errors against the size above, against the degree below."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharey="col", layout="constrained")
    for row, (label, along) in enumerate((("sketch size m", 1), ("degree r", 0))):
        points = sorted(s for s in SETTINGS if s[1 - along] == 10)
        for axis, name in zip(axes[row], DATA, strict=True):
            for title in TITLES:
                axis.loglog(
                    [s[along] for s in points],
                    [curves[name, title, *s] for s in points],
                    marker="o",
                    label=title.strip("*"),
                )
            axis.set(title=name, xlabel=label)
            axis.set_xticks([s[along] for s in points], [str(s[along]) for s in points])
            axis.minorticks_off()
        axes[row][0].set_ylabel("mean relative error")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(FIGURES / "poly-figure1.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
