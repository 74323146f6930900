"""Clusters with their tree, from a factored matrix: no n × n matrix anywhere.

Average linkage merges while the average similarity of two clusters is at least the threshold.
"""

import numpy as np

import fewpairs as fp

rng = np.random.default_rng(0)
centres = rng.normal(size=(12, 8))
points = centres[rng.integers(12, size=400)] + 0.3 * rng.normal(size=(400, 8))

rbf = fp.VectorSimilarity("rbf", gamma=0.1)
K = fp.approximate(points, rbf, landmarks=60, random_state=0)
clusters = fp.cluster(K, threshold=0.5)
print(clusters)
print("sizes:", *sorted(clusters.sizes, reverse=True))

tree = fp.FactoredAgglomerative(n_clusters=12).fit(K)
axes = fp.plots.plot_dendrogram(tree, most=30)
axes.set_title("The last merges; numbers of items in brackets")
axes.figure.savefig("clusters.png", dpi=110, bbox_inches="tight")
