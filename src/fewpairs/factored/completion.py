"""Lines of new items that were compared with few landmarks, or with none: the rest is predicted.

Old items have whole lines. By ridge regression over them, an entry with a further landmark follows
from the entries with the first ones and from the guide's vector.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import parts

#: Ridges that are tried, as shares of the mean eigenvalue.
_RIDGES = np.geomspace(1e-4, 1e2, 13)
#: Old items whose lines are predicted without them, to choose the ridge.
_JUDGES = 2000
#: Those whose entries, too, are looked at.
_ENTRY_JUDGES = 200
#: An item that determines its own prediction tells nothing; this only avoids a division by 0.
_WHOLLY_OWN = 1 - 1e-9


def complete_lines(
    old: FloatArray,
    s: int,
    left_out: IntArray,
    new: FloatArray,
    beside: FloatArray,
    entries: Callable[[FloatArray, FloatArray | None], FloatArray] | None = None,
) -> FloatArray:
    """Predict the rest of new items' lines.

    Parameters
    ----------
    old : ndarray of shape (n, s + d)
        Old items' lines, and what else is known of them: the guide's vectors.
    s : int
        Entries of a whole line.
    left_out : ndarray
        Old items that are landmarks: their own entries are unlike all others.
    new : ndarray of shape (k, count)
        The first entries of the new items' lines.
    beside : ndarray of shape (k, d)
        What else is known of the new items.
    entries : callable, optional
        What lines say of entries. A core that is nearly singular makes much of small errors, so
        that new lines are then shrunk as far as old items, completed without themselves, need it.

    Returns
    -------
    ndarray of shape (k, s)
    """
    count = new.shape[1]
    rows = np.setdiff1d(np.arange(len(old)), left_out)
    if not len(rows):
        rows = np.arange(len(old))
    given = np.r_[np.arange(count), np.arange(s, old.shape[1])]
    wanted = np.arange(count, s)
    centre = _mean(old, rows)
    scales = np.ones(len(given))
    for mine in (slice(0, count), slice(count, len(given))):  # both kinds count alike
        scales[mine] = _root_mean_square(old, rows, given[mine], centre)
    gram = np.zeros((len(given), len(given)))
    target = np.zeros((len(given), len(wanted)))
    for part in parts(len(rows)):
        block = old[rows[part]] - centre
        features = block[:, given] / scales
        gram += features.T @ features
        target += features.T @ block[:, wanted]
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0)
    along = vectors.T @ target
    judges = rows[:: max(1, len(rows) // _JUDGES)]
    block = old[judges] - centre
    turned = (block[:, given] / scales) @ vectors
    best, least, missed = None, np.inf, np.empty(0)
    for ridge in _RIDGES * max(float(values.mean()), np.finfo(float).tiny):
        damped = 1 / (values + ridge)
        # What is left of an item's line when it took no part: residual / (1 − its own share).
        own = np.minimum(turned**2 @ damped + 1 / len(rows), _WHOLLY_OWN)
        left = (block[:, wanted] - (turned * damped) @ along) / (1 - own)[:, None]
        loss = float(np.einsum("ij,ij->", left, left))
        if loss < least:
            best, least, missed = damped, loss, left
    assert best is not None  # noqa: S101 - there are ridges
    features = (np.hstack([new, beside]) - centre[given]) / scales
    rest = ((features @ vectors) * best) @ along + centre[wanted]
    made = np.hstack([new, rest])
    if entries is None:
        return made
    some = slice(None, None, max(1, len(judges) // _ENTRY_JUDGES))
    whole = old[judges[some]]
    guessed = whole.copy()
    guessed[:, wanted] -= missed[some]
    one = _agreement(entries(guessed, None), entries(whole, None))
    # New items meet each other, too, and there both lines are shrunk.
    two = _agreement(entries(guessed, guessed), entries(whole, whole))
    return np.asarray(made * min(one, two**0.5))


def _agreement(said: FloatArray, wished: FloatArray) -> float:
    """Return the multiple of what is said, up to 1, that comes nearest to what is wished."""
    size = float(np.einsum("ij,ij->", said, said))
    agreed = float(np.einsum("ij,ij->", said, wished))
    return float(np.clip(agreed / size, 0, 1)) if size > 0 else 1.0


def _mean(old: FloatArray, rows: IntArray) -> FloatArray:
    total = np.zeros(old.shape[1])
    for part in parts(len(rows)):
        total += old[rows[part]].sum(axis=0)
    return total / max(len(rows), 1)


def _root_mean_square(
    old: FloatArray, rows: IntArray, columns: IntArray, centre: FloatArray
) -> float:
    total = 0.0
    for part in parts(len(rows)):
        block = old[np.ix_(rows[part], columns)] - centre[columns]
        total += float(np.einsum("ij,ij->", block, block))
    return float(np.sqrt(total / max(len(rows), 1))) or 1.0
