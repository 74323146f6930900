"""Libraries and our own ways to find each row's neighbours by inner product, behind one signature.

Each takes unit rows (float32), the number of neighbours and of threads, and returns the places of
the neighbours, n × count; the row itself is left out, -1 stands for none.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from importlib import metadata

import numpy as np

from benchmarks.shared import forest as forest_of_splits
from fewpairs.candidates import most_similar

Rival = Callable[[np.ndarray, int, int], np.ndarray]


def without_self(found: np.ndarray, count: int) -> np.ndarray:
    """Take each row's own place out of one neighbour more than was asked for."""
    n = len(found)
    own = found == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(n, -1)[:, :count]


def tiles(rows, count, threads):
    return our_own(rows, count, threads, exact=True)


def cells(rows, count, threads):
    return our_own(rows, count, threads, exact=False)


def our_own(rows, count, threads, *, exact):
    rng = np.random.default_rng(0)
    found = most_similar(rows, rows, count, rng, square=True, exact=exact, n_jobs=threads)
    return found.columns


def forest(rows, count, threads):  # noqa: ARG001 - it has one thread
    """Four trees of random splits, whose leaves are compared all with all."""
    return forest_of_splits.neighbors(rows, count, np.random.default_rng(0))


def scikit_learn(rows, count, threads):
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=count, algorithm="brute", n_jobs=threads).fit(rows)
    return index.kneighbors(return_distance=False)


def pynndescent(rows, count, threads):
    from pynndescent import NNDescent

    index = NNDescent(rows, "dot", n_neighbors=count + 1, random_state=0, n_jobs=threads)
    return without_self(index.neighbor_graph[0], count)


def usearch(rows, count, threads):
    from usearch.index import Index

    index = Index(
        ndim=rows.shape[1],
        metric="ip",
        dtype="f32",
        connectivity=16,
        expansion_add=128,
        expansion_search=128,
    )
    index.add(np.arange(len(rows)), rows, threads=threads)
    found = index.search(rows, count + 1, threads=threads).keys.astype(np.int64)
    return without_self(found, count)


def hnswlib(rows, count, threads):
    import hnswlib

    index = hnswlib.Index("ip", rows.shape[1])
    index.init_index(len(rows), ef_construction=128, M=16, random_seed=0)
    index.add_items(rows, np.arange(len(rows)), num_threads=threads)
    index.set_ef(128)
    return without_self(
        index.knn_query(rows, count + 1, num_threads=threads)[0].astype(np.int64), count
    )


def _faiss(rows, count, threads, make):
    import faiss

    faiss.omp_set_num_threads(threads)
    index = make(faiss)
    index.train(rows)
    index.add(rows)
    return without_self(index.search(rows, count + 1)[1], count)


def faiss_flat(rows, count, threads):
    return _faiss(rows, count, threads, lambda faiss: faiss.IndexFlatIP(rows.shape[1]))


def faiss_cells(rows, count, threads):
    """4·√n cells of k-means, of which each row looks into 32."""

    def make(faiss):
        d, product = rows.shape[1], faiss.METRIC_INNER_PRODUCT
        cells = int(4 * len(rows) ** 0.5)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(d), d, cells, product)
        index.nprobe = 32
        index.own_fields = False
        return index

    return _faiss(rows, count, threads, make)


#: Name in the tables, package that must be there, function, whether every pair is compared.
RIVALS: dict[str, tuple[str, Rival, bool]] = {
    "fewpairs, tiles": ("fewpairs", tiles, True),
    "faiss-cpu, flat": ("faiss", faiss_flat, True),
    "scikit-learn, brute": ("sklearn", scikit_learn, True),
    "fewpairs, forest": ("fewpairs", forest, False),
    "fewpairs, cells": ("fewpairs", cells, False),
    "faiss-cpu, cells": ("faiss", faiss_cells, False),
    "pynndescent": ("pynndescent", pynndescent, False),
    "hnswlib": ("hnswlib", hnswlib, False),
    "usearch": ("usearch", usearch, False),
}


#: Packages whose name is not that of their module.
DISTRIBUTIONS = {"faiss": "faiss-cpu", "sklearn": "scikit-learn"}


def installed(name: str) -> bool:
    """Say whether the package of a rival is there."""
    return importlib.util.find_spec(RIVALS[name][0]) is not None


def facts(rows: np.ndarray) -> list[list[str]]:
    """What each package is: version, size, needs, licence, and whether it repeats itself."""
    out = []
    for name, (module, function, _) in RIVALS.items():
        if not installed(name) or module == "fewpairs":
            continue
        package = metadata.distribution(DISTRIBUTIONS.get(module, module))
        sizes = [
            path.locate().stat().st_size for path in package.files or [] if path.locate().exists()
        ]
        needs = sorted({re.split(r"[^\w-]", x)[0] for x in package.requires or [] if ";" not in x})
        licence = package.metadata["License-Expression"] or package.metadata["License"] or "?"
        first, again, two = (function(rows, 30, threads) for threads in (1, 1, 2))
        same = [("no", "yes")[np.array_equal(first, other)] for other in (again, two)]
        about = [f"{sum(sizes) / 1e6:.1f}", ", ".join(needs), licence.splitlines()[0][:30]]
        out.append([name, package.version, *about, *same])
    return out
