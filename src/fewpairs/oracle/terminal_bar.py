"""A progress bar in a terminal, by rich."""

from __future__ import annotations


class TerminalBar:
    """Done, planned, rate and the time left, on the standard error.

    Parameters
    ----------
    unit : str
        What is counted.
    planned : int
    """

    def __init__(self, unit: str, planned: int) -> None:
        from rich import progress  # noqa: PLC0415 - only where a bar is drawn
        from rich.console import Console  # noqa: PLC0415

        self._bar = progress.Progress(
            progress.TextColumn(unit),
            progress.BarColumn(),
            progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            progress.TextColumn("{task.fields[money]}"),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(unit, total=planned, rate="", money="")
        self._bar.start()

    def show(self, done: int, total: int, money: str) -> None:
        """Redraw the bar."""
        speed = self._bar.tasks[0].speed
        rate = f"{speed:,.0f}/s" if speed else ""
        self._bar.update(self._task, completed=done, total=total, rate=rate, money=money)

    def tell(self, line: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(line, soft_wrap=True, highlight=False, markup=False)

    def stop(self) -> None:
        """Leave the bar as the run has left it."""
        self._bar.stop()
