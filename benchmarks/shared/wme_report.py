"""The page and the picture of wme_convergence.py."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import linregress

from benchmarks.shared.tables import FIGURES, table

SIZES = (4, 16, 64, 256, 1024, 4096)
#: R of the comparison at equal time; that of 4,096 would buy about as many landmarks as there are
#: documents.
EQUAL = (64, 256, 1024)
METHODS = {"SMS-Nyström": "sms", "fitted": "fitted"}
TITLES = ("WME", *METHODS)
TEXT = """\
{facts}
Random documents have 1 to 6 words, centred; SMART stop words are left out. {seeds} seeds, each with
a random split and a draw of its own; γ and C by cross-validation on training documents. Features
are centred on the training part. Seconds: processor time of one thread for the features of all
documents, without the classifier. Means ± standard deviations.

![Error of the kernel, and accuracy against time](../figures/wme-convergence.svg)

## Error of the kernel

Relative Frobenius distance of the inner products of R features to those of {reference:,} others,
root mean square over {draws} × 4,096 / R draws. The slope is that of log error against log R;
theory: −1/2.

{errors}

## Accuracy

Of LinearSVC, per cent.

{accuracies}

## Cost of one feature

Microseconds a pair, best (worst) of {repeats}. A feature compares a document with a random one, a
landmark's column with another document of the set. Ratio: median (smallest, largest).

{prices}

## Equal time

The landmarks that the time of R random documents buys, and test accuracy in per cent.
{verdict}

{times}
"""


class Result(NamedTuple):
    """One method at the time that R random documents take, for one seed."""

    name: str
    title: str
    R: int
    seed: int
    gamma: float
    columns: int
    seconds: float
    test: float
    training: float


def picked(results: list[Result], name: str, title: str, size: int, what: str) -> np.ndarray:
    """One field of all seeds' results."""
    mine = (r for r in results if (r.name, r.title, r.R) == (name, title, size))
    return np.array([getattr(result, what) for result in mine])


def spread(values: np.ndarray) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def written(results: list[Result], errors: dict, prices: list, **facts: object) -> str:
    """The whole page."""
    of = partial(picked, results)
    slopes = {name: linregress(np.log(SIZES), np.log(rms)).slope for name, rms in errors.items()}
    error_rows = [
        [name, *(f"{error:.4f}" for error in rms), f"{slopes[name]:.3f}".replace("-", "−")]
        for name, rms in errors.items()
    ]
    accuracy_rows = [
        [f"{name}, {part}", *(spread(of(name, "WME", size, part)) for size in SIZES)]
        for name, part in product(errors, ("test", "training"))
    ]
    time_rows, gains = [], {title: [] for title in METHODS}
    for name, size in product(errors, EQUAL):
        mine = of(name, "WME", size, "test")
        row = [name, f"{size:,}", f"{of(name, 'WME', size, 'seconds').mean():.2f}", spread(mine)]
        for title in METHODS:
            test = of(name, title, size, "test")
            seconds = of(name, title, size, "seconds").mean()
            count = of(name, title, size, "columns").mean()
            row += [f"{count:.0f} in {seconds:.2f}", spread(test)]
            gains[title].append(test.mean() - mine.mean())
        time_rows.append(row)
    verdicts = [
        f"{title} against WME: ahead in {sum(g > 0 for g in gain)} of {len(gain)} lines, "
        f"{np.mean(gain):+.1f} points on average, from {min(gain):+.1f} to {max(gain):+.1f}."
        for title, gain in gains.items()
    ]
    columns = [f"R = {size:,}" for size in SIZES]
    bought = [cell for t in METHODS for cell in (f"{t}: landmarks, seconds", "accuracy")]
    return TEXT.format(
        errors=table(["data", *columns, "slope"], error_rows),
        accuracies=table(["data", *columns], accuracy_rows),
        prices=table(["documents", "WME feature", "landmark column", "ratio"], prices),
        times=table(["data", "R", "seconds", "WME", *bought], time_rows),
        verdict="\n".join(verdicts),
        **facts,
    )


def draw(results: list[Result], errors: dict) -> None:
    """Error of the kernel against R, and accuracy against seconds for each data set."""
    figure, axes = plt.subplots(1, 1 + len(errors), figsize=(12, 3.8), layout="constrained")
    sizes, of = np.array(SIZES), partial(picked, results)
    for name, rms in errors.items():
        axes[0].loglog(sizes, rms, marker="o", markersize=4, label=name)
    axes[0].loglog(sizes, 1.3 * rms[0] * np.sqrt(sizes[0] / sizes), "k:", label="slope −1/2")
    axes[0].set(title="Error of the kernel", xlabel="random documents R", ylabel="relative error")
    for axis, name in zip(axes[1:], errors, strict=True):
        for title in TITLES:
            shown = SIZES if title == "WME" else EQUAL
            x = [of(name, title, size, "seconds").mean() for size in shown]
            y = [of(name, title, size, "test") for size in shown]
            means, deviations = np.mean(y, axis=1), np.std(y, axis=1)
            axis.errorbar(x, means, deviations, marker="o", markersize=4, capsize=2, label=title)
            for size, *at in zip(SIZES, x, means, strict=False) if title == "WME" else ():
                axis.annotate(f"R = {size}", at, (5, -11), textcoords="offset points", size=7)
        axis.set(title=name, xlabel="seconds for the features", ylabel="test accuracy, %")
        axis.set_xscale("log")
        axis.margins(x=0.15)
    for axis in axes:
        axis.grid(alpha=0.25)
        axis.legend(frameon=False, fontsize=8)
    figure.savefig(FIGURES / "wme-convergence.svg", metadata={"Date": None})
