"""FactoredMatrix: a whole similarity matrix that is never written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from fewpairs.arrays import FloatArray, IntArray, RandomState, unmasked
from fewpairs.error.estimate import CurvePoint, ErrorEstimate, SketchPoint
from fewpairs.factored import derived, extension
from fewpairs.factored.embedded import Embedded
from fewpairs.factored.source import Source
from fewpairs.factored.squares import Squares
from fewpairs.files.results import Paged
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.known import Known
from fewpairs.oracle.provenance import UNKNOWN, Provenance
from fewpairs.similarities.cost import Cost

if TYPE_CHECKING:
    from fewpairs.factored.spread import Spread


class FactoredMatrix(Embedded, Paged):
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

    def to_dask(self, client: Any) -> Spread:
        """Send the tall factors to the workers of a Dask cluster, and compute with them there.

        Parameters
        ----------
        client : dask.distributed.Client
            It stays yours. The factors stay with its workers as long as the result is held.

        Returns
        -------
        Spread
            ``D @ X`` is what ``K @ X`` is, to rounding; ``D.gram()`` is leftᵀ·left; ``D.left``,
            ``D.right`` (Dask arrays) and ``D.core`` are there for anything else.
        """
        from fewpairs.factored.spread import spread  # noqa: PLC0415 - Dask is optional

        return spread(self, client)

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
        ids: Any = None,
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
        ids : sequence, optional
            Of the new items, where the old ones have ids; by default their pandas index.
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
            parts = extension.extended(matrix, new_items, evaluations, guide, ids, n_jobs, progress)
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

    # ------------------------------------------------------------------ price

    @property
    def _cost(self) -> Cost | None:
        return None if self.source.similarity is None else self.source.similarity.cost

    @property
    def price(self) -> float | None:
        """What its evaluations cost in money, looked up or not; None where nobody said it."""
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

    def _write_page(self, path: str | Path, **shown: Any) -> None:
        from fewpairs.report.matrix_page import report_matrix  # noqa: PLC0415 - a face

        report_matrix(self, path, **shown)

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
