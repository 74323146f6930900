"""How long to wait: between attempts, for what a service asks for, and between calls."""

from __future__ import annotations

import email.utils
import math
import random
import threading
import time
from typing import Any

#: No wait between two attempts is longer than this, unless the exception asks for it.
_LONGEST_BACKOFF = 60.0
#: Whoever asks to come back later than this, in seconds, gets no further attempt: the run ends, and
#: what was evaluated is kept.
LONGEST_WAIT = 600.0

# Not the run's generator, and not Python's global one: waiting must not change what is drawn.
_jitter = random.Random()  # noqa: S311 - nothing secret


def backoff(first: float, attempt: int) -> float:
    """Return the seconds to wait after attempt 0, 1, …: twice as long each time, less a part."""
    longest = min(_LONGEST_BACKOFF, first * 2.0 ** min(attempt, 60))
    return longest * _jitter.uniform(0.5, 1.0)


def asked_for(error: BaseException) -> float:
    """Return the seconds that an exception, or its cause, asks to wait for; 0 if it does not.

    It may carry them as ``retry_after``, or as the header Retry-After of its ``response``, or of
    its own ``headers``: in seconds, or as a date.
    """
    seen: BaseException | None = error
    for _ in range(8):  # a chain of causes may be a circle
        if seen is None:
            return 0.0
        for asked in (
            getattr(seen, "retry_after", None),
            _header(getattr(seen, "response", None)),
            _header(seen),
        ):
            seconds = _seconds(asked)
            if seconds is not None:
                return seconds
        seen = seen.__cause__
    return 0.0


def _header(response: Any) -> Any:
    headers = getattr(response, "headers", None)
    get = getattr(headers, "get", None)
    if not callable(get):
        return None
    try:
        found = get("Retry-After")
        return get("retry-after") if found is None else found
    except Exception:  # noqa: BLE001 - somebody's mapping: it must not hide the fault itself
        return None


def _seconds(asked: Any) -> float | None:
    """Read a number of seconds, a duration, or an HTTP date."""
    total = getattr(asked, "total_seconds", None)
    try:
        seconds = float(total() if callable(total) else asked)
    except (TypeError, ValueError, OverflowError):
        try:
            seconds = email.utils.parsedate_to_datetime(str(asked)).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class Pace:
    """Says when the next call may begin, to all threads: so many a second, none while it rests.

    Parameters
    ----------
    per_second : float or None
    """

    def __init__(self, per_second: float | None) -> None:
        self._apart = 0.0 if per_second is None else 1 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def turn(self) -> float:
        """Take the next turn; return the seconds until it comes."""
        with self._lock:
            now = time.monotonic()
            mine = max(now, self._next)
            self._next = mine + self._apart
            return mine - now

    def rest(self, seconds: float) -> None:
        """Let nobody begin for a while: a service that is asked too often says so once for all."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


_paces: dict[tuple[str, float], Pace] = {}
_looking = threading.Lock()


def pace_of(similarity: str, per_second: float | None) -> Pace:
    """Return the pace of a similarity, by its fingerprint: one for all runs of this process.

    A service counts calls, not runs. Without a limit every caller has its own.
    """
    if per_second is None or not similarity:
        return Pace(per_second)
    with _looking:
        return _paces.setdefault((similarity, per_second), Pace(per_second))
