"""Which parts of a run take how much of its processor time, each without the parts inside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any
from unittest import mock

#: The name of a part, and the functions that are it: what holds each, and its name there.
Parts = dict[str, Sequence[tuple[Any, str]]]


class Clock:
    """Seconds of a processor by part; a part that calls another waits for it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stack: list[str] = []
        self._since = 0.0

    def _turn(self) -> None:
        now = time.process_time()
        if self._stack:
            part = self._stack[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    def timed(self, part: str, function: Callable) -> Callable:
        """Return the same function, whose time counts for a part."""

        def inner(*arguments: Any, **options: Any) -> Any:
            self._turn()
            self._stack.append(part)
            try:
                return function(*arguments, **options)
            finally:
                self._turn()
                self._stack.pop()

        return inner


def time_by_part(run: Callable[[], Any], parts: Parts, rest: str) -> dict[str, float]:
    """Return the seconds of each part of a run; what belongs to none is under the name `rest`."""
    clock = Clock()
    with ExitStack() as patched:
        for part, functions in parts.items():
            for holder, name in functions:
                timed = clock.timed(part, getattr(holder, name))
                patched.enter_context(mock.patch.object(holder, name, timed))
        clock.timed(rest, run)()
    return {part: clock.seconds.get(part, 0.0) for part in (*parts, rest)}
