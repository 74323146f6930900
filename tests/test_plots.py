"""Pictures: they show what they are given."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import fewpairs as fp
from fewpairs import plots
from fewpairs.errors import InputError, MissingExtraError


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


def chain_of_words():
    words = ["aaaa", "aaab", "aabb", "zz", "zy"]
    return fp.cluster(words, fp.StringSimilarity(), threshold=0.5, ids=words)


def test_a_dendrogram_shows_every_merge_and_the_threshold():
    clusters = chain_of_words()
    axes = plots.plot_dendrogram(clusters)
    heights = sorted(float(line.get_ydata()[1]) for line in axes.get_lines()[:-1])
    assert np.allclose(heights, sorted(clusters.merges))
    assert axes.get_lines()[-1].get_ydata()[0] == 0.5
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert sorted(names) == sorted(["aaaa", "aaab", "aabb", "zz", "zy"])
    assert axes.yaxis_inverted()


def test_single_items_lie_where_nothing_is_nearer():
    near = fp.FactoredMatrix(np.repeat(np.eye(3), 2, axis=0) + 0.3, np.eye(3))
    far = near.scaled(np.full(6, -1.0), np.ones(6))
    for fitted, sign in (
        (fp.FactoredAgglomerative(1).fit(near), 1),
        (fp.FactoredAgglomerative(1, small_is_near=True).fit(far), -1),
    ):
        axes = plots.plot_dendrogram(fitted)
        assert axes.yaxis_inverted() == (sign > 0)
        ends = sign * np.array([line.get_ydata() for line in axes.get_lines()])
        merges = sign * fitted.similarities_
        assert np.sum(ends[:, [0, 3]] > merges.max()) == 6  # each item once
        assert np.isclose(np.sort(ends[:, 1]), np.sort(merges)).all()


def test_a_dendrogram_of_many_items_shows_the_last_merges():
    left = np.random.default_rng(0).normal(size=(300, 3))
    fitted = fp.FactoredAgglomerative(1).fit(fp.FactoredMatrix(left, np.eye(3)))
    axes = plots.plot_dendrogram(fitted, most=12)
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert len(names) == 12
    items = sum(int(name[1:-1]) if name.startswith("(") else 1 for name in names)
    assert items == 300
    heights = sorted(float(line.get_ydata()[1]) for line in axes.get_lines())
    assert np.allclose(heights, np.sort(fitted.similarities_)[:11])


def test_nothing_merged_is_no_dendrogram():
    with pytest.raises(InputError, match="no merge"):
        plots.plot_dendrogram(fp.cluster(fp.FactoredMatrix(np.eye(3), np.eye(3)), threshold=2))


def test_cluster_sizes_are_counted():
    axes = plots.plot_cluster_sizes([0, 0, 1, 1, 2, -1])
    assert axes.get_lines()[0].get_xdata().tolist() == [1, 2]
    assert axes.get_lines()[0].get_ydata().tolist() == [1, 2]
