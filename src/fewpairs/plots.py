"""Pictures: spectra, errors and recalls by their cost, maps, blocks, scores; by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator
from fewpairs.errors import InputError, MissingExtraError

#: Blue and orange-red, which colour-blind people tell apart too.
_POSITIVE, _NEGATIVE = "#2a6f97", "#c8553d"
#: Grey, for what is behind.
_ALL = "#c9ced3"
#: Of labels: after Okabe and Ito, for colour-blind people too.
_LABELS = ("#0072b2", "#d55e00", "#009e73", "#b8488e", "#56b4e9", "#e69f00", "#5a4fb0")
#: More labels than these are not named beside a map.
_MOST_NAMED = 10
#: Seriation sorts blocks of at most so many items well within a second.
_MOST_IN_BLOCK = 2000


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
    ax = ax if ax is not None else _new_axes(5, 3.2)
    values = np.asarray(eigenvalues, dtype=float)
    values = values[np.argsort(-np.abs(values))][skip:]
    ranks = np.arange(skip + 1, skip + 1 + len(values))
    for sign, colour, label in ((1, _POSITIVE, "positive"), (-1, _NEGATIVE, "negative")):
        chosen = np.sign(values) == sign
        ax.bar(ranks[chosen], values[chosen], width=1.0, color=colour, label=label)
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(title=title, xlabel="rank by magnitude", ylabel="eigenvalue")
    ax.legend(frameon=False, fontsize=8)
    return ax


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
    ax = ax if ax is not None else _new_axes(5, 3.6)
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
    ax = ax if ax is not None else _new_axes(5, 3.4)
    _statements(ax, [(spent, *error[:3]) for spent, error in results])
    if target is not None:
        ax.axhline(target, color=_NEGATIVE, linewidth=1, linestyle="--", label="target")
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
    ax = ax if ax is not None else _new_axes(5, 3.4)
    stated = [(found.evaluations, found.recall) for found in results]
    _statements(ax, [(spent, r.value, r.low, r.high) for spent, r in stated])
    if truth is not None:
        spent = [found.evaluations for found in results]
        ax.plot(spent, np.asarray(truth, float), "s--", color=_NEGATIVE, ms=4, label="true")
    ax.set(title=title, xlabel="pairs evaluated", ylabel="recall", ylim=(0, 1.02))
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return ax


def _statements(ax: Any, points: list[tuple[float, float, float, float]]) -> None:
    """Draw values with a band around them."""
    spent, values, low, high = np.array(sorted(points), dtype=float).T
    ax.fill_between(spent, low, high, color=_POSITIVE, alpha=0.18, lw=0, label="95 % interval")
    ax.plot(spent, values, "o-", color=_POSITIVE, markersize=4, linewidth=1.4, label="stated")
    ax.locator_params(axis="x", nbins=5)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(alpha=0.25)


def plot_map(
    matrix: Any, *, labels: Any = None, random_state: int = 0, title: str = "", ax: Any = None
) -> Any:
    """Draw every item beside those that the matrix has as its nearest; nothing is evaluated.

    Parameters
    ----------
    matrix : FactoredMatrix
    labels : sequence, optional
        A label for each item, such as its cluster: a colour.
    random_state : int, default=0
        Of the layout.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Only who lies beside whom means something, so that it has no scales.
    """
    from fewpairs.tasks.maps.places import map_of  # noqa: PLC0415 - light until it is drawn

    ax = ax if ax is not None else _new_axes(5, 5)
    places = map_of(matrix, random_state=random_state).places
    size = float(np.clip(4000 / len(places), 3, 30))
    if labels is None:
        ax.scatter(*places.T, s=size, color=_POSITIVE, alpha=0.7, linewidths=0)
    else:
        names, number = np.unique(np.asarray(labels), return_inverse=True)
        for k, name in enumerate(names.tolist()):
            chosen = places[: len(number)][number == k]
            colour = _LABELS[k % len(_LABELS)]
            ax.scatter(*chosen.T, s=size, color=colour, alpha=0.8, linewidths=0, label=str(name))
        if len(names) <= _MOST_NAMED:
            ax.legend(frameon=False, fontsize=8, markerscale=1.5)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    return ax


def plot_block(
    matrix: Any,
    items: npt.ArrayLike | None = None,
    *,
    exact: npt.ArrayLike | None = None,
    labels: Any = None,
    random_state: RandomState = 0,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw a block of the matrix as a heat map, and beside it what is exact of the same block.

    Parameters
    ----------
    matrix : FactoredMatrix
        Of one set of items.
    items : array-like of int, optional
        Which items; by default 80 drawn at random.
    exact : array-like of shape (len(items), len(items)), optional
        Exact similarities of these items. By default those that were evaluated, with gaps.
    labels : sequence, optional
        A label for each item of the matrix: items are ordered by it, and then by similarity.
    random_state : int, Generator or None, default=0
        Which items.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    n, m = matrix.shape
    if n != m or not matrix.source.square:
        raise InputError(
            f"plot_block was given a matrix of {n:,} × {m:,} between two sets of items.",
            "A block is drawn of the same items in rows and columns.",
            "Give a matrix of one set.",
        )
    chosen = _some(n, random_state) if items is None else np.asarray(items, dtype=np.int64)
    if len(chosen) > _MOST_IN_BLOCK:
        raise InputError(
            f"plot_block was given {len(chosen):,} items.",
            f"More than {_MOST_IN_BLOCK:,} are finer than a picture.",
            "Give some of them, or none for 80 drawn at random.",
        )
    guess = matrix.predicted(chosen, chosen)
    true = _known(matrix, chosen) if exact is None else np.asarray(exact, dtype=float)
    if true.shape != guess.shape:
        raise InputError(
            f"exact has the shape {true.shape}, and there are {len(chosen):,} items.",
            "It holds the similarities of these items with each other.",
            "Give a square array, in the order of the items.",
        )
    order = _seriated((guess + guess.T) / 2, None if labels is None else np.asarray(labels)[chosen])
    gap = np.full((len(chosen), max(1, len(chosen) // 16)), np.nan)
    both = np.hstack([guess[np.ix_(order, order)], gap, true[np.ix_(order, order)]])
    ax = ax if ax is not None else _new_axes(8, 4)
    # The largest few would otherwise leave all others in one colour.
    low, high = np.nanquantile(both, [0.01, 0.99])
    picture = ax.imshow(both, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
    ax.figure.colorbar(picture, ax=ax, fraction=0.025, pad=0.02)
    middle = len(chosen) / 2 - 0.5
    names = ["factors", "exact" if exact is not None else "evaluated"]
    ax.set_xticks([middle, middle + len(chosen) + gap.shape[1]], names)
    ax.set(title=title, yticks=[])
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _some(n: int, random_state: RandomState) -> IntArray:
    return np.sort(generator(random_state).permutation(n)[:80])


def _known(matrix: Any, chosen: IntArray) -> FloatArray:
    """Return what was evaluated of a block, NaN elsewhere."""
    rows, columns = np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen))
    found: FloatArray = matrix.known.find(rows, columns)
    return found.reshape(len(chosen), -1)


def _seriated(block: FloatArray, labels: npt.NDArray[Any] | None) -> IntArray:
    """Order items so that similar ones come one after another, within their labels."""
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 - a while to load

    if len(block) < 3:  # noqa: PLR2004 - nothing to order
        return np.arange(len(block))
    apart = np.maximum(block.max() - block, 0.0)[np.triu_indices(len(block), 1)]
    leaves = np.asarray(leaves_list(linkage(apart, "average", optimal_ordering=len(block) < 500)))  # noqa: PLR2004 - more take long
    if labels is None:
        return leaves
    number = np.unique(labels, return_inverse=True)[1].ravel()
    return np.asarray(leaves[np.argsort(number[leaves], kind="stable")])


def plot_agreement(
    exact: npt.ArrayLike, approximate: npt.ArrayLike, *, title: str = "", ax: Any = None
) -> Any:
    """Draw exact similarities against approximate ones, pair by pair.

    Parameters
    ----------
    exact, approximate : array-like
        For example ``oracle.entries(i, j)`` and ``K.entries(i, j)`` of pairs drawn at random.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    x, y = (np.asarray(v, dtype=float).ravel() for v in (exact, approximate))
    if x.shape != y.shape or not len(x):
        raise InputError(
            f"{len(x):,} exact and {len(y):,} approximate similarities were given.",
            "Each pair has one of both.",
            "Give two arrays of the same length.",
        )
    ax = ax if ax is not None else _new_axes(4.2, 4.2)
    ends = min(x.min(), y.min()), max(x.max(), y.max())
    ax.plot(ends, ends, color=_ALL, linewidth=1.2, zorder=0)
    size = float(np.clip(8000 / len(x), 2, 16))
    ax.scatter(x, y, s=size, color=_POSITIVE, alpha=0.35, linewidths=0)
    error = float(np.linalg.norm(x - y) / max(np.linalg.norm(x), np.finfo(float).tiny))
    ax.text(0.03, 0.97, f"relative error {error:.3g}", transform=ax.transAxes, va="top", fontsize=9)
    ax.set(title=title, xlabel="exact", ylabel="approximate", aspect="equal")
    return ax


def plot_scores(found: Any, *, bins: int = 50, title: str = "", ax: Any = None) -> Any:
    """Draw how similarities are spread: of the pairs that were found, and of all pairs.

    Parameters
    ----------
    found : Found
        What `find_pairs` returned.
    bins : int, default=50
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax if ax is not None else _new_axes(5, 3.2)
    counts = found.histogram(bins)
    left, widths = counts.edges[:-1], np.diff(counts.edges)
    shared = {"width": widths, "align": "edge", "linewidth": 0}
    ax.bar(left, counts.expected, color=_ALL, label="all pairs, from blind ones", **shared)
    ax.bar(left, counts.found, color=_POSITIVE, label="found, exactly counted", **shared)
    if found.threshold is not None:
        ax.axvline(found.threshold.at, color=_NEGATIVE, linewidth=1, label="threshold")
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    ax.set(title=title, xlabel="similarity", ylabel="pairs")
    ax.legend(frameon=False, fontsize=8)
    return ax


def _new_axes(width: float, height: float) -> Any:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "A plot") from error
    return plt.subplots(figsize=(width, height))[1]
