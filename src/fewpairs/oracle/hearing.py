"""Answers told as they come: whoever pays for them should have them, whatever happens next."""

from __future__ import annotations

from typing import Protocol

from fewpairs.arrays import FloatArray
from fewpairs.oracle.requests import Request, Scattered

#: An answer that has taken this long, in seconds, is told at once; quicker ones so often.
SLOW, OFTEN = 0.0004, 0.02


class Heard(Protocol):
    """Is told of answers, from any thread; NaN where there is none."""

    def __call__(self, part: Request, values: FloatArray, *, at_once: bool) -> None:
        """Take the answer to a part of a request."""

    def one(self, kind: type[Scattered], row: int, column: int, value: float) -> None:
        """Take one answer that has taken its time: what is done with it must take little."""
