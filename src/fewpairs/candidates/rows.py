"""The largest of each row of a block, in any order, without sorting the rows."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import IntArray, SingleArray

#: Values of which the maximum is taken first: groups of 32 leave a hundredth of 50,000 to look at.
#: Blocks are padded to a multiple of it.
GROUP = 32


def largest_of_rows(block: SingleArray, groups: int, count: int) -> IntArray:
    """Return the places of the `count` largest of each row.

    They lie in the `count` groups with the largest maxima, and a maximum is much cheaper than a
    partial sort of the whole row.
    """
    if groups <= 2 * count:
        return _partitioned(block, count)
    # A group is every so-many-th product: maxima of whole rows are then taken at a time.
    maxima = block.reshape(len(block), GROUP, groups).max(axis=1)
    best = _partitioned(maxima, count)
    places = (best[:, None, :] + groups * np.arange(GROUP)[:, None]).reshape(len(block), -1)
    inside = _partitioned(np.take_along_axis(block, places, axis=1), count)
    return np.take_along_axis(places, inside, axis=1)


def _partitioned(values: SingleArray, count: int) -> IntArray:
    """Return the places of the `count` largest of each row, in any order.

    Values are partitioned several times faster than places, and tell the places unless the last
    one has equals.
    """
    least = np.partition(values, -count, axis=1)[:, -count]
    chosen = values >= least[:, None]
    if np.count_nonzero(chosen) > count * len(values):
        return np.argpartition(-values, count - 1, axis=1)[:, :count]
    return np.nonzero(chosen)[1].reshape(len(values), count)
