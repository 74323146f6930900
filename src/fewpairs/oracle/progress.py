"""How far the run is: a bar in a terminal or a notebook, a callback, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from fewpairs.errors import InputError
from fewpairs.notebook.bar import PATIENCE, NotebookBar, in_notebook
from fewpairs.oracle.terminal_bar import TerminalBar
from fewpairs.similarities.cost import Cost

#: None shows a bar in a terminal, and in a notebook where a run takes longer than a moment; True
#: and False force it; a callable gets (evaluations done, evaluations planned) and stops the run by
#: returning False.
ProgressOption: TypeAlias = bool | Callable[[int, int], bool | None] | None


def checked(option: Any) -> ProgressOption:
    """Refuse what says nothing about progress."""
    if isinstance(option, (bool, np.bool_)):
        return bool(option)
    if option is None or callable(option):
        return option  # type: ignore[no-any-return]  # whatever can be called is
    raise InputError(
        f"progress is {option!r}.",
        "It says whether a bar is drawn, or who is told how far a run is.",
        "Pass True, False, None, or a function of (done, planned).",
    )


class Progress:
    """Reports evaluations done, planned, their rate and the time left.

    Parameters
    ----------
    planned : int
        Evaluations that the run will buy.
    option : bool, callable or None
        What the user asked for.
    cost : Cost, optional
        Of one evaluation, to be told in money too.
    unit : str, default="evaluations"
        What is counted.
    """

    def __init__(
        self,
        planned: int,
        option: ProgressOption = None,
        cost: Cost | None = None,
        *,
        unit: str = "evaluations",
    ) -> None:
        option = checked(option)
        self._unit = unit
        self.planned = planned
        self._cost = cost
        self._callback = option if callable(option) else None
        self._notebook = in_notebook()
        self._draw = (self._notebook or sys.stderr.isatty()) if option is None else option is True
        self._patience = 0.0 if option is True else PATIENCE
        self._bar: Any = None
        self._done = 0

    def __enter__(self) -> Self:
        if self._draw and self._notebook:
            self._bar = NotebookBar(self._unit, self._patience)
        elif self._draw:
            self._bar = TerminalBar(self._unit, self.planned)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._done < self.planned:
            self._finish()
        if self._bar is not None:
            self._bar.stop()

    def _finish(self) -> None:
        """Report that a run is over that needed less than was planned: nothing is left."""
        self.planned = self._done
        self.update(self._done)

    def tell(self, line: str) -> None:
        """Write a line above the bar, if there is one."""
        if self._bar is not None:
            self._bar.tell(line)

    def _money(self, done: int, total: int) -> str:
        if self._cost is None:
            return ""
        return f"{self._cost.written(done)} of {self._cost.written(total)}"

    def update(self, done: int) -> bool:
        """Report; return whether the run may go on."""
        self._done = done
        if self._bar is not None:
            total = max(self.planned, done)
            self._bar.show(done, total, self._money(done, total))
        if self._callback is None:
            return True
        answer = self._callback(done, max(self.planned, done))
        return not isinstance(answer, (bool, np.bool_)) or bool(answer)
