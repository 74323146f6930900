"""Near-duplicates: nearest neighbours among profiles."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.cells import memory_of_cells
from fewpairs.candidates.nearest import EXACT_UP_TO, most_similar, products_at_a_time

#: Bytes of the products that are held at a time, of candidates in cells, for each pair that is
#: found and sorted, and for each item, as benchmarks/reliability/memory.py finds them.
_PRODUCTS, _CELLS, _PER_PAIR, _PER_ITEM = 40 * 10**6, 65 * 10**6, 60, 100


def near_duplicates(
    profiles: SingleArray, per_item: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return pairs of items with similar profiles, most similar first, each once.

    Parameters
    ----------
    profiles : ndarray of shape (n, d), float32
        Unit vectors.
    per_item : int
        Neighbours of each item.
    rng : numpy.random.Generator
        Used above 50,000 items only, where the search is approximate.

    Returns
    -------
    first, second : ndarray of int
    """
    n = len(profiles)
    near = most_similar(profiles, profiles, per_item, rng, square=True)
    i, j = np.repeat(np.arange(n), near.columns.shape[1]), near.columns.ravel()
    keys, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    order = np.argsort(-near.products.ravel()[first], kind="stable")
    return keys[order] // n, keys[order] % n


def memory_of_search(n: int, per_item: int, width: int, *, on_disk: bool = False) -> int:
    """Count the bytes that a search among n items takes: products of some rows, and pairs found.

    Of many items profiles are put into cells, which takes two more copies of them; where they are
    on disk, a sample of them, and which of them look into which cell.
    """
    products, copies = min(_PRODUCTS, 6 * n * n), 2 * 4 * n * width
    if on_disk:
        products, copies = min(products, products_at_a_time()), memory_of_cells(n, width)
    cells = copies + _CELLS if n * n > EXACT_UP_TO else 0
    return products + cells + _PER_PAIR * per_item * n + _PER_ITEM * n


def near_between(
    profiles: SingleArray, others: SingleArray, per_item: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return pairs of items of two sets with similar profiles, most similar first.

    Parameters
    ----------
    profiles, others : ndarray, float32
        Unit vectors that can be compared.
    per_item : int
        Neighbours of each item of the larger set, among the smaller one.
    rng : numpy.random.Generator
        Used above 50,000² pairs only, where the search is approximate.

    Returns
    -------
    first, second : ndarray of int
    """
    if len(profiles) < len(others):
        second, first = near_between(others, profiles, per_item, rng)
        return first, second
    near = most_similar(profiles, others, per_item, rng, square=False)
    order = np.argsort(-near.products.ravel(), kind="stable")
    return order // max(near.columns.shape[1], 1), near.columns.ravel()[order]
