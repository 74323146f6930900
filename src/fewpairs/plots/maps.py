"""Items as a map."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.plots.axes import LABELS, POSITIVE, new_axes

#: More labels than these are not named beside a map.
_MOST_NAMED = 10


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

    ax = ax if ax is not None else new_axes(5, 5)
    places = map_of(matrix, random_state=random_state).places
    size = float(np.clip(4000 / len(places), 3, 30))
    if labels is None:
        ax.scatter(*places.T, s=size, color=POSITIVE, alpha=0.7, linewidths=0)
    else:
        names, number = np.unique(np.asarray(labels), return_inverse=True)
        for k, name in enumerate(names.tolist()):
            chosen = places[: len(number)][number == k]
            colour = LABELS[k % len(LABELS)]
            ax.scatter(*chosen.T, s=size, color=colour, alpha=0.8, linewidths=0, label=str(name))
        if len(names) <= _MOST_NAMED:
            ax.legend(frameon=False, fontsize=8, markerscale=1.5)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    return ax
