"""What a similarity is forgiven: calls that fail, hang or come too fast, pairs without value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import InputError, UnknownNameError

#: What becomes of a pair without a value: the run ends, or goes on without it.
WhenMissing: TypeAlias = Literal["error", "skip"]
_WHEN_MISSING = ("error", "skip")


@dataclass(frozen=True)
class Patience:
    """What is done about calls that fail, hang or come too fast; declared by `fewpairs.similarity`.

    It changes how long a run takes, never its result: nothing here draws from a run's random
    numbers, and answers are put where they belong in whatever order they come.

    Parameters
    ----------
    retry : int, default=0
        Further attempts after a call that raised or took too long.
    timeout : float, optional
        Seconds that one call may take.
    backoff : float, default=0.5
        Seconds before the second attempt; each later wait is twice as long, up to a minute, and a
        random part of up to a half is taken off, so that many callers do not come back at once.
        What the exception asks for (``retry_after``, or the header of its ``response``) counts
        instead where it is longer.
    per_second : float, optional
        Calls that may begin in one second, over all threads and runs of this process: similarities
        with the same fingerprint and rate share it.
    max_in_flight : int, optional
        Calls of an ``async def`` function that may be under way at the same time; by default 8.
    on_error : {"error", "skip"}, default="error"
        What becomes of a pair whose last attempt has failed.
    on_nonfinite : {"error", "skip"}, default="error"
        What becomes of a pair with NaN or infinity as its similarity.
    """

    retry: int = 0
    timeout: float | None = None
    backoff: float = 0.5
    per_second: float | None = None
    max_in_flight: int | None = None
    on_error: WhenMissing = "error"
    on_nonfinite: WhenMissing = "error"

    @property
    def strict(self) -> Patience:
        """The same, with every pair needed."""
        if self.on_error == self.on_nonfinite == "error":
            return self
        return replace(self, on_error="error", on_nonfinite="error")


NO_PATIENCE = Patience()
#: Seconds, some 46 days: on some systems no thread can wait for longer.
_LONGEST = 4_000_000


def changed(patience: Patience, **given: Any) -> Patience:
    """Return patience with some of it declared anew; what is None stays as it is."""
    changes: dict[str, Any] = {
        name: _CHECKS[name](name, value) for name, value in given.items() if value is not None
    }
    return replace(patience, **changes)


def _count(name: str, value: Any) -> int:
    least = 0 if name == "retry" else 1
    if not is_whole(value) or value < least:
        raise InputError(
            f"{name} is {value!r}.",
            "It is a number of further attempts."
            if name == "retry"
            else "It is the number of calls that may be under way at once.",
            f"Pass an integer of at least {least}.",
        )
    return int(value)


def _positive(name: str, value: Any) -> float:
    if not is_number(value) or value <= 0:
        raise InputError(
            f"{name} is {value!r}.",
            "It is a number of calls." if name == "per_second" else "It is a number of seconds.",
            "Pass a positive number.",
        )
    seconds = 1 / value if name == "per_second" else value
    if seconds > _LONGEST:
        raise InputError(
            f"{name} is {value!r}.",
            f"Nobody waits for more than {_LONGEST:,} seconds, and few systems can.",
            "Leave it out, or pass a number that is meant.",
        )
    return float(value)


def _when_missing(name: str, value: Any) -> WhenMissing:
    if value not in _WHEN_MISSING:
        raise UnknownNameError(name, value, _WHEN_MISSING)
    return cast("WhenMissing", value)


_CHECKS = {
    "retry": _count,
    "max_in_flight": _count,
    "timeout": _positive,
    "backoff": _positive,
    "per_second": _positive,
    "on_error": _when_missing,
    "on_nonfinite": _when_missing,
}
