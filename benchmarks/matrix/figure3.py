"""Figures 1 to 3 of *Sublinear Time Approximation of Text Similarity Matrices*.

Relative error of every method of the paper against the share of all pairs evaluated, on all tweets
under Word Mover's similarity, stored matrices of real sentence-pair models and the random PSD
control; spectra; histograms of the eigenvalues of SᵀKS. About ten minutes of one core;
stopped and started again with `--keep` it goes on. Writes docs/tables/figure3.md, and draws
docs/figures/figure1.png, docs/figures/figure2.png and docs/figures/figure3.png.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.figure3 [--quick] [--keep FILE [--print]]
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.matrices import STORED, random_psd, stored_matrix
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import FIGURES, publish, spread, table
from benchmarks.shared.texts import stop_words, vectors
from fewpairs import datasets
from fewpairs.plots import plot_errors, plot_spectrum

#: Method, options, and how many landmarks it gets for each that others get: the paper's skeleton
#: and StaCUR(d) read s columns and s other rows, twice the evaluations; ours s/2 and s/2.
METHODS = {
    "Nyström": ("nystrom", {}, 1),
    "SMS (Algorithm 1)": ("sms", {}, 1),
    "SMS (as coded)": ("sms", {"shift_columns": False}, 1),
    "SMS rescaled (Algorithm 1)": ("sms-rescaled", {}, 1),
    "SMS rescaled (as coded)": ("sms-rescaled", {"shift_columns": False}, 1),
    "skeleton, s/2 + s/2": ("skeleton", {}, 1),
    "skeleton, s + s": ("skeleton", {}, 2),
    "SiCUR": ("sicur", {}, 1),
    "StaCUR(s)": ("stacur", {}, 1),
    "StaCUR(d), s/2 + s/2": ("stacur", {"same": False}, 1),
    "StaCUR(d), s + s": ("stacur", {"same": False}, 2),
    "optimal": ("optimal", {"allow_all_pairs": True}, 1),
}
SIZES = (0.05, 0.1, 0.2, 0.3, 0.5)
#: Trials, as in the paper; one of a matrix with more rows than this.
TRIALS, LARGE = 10, 2000
#: Of exp(−γ·WMD) between tweets; the paper does not print its own.
GAMMA = 0.4
TEXT = """\
Mean ± sd of {trials} trials{tweets}. "pairs": share of all pairs that
is evaluated, by methods that read s lines; "s + s" reads twice as many.

{verdicts}

