"""Answers told as they come: whoever pays for them should have them, whatever happens next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.oracle.requests import Request, Scattered

#: An answer that has taken this long, in seconds, is told at once; quicker ones so often.
SLOW, OFTEN = 0.0004, 0.02


#: Takes the place of a pair in a list of them, and its answer, a finite number.
Single: TypeAlias = Callable[[int, float], None]


class Heard(Protocol):
    """Is told of answers, from any thread; NaN where there is none."""

    def __call__(self, part: Request, values: FloatArray, *, at_once: bool) -> None:
        """Take the answer to a part of a request."""

    def singly(self, kind: type[Scattered], rows: IntArray, columns: IntArray) -> Single:
        """Return what takes answers to these pairs one by one, at once, and in little time.

        Between two calls that take their time nothing of ours is in the processor's caches, and
        every line costs ten times what it costs in a loop. So all that can be is done before.
        """


class Told(Protocol):
    """Is told of answers to a list of pairs, by their places in it."""

    def __call__(self, places: list[int], answers: list[Any], *, at_once: bool) -> None:
        """Take answers; `at_once` if they should be safe before anything else is done."""

    def singly(self) -> Single:
        """Return what takes finite numbers one by one, and has them safe when it returns."""
