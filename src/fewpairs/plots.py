"""Pictures: a spectrum, and errors against what they cost. Needs the extra ``plots``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import MissingExtraError

_POSITIVE, _NEGATIVE = "#2a6f97", "#c8553d"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "A plot") from error
    return plt


def plot_spectrum(
    eigenvalues: npt.ArrayLike, *, skip: int = 1, title: str = "", axes: Any = None
) -> Any:
    """Draw |eigenvalues| in decreasing order, the negative ones in another colour.

    Parameters
    ----------
    eigenvalues : array-like
        For example those of `fewpairs.inspect`.
    skip : int, default=1
        Leave out the largest ones, which would flatten the rest.
    title : str
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _pyplot().subplots(figsize=(5, 3.2))[1]
    values = np.asarray(eigenvalues, dtype=float)
    values = values[np.argsort(-np.abs(values))][skip:]
    ranks = np.arange(skip + 1, skip + 1 + len(values))
    for sign, colour, label in ((1, _POSITIVE, "positive"), (-1, _NEGATIVE, "negative")):
        mine = np.sign(values) == sign
        axes.bar(ranks[mine], values[mine], width=1.0, color=colour, label=label)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set(title=title, xlabel="rank by magnitude", ylabel="eigenvalue")
    axes.legend(frameon=False, fontsize=8)
    return axes


def plot_errors(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]],
    *,
    title: str = "",
    highest: float | None = None,
    legend: bool = True,
    axes: Any = None,
) -> Any:
    """Draw relative error against the share of all pairs that was evaluated.

    Parameters
    ----------
    curves : mapping of name to (shares, mean errors, standard deviations)
    title : str
    highest : float, optional
        Cut the vertical axis here; errors above it run off the picture.
    legend : bool, default=True
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    axes = axes if axes is not None else _pyplot().subplots(figsize=(5, 3.6))[1]
    for name, (shares, means, spreads) in curves.items():
        x, y, s = (np.asarray(v, dtype=float) for v in (shares, means, spreads))
        (line,) = axes.plot(100 * x, y, marker="o", markersize=3, linewidth=1.3, label=name)
        shown = np.full(len(y), fill_value=True) if highest is None else y + s < highest
        axes.fill_between(
            100 * x, y - s, y + s, where=shown, color=line.get_color(), alpha=0.15, linewidth=0
        )
    axes.set(title=title, xlabel="pairs evaluated, % of all", ylabel="relative error")
    axes.set_ylim(0, highest)
    axes.grid(alpha=0.25)
    if legend:
        axes.legend(frameon=False, fontsize=7)
    return axes
