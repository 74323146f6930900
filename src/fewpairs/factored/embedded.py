"""A factored matrix as vectors: one for each item, and the map by which new items get theirs."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.factored.answers import Answers
from fewpairs.factored.embedding import EmbeddingMap, one_sided_map, symmetric_map
from fewpairs.factored.squares import ANCHORS
from fewpairs.files.scratch import is_on_disk, tall_beside
from fewpairs.items.items import Items
from fewpairs.numerics import tall_times


class Embedding(NamedTuple):
    """Z and the ±1 of a symmetric indefinite factorisation Z·diag(signature)·Zᵀ."""

    vectors: FloatArray
    signature: FloatArray


class Embedded(Answers):
    """Factors with vectors of their items.

    Attributes
    ----------
    nugget : float
        Taken off the landmarks' own entries of the left factor before embedding.
    """

    nugget: float

    @cached_property
    def embedding_map(self) -> EmbeddingMap:
        """The map from rows of `left` to embeddings; new items go through it too.

        With a guide, squared products with anchors come after the columns of `left`.
        """
        left, core = self._smooth
        if self.symmetric:
            own = self.source.left_landmarks if self.nugget else None
            return symmetric_map(left, core, self.nugget, own)
        return one_sided_map(core)

    @cached_property
    def _smooth(self) -> tuple[FloatArray, FloatArray]:
        """Both factors; a guide's squares, which have no low rank, go through anchors."""
        if not self.squares:
            return self.left, self.core
        parts = [part.anchored(ANCHORS) for part in self.squares]
        # In the unit of the left factor: whatever is small beside the rest is cut off later.
        power = self.source.power
        left = np.hstack([self.left, *(np.ldexp(part[0], power) for part in parts)])
        return left, block_diag(self.core, *(np.ldexp(part[1], -2 * power) for part in parts))

    def features_of(self, lines: FloatArray, items: Items, given: Any = None) -> FloatArray:
        """Return what `embedding_map` takes, of items and their similarities with the landmarks.

        `given` is a guide for these items, where that of the matrix makes no vectors.
        """
        lines = np.ldexp(lines, self.source.power)
        guide, own = self.source.guide, self.source.left_landmarks
        if guide is None or own is None:
            return lines
        vectors = guide.vectors_of(items, given, self.source.items)
        unit = float(np.ldexp(1.0, -self.source.power))
        marks = self.right[own, len(own) : -1] / unit
        tall = [guide.tall(lines, vectors, marks, unit)]
        ends = np.cumsum(guide.widths)[:-1]
        for part, mine in zip(self.squares, np.split(vectors, ends, axis=1), strict=True):
            new = replace(part, left=mine)
            said = new.block(slice(None), part.anchors(ANCHORS)[1])
            tall.append(np.ldexp(said, self.source.power))
        return np.hstack(tall)

    def embedding(self, psd: bool = True) -> Any:
        """Return one vector for each item, from the factors alone (without known entries).

        Parameters
        ----------
        psd : bool, default=True
            True returns an n × r array whose inner products are the nearest positive
            semidefinite matrix; False returns ``(vectors, signature)`` with
            ``vectors · diag(signature) · vectorsᵀ`` equal to the factored part (with a guide, up to
            what its squared products lose through 500 anchors).
            A matrix that is not symmetric (CUR) gives the papers' one-sided embedding. Of factors
            in a scratch folder the vectors are there, too, in single precision.
        """
        if psd:
            return self._embedded(self.embedding_map.positive().matrix)
        if not self.symmetric:
            raise InputError(
                "the factors are not symmetric, so there is no embedding with a signature.",
                "Z·diag(±1)·Zᵀ is symmetric by construction.",
                "Use K.symmetrized().embedding(psd=False).",
            )
        full = self.embedding_map
        return Embedding(self._embedded(full.matrix), full.signature)

    def _embedded(self, matrix: FloatArray) -> FloatArray:
        tall = self._smooth[0]
        out = None
        if is_on_disk(tall):  # vectors of all items are as large as it is, and go there, too
            out = tall_beside(tall, len(tall), matrix.shape[1])
        result = tall_times(tall, matrix, out)
        if self.nugget and self.source.left_landmarks is not None:
            # A landmark may be there twice, as a column and as a row.
            own = self.source.left_landmarks
            np.subtract.at(result, own, self.nugget * matrix[: len(own)])
        return result
