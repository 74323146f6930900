"""One class for each situation that a caller may want to catch.

Every message has four parts, in this order: what was wrong, where, why it matters, what to do.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_OURS = str(Path(__file__).parent)


class FewpairsError(Exception):
    """Base of all errors of fewpairs.

    Parameters
    ----------
    what : str
        What was wrong, and where, with the numbers.
    why : str
        Why it matters.
    fix : str
        What to do about it.
    """

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        super().__init__("\n".join(part for part in (what, why, fix) if part))


class InputError(FewpairsError, ValueError):
    """An argument cannot be used; nothing was evaluated."""


class UnknownNameError(InputError):
    """A method, option, metric or scorer of that name does not exist."""

    def __init__(self, kind: str, name: object, known: Iterable[str], *, where: str = "") -> None:
        names = sorted(known)
        near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.4)
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        super().__init__(
            f'unknown {kind} "{name}"{" " + where if where else ""}.',
            f"A misspelt {kind} would silently give another result than you asked for.",
            f"{hint}Known: {', '.join(names) if names else 'none'}.",
        )


class BudgetError(InputError):
    """The budget does not cover what was asked for."""


class SimilarityError(FewpairsError, ValueError):
    """The similarity raised, or returned something that is not a finite similarity.

    Attributes
    ----------
    pair : tuple of int or None
        Positions of the two items, where one pair can be named.
    oracle : Oracle or None
        Holds everything evaluated before; give it to `approximate` in place of the items to go on.
    """

    def __init__(
        self, what: str, why: str = "", fix: str = "", *, pair: tuple[int, int] | None = None
    ) -> None:
        super().__init__(what, why, fix)
        self.pair = pair
        self.oracle: Any = None


class NonFiniteError(SimilarityError):
    """The similarity returned NaN or infinity."""


class AsymmetryError(SimilarityError):
    """A similarity that was declared symmetric is not, or a symmetric one is needed."""


class MethodError(FewpairsError, ValueError):
    """A method, selector or interval returned something that cannot be used.

    Attributes
    ----------
    oracle : Oracle or None
        Holds everything evaluated before.
    """

    oracle: Any = None


class StoppedError(FewpairsError):
    """The progress callback stopped the run; `oracle` keeps everything evaluated."""

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        super().__init__(what, why, fix)
        self.oracle: Any = None


class NotAttachedError(FewpairsError, ValueError):
    """The operation needs the items or the similarity, and the matrix does not hold them."""


class MemoryCeilingError(FewpairsError, MemoryError):
    """The result would not fit under the memory ceiling."""


class FileFormatError(FewpairsError, ValueError):
    """The file is not a fewpairs file, is damaged, or is of a newer version."""


class MissingExtraError(FewpairsError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed.",
            "It is optional because the core of fewpairs works without it.",
            f'Run: pip install "fewpairs[{extra}]"',
        )


class FewpairsWarning(UserWarning):
    """Base of all warnings of fewpairs."""


class LandmarksCutWarning(FewpairsWarning):
    """More landmarks were asked for than there are items."""


class ErrorEstimateWarning(FewpairsWarning):
    """The error estimate rests on very few pairs."""


class TargetMissedWarning(FewpairsWarning):
    """A run with a target error ended before it could confirm that the target is reached."""


class BudgetExceededWarning(FewpairsWarning):
    """A method of the user's own spent more than its price."""


class DuplicateWordsWarning(FewpairsWarning):
    """A table of word vectors has more than one vector for a word."""


class PairsDroppedWarning(FewpairsWarning):
    """Rare pairs of words were dropped to stay within the memory."""


class FewerDimensionsWarning(FewpairsWarning):
    """The data span fewer dimensions than were asked for."""


class FeaturesCappedWarning(FewpairsWarning):
    """A function of inner products overflows, and was cut off to keep features finite."""


class NegativeKernelWarning(FewpairsWarning):
    """An approximated kernel has sums that are not positive."""


def warn(warning: FewpairsWarning) -> None:
    """Issue a warning that names the caller's line: the first one outside of fewpairs."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 - the only way to know who called
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)
