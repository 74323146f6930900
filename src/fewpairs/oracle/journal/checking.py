"""Whether a journal's values are still those of the similarity: some are evaluated again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import JournalError
from fewpairs.items.items import Items
from fewpairs.oracle.journal.blocks import Record
from fewpairs.oracle.journal.journal import Journal
from fewpairs.oracle.requests import Request
from fewpairs.oracle.symmetry import SYMMETRY_TOLERANCE


def compare(
    journal: Journal,
    sides: tuple[Items, Items],
    stored: Sequence[Record],
    again: Callable[[Request], FloatArray],
) -> None:
    """Evaluate some pairs again, and refuse a similarity that now gives something else.

    Parameters
    ----------
    journal : Journal
    sides : (Items, Items)
        Of the rows and of the columns.
    stored : sequence of Record
        One pair each.
    again : callable
    """
    then = np.concatenate([record.values for record in stored])
    now = np.concatenate([again(record.request) for record in stored])
    scale = max(float(np.abs(then).max()), float(np.abs(now).max()))
    with np.errstate(over="ignore"):  # infinitely different is different
        gap = np.abs(then - now)
    worst = int(gap.argmax())
    if gap[worst] <= SYMMETRY_TOLERANCE * scale:
        return
    pair = stored[worst].request
    a, b = sides[0].describe(int(pair.rows[0])), sides[1].describe(int(pair.columns[0]))
    raise JournalError(
        f"the journal {str(journal.folder)!r} holds {then[worst]:.6g} for items {a} and {b}, and "
        f"the similarity now gives {now[worst]:.6g} ({len(stored)} pairs were compared).",
        "Values of two different similarities would be mixed.",
        "Give the changed similarity another version, or name another journal.",
    )
