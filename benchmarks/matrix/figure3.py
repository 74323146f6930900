"""Figures 1 to 3 of *Sublinear Time Approximation of Text Similarity Matrices*.

Relative error of every method of the paper against the share of all pairs evaluated, on stored
matrices of real sentence-pair models and on the random PSD control; spectra; histograms of the
eigenvalues of SᵀKS. Writes docs/tables/figure3.md, and draws docs/figures/figure1.png,
docs/figures/figure2.png and docs/figures/figure3.png.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.figure3 [--quick]
"""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import STORED, random_psd, stored_matrix
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import FIGURES, publish, spread, table
from fewpairs.plots import plot_errors, plot_spectrum

METHODS = {
    "Nyström": ("nystrom", {}),
    "SMS (Algorithm 1)": ("sms", {}),
    "SMS (as coded)": ("sms", {"shift_columns": False}),
    "SMS rescaled": ("sms-rescaled", {"shift_columns": False}),
    "skeleton": ("skeleton", {}),
    "SiCUR": ("sicur", {}),
    "StaCUR(s)": ("stacur", {}),
    "StaCUR(d)": ("stacur", {"same": False}),
    "optimal": ("optimal", {"allow_all_pairs": True}),
}
SIZES = (0.05, 0.1, 0.2, 0.3, 0.5)


def measure(matrix: np.ndarray, trials: int):
    """Errors of all trials and the share of pairs evaluated, by method and size."""
    n = len(matrix)
    similarity = fp.Precomputed(matrix)
    everything = n * (n + 1) / 2
    results = {}
    for name, (method, options) in METHODS.items():
        for size in SIZES:
            errors = []
            for trial in range(1 if method == "optimal" else trials):
                found = fp.approximate(
                    range(n),
                    similarity,
                    landmarks=round(size * n),
                    method=method,
                    error_pairs=0,
                    random_state=trial,
                    **options,
                )
                errors.append(relative(found.to_dense(), matrix))
            results[name, size] = errors, found.evaluations / everything
    return results


def curves(results):
    """Shares of pairs, mean errors and their spreads, by method, for `plot_errors`."""
    names = [name for name in METHODS if name != "optimal"]
    return {
        name: (
            [results[name, s][1] for s in SIZES],
            [np.mean(results[name, s][0]) for s in SIZES],
            [np.std(results[name, s][0]) for s in SIZES],
        )
        for name in names
    }


def draw_spectra(matrices) -> None:
    """Figures 1 and 2: eigenvalues of the matrices, and of squares sampled from them."""
    wanted = (
        "STS-B cross-encoder",
        "STS-B cross-attention",
        "STS-B cross-attention, clipped",
        "MRPC logits",
        "MRPC probabilities",
        "RTE logits",
    )
    shown = [title for title in wanted if title in matrices]
    figure, axes = plt.subplots(2, 3, figsize=(13, 6.4), layout="constrained")
    for axis, title in zip(axes.flat, shown, strict=True):
        plot_spectrum(np.linalg.eigvalsh(matrices[title]), title=title, ax=axis)
        axis.set_xlim(1, 201)
    figure.savefig(FIGURES / "figure1.png", dpi=90)
    figure, axes = plt.subplots(2, 3, figsize=(13, 6.4), layout="constrained")
    for axis, title in zip(axes.flat, shown, strict=True):
        matrix, rng = matrices[title], np.random.default_rng(0)
        pooled = []
        for _ in range(50):
            s = rng.permutation(len(matrix))[: min(200, len(matrix) // 2)]
            pooled.append(np.linalg.eigvalsh(matrix[np.ix_(s, s)]))
        pooled = np.concatenate(pooled)
        inner = np.abs(pooled) < 0.1 * np.abs(pooled).max()
        axis.hist(pooled[inner], bins=80, color="#2a6f97")
        near = np.mean(np.abs(pooled) < 1e-3 * np.abs(pooled).max())
        axis.set(title=f"{title}: {near:.0%} within 0.1 % of 0", xlabel="eigenvalue of SᵀKS")
        axis.set_yscale("log")
    figure.savefig(FIGURES / "figure2.png", dpi=90)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    titles = [t for t in STORED if not t.startswith("STS-B large")] if options.quick else STORED
    matrices = {title: stored_matrix(title) for title in titles}
    matrices["random PSD, N(0, 1)"] = random_psd()
    matrices["random PSD, U[0, 1]"] = random_psd(normal=False)
    trials = 3 if options.quick else 10
    if not options.quick:
        draw_spectra(matrices)
    figure, axes = plt.subplots(4, 3, figsize=(14, 15), layout="constrained")
    rows = []
    for axis, (title, matrix) in zip(axes.flat, matrices.items(), strict=False):
        results = measure(matrix, trials)
        plot_errors(curves(results), title=title, highest=1.5, legend=False, ax=axis)
        for size in SIZES:
            shares = sorted({round(100 * results[name, size][1]) for name in METHODS})[:-1]
            label = f"{shares[0]}–{shares[-1]}" if len(shares) > 1 else f"{shares[0]}"
            cells = [spread(results[name, size][0]) for name in METHODS]
            rows.append([title, size, f"{label} %", *cells])
            print(*rows[-1], sep=" | ", flush=True)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    if not options.quick:
        figure.savefig(FIGURES / "figure3.png", dpi=80)
    headings = ["matrix", "s/n", "pairs", *METHODS]
    text = f"Mean ± sd of {trials} trials.\n\n{table(headings, rows)}"
    publish("figure3", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
