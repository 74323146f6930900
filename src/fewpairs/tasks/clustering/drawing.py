"""Where the lines of a dendrogram go: trees of a few leaves, from merges of many items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError


class Drawn(NamedTuple):
    """Lines of a tree in the numbers of the matrix.

    Attributes
    ----------
    x, y : ndarray of shape (k, 4)
        Of each merge: up from the left part, across, and down to the right one.
    names : list of str
        Of the leaves, from left to right.
    threshold : float or None
    large_is_near : bool
    """

    x: FloatArray
    y: FloatArray
    names: list[str]
    threshold: float | None
    large_is_near: bool

    @classmethod
    def of(cls, clustered: Any, most: int) -> Drawn:
        """Read clusters, or a fitted estimator."""
        if hasattr(clustered, "tree"):
            tree, above = clustered.tree, clustered.threshold.above
            n, children, sizes = tree.n, tree.children, tree.sizes
            at, heights = clustered.threshold.at, clustered.merges
            ids = clustered.ids
            names = [str(name) for name in ids.name(np.arange(n))]
        else:
            n, children = clustered.n_leaves_, clustered.children_
            sizes = clustered.linkage_matrix_[:, 3].astype(np.int64)
            at, heights = clustered.threshold, clustered.similarities_
            above, names = not clustered.small_is_near, [str(k) for k in range(n)]
        if not len(children):
            raise InputError(
                "there is no merge to draw.",
                "A dendrogram shows what was merged.",
                "Lower the threshold.",
            )
        return cls(*_lines(n, children, sizes, heights, names, most, above), at, above)


def _lines(
    n: int,
    children: IntArray,
    sizes: IntArray,
    heights: FloatArray,
    names: list[str],
    most: int,
    above: bool,
) -> tuple[FloatArray, FloatArray, list[str]]:
    shown, leaves = _shown(n, children, sizes, most)
    # Single items lie below the best of all merges that are drawn, clusters where they were made.
    tops = [heights[step] for step in shown] + [heights[leaf - n] for leaf in leaves if leaf >= n]
    reach = 0.05 * (max(tops) - min(tops)) or 0.05 * abs(max(tops)) or 1.0
    ground = max(tops) + reach if above else min(tops) - reach
    place = {leaf: float(k) for k, leaf in enumerate(leaves)}
    height = {leaf: float(heights[leaf - n]) if leaf >= n else ground for leaf in leaves}
    x, y = np.empty((len(shown), 4)), np.empty((len(shown), 4))
    for k, step in enumerate(shown):
        a, b = children[step].tolist()
        x[k] = place[a], place[a], place[b], place[b]
        y[k] = height[a], heights[step], heights[step], height[b]
        place[n + step], height[n + step] = (place[a] + place[b]) / 2, float(heights[step])
    told = [names[leaf] if leaf < n else f"({sizes[leaf - n]})" for leaf in leaves]
    return x, y, told


def _shown(n: int, children: IntArray, sizes: IntArray, most: int) -> tuple[list[int], list[int]]:
    """Return the merges that are drawn, parts first, and the leaves from left to right."""
    is_root = np.ones(n + len(children), dtype=bool)
    is_root[children.ravel()] = False
    roots = np.flatnonzero(is_root[n:])
    roots = n + roots[np.argsort(-sizes[roots], kind="stable")]
    kept: list[int] = roots.tolist()[: max(most // 2, 1)]
    opened: set[int] = set()
    # The last merges are opened first, until there are enough leaves.
    ahead = sorted(kept)
    while ahead and len(kept) + len(opened) < most:
        node = ahead.pop()
        opened.add(node)
        ahead = sorted(ahead + [child for child in children[node - n].tolist() if child >= n])
    leaves: list[int] = []
    stack = kept[::-1]
    while stack:
        node = stack.pop()
        if node in opened:
            stack += children[node - n].tolist()[::-1]
        else:
            leaves.append(node)
    return sorted(node - n for node in opened), leaves
