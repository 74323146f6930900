"""One class for each situation that a caller may want to catch.

Every message has four parts, in this order: what was wrong, where, why it matters, what to do.
"""

from __future__ import annotations

import difflib
import importlib
import pickle
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
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
        #: The message without its reason, for those who type commands.
        self.brief = " ".join(part for part in (what, fix or why) if part)

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive pickling: what a pool's worker cannot send back, its caller waits for forever."""
        state = dict(self.__dict__)
        if state.get("oracle") is not None:
            state["oracle"] = _packed(state["oracle"])
            if state["oracle"] is None:
                state["__notes__"] = [*state.get("__notes__", ()), _LEFT_BEHIND]
        return _unpickled, (type(self), self.args), state

    def __setstate__(self, state: dict[str, Any] | None) -> None:
        """Take what was sent; last of all, since libraries put a message's notes back before."""
        state = dict(state or {})
        if state.get("oracle") is not None:
            state["oracle"] = pickle.loads(state["oracle"])  # noqa: S301 - packed by __reduce__
        self.__dict__.update(state)


_LEFT_BEHIND = (
    "The error has come from another process, and its oracle could not be sent along, because the "
    "items or the similarity cannot be pickled: error.oracle is None here. Catch the error in the "
    "process that evaluates."
)


def _packed(oracle: Any) -> bytes | None:
    # Whatever a user's items and similarity raise when they are pickled: the error itself goes out.
    try:
        return pickle.dumps(oracle)
    except Exception:  # noqa: BLE001
        return None


def _unpickled(kind: type[FewpairsError], args: tuple[Any, ...]) -> Any:
    # Not by calling the class: some make their message of other arguments. The base that decides
    # on the layout in memory is the one that may make it.
    base: Any = kind.__base__
    error: FewpairsError = base.__new__(kind)
    error.args = args
    return error


class InputError(FewpairsError, ValueError):
    """An argument cannot be used; nothing was evaluated."""


#: A hint is given only where most letters agree: "jaro_winkle" means "jaro_winkler", and "nope"
#: means nothing that is known.
_CLOSE = 0.6


class UnknownNameError(InputError):
    """A method, option, metric or scorer of that name does not exist."""

    def __init__(self, kind: str, name: object, known: Iterable[str], *, where: str = "") -> None:
        names = sorted(known)
        alike = {known.casefold(): known for known in names}  # capitals are soon confused
        near = difflib.get_close_matches(str(name).casefold(), alike, n=1, cutoff=_CLOSE)
        hint = f'Did you mean "{alike[near[0]]}"? ' if near else ""
        super().__init__(
            f'unknown {kind} "{name}"{" " + where if where else ""}.',
            "",
            f"{hint}Known: {', '.join(names) if names else 'none'}.",
        )


class UnknownIdError(InputError, KeyError):
    """No item has that id."""

    def __init__(self, name: object, known: Iterable[object]) -> None:
        names = {str(one): one for one in known}
        near = difflib.get_close_matches(str(name), names, n=1, cutoff=_CLOSE)
        hint = f"Did you mean {names[near[0]]!r}?" if near else ""
        first = next(iter(names.values()))
        super().__init__(
            f"none of the {len(names):,} ids is {name!r:.100}.",
            "",
            hint or f"The first is {first!r:.100}; K.ids lists them.",
        )

    # A KeyError would show its message as a literal.
    __str__ = Exception.__str__


class UnknownWordError(InputError, KeyError):
    """A table of word vectors has no such word."""

    def __init__(self, word: object, n_words: int, near: Iterable[str] = ()) -> None:
        hint = " or ".join(repr(one) for one in near)
        super().__init__(
            f"none of the {n_words:,} words with a vector is {word!r:.100}.",
            "",
            f"Did you mean {hint}?" if hint else "Ask before, with `word in vectors`.",
        )

    __str__ = Exception.__str__


class PositionError(InputError, IndexError):
    """There is no row, column or item at that position."""


class MaskedError(InputError):
    """An array has masked values, which nothing in fewpairs could leave out."""


class BudgetError(InputError):
    """The budget does not cover what was asked for."""


class SimilarityError(FewpairsError, ValueError):
    """The similarity raised, or returned something that is not a finite similarity.

    Attributes
    ----------
    pair : tuple of int or None
        Positions of the two items, where one pair can be named.
    oracle : Oracle or None
        Holds everything evaluated before; the same call with it in place of the items goes on.
    """

    def __init__(
        self, what: str, why: str = "", fix: str = "", *, pair: tuple[int, int] | None = None
    ) -> None:
        super().__init__(what, why, fix)
        self.pair = pair
        self.oracle: Any = None


