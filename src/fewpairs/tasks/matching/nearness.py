"""How near the nearest of each item are, by a guide: in a crowd even strangers look alike.

What a product of two vectors is worth depends on where they lie. Among short texts many are close
to each other and do not match; for an item far from all others a smaller product is already a good
one. The ranking gets both numbers, and learns how much to take off.
"""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import SingleArray
from fewpairs.candidates.nearest import most_similar
from fewpairs.guides.guides import Guide

#: Neighbours whose products are averaged. With 5 and with 20 the cases of docs/tables/finding.md
#: take as many evaluations, give or take a tenth.
_NEAREST = 10
#: They are sought among all items, or among so many random ones.
_SAMPLE = 5_000
#: Guides with fewer columns, such as lengths, say nothing of a neighbourhood.
_NARROW = 4


def has_neighbours(guide: Guide) -> bool:
    """Say whether a guide is wide enough for a neighbourhood."""
    return bool(guide.left.shape[1] >= _NARROW)


def nearness_name(guide: Guide) -> str:
    """Return what the nearness by a guide is called among features."""
    return f"nearness of {guide.name}"


def nearness_of(guides: list[Guide], rng: np.random.Generator, *, square: bool) -> list[Guide]:
    """Return, for each guide that is wide enough, the sum of both items' nearness.

    Parameters
    ----------
    guides : list of Guide
    rng : numpy.random.Generator
        Draws the items among which neighbours are sought, where there are many.
    square : bool
        Both sides stand for the same items.

    Returns
    -------
    list of Guide
        Of two columns, so that they enter products as all other features do.
    """
    result = []
    for guide in guides:
        if not has_neighbours(guide):
            continue
        left = _nearness(guide.left, guide.right, rng, square=square)
        # Products of one set are symmetric, and must stay so: another sample would differ.
        right = left if square else _nearness(guide.right, guide.left, rng, square=False)
        ones = np.ones_like(left), np.ones_like(right)
        result.append(
            Guide(
                nearness_name(guide),
                np.stack([left, ones[0]], axis=1),
                np.stack([ones[1], right], axis=1),
            )
        )
    return result


def _nearness(
    left: SingleArray, right: SingleArray, rng: np.random.Generator, *, square: bool
) -> SingleArray:
    """Return the mean product of each item with its nearest, itself left out."""
    among = np.arange(len(right))
    if len(among) > _SAMPLE:
        among = np.sort(rng.choice(len(right), _SAMPLE, replace=False))
    nearest = most_similar(left, right[among], _NEAREST + 1, rng, square=False, exact=True)
    products = nearest.products
    if square:
        itself = among[nearest.columns] == np.arange(len(left))[:, None]
        itself[:, -1] |= ~itself.any(axis=1)  # where it is not among them, the last one goes
        products = products[~itself].reshape(len(left), -1)
    else:
        products = products[:, :_NEAREST]
    if not products.shape[1]:
        return np.zeros(len(left), dtype=np.float32)
    return np.asarray(products.mean(axis=1, dtype=np.float32))
