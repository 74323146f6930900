"""Where pictures are drawn, and in which colours."""

from __future__ import annotations

from typing import Any

from fewpairs.errors import MissingExtraError

#: Blue and orange-red, which colour-blind people tell apart too.
POSITIVE, NEGATIVE = "#2a6f97", "#c8553d"
#: Grey, for what is behind.
BEHIND = "#c9ced3"
#: Of labels: after Okabe and Ito, for colour-blind people too.
LABELS = ("#0072b2", "#d55e00", "#009e73", "#b8488e", "#56b4e9", "#e69f00", "#5a4fb0")


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure, so many inches wide and high."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "A plot") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]
