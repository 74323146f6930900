"""Pictures: they show what they are given."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from fewpairs import plots


def test_spectrum_separates_signs():
    axes = plots.plot_spectrum([5.0, -3.0, 2.0, -1.0], skip=1, title="t")
    heights = sorted(bar.get_height() for bar in axes.patches)
    assert heights == [-3.0, -1.0, 2.0]


def test_error_curves_are_drawn_against_per_cent():
    axes = plots.plot_errors({"a": ([0.1, 0.2], [0.5, 0.25], [0.1, 0.1])}, highest=1.0)
    line = axes.get_lines()[0]
    assert np.allclose(line.get_xdata(), [10, 20])
    assert np.allclose(line.get_ydata(), [0.5, 0.25])
