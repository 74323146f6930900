"""The recall of lists of neighbours, from pairs drawn blindly among those that no list has seen.

A pair that is more similar than the last of its query's list has been missed. If M pairs were, no
more than M of the true neighbours are missing, so that the recall is at least 1 − M/(lists·k); and
at least one is missing of each list that misses any, so that it is at most 1 − M/(lists·k·u), where
no list leaves more than u pairs. The draw bounds M, as it bounds matches that were not reached.
"""

from __future__ import annotations

from fewpairs.error.recall import HIGH_TAIL, LOW_TAIL, Recall
from fewpairs.error.unreached import fewest_unreached, most_unreached


def state_lists(
    wanted: int,
    *,
    rest: int,
    drawn: int,
    missed: int,
    unread: int,
    deepest: int,
    pairs: int,
    skipped: int,
) -> Recall:
    """State the recall of lists of neighbours, in which what was drawn has taken its place.

    Parameters
    ----------
    wanted : int
        Neighbours that all lists should hold.
    rest : int
        Pairs that could be drawn: all that the search has not asked for.
    drawn, missed : int
        How many were, and how many of these are more similar than the last of their list was.
    unread : int
        Pairs that were asked for and not paid for: any of them may be missing.
    deepest : int
        The most pairs that one list has left.
    pairs, skipped : as for `Recall`

    Returns
    -------
    Recall
    """
    left = rest - drawn + unread
    # What was drawn is in its list by now.
    most = min(most_unreached(missed, rest, drawn, LOW_TAIL) - missed + unread, left)
    middle = min(most_unreached(missed, rest, drawn, 0.5) - missed, most)
    least = min(max(fewest_unreached(missed, rest, drawn, HIGH_TAIL) - missed, 0), middle)
    value, low = (1 - min(count, wanted) / wanted for count in (middle, most))
    return Recall(
        value=value,
        low=low,
        high=1 - -(-least // max(deepest, 1)) / wanted,
        found=wanted,
        blind=drawn,
        met=missed,
        missed=missed,
        pairs=pairs,
        of="neighbours",
        complete=left == 0,
        missing=min(most, wanted),
        skipped=skipped,
    )
