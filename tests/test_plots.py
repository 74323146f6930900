"""Pictures: they show what they are given."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

import fewpairs as fp
from fewpairs import plots
from fewpairs.errors import InputError, MissingExtraError


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


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
    axes.figure.canvas.draw()
    told = {tick.get_text() for tick in axes.get_xticklabels()}
    assert {"1", "2"} <= told  # numbers of items, not powers of ten


# ------------------------------------------------------------------ of results


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(120, 4))


@pytest.fixture(scope="module")
def matrix(points):
    rbf = fp.VectorSimilarity("rbf", gamma=0.1)
    return fp.approximate(points, rbf, target_error=0.05, random_state=0)


def test_the_steps_of_a_run_are_drawn_with_their_intervals(matrix):
    ax = plots.plot_error(matrix, target=0.05)
    line, target = ax.get_lines()
    assert line.get_xdata().tolist() == [step.evaluations for step in matrix.curve]
    assert line.get_ydata().tolist() == [step.error.value for step in matrix.curve]
    assert set(target.get_ydata()) == {0.05}
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx(max(step.error.high for step in matrix.curve))


def test_several_matrices_are_drawn_by_what_they_cost(points):
    rbf = fp.VectorSimilarity("rbf", gamma=0.1)
    several = [fp.approximate(points, rbf, landmarks=s, random_state=0) for s in (30, 10)]
    (line,) = plots.plot_error(several).get_lines()
    assert line.get_xdata().tolist() == [k.evaluations for k in several[::-1]]
    without = fp.approximate(points, rbf, landmarks=5, error_pairs=0, random_state=0)
    with pytest.raises(InputError, match="without a stated error"):
        plots.plot_error([without])


def test_recalls_are_drawn_beside_the_truth(points):
    near = fp.VectorSimilarity("rbf", gamma=0.1)
    results = [
        fp.find_pairs(points, near, above=0.8, budget=share, random_state=0) for share in (0.2, 0.5)
    ]
    ax = plots.plot_recall(results, truth=[0.5, 1.0])
    stated, true = ax.get_lines()
    assert stated.get_ydata().tolist() == [found.recall.value for found in results]
    assert stated.get_xdata().tolist() == [found.evaluations for found in results]
    assert true.get_ydata().tolist() == [0.5, 1.0]


def test_a_map_has_a_point_for_each_item_in_the_colour_of_its_label(matrix):
    labels = np.arange(120) % 3
    ax = plots.plot_map(matrix, labels=labels)
    assert [len(dots.get_offsets()) for dots in ax.collections] == [40, 40, 40]
    assert len({tuple(dots.get_facecolor()[0]) for dots in ax.collections}) == 3
    plain = plots.plot_map(matrix)
    together = np.sort(np.vstack([dots.get_offsets() for dots in ax.collections]), axis=0)
    assert np.array_equal(np.sort(plain.collections[0].get_offsets(), axis=0), together)


def test_a_block_is_ordered_and_beside_what_is_exact(matrix, points):
    items, labels = np.arange(0, 120, 3), np.arange(120) % 2
    exact = fp.VectorSimilarity("rbf", gamma=0.1).block(points[items], points[items])
    ax = plots.plot_block(matrix, items, exact=exact, labels=labels)
    shown = np.asarray(ax.images[0].get_array())
    left, right = shown[:, :40], shown[:, -40:]
    assert shown.shape == (40, 82)
    assert np.linalg.norm(left - right) < 0.3 * np.linalg.norm(right)
    # The first half of the rows are the items of the first label, each with itself on the diagonal.
    first = exact[np.ix_(labels[items] == 0, labels[items] == 0)]
    assert np.allclose(np.sort(right[:20, :20], axis=None), np.sort(first, axis=None))
    assert np.allclose(np.diag(right), 1)


def test_without_exact_values_a_block_shows_what_was_evaluated(matrix):
    items = np.arange(30)
    shown = np.ma.filled(plots.plot_block(matrix, items).images[0].get_array(), np.nan)
    known = matrix.known.find(np.repeat(items, 30), np.tile(items, 30))
    assert np.isnan(shown[:, -30:]).sum() == np.isnan(known).sum() > 0


def test_similar_items_come_together_in_a_block():
    groups = np.arange(40) % 4
    same = (groups[:, None] == groups[None]).astype(float)
    matrix = fp.approximate(range(40), fp.Precomputed(same), landmarks=20, random_state=0)
    shown = np.asarray(plots.plot_block(matrix, np.arange(40), exact=same).images[0].get_array())
    assert np.array_equal(shown[:, -40:], np.kron(np.eye(4), np.ones((10, 10))))


def test_what_cannot_be_a_block_is_refused(matrix, points):
    with pytest.raises(InputError, match="exact has the shape"):
        plots.plot_block(matrix, [0, 1, 2], exact=np.eye(2))
    two = fp.approximate(
        points[:20], fp.VectorSimilarity("rbf"), others=points[20:], landmarks=5, random_state=0
    )
    with pytest.raises(InputError, match="between two sets"):
        plots.plot_block(two)
    with pytest.raises(InputError, match="2,001 items"):
        plots.plot_block(matrix, np.zeros(2001, dtype=int))


def test_agreement_shows_every_pair_and_the_error():
    ax = plots.plot_agreement([3.0, 4.0], [3.0, 4.5])
    assert ax.collections[0].get_offsets().tolist() == [[3.0, 3.0], [4.0, 4.5]]
    assert ax.texts[0].get_text() == "relative error 0.1"
    with pytest.raises(InputError, match="2 exact and 1 approximate"):
        plots.plot_agreement([1.0, 2.0], [1.0])


def test_every_plot_draws_where_it_is_told_and_returns_it(matrix):
    _, ax = plt.subplots()
    found = fp.find_pairs(["ape", "apes", "bee"], "levenshtein", above=0.7)
    for draw in (
        lambda: plots.plot_spectrum([2.0, 1.0], ax=ax),
        lambda: plots.plot_errors({"a": ([0.1], [0.5], [0.1])}, ax=ax),
        lambda: plots.plot_error(matrix, ax=ax),
        lambda: plots.plot_recall([found], ax=ax),
        lambda: plots.plot_map(matrix, ax=ax),
        lambda: plots.plot_block(matrix, ax=ax),
        lambda: plots.plot_agreement([1.0], [1.0], ax=ax),
        lambda: plots.plot_scores(found, ax=ax),
    ):
        assert draw() is ax


def test_statements_are_joined_in_the_order_of_what_was_spent():
    def found(spent, value):
        recall = SimpleNamespace(value=value, low=value - 0.1, high=value + 0.1)
        return SimpleNamespace(evaluations=spent, recall=recall)

    axes = plots.plot_recall([found(300, 0.9), found(100, 0.5), found(200, 0.7)])
    line = axes.get_lines()[0]
    assert line.get_xdata().tolist() == [100, 200, 300]
    assert line.get_ydata().tolist() == [0.5, 0.7, 0.9]