{table}
"""


def measured(matrix: np.ndarray, name: str, trials: int) -> dict[str, list]:
    """Errors of all trials, and the share of pairs evaluated, by size."""
    n = len(matrix)
    similarity = fp.Precomputed(matrix)
    everything = n * (n + 1) / 2
    method, options, factor = METHODS[name]
    results = {}
    for size in SIZES:
        errors = []
        for trial in range(1 if method == "optimal" else trials):
            found = fp.approximate(
                range(n),
                similarity,
                landmarks=min(n, factor * round(size * n)),
                method=method,
                error_pairs=0,
                random_state=trial,
                **options,
            )
            errors.append(relative(found.to_dense(), matrix))
        results[str(size)] = errors, found.evaluations / everything
    return results


def done(kept: Kept, title: str, matrix: np.ndarray, *, quick: bool) -> dict[str, dict]:
    """Results of all methods; what is kept is not computed again."""
    trials = 3 if quick else 1 if len(matrix) > LARGE else TRIALS
    for name in METHODS:
        if f"{title}|{name}|{trials}" not in kept:
            kept.add(f"{title}|{name}|{trials}", measured(matrix, name, trials))
            print(title, name, flush=True)
    return {name: kept[f"{title}|{name}|{trials}"] for name in METHODS}


def curves(results):
    """Shares of pairs, mean errors and their spreads, by method, for `plot_errors`."""
    names = [name for name in METHODS if name != "optimal"]
    return {
        name: (
            [results[name][str(s)][1] for s in SIZES],
            [np.mean(results[name][str(s)][0]) for s in SIZES],
            [np.std(results[name][str(s)][0]) for s in SIZES],
        )
        for name in names
    }


def twitter() -> np.ndarray:
    """exp(−γ·WMD) of all tweets, without SMART stop words."""
    texts = [record["text"] for record in datasets.read_records("twitter", "all")]
    documents = fp.Documents.of(texts, vectors(), stop_words=stop_words(), empty="far")
    return np.exp(-GAMMA * fp.wmd(documents))


def verdicts(rows: dict[tuple[str, float], dict[str, float]]) -> str:
    """Count, over the text matrices, what the paper says of its methods, by the digits shown."""
    text = {
        key: {name: round(value, 3) for name, value in means.items()}
        for key, means in rows.items()
        if not key[0].startswith("random")
    }
    family = [name for name in METHODS if name != "optimal"]
    below = sum(means["Nyström"] < 1 for means in text.values())
    alone, level = Counter(), Counter()
    for means in text.values():
        first = [name for name in family if means[name] == min(map(means.get, family))]
        (alone if len(first) == 1 else level).update(first)
    half = {k: m for k, m in text.items() if k[1] >= 0.3}
    behind = sorted({
        key[0] for key, means in half.items()
        if means["SiCUR"] > min(means[name] for name in family if name.startswith("SMS"))
    })  # fmt: skip
    sms = sum(means["SMS (Algorithm 1)"] > 1 for means in text.values())
    coded = sum(means["SMS (as coded)"] > 1 for means in text.values())
    same = sum(means["StaCUR(s)"] < means["StaCUR(d), s/2 + s/2"] for means in text.values())
    twice = sum(means["StaCUR(s)"] < means["StaCUR(d), s + s"] for means in text.values())
    ranking = ", ".join(f"{name} in {count}" for name, count in alone.most_common())
    shared = ", ".join(f"{name} in {count}" for name, count in level.most_common())
    return (
        f"Of {len(text)} cells of text matrices: Nyström's error is below 1 in {below}; the best "
        f"of the family is {ranking}; level with others {shared or 'none'}. SMS is above 1, worse "
        f"than predicting zero, in {sms} (Algorithm 1) and {coded} (as coded). From s/n = 0.3 on "
        f"SiCUR is behind some SMS on: "
        f"{', '.join(behind) or 'none'}. StaCUR(s) is ahead of StaCUR(d) in {same} at equal "
        f"evaluations, and in {twice} where StaCUR(d) has twice as many."
    )


def draw_spectra(matrices) -> None:
    """Figures 1 and 2: eigenvalues of the matrices, and of squares sampled from them."""
    wanted = (
        "TWITTER, WMD",
        "STS-B cross-encoder",
        "STS-B cross-attention",
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
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    parser.add_argument("--only", nargs="*", help="do these matrices, and print nothing")
    parser.add_argument("--print", action="store_true", help="compute no error: print what is kept")
    options = parser.parse_args()
    need_data()
    kept = Kept(options.keep, "methods")
    makers = {"TWITTER, WMD": twitter} | {t: partial(stored_matrix, t) for t in STORED}
    makers["random PSD, N(0, 1)"] = random_psd
    makers["random PSD, U[0, 1]"] = partial(random_psd, normal=False)
    if options.only:
        for title in options.only:
            done(kept, title, makers[title](), quick=options.quick)
        return
    titles = ["RTE logits", "RTE probabilities"] if options.quick else makers
    matrices = {title: makers[title]() for title in titles}
    if not options.quick:
        draw_spectra(matrices)
    if options.print:
        trials = {t: 1 if len(matrix) > LARGE else TRIALS for t, matrix in matrices.items()}
        whole = [t for t in titles if all(f"{t}|{m}|{trials[t]}" in kept for m in METHODS)]
        matrices = {title: matrices[title] for title in whole}
    colours = [*mpl.color_sequences["tab10"], "black"]  # one for every method
    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=colours)
    height = -(-len(matrices) // 3)
    figure, axes = plt.subplots(height, 3, figsize=(14, 3.6 * height), layout="constrained")
    rows, means = [], {}
    for axis, (title, matrix) in zip(axes.flat, matrices.items(), strict=False):
        results = done(kept, title, matrix, quick=options.quick)
        plot_errors(curves(results), title=title, highest=1.5, legend=False, ax=axis)
        for size in SIZES:
            found = {name: results[name][str(size)] for name in METHODS}
            single = [n for n, (_, _, factor) in METHODS.items() if factor == 1 and n != "optimal"]
            shares = sorted({round(100 * found[name][1]) for name in single})
            label = f"{shares[0]}–{shares[-1]}" if len(shares) > 1 else f"{shares[0]}"
            rows.append([title, size, f"{label} %", *(spread(found[name][0]) for name in METHODS)])
            means[title, size] = {name: float(np.mean(found[name][0])) for name in METHODS}
    for axis in axes.flat[len(matrices) :]:
        axis.remove()
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    if not options.quick:
        figure.savefig(FIGURES / "figure3.png", dpi=80)
    tweets = f", one on TWITTER (all tweets of the file, γ = {GAMMA})" * (
        "TWITTER, WMD" in matrices
    )
    text = TEXT.format(
        trials=TRIALS, tweets=tweets, verdicts=verdicts(means),
        table=table(["matrix", "s/n", "pairs", *METHODS], rows),
    )  # fmt: skip
    print(text)
    publish("figure3", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
