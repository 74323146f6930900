"""Pictures: a spectrum, errors by their cost, scores, clusters. They need the extra ``plots``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import MissingExtraError

#: Blue and orange-red, which colour-blind people tell apart too.
_POSITIVE, _NEGATIVE = "#2a6f97", "#c8553d"
#: Grey, for what is behind.
_ALL = "#c9ced3"


def plot_spectrum(
    eigenvalues: npt.ArrayLike, *, skip: int = 1, title: str = "", axes: Any = None
) -> Any:
    """Draw eigenvalues as bars, by decreasing magnitude, the negative ones in another colour.

    Parameters
    ----------
    eigenvalues : array-like
        For example those of `fewpairs.inspect`.
    skip : int, default=1
        How many of the largest to leave out. The first one is usually so much larger than the
        others that they would be invisible beside it.
    title : str
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _new_axes(5, 3.2)
    values = np.asarray(eigenvalues, dtype=float)
    values = values[np.argsort(-np.abs(values))][skip:]
    ranks = np.arange(skip + 1, skip + 1 + len(values))
    for sign, colour, label in ((1, _POSITIVE, "positive"), (-1, _NEGATIVE, "negative")):
        chosen = np.sign(values) == sign
        axes.bar(ranks[chosen], values[chosen], width=1.0, color=colour, label=label)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set(title=title, xlabel="rank by magnitude", ylabel="eigenvalue")
    axes.legend(frameon=False, fontsize=8)
    return axes


def plot_errors(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]],
    *,
    title: str = "",
    highest: float | None = None,
    legend: bool = True,
    axes: Any = None,
) -> Any:
    """Draw relative errors against the share of all pairs that was evaluated.

    Parameters
    ----------
    curves : mapping of name to (shares, mean errors, standard deviations)
        Around each curve a band shows one standard deviation.
    title : str
    highest : float, optional
        Where the vertical axis ends. A curve that is higher leaves the picture, without its band.
    legend : bool, default=True
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _new_axes(5, 3.6)
    for name, (shares, means, spreads) in curves.items():
        x, y, spread = (np.asarray(v, dtype=float) for v in (shares, means, spreads))
        (line,) = axes.plot(100 * x, y, marker="o", markersize=3, linewidth=1.3, label=name)
        within = np.full(len(y), fill_value=True) if highest is None else y + spread < highest
        band = {"color": line.get_color(), "alpha": 0.15, "linewidth": 0}
        axes.fill_between(100 * x, y - spread, y + spread, where=within, **band)
    axes.set(title=title, xlabel="pairs evaluated, % of all", ylabel="relative error")
    axes.set_ylim(0, highest)
    axes.grid(alpha=0.25)
    if legend:
        axes.legend(frameon=False, fontsize=7)
    return axes


def plot_scores(found: Any, *, bins: int = 50, title: str = "", axes: Any = None) -> Any:
    """Draw how similarities are spread: of the pairs that were found, and of all pairs.

    Parameters
    ----------
    found : Found
        What `find_pairs` returned.
    bins : int, default=50
    title : str
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _new_axes(5, 3.2)
    counts = found.histogram(bins)
    left, widths = counts.edges[:-1], np.diff(counts.edges)
    shared = {"width": widths, "align": "edge", "linewidth": 0}
    axes.bar(left, counts.expected, color=_ALL, label="all pairs, from blind ones", **shared)
    axes.bar(left, counts.found, color=_POSITIVE, label="found, exactly counted", **shared)
    if found.threshold is not None:
        axes.axvline(found.threshold.at, color=_NEGATIVE, linewidth=1, label="threshold")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set(title=title, xlabel="similarity", ylabel="pairs")
    axes.legend(frameon=False, fontsize=8)
    return axes


def plot_dendrogram(clustered: Any, *, most: int = 40, title: str = "", axes: Any = None) -> Any:
    """Draw the merges of clusters as a tree, similar items low, with the threshold.

    Parameters
    ----------
    clustered : Clusters or FactoredAgglomerative
        Fitted. Where merges end at a threshold there are several trees.
    most : int, default=40
        Leaves to draw. Of more items, the merges that came last are drawn, and a leaf is a cluster
        with its number of items in brackets; of several trees, the largest are drawn.
    title : str
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    from fewpairs.tasks.clustering.drawing import Drawn  # noqa: PLC0415 - NumPy only, until then

    axes = axes if axes is not None else _new_axes(6, 3.6)
    drawn = Drawn.of(clustered, most)
    for x, y in zip(drawn.x, drawn.y, strict=True):
        axes.plot(x, y, color=_POSITIVE, linewidth=1)
    if drawn.threshold is not None:
        axes.axhline(drawn.threshold, color=_NEGATIVE, linewidth=1, label="threshold")
        axes.legend(frameon=False, fontsize=8)
    if drawn.large_is_near:
        axes.invert_yaxis()
    axes.set_xticks(np.arange(len(drawn.names)), drawn.names, rotation=90, fontsize=7)
    axes.set(title=title, ylabel="average similarity" if drawn.large_is_near else "distance")
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    return axes


def plot_cluster_sizes(clustered: Any, *, title: str = "", axes: Any = None) -> Any:
    """Draw how many clusters there are of each size, both on logarithmic axes.

    Parameters
    ----------
    clustered : Clusters, FactoredAgglomerative, or array of labels
    title : str
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _new_axes(5, 3.2)
    labels = getattr(clustered, "labels", getattr(clustered, "labels_", clustered))
    labels = np.asarray(labels)
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    size, count = np.unique(sizes, return_counts=True)
    axes.vlines(size, 0.5, count, color=_ALL, linewidth=1.5)
    axes.plot(size, count, "o", color=_POSITIVE, markersize=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    axes.set(title=title, xlabel="items in a cluster", ylabel="clusters")
    axes.grid(alpha=0.25)
    return axes


def _new_axes(width: float, height: float) -> Any:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "A plot") from error
    return plt.subplots(figsize=(width, height))[1]
