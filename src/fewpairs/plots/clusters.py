"""Clusters: the tree of merges, and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.plots.axes import BEHIND, NEGATIVE, POSITIVE, new_axes


def plot_dendrogram(clustered: Any, *, most: int = 40, title: str = "", ax: Any = None) -> Any:
    """Draw the merges of clusters as a tree, similar items low, with the threshold.

    Parameters
    ----------
    clustered : Clusters or FactoredAgglomerative
        Fitted. Where merges end at a threshold there are several trees.
    most : int, default=40
        Leaves to draw. Of more items, the merges that came last are drawn, and a leaf is a cluster
        with its number of items in brackets; of several trees, the largest are drawn.
    title : str
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    from fewpairs.tasks.clustering.drawing import Drawn  # noqa: PLC0415 - NumPy only, until then

    ax = ax if ax is not None else new_axes(6, 3.6)
    drawn = Drawn.of(clustered, most)
    for x, y in zip(drawn.x, drawn.y, strict=True):
        ax.plot(x, y, color=POSITIVE, linewidth=1)
    if drawn.threshold is not None:
        ax.axhline(drawn.threshold, color=NEGATIVE, linewidth=1, label="threshold")
        ax.legend(frameon=False, fontsize=8)
    if drawn.large_is_near:
        ax.invert_yaxis()
    ax.set_xticks(np.arange(len(drawn.names)), drawn.names, rotation=90, fontsize=7)
    ax.set(title=title, ylabel="average similarity" if drawn.large_is_near else "distance")
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    return ax


def plot_cluster_sizes(clustered: Any, *, title: str = "", ax: Any = None) -> Any:
    """Draw how many clusters there are of each size, both on logarithmic axes.

    Parameters
    ----------
    clustered : Clusters, FactoredAgglomerative, or array of labels
    title : str
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(5, 3.2)
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 - optional

    labels = getattr(clustered, "labels", getattr(clustered, "labels_", clustered))
    labels = np.asarray(labels)
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    size, count = np.unique(sizes, return_counts=True)
    ax.vlines(size, 0.7, count, color=BEHIND, linewidth=1.5)
    ax.plot(size, count, "o", color=POSITIVE, markersize=4)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.7)
    for axis in (ax.xaxis, ax.yaxis):  # numbers of things, not powers of ten
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:,.0f}")
        axis.set_minor_locator(NullLocator())
    ax.set(title=title, xlabel="items in a cluster", ylabel="clusters")
    ax.grid(alpha=0.25)
    return ax
