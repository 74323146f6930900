"""Each item's neighbours from the cells that promise most."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.cells import PROBES, Cells, Probes
from fewpairs.candidates.tiles import in_order
from fewpairs.numerics import parts
from fewpairs.parallel import one_blas_thread

#: Products of each row that its first cut is taken from, for each neighbour that is wanted: fewer
#: give a low cut and much to sort, more are more to compute.
_FIRST = 16
#: Neighbours of the rows that are worked on at a time; about three times as many reach the cut.
_HELD = 2**20
#: Rounding of two products of the same pair, as a share of the two lengths.
_ROUNDING = np.float32(1e-5)


def nearest_by_cells(
    left: SingleArray,
    right: SingleArray,
    per_item: int,
    rng: np.random.Generator,
    *,
    square: bool,
    n_jobs: int,
) -> tuple[IntArray, SingleArray]:
    """Return columns and products of each row's neighbours, best first; see `most_similar`.

    A row's first cut is its last neighbour among the cells around its own. What reaches it in all
    cells that the row looks into is then sorted.
    """
    cells = Cells.of(right, rng)
    probes = Probes(left, cells, PROBES, each=True)
    cuts = _first_cuts(left, right, per_item, cells, probes, square=square, n_jobs=n_jobs)
    columns = np.empty((len(left), per_item), dtype=np.int64)
    products = np.empty((len(left), per_item), dtype=np.float32)

    def fill(band: slice) -> None:
        i, j, values = _reaching(left, right, cuts, band, cells, probes)
        if square:
            other = i != j
            i, j, values = i[other], j[other], values[other]
        order = np.lexsort((-values, i))
        starts = np.searchsorted(i[order], np.arange(band.start, band.stop))
        best = order[starts[:, None] + np.arange(per_item)]
        columns[band], products[band] = j[best], values[best]

    rows = max(8, _HELD // per_item // 8 * 8)  # whole bytes of bits
    for _ in in_order(fill, parts(len(left), rows), n_jobs):
        pass
    return columns, products


def _first_cuts(
    left: SingleArray,
    right: SingleArray,
    per_item: int,
    cells: Cells,
    probes: Probes,
    *,
    square: bool,
    n_jobs: int,
) -> SingleArray:
    """Return a product for each row that at least `per_item` of what it looks into will reach."""
    with one_blas_thread():
        across = np.ascontiguousarray(cells.means.T)
        home = np.concatenate([np.argmax(left[k] @ across, axis=1) for k in parts(len(left))])
        near = np.argsort(-(cells.means @ across), axis=1, kind="stable")
    sizes = np.array([len(members) for members in cells.members])
    wanted = min(_FIRST * per_item + square, len(right))
    longest = np.sqrt(np.einsum("ij,ij->i", right, right).max())
    order = np.argsort(home, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(home, minlength=len(sizes)))[:-1])
    cuts = np.empty(len(left), dtype=np.float32)

    def cut(cell: int) -> tuple[IntArray, IntArray]:
        enough = int(np.searchsorted(np.cumsum(sizes[near[cell]]), wanted)) + 1
        around = near[cell, :enough]
        columns = np.concatenate([cells.members[k] for k in around])
        others = right[columns].T
        for some in parts(len(rows_of[cell]), max(1, 2**22 // len(columns))):
            rows = rows_of[cell][some]
            block = left[rows] @ others
            if square:
                block[rows[:, None] == columns] = -np.inf
            lengths = np.sqrt(np.einsum("ij,ij->i", left[rows], left[rows]))
            last = np.partition(block, -per_item, axis=1)[:, -per_item]
            cuts[rows] = last - _ROUNDING * longest * lengths
        return around, rows_of[cell]

    for around, rows in in_order(cut, range(len(sizes)), n_jobs):
        for cell in around:
            probes.mark(cell, rows)
    return cuts


def _reaching(
    left: SingleArray,
    right: SingleArray,
    cuts: SingleArray,
    band: slice,
    cells: Cells,
    probes: Probes,
) -> tuple[IntArray, IntArray, SingleArray]:
    """Return rows of a band, columns and products that reach the row's cut."""
    found = []
    for cell, members in enumerate(cells.members):
        rows = probes.rows_of(cell, band)
        others = right[members].T
        for some in parts(len(rows), max(1, 2**21 // len(members))):
            mine = rows[some]
            block = left[mine] @ others
            place = np.flatnonzero(block >= cuts[mine, None])
            i, j = np.divmod(place, len(members))
            found.append((mine[i], members[j], block.ravel()[place]))
    i, j, values = (np.concatenate(part) for part in zip(*found, strict=True))
    return i, j, values
