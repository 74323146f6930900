"""The recall of lists of neighbours, from pairs drawn blindly among those that no list has seen.

A pair that is more similar than the last of its query's list has been missed. If M pairs were, no
more than M of the true neighbours are missing, so that the recall is at least 1 − M/(lists·k); and
at least one was missing of each list that missed any, M/u where no list leaves more than u. Of
these, as many may have been drawn as drawn pairs stand in the lists now: among many better ones a
few that are drawn may be the very best. The draw bounds M, as it bounds matches that were not
reached.
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
    placed: int,
    empty: int,
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
    placed : int
        Of these, how many are in their list now: better ones among them have pushed others out.
    empty : int
        Places for which no pair with a value is known. There may be none, so that fewer neighbours
        are wanted than there are places.
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
    fewest = fewest_unreached(missed, rest, drawn, HIGH_TAIL)
    least = min(max(-(-fewest // max(deepest, 1)) - placed, 0), middle)
    surely = wanted - empty
    value, low = (max(0.0, 1 - count / max(surely, 1)) for count in (middle, most))
    return Recall(
        value=value,
        low=low,
        high=1 - least / wanted,
        found=surely,
        blind=drawn,
        met=missed,
        missed=missed,
        pairs=pairs,
        of="neighbours",
        complete=left == 0,
        missing=min(most, wanted),
        skipped=skipped,
    )
