"""Pictures: they show what they are given."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from fewpairs import plots
from fewpairs.errors import MissingExtraError


def test_spectrum_separates_signs():
    axes = plots.plot_spectrum([5.0, -3.0, 2.0, -1.0], skip=1, title="t")
    heights = sorted(bar.get_height() for bar in axes.patches)
    assert heights == [-3.0, -1.0, 2.0]


def test_error_curves_are_drawn_against_per_cent():
    axes = plots.plot_errors({"a": ([0.1, 0.2], [0.5, 0.25], [0.1, 0.1])}, highest=1.0)
    line = axes.get_lines()[0]
    assert np.allclose(line.get_xdata(), [10, 20])
    assert np.allclose(line.get_ydata(), [0.5, 0.25])


def test_a_band_ends_where_it_would_leave_the_picture():
    shares, means, spreads = [0.1, 0.2, 0.3], [0.9, 0.5, 0.4], [0.2, 0.1, 0.1]
    axes = plots.plot_errors({"a": (shares, means, spreads)}, highest=1.0)
    drawn = np.concatenate([path.vertices for path in axes.collections[0].get_paths()])
    assert drawn[:, 0].min() == pytest.approx(20)
    assert axes.get_ylim() == (0, 1.0)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"fewpairs\[plots\]"):
        plots.plot_spectrum([1.0])
