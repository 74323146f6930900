"""A progress bar in a notebook: one line that is replaced, by IPython alone."""

from __future__ import annotations

import importlib
import sys
import time
from datetime import timedelta
from html import escape
from typing import Any
from uuid import uuid4

#: Shorter runs show nothing, unless a bar was asked for: a notebook keeps what is displayed.
PATIENCE = 0.5
#: Seconds between two pictures of the bar.
_PAUSE = 0.1


def in_notebook() -> bool:
    """Say whether this is a kernel of Jupyter, whose outputs are displayed."""
    # Where IPython is not imported there is no kernel, and nobody is made to wait for its import.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """Done, planned, rate and the time left, in a line of HTML that is replaced.

    Parameters
    ----------
    unit : str
        What is counted.
    patience : float
        Seconds for which nothing is displayed.
    """

    def __init__(self, unit: str, patience: float = PATIENCE) -> None:
        self._unit = unit
        self._start = time.monotonic()
        self._next = self._start + patience
        self._name = ""
        self._last: tuple[int, int, str] | None = None

    def show(self, done: int, total: int, money: str) -> None:
        """Replace the line, if the last one was long enough ago."""
        self._last = (done, total, money)
        if time.monotonic() >= self._next:
            self._draw(done, total, money)

    def tell(self, line: str) -> None:
        """Display a line of its own, where there is a bar."""
        if self._name:
            _display({"text/plain": line, "text/html": f"<div>{escape(line)}</div>"})

    def stop(self) -> None:
        """Leave the bar as the run has left it."""
        if self._name and self._last is not None:
            self._draw(*self._last)

    def _draw(self, done: int, total: int, money: str) -> None:
        self._next = time.monotonic() + _PAUSE
        seconds = time.monotonic() - self._start
        rate = done / seconds if seconds > 0 else 0.0
        left = timedelta(seconds=round((total - done) / rate)) if rate else "?"
        words = [f"{done:,} of {total:,}", money, f"{rate:,.0f}/s" if rate else "", f"left {left}"]
        text = " · ".join(filter(None, words))
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="vertical-align:middle">'
        html = f"<div>{escape(self._unit)} {bar}</progress> {escape(text)}</div>"
        again = bool(self._name)
        self._name = self._name or f"fewpairs-{uuid4().hex}"
        plain = f"{self._unit} {text}"
        _display({"text/plain": plain, "text/html": html}, display_id=self._name, update=again)


def _display(data: dict[str, str], **options: Any) -> None:
    importlib.import_module("IPython.display").display(data, raw=True, **options)
