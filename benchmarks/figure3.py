"""Figures 1 to 3 of *Sublinear Time Approximation of Text Similarity Matrices*.

Relative error of every method of the paper against the share of all pairs evaluated, on stored
matrices of real sentence-pair models and on the random PSD control; spectra; histograms of the
eigenvalues of SᵀKS. Writes the table to docs/figure3.md and the pictures to docs/figures.

    FEWPAIRS_DATA=… python benchmarks/figure3.py [--quick]
"""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from common import (
    DOCS,
    STORED,
    arguments,
    need_data,
    random_psd,
    relative,
    spread,
    stored_matrix,
    table,
)

import fewpairs as fp
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


def measure(matrix: np.ndarray, trials: int, sizes: tuple[float, ...]):
    """Error and share of all pairs, for every method and size."""
    n = len(matrix)
    similarity = fp.Precomputed(matrix)
    everything = n * (n + 1) / 2
    results = {}
    for name, (method, options) in METHODS.items():
        for size in sizes:
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


def curves(results, sizes):
    names = [name for name in METHODS if name != "optimal"]
    return {
        name: (
            [results[name, s][1] for s in sizes],
            [np.mean(results[name, s][0]) for s in sizes],
            [np.std(results[name, s][0]) for s in sizes],
        )
        for name in names
    }


def draw_spectra(matrices) -> None:
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
        plot_spectrum(np.linalg.eigvalsh(matrices[title])[:], title=title, axes=axis)
        axis.set_xlim(1, 201)
    figure.savefig(DOCS / "figures" / "figure1.png", dpi=90)
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
    figure.savefig(DOCS / "figures" / "figure2.png", dpi=90)


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    need_data()
    (DOCS / "figures").mkdir(parents=True, exist_ok=True)
    titles = [t for t in STORED if not t.startswith("STS-B large")] if options.quick else STORED
    matrices = {title: stored_matrix(title) for title in titles}
    matrices["random PSD, N(0, 1)"] = random_psd()
    matrices["random PSD, U[0, 1]"] = random_psd(normal=False)
    trials = 3 if options.quick else 10
    draw_spectra(matrices)
    figure, axes = plt.subplots(4, 3, figsize=(14, 15), layout="constrained")
    rows = []
    for axis, (title, matrix) in zip(axes.flat, matrices.items(), strict=False):
        results = measure(matrix, trials, SIZES)
        plot_errors(curves(results, SIZES), title=title, highest=1.5, legend=False, axes=axis)
        for size in SIZES:
            shares = sorted({round(100 * results[name, size][1]) for name in METHODS})[:-1]
            label = f"{shares[0]}–{shares[-1]}" if len(shares) > 1 else f"{shares[0]}"
            cells = [spread(results[name, size][0]) for name in METHODS]
            rows.append([title, size, f"{label} %", *cells])
            print(*rows[-1], sep=" | ", flush=True)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(DOCS / "figures" / "figure3.png", dpi=80)
    headings = ["matrix", "s/n", "pairs", *METHODS]
    text = f"Mean ± sd of {trials} trials.\n\n{table(headings, rows)}\n"
    (DOCS / "figure3-table.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
