"""The spectrum of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.plots.axes import NEGATIVE, POSITIVE, new_axes


def plot_spectrum(
    eigenvalues: npt.ArrayLike, *, skip: int = 1, title: str = "", ax: Any = None
) -> Any:
    """Draw eigenvalues as bars, by decreasing magnitude, the negative ones in another colour.

    Parameters
    ----------
    eigenvalues : array-like
        For example those of `fewpairs.inspect`.
    skip : int, default=1
        How many of the largest to leave out. The first one is usually so much larger than the
        others that they would be invisible beside it.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(5, 3.2)
    values = np.asarray(eigenvalues, dtype=float)
    values = values[np.argsort(-np.abs(values))][skip:]
    ranks = np.arange(skip + 1, skip + 1 + len(values))
    for sign, colour, label in ((1, POSITIVE, "positive"), (-1, NEGATIVE, "negative")):
        chosen = np.sign(values) == sign
        ax.bar(ranks[chosen], values[chosen], width=1.0, color=colour, label=label)
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(title=title, xlabel="rank by magnitude", ylabel="eigenvalue")
    ax.legend(frameon=False, fontsize=8)
    return ax
