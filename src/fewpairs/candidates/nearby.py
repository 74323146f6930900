"""Each item's neighbours from the cells that promise most."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.cells import PROBES, Cells, Probes
from fewpairs.candidates.equals import nearest_among_equals
from fewpairs.candidates.tiles import in_order
from fewpairs.numerics import parts
from fewpairs.parallel import one_blas_thread

#: Products of each row that its first cut is taken from, for each neighbour that is wanted: fewer
#: give a low cut and much to sort, more are more to compute.
_FIRST = 16
#: Neighbours of the rows that are worked on at a time; about three times as many reach the cut.
_HELD = 2**20
#: Products of a tile, and pairs that may wait to be sorted: where many items are equal, all of
#: them reach the cuts.
_PRODUCTS, _MOST_HELD = 2**21, 2**23
#: Times the neighbours that are wanted: if more reach the cuts of a tile, most are dropped at once.
_CROWDED = 4
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
    cells that the row looks into is then sorted. Of crowds of equal vectors a few stand for all.
    """

    def search(
        some: SingleArray, others: SingleArray, count: int, same: bool
    ) -> tuple[IntArray, SingleArray]:
        return _by_cells(some, others, count, rng, square=same, n_jobs=n_jobs)

    return nearest_among_equals(left, right, per_item, search, square=square)


def _by_cells(
    left: SingleArray,
    right: SingleArray,
    per_item: int,
    rng: np.random.Generator,
    *,
    square: bool,
    n_jobs: int,
) -> tuple[IntArray, SingleArray]:
    cells = Cells.of(right, rng)
    probes = Probes(left, cells, PROBES, each=True)
    cuts = _first_cuts(left, right, per_item, cells, probes, square=square, n_jobs=n_jobs)
    columns = np.empty((len(left), per_item), dtype=np.int64)
    products = np.empty((len(left), per_item), dtype=np.float32)

    def fill(band: slice) -> None:
        found = _Band(per_item, cuts)
        for cell, members in enumerate(cells.members):
            rows, others = probes.rows_of(cell, band), right[members].T
            for some in parts(len(rows), max(1, _PRODUCTS // len(members))):
                found.add(left[rows[some]] @ others, rows[some], members, square=square)
        columns[band], products[band] = found.best()

    rows = max(8, _HELD // per_item // 8 * 8)  # whole bytes of bits
    for _ in in_order(fill, parts(len(left), rows), n_jobs):
        pass
    return columns, products


class _Band:
    """What reaches the cuts of some rows; these rise where more comes than can be held."""

    def __init__(self, per_item: int, cuts: SingleArray) -> None:
        self._per_item = per_item
        self._cuts = cuts
        self._found: list[tuple[IntArray, IntArray, SingleArray]] = []
        self._held = 0

    def add(self, block: SingleArray, rows: IntArray, members: IntArray, *, square: bool) -> None:
        place = np.flatnonzero(block >= self._cuts[rows, None])
        if len(place) > _CROWDED * self._per_item * len(rows):
            place = self._best_of_crowd(block)
        i, j = np.divmod(place, len(members))
        i, j, values = rows[i], members[j], block.ravel()[place]
        if square:
            other = i != j
            i, j, values = i[other], j[other], values[other]
        self._found.append((i, j, values))
        self._held += len(i)
        if self._held > _MOST_HELD:
            self._keep_best()

    def _best_of_crowd(self, block: SingleArray) -> IntArray:
        """Return the places of each row's best: of many equal items, nearly all reach the cut."""
        most = min(self._per_item + 1, block.shape[1])  # the row itself may be one of them
        best = np.argpartition(-block, most - 1, axis=1)[:, :most]
        return np.asarray(best + block.shape[1] * np.arange(len(block))[:, None]).ravel()

    def best(self) -> tuple[IntArray, SingleArray]:
        """Return columns and products, a row each, best first."""
        self._keep_best()
        _, j, values = self._found[0]
        return j.reshape(-1, self._per_item), values.reshape(-1, self._per_item)

    def _keep_best(self) -> None:
        i, j, values = (np.concatenate(part) for part in zip(*self._found, strict=True))
        order = np.lexsort((-values, i))
        i = i[order]
        rank = np.arange(len(i)) - np.searchsorted(i, i)
        last = rank == self._per_item - 1
        # Equals of a row's last neighbour come too late from now on.
        self._cuts[i[last]] = np.nextafter(values[order[last]], np.float32(np.inf))
        keep = rank < self._per_item
        order = order[keep]
        self._found, self._held = [(i[keep], j[order], values[order])], len(order)


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
        near = np.argsort(-(cells.means @ across), axis=1, kind="stable")
    sizes = np.array([len(members) for members in cells.members])
    wanted = min(_FIRST * per_item + square, len(right))
    squares = (np.einsum("ij,ij->i", right[some], right[some]) for some in parts(len(right)))
    longest = np.sqrt(max(some.max() for some in squares))
    order = np.argsort(probes.home, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(probes.home, minlength=len(sizes)))[:-1])
    cuts = np.empty(len(left), dtype=np.float32)

    def cut(cell: int) -> tuple[IntArray, IntArray]:
        enough = int(np.searchsorted(np.cumsum(sizes[near[cell]]), wanted)) + 1
        around = near[cell, :enough]
        columns = np.concatenate([cells.members[k] for k in around])
        others = right[columns].T
        for some in parts(len(rows_of[cell]), max(1, _PRODUCTS // len(columns))):
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
