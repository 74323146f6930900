"""Pictures: spectra, errors and recalls by their cost, maps, scores, clusters; by matplotlib."""

from __future__ import annotations

from fewpairs.plots.blocks import plot_block
from fewpairs.plots.clusters import plot_cluster_sizes, plot_dendrogram
from fewpairs.plots.costs import plot_error, plot_errors, plot_recall
from fewpairs.plots.maps import plot_map
from fewpairs.plots.scores import plot_agreement, plot_scores
from fewpairs.plots.spectrum import plot_spectrum

__all__ = [
    "plot_agreement",
    "plot_block",
    "plot_cluster_sizes",
    "plot_dendrogram",
    "plot_error",
    "plot_errors",
    "plot_map",
    "plot_recall",
    "plot_scores",
    "plot_spectrum",
]
