"""Scores: how many of each, and how approximate ones agree with exact ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError
from fewpairs.plots.axes import BEHIND, NEGATIVE, POSITIVE, new_axes


def plot_agreement(
    exact: npt.ArrayLike, approximate: npt.ArrayLike, *, title: str = "", ax: Any = None
) -> Any:
    """Draw exact similarities against approximate ones, pair by pair.

    Parameters
    ----------
    exact, approximate : array-like
        For example ``oracle.entries(i, j)`` and ``K.entries(i, j)`` of pairs drawn at random.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    x, y = (np.asarray(v, dtype=float).ravel() for v in (exact, approximate))
    if x.shape != y.shape or not len(x):
        raise InputError(
            f"{len(x):,} exact and {len(y):,} approximate similarities were given.",
            "Each pair has one of both.",
            "Give two arrays of the same length.",
        )
    ax = ax if ax is not None else new_axes(4.2, 4.2)
    ends = min(x.min(), y.min()), max(x.max(), y.max())
    ax.plot(ends, ends, color=BEHIND, linewidth=1.2, zorder=0)
    size = float(np.clip(8000 / len(x), 2, 16))
    ax.scatter(x, y, s=size, color=POSITIVE, alpha=0.35, linewidths=0)
    error = float(np.linalg.norm(x - y) / max(np.linalg.norm(x), np.finfo(float).tiny))
    ax.text(0.03, 0.97, f"relative error {error:.3g}", transform=ax.transAxes, va="top", fontsize=9)
    ax.set(title=title, xlabel="exact", ylabel="approximate", aspect="equal")
    return ax


def plot_scores(found: Any, *, bins: int = 50, title: str = "", ax: Any = None) -> Any:
    """Draw how similarities are spread: of the pairs that were found, and of all pairs.

    Parameters
    ----------
    found : Found
        What `find_pairs` returned.
    bins : int, default=50
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(5, 3.2)
    counts = found.histogram(bins)
    left, widths = counts.edges[:-1], np.diff(counts.edges)
    shared = {"width": widths, "align": "edge", "linewidth": 0}
    ax.bar(left, counts.expected, color=BEHIND, label="all pairs, from blind ones", **shared)
    ax.bar(left, counts.found, color=POSITIVE, label="found, exactly counted", **shared)
    if found.threshold is not None:
        ax.axvline(found.threshold.at, color=NEGATIVE, linewidth=1, label="threshold")
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    ax.set(title=title, xlabel="similarity", ylabel="pairs")
    ax.legend(frameon=False, fontsize=8)
    return ax
