"""FactoredMatrix: a whole similarity matrix that is never written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.sparse.linalg import LinearOperator

from fewpairs.arrays import FloatArray, IntArray, RandomState, unmasked
from fewpairs.error.estimate import CurvePoint, ErrorEstimate, SketchPoint
from fewpairs.errors import InputError
from fewpairs.factored import derived, extension
from fewpairs.factored.answers import Answers
from fewpairs.factored.embedding import EmbeddingMap, one_sided_map, symmetric_map
from fewpairs.factored.source import Source
from fewpairs.factored.squares import ANCHORS, Squares
from fewpairs.items.items import Items
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.numerics import tall_times
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.known import Known
from fewpairs.oracle.provenance import UNKNOWN, Provenance
from fewpairs.similarities.cost import Cost


class Embedding(NamedTuple):
    """Z and the ±1 of a symmetric indefinite factorisation Z·diag(signature)·Zᵀ."""

    vectors: FloatArray
    signature: FloatArray


class FactoredMatrix(Answers):
    """``left · core · rightᵀ``, overridden by what is known exactly.

    Parameters
    ----------
    left : ndarray of shape (n, p)
    core : ndarray of shape (p, q)
    right : ndarray of shape (m, q), optional
        By default `left` itself: the matrix is then symmetric if the core is.
    squares : sequence of Squares
        What a guide adds to the factors.
    known : Known, optional
        Columns, rows, diagonal and entries that override the factors.
    source : Source, optional
        The items, the similarity and the landmarks that it came from.
    evaluations : int, default=0
        What it takes on a fresh oracle, and what was evaluated for it since. After a fault, or on
        an oracle that was used before, less may have been paid: see `Oracle.evaluations`.
    error : ErrorEstimate or None
        Estimated relative Frobenius error of the whole matrix.
    method : str
        The method and its options, for people.
    nugget : float, default=0.0
        Taken off the landmarks' own entries of the left factor before embedding: what no neighbour
        shares.
    curve : sequence of CurvePoint or SketchPoint
        Steps of a run with a target error, with the error at each.
    stopped_because : str
        Why such a run ended.
    skipped : ndarray of shape (n_skipped, 2), optional
        Pairs that were asked for and have no value. Their entries are predictions, also in columns
        that were evaluated, and the stated error is that of all others.
    provenance : Provenance
        Which version made it, with which seed, when.

    Examples
    --------
    >>> K = FactoredMatrix(np.array([[1.0], [2.0]]), np.array([[3.0]]))
    >>> K[0, 1], K[1]
    (6.0, array([ 6., 12.]))
    >>> K @ np.array([1.0, 1.0])
    array([ 9., 18.])
    """

    def __init__(
        self,
        left: FloatArray,
        core: FloatArray,
        right: FloatArray | None = None,
        *,
        squares: Sequence[Squares] = (),
        known: Known | None = None,
        source: Source | None = None,
        evaluations: int = 0,
        error: ErrorEstimate | None = None,
        method: str = "given factors",
        nugget: float = 0.0,
        curve: Sequence[CurvePoint | SketchPoint] = (),
        stopped_because: str = "",
        skipped: IntArray | None = None,
        provenance: Provenance = UNKNOWN,
    ) -> None:
        super().__init__(left, core, right, known, squares)
        self.source = source or Source()
        self.evaluations = evaluations
        self.error = error
        self.method = method
        self.nugget = nugget
        self.curve = list(curve)
        self.stopped_because = stopped_because
        self.skipped: IntArray = np.empty((0, 2), dtype=np.int64) if skipped is None else skipped
        self.provenance = provenance

    # ------------------------------------------------------------------ products

    def __rmatmul__(self, other: Any) -> FloatArray:
        """Multiply from the left."""
        other = unmasked(other, "what the matrix is multiplied by")
        return (self.T @ (other.T if sp.issparse(other) else np.asarray(other).T)).T

    def matvec(self, x: npt.ArrayLike) -> FloatArray:
        """Multiply by a vector; with this, SciPy's ``aslinearoperator`` takes the matrix."""
        return self @ x

    def rmatvec(self, x: npt.ArrayLike) -> FloatArray:
        """Multiply the transpose by a vector."""
        return self.T @ x

    def as_linear_operator(self) -> LinearOperator:
        """Return a SciPy ``LinearOperator`` view, for iterative solvers and eigenvalues."""
        return LinearOperator(
            self.shape,
            matvec=self.matvec,
            rmatvec=self.rmatvec,
            matmat=self.__matmul__,
            rmatmat=self.rmatvec,
            dtype=self.dtype,
        )

    # ------------------------------------------------------------------ other matrices

    @property
    def T(self) -> FactoredMatrix:  # noqa: N802 - NumPy's name
        """The transpose, sharing all factors."""
        if self.symmetric and (self.known.symmetric or self.known.empty):
            return self
        return self._with(
            left=self.right,
            core=self.core.T,
            right=self.left,
            squares=[part.T for part in self.squares],
            known=self.known.transposed(),
            source=self.source.transposed(),
            skipped=self.skipped[:, ::-1],
        )

    def scaled(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FactoredMatrix:
        """Return diag(rows)·K·diag(columns), such as a transport plan."""
        return self._with(**derived.scaled(self, rows, columns))

    def symmetrized(self) -> FactoredMatrix:
        """Return (K + Kᵀ) / 2, in factored form."""
        if self.symmetric and (self.known.symmetric or self.known.empty):
            return self
        return self._with(**derived.symmetrized(self))

    def extend(
        self,
        new_items: Any,
        *,
        evaluations: int | None = None,
        guide: Any = None,
        error_pairs: int = 0,
        random_state: RandomState = None,
        n_jobs: int = 1,
        progress: Any = None,
        journal: JournalOption = None,
    ) -> FactoredMatrix:
        """Return a larger matrix; each new item costs its similarities with the landmarks.

        Entries between two new items come through the core; self-similarities are evaluated where
        the diagonal was. A matrix between two sets of items gets new rows.

        Parameters
        ----------
        new_items : sequence
        evaluations : int, optional
            What each new item may cost instead: it is compared with fewer landmarks, and what it
            would have with the others is predicted. 0 costs nothing, and needs a guide.
        guide : array, encoder, or list of these, optional
            Of the new items, where the matrix was made with a guide that is no encoder. A matrix
            that followed none, since its pairs did not speak for it, has no use for it.
        error_pairs : int, default=0
            Unseen pairs of the larger matrix to evaluate, whose error is then stated.
        random_state : int, Generator or None
            Which pairs these are.
        n_jobs : int, default=1
        progress : bool, callable or None
        journal : str, Path or Journal, optional
            A folder in which evaluations are looked up and written down.

        Returns
        -------
        FactoredMatrix
        """
        extension.check_error_pairs(error_pairs)
        with self._recording(journal) as matrix:
            parts = extension.extended(matrix, new_items, evaluations, guide, n_jobs, progress)
            larger = self._with(**parts)
            if not error_pairs:
                return larger
            return extension.judged(larger, error_pairs, random_state, n_jobs, matrix.source)

    def in_own_numbers(self, power: int, known: Known) -> FactoredMatrix:
        """Return K, if this matrix was made for 2^power·K; `known` is what is known of K."""
        return self._with(**derived.in_own_numbers(self, power, known))

    def _with(self, **changes: Any) -> FactoredMatrix:
        facts: dict[str, Any] = {
            "squares": self.squares,
            "known": self.known,
            "source": self.source,
            "evaluations": self.evaluations,
            "error": self.error,
            "method": self.method,
            "nugget": self.nugget,
            "curve": self.curve,
            "stopped_because": self.stopped_because,
            "skipped": self.skipped,
            "provenance": self.provenance,
        }
        return FactoredMatrix(**(facts | changes))

    def guided_by(self, maker: Any) -> FactoredMatrix:
        """Return the same matrix, which makes vectors of new items by an encoder."""
        if self.source.guide is None:
            return self
        source = replace(self.source, guide=self.source.guide.made_by(maker))
        right = None if self.right is self.left else self.right
        return self._with(left=self.left, core=self.core, right=right, source=source)

    def without(self, skipped: IntArray) -> FactoredMatrix:
        """Return the same matrix, which says that some pairs have no value."""
        if not len(skipped):
            return self
        right = None if self.right is self.left else self.right
        return self._with(left=self.left, core=self.core, right=right, skipped=skipped)

    def knowing(self, known: Known) -> FactoredMatrix:
        """Return the same matrix, which knows something else, or more, exactly."""
        right = None if self.right is self.left else self.right
        return self._with(left=self.left, core=self.core, right=right, known=known)

    def judged(
        self,
        error: ErrorEstimate,
        evaluations: int,
        *,
        curve: Sequence[CurvePoint | SketchPoint] = (),
        stopped_because: str = "",
    ) -> FactoredMatrix:
        """Return the same matrix with a stated error, and what it took to state it."""
        right = None if self.right is self.left else self.right
        return self._with(
            left=self.left,
            core=self.core,
            right=right,
            error=error,
            evaluations=evaluations,
            curve=curve,
            stopped_because=stopped_because,
        )

    # ------------------------------------------------------------------ embeddings

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
            A matrix that is not symmetric (CUR) gives the papers' one-sided embedding.
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
        result = tall_times(self._smooth[0], matrix)
        if self.nugget and self.source.left_landmarks is not None:
            # A landmark may be there twice, as a column and as a row.
            own = self.source.left_landmarks
            np.subtract.at(result, own, self.nugget * matrix[: len(own)])
        return result

    @property
    def _cost(self) -> Cost | None:
        return None if self.source.similarity is None else self.source.similarity.cost

    @property
    def price(self) -> float | None:
        """What its evaluations have cost in money; None where nobody said what one does."""
        return None if self._cost is None else self._cost.price(self.evaluations)

    @property
    def price_written(self) -> str:
        """The same with its currency, for people; nothing where nobody said."""
        return "" if self._cost is None else self._cost.written(self.evaluations)

    # ------------------------------------------------------------------ files and people

    def save(self, path: str | Path) -> None:
        """Write to one file, without pickle: the old file or the new one, never half of it."""
        from fewpairs.factored.storage import save  # noqa: PLC0415 - it reads this class

        save(self, path)

    def report(
        self,
        path: str | Path,
        *,
        texts: Any = None,
        ids: Any = None,
        labels: Any = None,
        title: str = "",
        most: int = 10_000,
    ) -> None:
        """Write one HTML page to look at: the error, a map of the items, their nearest.

        It needs no network and evaluates nothing (docs/report.md).

        Parameters
        ----------
        path : str or Path
            The old file or the new one, never half of it.
        texts : sequence, optional
            What to show of each item, where that is not the item itself.
        ids : sequence, optional
            Your names of the items; by default their positions.
        labels : sequence, optional
            A label for each item, such as its cluster: a colour on the map.
        title : str
        most : int, default=10,000
            Items on the page; of more, some drawn at random.

        Examples
        --------
        >>> import fewpairs as fp
        >>> names = ["Anna Berg", "Ana Berg", "Bob Stone", "Bob Ston", "Carl May"]
        >>> K = fp.approximate(names, fp.StringSimilarity("jaro_winkler"), landmarks=3)
        >>> K.report("names.html")  # doctest: +SKIP
        """
        from fewpairs.report.matrix_page import report_matrix  # noqa: PLC0415 - a face

        report_matrix(self, path, texts=texts, ids=ids, labels=labels, title=title, most=most)

    def _repr_html_(self) -> str:
        from fewpairs.factored.spectrum import is_quick, spectrum_of  # noqa: PLC0415 - as above

        n, m = self.shape
        price = f" for {self.price_written}" if self.price_written else ""
        rows = [
            ("method", self.method),
            ("rank", f"{min(self.core.shape):,}{', with a guide' if self.squares else ''}"),
            ("evaluations", f"{self.evaluations:,}{price}" if self.evaluations else ""),
            ("error", "" if self.error is None else str(self.error)),
            ("skipped", f"{len(self.skipped):,} pairs" if len(self.skipped) else ""),
            ("ended", self.stopped_because),
        ]
        stated = "" if self.error is None else svg.interval(*self.error[:3], most=None)
        drawn = svg.spectrum(spectrum_of(self).values) if is_quick(self) else ""
        return card(f"{n:,} × {m:,} factored matrix", rows, f"{stated}<br>{drawn}")

    def __repr__(self) -> str:
        n, m = self.shape
        known = "" if self.known.empty else ", evaluated entries exact"
        spent = f", {self.evaluations:,} evaluations" if self.evaluations else ""
        if self._cost is not None:
            spent += f" for {self._cost.written(self.evaluations)}"
        error = "" if self.error is None else f", {self.error}"
        if self.error is not None and self.error.high > 0:
            error += " of the whole matrix; its largest entries may be further off: see K.check()"
        if len(self.skipped):
            error += f"; {len(self.skipped):,} skipped pairs are left out"
        rank = min(self.core.shape)
        guided = ", with a guide" if self.squares else ""
        end = f", {self.stopped_because}" if self.stopped_because else ""
        return (
            f"<{n:,} × {m:,} factored matrix, {self.method}{guided}, rank {rank}{known}{spent}"
            f"{error}{end}>"
        )
