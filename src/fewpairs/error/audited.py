"""The recall of candidates that somebody else has made, from blind pairs outside of them.

The pairs come in random order, and may end with the r-th match that they meet: where many are
missing, few pairs tell it. Outcomes are in an order then, too: the earlier that match comes, the
more there are. If it comes at draw t, of L matches the chance of one as late or later (or of fewer
than r in all draws) is that of r − 1 or fewer in t − 1 draws; of one as early, that of r or more in
t draws. Both ends follow as those of a draw of fixed size do, and hold as surely.
"""

from __future__ import annotations

from fewpairs.error.recall import HIGH_TAIL, LOW_TAIL, Recall, blind_pairs, share_found
from fewpairs.error.unreached import fewest_unreached, most_unreached


def state_given(
    found: int,
    *,
    rest: int,
    drawn: int,
    missed: int,
    left: int,
    pairs: int,
    target: float | None,
    last: tuple[int, int] | None = None,
) -> Recall:
    """State the recall of given candidates.

    Parameters
    ----------
    found : int
        Matches among them.
    rest : int
        Pairs that are none of them.
    drawn, missed : int
        How many of these were drawn, and match.
    left : int
        Pairs that are not evaluated.
    pairs, target : as for `Recall`
    last : (int, int), optional
        If drawing ended because so many were missed: which draw met the last that counts, and how
        many it made. Further ones that were under way by then say nothing.

    Returns
    -------
    Recall
    """
    draws, met = (drawn, missed) if last is None else last
    sooner = (draws, met) if last is None else (draws - 1, met - 1)
    # Draws under way when it ended are no evidence, but what they met is missing for sure.
    most = min(max(most_unreached(sooner[1], rest, sooner[0], LOW_TAIL), missed), missed + left)
    middle = max(min(most_unreached(sooner[1], rest, sooner[0], 0.5), most), missed)
    least = max(min(fewest_unreached(met, rest, draws, HIGH_TAIL), middle), missed)
    return Recall(
        value=share_found(found, middle),
        low=share_found(found, most),
        high=share_found(found, least),
        found=found,
        blind=drawn,
        met=missed,
        missed=missed,
        pairs=pairs,
        target=target,
        needed=0 if target is None else blind_pairs(target, found, pairs),
        complete=left == 0,
        missing=most,
    )
