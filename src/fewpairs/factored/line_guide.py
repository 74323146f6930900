"""What a guide has to do with the factors: rows of new items are made as the old ones were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, SingleArray
from fewpairs.errors import InputError, NotAttachedError
from fewpairs.guides.basis import Basis
from fewpairs.guides.guides import ARRAY, AUTO, each_guide, new_vectors
from fewpairs.items.items import Items


@dataclass(frozen=True, eq=False)
class LineGuide:
    """Tall factors are [lines less what the guide says of them, the guide's vectors, 1].

    Parameters
    ----------
    taken_off : ndarray
        Coefficients of the guides' inner products, then of their squares.
    widths : tuple of int
        Coordinates of each guide's vectors.
    which : tuple of int
        Which of the user's guides these are: useless ones were left out.
    maker : object
        What makes vectors of new items, such as an encoder; `ARRAY` or None where there is none.
    bases : tuple of Basis or None
        What each guide's vectors were measured along, where they were made here.
    """

    taken_off: FloatArray
    widths: tuple[int, ...]
    which: tuple[int, ...]
    maker: Any = None
    bases: tuple[Basis | None, ...] = ()

    @property
    def width(self) -> int:
        """Coordinates of all vectors."""
        return sum(self.widths)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """For each guide its coordinates, and which of the user's it is."""
        return list(zip(self.widths, self.which, strict=True))

    def made_by(self, maker: Any) -> LineGuide:
        """Return the same with what makes vectors of new items."""
        return replace(self, maker=maker)

    def vectors_of(self, new: Items, given: Any, old: Items | None) -> SingleArray:
        """Return vectors of new items, from what was given with them or from the encoder."""
        maker = self.maker if given is None else given
        if maker is None or (isinstance(maker, str) and maker in (ARRAY, AUTO)):
            raise NotAttachedError(
                "a new item needs its vector, and the guide of this matrix makes none.",
                "It was an array with a row for each of the old items, or it was made of them.",
                "Pass guide= with a row for each new item, or an encoder.",
            )
        each = each_guide(maker)
        if len(each) > max(self.which):
            each = [each[k] for k in self.which]
        made = [
            new_vectors(one, f"guide {k + 1}", new, old, basis)
            for k, (one, basis) in enumerate(zip_longest(each, self.bases[: len(each)]))
        ]
        widths = tuple(part.shape[1] for part in made)
        if widths != self.widths:
            raise InputError(
                f"the guide of the new items has vectors of {widths} coordinates, and that of the "
                f"matrix of {self.widths}.",
                "Old and new vectors are compared with each other.",
                "Make both with the same encoders, in the same order.",
            )
        return np.hstack(made)

    def said(self, vectors: SingleArray, marks: FloatArray) -> FloatArray:
        """Return what is taken off the entries between items and landmarks."""
        total = np.zeros((len(vectors), len(marks)))
        start, count = 0, len(self.widths)
        for k, width in enumerate(self.widths):
            mine = slice(start, start + width)
            products = vectors[:, mine].astype(np.float64) @ marks[:, mine].T
            total += (self.taken_off[k] + self.taken_off[count + k] * products) * products
            start += width
        return total

    def tall(
        self, lines: FloatArray, vectors: SingleArray, marks: FloatArray, unit: float
    ) -> FloatArray:
        """Return rows of a tall factor.

        Parameters
        ----------
        lines : ndarray
            Entries with the landmarks, in the units of the factors.
        vectors : ndarray
            Of the items.
        marks : ndarray
            Of the landmarks.
        unit : float
            What the factors are a multiple of: 1 for similarities of ordinary size.
        """
        # In double precision: a unit may be beyond what single numbers hold.
        beside = np.hstack([vectors, np.ones((len(vectors), 1))])
        said: FloatArray = unit * self.said(vectors, marks)
        return np.hstack([np.subtract(lines, said), unit * beside])
