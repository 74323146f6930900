"""A factored matrix to and from a file. Items are kept if they are texts or numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.packing import check_facts, pack, unpack
from fewpairs.factored.source import Source
from fewpairs.files import archive
from fewpairs.items.ids import NO_IDS, Ids, given_ids, read_ids
from fewpairs.items.items import Items, as_items
from fewpairs.similarities.base import Similarity, as_similarity


def save(matrix: FactoredMatrix, path: str | Path) -> None:
    """Write a factored matrix to one file.

    Parameters
    ----------
    matrix : FactoredMatrix
    path : str or Path
    """
    archive.write(path, *pack(matrix))


def load(
    path: str | Path,
    similarity: Any = None,
    items: Any = None,
    others: Any = None,
    ids: Any = None,
) -> FactoredMatrix:
    """Read a factored matrix from a file; nothing in the file is ever executed.

    Parameters
    ----------
    path : str or Path
        Arrays beyond a quarter of the memory ceiling stay in the file. `K.save` to the same path
        puts a new file there, which does no harm; but a file that is cut off or written over in
        its place, as copying onto it does, changes the matrix, or ends the process.
    similarity : Similarity, optional
        Attach it to compare new items and to re-rank; it must be the one that was used.
    items : sequence, optional
        Attach the items if they are neither texts nor numbers, and were not stored.
    others : sequence, optional
        Likewise the items of the columns, of a matrix between two sets.
    ids : sequence, optional
        Attach ids, where there were none, or they were not stored, since they are neither texts
        nor numbers, dates, times, or tuples of these; of a matrix between two sets a pair. By
        default the pandas index of the items.

    Returns
    -------
    FactoredMatrix
    """
    arrays, facts = archive.read(path)
    with archive.unpacking(Path(path)):
        matrix = unpack(arrays, facts)
    n, m = matrix.shape
    source = matrix.source
    source = replace(
        source,
        items=source.items if items is None else _attached_items(items, n),
        others=source.others if others is None else _attached_items(others, m),
        similarity=_attached_similarity(similarity, source.fingerprint),
    )
    matrix.source = replace(source, ids=_attached_ids(ids, source, matrix.shape))
    return matrix


def stored_similarity(path: str | Path) -> str:
    """Return the fingerprint of the similarity that a stored matrix was made with.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    str
    """
    facts = archive.read_facts(path)
    with archive.unpacking(Path(path)):
        check_facts(facts)
    return str(facts["similarity"])


def _attached_items(items: Any, n: int) -> Items:
    attached = as_items(items)
    if len(attached) != n:
        raise InputError(
            f"{len(attached)} items were attached to a matrix of {n}.",
            "Row i (or column i) of the matrix is item i.",
            "Attach the items that the matrix was made from, in the same order.",
        )
    return attached


def _attached_ids(ids: Any, source: Source, shape: tuple[int, int]) -> Ids:
    if ids is None:
        if source.ids != NO_IDS or source.items is None or source.derived:
            return source.ids
        if not source.square and source.others is None:
            return source.ids
        return read_ids(None, source.items, source.others)
    return given_ids(ids, shape, square=source.square)


def _attached_similarity(similarity: Any, fingerprint: str) -> Similarity | None:
    if similarity is None:
        return None
    attached = as_similarity(similarity)
    if attached.fingerprint != fingerprint:
        raise InputError(
            f"the matrix was made with {fingerprint} and {attached.fingerprint} was attached.",
            "New items would be compared by another measure than the old ones.",
            "Attach the same similarity with the same parameters.",
        )
    return attached
