"""What can be said of a pair before it is evaluated: a few numbers, mostly inner products."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.candidates.joined import Columns, Joined
from fewpairs.error.profiles import profiles
from fewpairs.guides.guides import Guide
from fewpairs.numerics import parts, ridge_inverse
from fewpairs.tasks.matching.nearness import has_neighbours, nearness_name, nearness_of
from fewpairs.tasks.matching.universe import Universe

#: Ridges of the core through which landmarks predict a pair, as shares of its largest eigenvalue:
#: one that trusts small directions and one that does not.
_RIDGES = (0.01, 0.1)
#: Pairs whose products are taken at a time: their vectors fit the cache.
_PAIRS = 2**14


class Features:
    """Features of pairs: guides with their nearness, what landmarks predict, and matches so far.

    The last one counts those of both items. Matches are not spread evenly: an item that has
    matched before often does again, or never again where items match one to one. Which it is, the
    ranking learns.

    Parameters
    ----------
    universe : Universe
    guides : list of Guide
    rng : numpy.random.Generator
        Draws the items among which neighbours are sought.
    """

    def __init__(self, universe: Universe, guides: list[Guide], rng: np.random.Generator) -> None:
        self._universe = universe
        self._hints = [*guides, *nearness_of(guides, rng, square=universe.square)]
        self.products = list(self._hints)
        #: The feature that leads before anything is learnt, and what is taken off it.
        self._leader = guides[0].name if guides else ""
        self._crowd = nearness_name(guides[0]) if guides and has_neighbours(guides[0]) else None
        self._left_matches: FloatArray = np.zeros(universe.n)
        self._right_matches = np.zeros(universe.m) if not universe.square else self._left_matches

    @property
    def count(self) -> int:
        """Number of features."""
        return self.at_matches + 1

    @property
    def at_matches(self) -> int:
        """Place of the feature that changes as matches are noted: behind all products."""
        return len(self.products)

    def _at(self, name: str) -> int:
        return [product.name for product in self.products].index(name)

    @property
    def first_weights(self) -> FloatArray:
        """Weights of the features before anything is learnt.

        They are those of the first guide, less half of how near both items' nearest are. Without a
        guide the last of what landmarks tell counts alone: how alike the columns of two items are,
        or, of two sets, the more careful prediction. Without either all are zero.
        """
        weights = np.zeros(self.count)
        if self._leader:
            weights[self._at(self._leader)] = 1.0
        if self._crowd is not None:
            weights[self._at(self._crowd)] = -0.5
        return weights

    def note(self, rows: IntArray, columns: IntArray) -> None:
        """Note matches."""
        np.add.at(self._left_matches, rows, 1.0)
        np.add.at(self._right_matches, columns, 1.0)

    def of(self, rows: IntArray, columns: IntArray, *, matching: bool = False) -> SingleArray:
        """Return the features of pairs.

        Pairs that are noted as matches do not count their own match: otherwise the ranking would
        learn from them what it cannot know of others.
        """
        result = np.empty((len(rows), self.count), dtype=np.float32)
        for k, guide in enumerate(self.products):
            for part in parts(len(rows), _PAIRS):
                result[part, k] = np.einsum(
                    "ij,ij->i", guide.left[rows[part]], guide.right[columns[part]]
                )
        result[:, self.at_matches] = self.matches(rows, columns, own=int(matching))
        return result

    def matches(self, rows: IntArray, columns: IntArray, *, own: int = 0) -> SingleArray:
        """Return the feature that changes as matches are noted."""
        left, right = self._left_matches[rows] - own, self._right_matches[columns] - own
        return (np.log1p(left) + np.log1p(right)).astype(np.float32)

    def combined(self, weights: FloatArray) -> tuple[Joined, Joined]:
        """Return vectors whose inner products are the weighted sum of all features."""
        used = [(np.float32(w), g) for w, g in zip(weights, self.products, strict=False) if w]
        left = [Columns(guide.left, weight) for weight, guide in used]
        right = [Columns(guide.right) for _, guide in used]
        # Two more columns, in each of which ones of one side meet the matches of the other.
        weight = np.float32(weights[self.at_matches])
        ones = [Columns(np.ones(len(side), dtype=np.float32)) for side in self._sides]
        matches = [Columns(np.log1p(of).astype(np.float32), weight) for of in self._sides]
        return Joined([*left, matches[0], ones[0]]), Joined([*right, ones[1], matches[1]])

    @property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        return self._left_matches, self._right_matches

    def add_landmarks(self, columns: FloatArray, rows: FloatArray, at: IntArray) -> None:
        """Add what landmarks predict, in place of what fewer of them did.

        Parameters
        ----------
        columns : ndarray of shape (n, s)
            Similarities of all items with the landmarks among the columns.
        rows : ndarray of shape (s, m)
            Similarities of the landmarks among the rows with all items.
        at : ndarray
            Which rows these are.
        """
        largest = np.abs(columns).max(initial=0.0) or 1.0
        left, right = columns / largest, rows.T / largest
        core = left[at]
        u, sizes, vt = scipy.linalg.svd(core)
        self.products = list(self._hints)
        narrow = left.astype(np.float32)
        for ridge in _RIDGES:
            # C·W⁺·R, with W the rows and columns of landmarks: C is n × s, so is R's transpose.
            back = right @ (u * ridge_inverse(sizes, ridge)) @ vt
            name = f"landmarks, ridge {ridge}"
            self.products.append(Guide(name, narrow, back.astype(np.float32)))
        if self._universe.square:
            shape = profiles(left, np.arange(len(left)))
            self.products.append(Guide("profiles", shape, shape))
        if not self._hints:
            self._leader = self.products[-1].name
