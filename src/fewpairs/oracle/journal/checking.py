"""Whether a journal's values are still those of the similarity: some are evaluated again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import JournalError
from fewpairs.items.items import Items
from fewpairs.oracle.journal.blocks import Record
from fewpairs.oracle.journal.journal import Journal
from fewpairs.oracle.requests import Request, Scattered
from fewpairs.oracle.symmetry import worst_difference


def some(samples: Sequence[Record], count: int, seed: int) -> Record | None:
    """Choose a few of the single pairs that were found; None if there are none."""
    if not samples or not count:
        return None
    rows, columns = (
        np.concatenate([getattr(record.request, side) for record in samples])
        for side in ("rows", "columns")
    )
    values = np.concatenate([record.values for record in samples])
    chosen = np.random.default_rng(seed).permutation(len(values))[:count]
    return Record(Scattered(rows[chosen], columns[chosen]), values[chosen])


def compare(
    journal: Journal,
    sides: tuple[Items, Items],
    stored: Record,
    again: Callable[[Request], FloatArray],
) -> None:
    """Evaluate some pairs again, and refuse a similarity that now gives something else.

    Parameters
    ----------
    journal : Journal
    sides : (Items, Items)
        Of the rows and of the columns.
    stored : Record
        Single pairs.
    again : callable
    """
    then, now = stored.values, again(stored.request)
    worst = worst_difference(then, now)
    if worst is None:
        return
    i, j = stored.request.rows[worst], stored.request.columns[worst]
    a, b = sides[0].describe(int(i)), sides[1].describe(int(j))
    raise JournalError(
        f"the journal {str(journal.folder)!r} holds {then[worst]:.6g} for items {a} and {b}, and "
        f"the similarity now gives {now[worst]:.6g} ({len(then)} pairs were compared).",
        "Values of two different similarities would be mixed.",
        "Give the changed similarity another version, or name another journal.",
    )
