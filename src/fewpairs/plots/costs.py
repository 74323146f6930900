"""Errors and recalls by what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError
from fewpairs.plots.axes import NEGATIVE, POSITIVE, new_axes


def plot_errors(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]],
    *,
    title: str = "",
    highest: float | None = None,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw relative errors against the share of all pairs that was evaluated.

    Parameters
    ----------
    curves : mapping of name to (shares, mean errors, standard deviations)
        Around each curve a band shows one standard deviation.
    title : str
    highest : float, optional
        Where the vertical axis ends. A curve that is higher leaves the picture, without its band.
    legend : bool, default=True
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(5, 3.6)
    for name, (shares, means, spreads) in curves.items():
        x, y, spread = (np.asarray(v, dtype=float) for v in (shares, means, spreads))
        (line,) = ax.plot(100 * x, y, marker="o", markersize=3, linewidth=1.3, label=name)
        within = np.full(len(y), fill_value=True) if highest is None else y + spread < highest
        band = {"color": line.get_color(), "alpha": 0.15, "linewidth": 0}
        ax.fill_between(100 * x, y - spread, y + spread, where=within, **band)
    ax.set(title=title, xlabel="pairs evaluated, % of all", ylabel="relative error")
    ax.set_ylim(0, highest)
    ax.grid(alpha=0.25)
    if legend:
        ax.legend(frameon=False, fontsize=7)
    return ax


def plot_error(
    results: Any, *, target: float | None = None, title: str = "", ax: Any = None
) -> Any:
    """Draw the stated error, with its interval, against the pairs that were evaluated.

    Parameters
    ----------
    results : FactoredMatrix, or sequence of them
        One that was made with a target error, whose steps are drawn; or one for each budget.
    target : float, optional
        A line at the error that was asked for.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(results, Sequence):
        steps = [(step.evaluations, step.error) for step in results.curve]
        results = steps or [(results.evaluations, results.error)]
    else:
        results = [(matrix.evaluations, matrix.error) for matrix in results]
    if any(error is None for _, error in results):
        raise InputError(
            "a matrix without a stated error was given.",
            "It was made with error_pairs=0, and there is nothing to draw.",
            "Make it with an error estimate.",
        )
    ax = ax if ax is not None else new_axes(5, 3.4)
    _statements(ax, [(spent, *error[:3]) for spent, error in results])
    if target is not None:
        ax.axhline(target, color=NEGATIVE, linewidth=1, linestyle="--", label="target")
    ax.set(title=title, xlabel="pairs evaluated", ylabel="relative error")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_recall(
    results: Sequence[Any], *, truth: npt.ArrayLike | None = None, title: str = "", ax: Any = None
) -> Any:
    """Draw the stated recall, with its interval, against the pairs that were evaluated.

    Parameters
    ----------
    results : sequence of Found
        One for each budget.
    truth : array-like, optional
        The true recall of each, where it is known.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else new_axes(5, 3.4)
    stated = [(found.evaluations, found.recall) for found in results]
    _statements(ax, [(spent, r.value, r.low, r.high) for spent, r in stated])
    if truth is not None:
        spent = [found.evaluations for found in results]
        ax.plot(spent, np.asarray(truth, float), "s--", color=NEGATIVE, ms=4, label="true")
    ax.set(title=title, xlabel="pairs evaluated", ylabel="recall", ylim=(0, 1.02))
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return ax


def _statements(ax: Any, points: list[tuple[float, float, float, float]]) -> None:
    """Draw values with a band around them."""
    spent, values, low, high = np.array(sorted(points), dtype=float).T
    ax.fill_between(spent, low, high, color=POSITIVE, alpha=0.18, lw=0, label="95 % interval")
    ax.plot(spent, values, "o-", color=POSITIVE, markersize=4, linewidth=1.4, label="stated")
    ax.locator_params(axis="x", nbins=5)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(alpha=0.25)
