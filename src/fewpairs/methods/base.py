"""What a method is: a price known beforehand, and factors made from what the oracle answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.error.sampling import Drawn
from fewpairs.errors import InputError, MethodError
from fewpairs.factored.line_guide import LineGuide
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.source import Source
from fewpairs.factored.squares import Squares
from fewpairs.guides.guides import Guide
from fewpairs.oracle.known import Known
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner

#: The option ``known=``: "exact" puts evaluated entries back, None leaves the method as published.
KnownOption = Literal["exact"] | None


@dataclass(frozen=True, eq=False)
class GuidedLines:
    """What a guide has to do with the factors, whose tall ones are then [lines, vectors, 1].

    Parameters
    ----------
    taken_off : ndarray
        What was taken off the lines: coefficients of the guides' products, then of their squares.
    squares : ndarray
        What the squared products of each guide count in the result, beside the factors.
    guides : tuple of Guide
        Those that are followed.
    which : tuple of int
        Which of the user's guides they are.
    """

    taken_off: FloatArray
    squares: FloatArray
    guides: tuple[Guide, ...]
    which: tuple[int, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of each guide's vectors."""
        return tuple(guide.left.shape[1] for guide in self.guides)

    def kept(self) -> LineGuide:
        """Return what new items need."""
        bases = tuple(guide.basis for guide in self.guides)
        return LineGuide(self.taken_off, self.widths, self.which, bases=bases)

    def parts(self) -> list[Squares]:
        """Return what is added to the factors."""
        both = zip(self.squares.tolist(), self.guides, strict=True)
        return [Squares(weight, guide.left, guide.right) for weight, guide in both]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method has found: ``left · core · rightᵀ``, and how it can go on.

    Parameters
    ----------
    left, core, right : ndarray
        `right` is None where it is `left`.
    left_landmarks, right_landmarks : ndarray or None
        The items that the columns of both factors belong to.
    nugget : float
        What a landmark's similarity with itself has that its neighbours do not share.
    profiles : ndarray or None
        Of the items that are no landmarks (`fewpairs.error.profiles.profiles`), if they are at
        hand: whoever judges the result need not work them out again.
    state : object
        Whatever the method needs to grow, or to use further pairs.
    guide : GuidedLines or None
        None where no guide was given, or none was worth following.
    """

    left: FloatArray
    core: FloatArray
    right: FloatArray | None = None
    left_landmarks: IntArray | None = None
    right_landmarks: IntArray | None = None
    nugget: float = 0.0
    profiles: SingleArray | None = None
    state: Any = None
    guide: GuidedLines | None = None


class Method(ABC):
    """A way from a few columns to the whole matrix.

    A method is a frozen dataclass; its fields are its options, each made by
    `fewpairs.methods.options.option`, which says how it is checked. What it can do it declares
    here, and nobody asks for its class or its name. docs/extending.md adds one from outside.
    """

    #: Whether the similarity must be symmetric.
    needs_symmetric: ClassVar[bool] = False
    #: Whether rows and columns must be the same items.
    needs_square: ClassVar[bool] = True
    #: Whether `fit` goes on from an earlier fit with fewer of the same landmarks: then a target
    #: error can be reached step by step, and no evaluation is lost.
    grows: ClassVar[bool] = False
    #: Whether it evaluates every pair, whatever the number of landmarks.
    reads_all: ClassVar[bool] = False
    #: Whether `price` is the most that may be spent, not just what will be.
    price_is_most: ClassVar[bool] = False
    #: Whether a budget that is not used up by the landmarks is spent all the same.
    spends_allowance: ClassVar[bool] = False
    #: Whether it reads tall arrays in parts, so that they may be on disk; not beside a guide.
    streams: ClassVar[bool] = False
    #: Whether evaluated entries are put back into the result unless the user says otherwise.
    puts_back: ClassVar[bool] = False

    @property
    def declared_diagonal(self) -> float | None:
        """The similarity of every item with itself, where an option of the method declares it."""
        return None

    @property
    def follows_guides(self) -> bool:
        """Whether there are guides, whose vectors the values are compared with."""
        return False

    def guided_by(self, guides: Sequence[Guide]) -> Method:  # noqa: ARG002
        """Return the same method, which follows guides; by default none can."""
        raise InputError(
            f"a guide was given to the method {type(self).__name__}.",
            "Only the default method follows one.",
            "Leave out guide or method.",
        )

    @abstractmethod
    def price(self, planner: Planner, landmarks: int) -> int:
        """Count the evaluations that `landmarks` columns lead to; must not fall as they grow."""

    def price_of_step(self, planner: Planner, last: Fit, held: int, landmarks: int) -> int:  # noqa: ARG002
        """Count the evaluations of going on from a fit with `held` landmarks to more of them.

        What it may spend beyond that must stay within the allowance of the step.
        """
        return self.price(planner, landmarks) - self.price(planner, held)

    def columns_read(self, landmarks: int) -> int:
        """Count the landmarks whose columns are read; of the others only rows, if at all."""
        return landmarks

    @abstractmethod
    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,
        last: Fit | None = None,
    ) -> Fit:
        """Read what is needed, and return the factors.

        Parameters
        ----------
        oracle : Oracle
        landmarks : ndarray
            The items whose columns are read, in random order.
        rng : numpy.random.Generator
        allowance : int, optional
            What the user's budget leaves for the method; with `last`, for this step.
        last : Fit, optional
            Of fewer landmarks, for a method that grows.

        Returns
        -------
        Fit
        """

    def refit(self, fit: Fit, more: Drawn, values: FloatArray) -> Fit:  # noqa: ARG002
        """Use further pairs, whose values are known by now; by default nothing changes."""
        return fit

    def memory(self, planner: Planner, landmarks: int) -> int:
        """Count the bytes of the tall arrays that are held at the same time."""
        return 8 * planner.sides * landmarks

    def working_memory(self, planner: Planner, landmarks: int) -> int:  # noqa: ARG002
        """Count the bytes that `fit` holds beside them for a while; by default next to nothing."""
        return 0

    def memory_beside_disk(self, planner: Planner, landmarks: int) -> int:  # noqa: ARG002
        """Count the bytes that `fit` holds where all that is tall is on disk."""
        return 0

    def files_beside(self, planner: Planner, landmarks: int) -> int:  # noqa: ARG002
        """Count the bytes of what `fit` writes to disk beside columns that are there."""
        return 0


def assemble(oracle: Oracle, fit: Fit, title: str, *, put_back: bool) -> FactoredMatrix:
    """Make the result of a method's factors and, if asked for, of what was evaluated."""
    _refuse_nonfinite(fit, title)
    right, guide = fit.right_landmarks, fit.guide
    return FactoredMatrix(
        fit.left,
        fit.core,
        fit.right,
        squares=() if guide is None else guide.parts(),
        known=_shared(oracle.known(), fit) if put_back else None,
        source=Source(
            items=oracle.items,
            others=None if oracle.square else oracle.others,
            square=oracle.square,
            similarity=oracle.similarity,
            fingerprint=oracle.similarity.fingerprint,
            symmetric=bool(oracle.similarity.symmetric),
            left_landmarks=fit.left_landmarks,
            right_landmarks=fit.left_landmarks if right is None else right,
            guide=None if guide is None else guide.kept(),
        ),
        evaluations=oracle.spent,
        method=title,
        nugget=fit.nugget,
    )


def _refuse_nonfinite(fit: Fit, title: str) -> None:
    """Refuse what no published method returns, but one of the user's own may."""
    for name, factor in (("left", fit.left), ("core", fit.core), ("right", fit.right)):
        if factor is not None and not np.isfinite(factor.sum()):
            raise MethodError(
                f"the method {title} returned a {name} factor that is not finite.",
                "Every entry of the matrix would be lost.",
                "Regularise what it inverts, or use another method.",
            )


def _shared(known: Known, fit: Fit) -> Known:
    """Let the known columns be the very array of the left factor where they are the same.

    Sharing the array halves memory and file size.
    """
    values = known.columns.values
    if not np.shares_memory(fit.left, values) or fit.left.shape != values.shape:
        return known
    columns = replace(known.columns, values=fit.left)
    return replace(known, columns=columns, rows=columns if known.symmetric else known.rows)