class NonFiniteError(SimilarityError):
    """The similarity returned NaN or infinity."""


class FailedCallError(SimilarityError):
    """The similarity raised, or did not answer in time, at the last attempt."""


class LostWorkersError(SimilarityError):
    """The processes that evaluate, or the scheduler between, have gone; `oracle` has what came.

    Attributes
    ----------
    block : tuple of two arrays or None
        Where a block of pairs has ended every process that evaluated it: the positions of its rows
        and of its columns (of single pairs: of the first items, and of the second).
    """

    block: Any = None


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
    """The file is not of a format that is read here, is damaged, or is of a newer version."""


class NewerVersionError(FileFormatError):
    """The file was written by a newer version of fewpairs."""


class JournalError(FewpairsError, ValueError):
    """A journal cannot be used: somebody else writes to it, or it belongs to something else."""


class MissingFileError(InputError, FileNotFoundError):
    """There is no file of that name, or it is a folder, a pipe or a device."""


class UnwritableError(FewpairsError, OSError):
    """A file of that name cannot be written; what it held before is still there."""


class MissingExtraError(FewpairsError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed.",
            "It is optional because the core of fewpairs works without it.",
            f'Run: pip install "fewpairs[{extra}]"',
        )


#: What spreadsheet programs write by themselves; here they are neither read nor written.
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
#: What reads and writes Parquet. The first that is installed is taken: pyarrow refuses damaged
#: files, polars may end the program. pandas is none of them, because it uses pyarrow itself.
PARQUET = ("pyarrow", "polars")


def first_installed(libraries: Iterable[str], extra: str, purpose: str) -> str:
    """Return the name of the first library that is installed; if none is, say how to have one."""
    names = list(libraries)
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
            return name
    raise MissingExtraError(" or ".join(names), extra, purpose)


class FewpairsWarning(UserWarning):
    """Base of all warnings of fewpairs."""


class LandmarksCutWarning(FewpairsWarning):
    """More landmarks were asked for than there are items."""


class ErrorEstimateWarning(FewpairsWarning):
    """The error estimate rests on very few pairs."""


class TargetMissedWarning(FewpairsWarning):
    """A run with a target error ended before it could confirm that the target is reached."""


class RecallMissedWarning(FewpairsWarning):
    """An answer without a budget ended before it could state the recall that was asked for."""


class NothingLearntWarning(FewpairsWarning):
    """A model that was trained ranks the pairs that were put aside no better than before."""


class MentionsCutWarning(FewpairsWarning):
    """Mentions lie beyond what an encoder reads of their contexts."""


class NeighborsCutWarning(FewpairsWarning):
    """More neighbours were asked for than there are other items."""


class BudgetExceededWarning(FewpairsWarning):
    """A method of the user's own spent more than its price."""


class AllPairsWarning(FewpairsWarning):
    """A run has spent as much as all pairs cost, which would have left no error."""


class IdsDroppedWarning(FewpairsWarning):
    """A file does not hold the ids, which are neither texts nor numbers, dates or times."""


class HungCallsWarning(FewpairsWarning):
    """Calls of the similarity took too long, and were left to themselves in threads."""


class DuplicateWordsWarning(FewpairsWarning):
    """A table of word vectors has more than one vector for a word."""


class PairsDroppedWarning(FewpairsWarning):
    """Rare pairs of words were dropped to stay within the memory."""


class ConstantFeaturesWarning(FewpairsWarning):
    """Features do not tell the training documents apart."""


class FewerDimensionsWarning(FewpairsWarning):
    """The data span fewer dimensions than were asked for."""


class FeaturesCappedWarning(FewpairsWarning):
    """A function of inner products overflows, and was cut off to keep features finite."""


class NegativeKernelWarning(FewpairsWarning):
    """An approximated kernel has sums that are not positive."""


class NotConvergedWarning(FewpairsWarning):
    """An iteration stopped at its limit, before its result was as near as asked for."""


class JournalWarning(FewpairsWarning):
    """Parts of a journal were damaged and set aside; what they held is evaluated again."""


def warn(warning: FewpairsWarning) -> None:
    """Issue a warning that names the caller's line: the first one outside of fewpairs."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 - the only way to know who called
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)
