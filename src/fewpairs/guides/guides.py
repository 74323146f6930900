"""Guides: something cheap that hints at the expensive similarity, as inner products of vectors.

A guide costs no evaluations. Whatever it is, here it becomes two tables of vectors, one for the
rows and one for the columns, whose inner products say how alike two items look. How much each
guide is worth is learnt from what is evaluated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import SingleArray, is_number, unmasked
from fewpairs.errors import InputError
from fewpairs.guides.basis import Basis, leading_directions
from fewpairs.guides.cheap import cheap_basis, cheap_vectors
from fewpairs.guides.text_guides import dense, log_lengths, text_guides
from fewpairs.items.items import Items
from fewpairs.items.stored import Stored
from fewpairs.numerics import parts
from fewpairs.similarities.protocol import Similarity


class Guide(NamedTuple):
    """Vectors whose inner products hint at the similarity."""

    name: str
    left: SingleArray
    right: SingleArray
    distances: bool = False  # products are negative squared distances
    basis: Basis | None = None  # of vectors that were made here


#: Takes what the items themselves offer.
AUTO = "auto"


def as_guides(
    guide: Any,
    items: Items,
    others: Items | None,
    similarity: Similarity | None,
    *,
    cosines: bool = False,
) -> list[Guide]:
    """Turn what a user gives as a guide into vectors.

    Parameters
    ----------
    guide : "auto", None, array, callable, Similarity, pair of arrays, or list of these
        "auto" takes what the items themselves offer: of texts their characters and words, of
        vectors themselves. An array has one row for each item (and, with others, for each other
        item: a pair of arrays). A callable gets the list of items and returns such an array, as an
        encoder does; an object with ``encode`` is one. A symmetric similarity is evaluated for
        200 of the items with all others, uncounted.
    items, others : Items
    similarity : Similarity
        May offer guides of its own, by a method ``guides(items)``.
    cosines : bool, default=False
        For a matrix: leave out, of what "auto" finds, all but inner products of unit vectors, and
        refuse a guide of zeros.

    Returns
    -------
    list of Guide
        Empty where nothing is known.
    """
    if guide is None or (isinstance(guide, (list, tuple)) and not len(guide)):
        return []
    if isinstance(guide, str):
        if guide != AUTO:
            raise InputError(
                f"guide is {guide!r}.",
                "A guide is something cheap that hints at the similarity.",
                'Pass "auto", None, an array with a row for each item, or an encoder.',
            )
        found = _automatic(items, others, similarity)
        return [one for one in found if not (cosines and one.distances)]
    each = each_guide(guide)
    made = [_one(part, f"guide {k + 1}", items, others) for k, part in enumerate(each)]
    if cosines:
        _refuse_nothing(made)
    return made


def _refuse_nothing(guides: list[Guide]) -> None:
    """Refuse a guide of zeros: a search learns what it is worth, a matrix would be made of it."""
    for guide in guides:
        if not (guide.left.any() or guide.right.any()):
            raise InputError(
                f"{guide.name} has nothing but zeros: {len(guide.left):,} rows.",
                "Products with them say nothing.",
                "Pass vectors that tell the items apart, or leave the guide out.",
            )


def each_guide(guide: Any) -> list[Any]:
    """Return the guides of a list; a table alone is one."""
    return guide if isinstance(guide, list) and not _is_table(guide) else [guide]


def _is_table(guide: list[Any]) -> bool:
    """Say whether a list holds rows of numbers, which are one guide, and no guides of their own."""
    rows = all(isinstance(row, (list, tuple, np.ndarray)) and len(row) for row in guide)
    return rows and all(is_number(row[0]) for row in guide)


#: Stands for a guide that serves the items it was made for, and no others.
ARRAY = "array"


def reusable(guide: Any) -> Any:
    """Return a guide to keep for new items: what makes vectors, or `ARRAY` for vectors as such."""
    given = guide if isinstance(guide, list) else [guide]
    makers = (
        part is None
        or isinstance(part, str)
        or (callable(getattr(part, "encode", part)) and not isinstance(part, Similarity))
        for part in given
    )
    return guide if all(makers) else ARRAY


def _automatic(items: Items, others: Items | None, similarity: Similarity | None) -> list[Guide]:
    """Look at all items together, so that both sides speak of the same things."""
    if others is not None and _widths(items) != _widths(others):
        return []  # vectors of two kinds have no products
    every = items if others is None else items.joined(others)
    own = getattr(similarity, "guides", None)
    if callable(own):
        tables = own(every)
    elif every.kind in ("text", "vectors", "sparse"):
        tables = [("items", every.values)]
    else:
        return []
    guides = [guide for name, table in tables for guide in _of_table(name, table)]
    if others is None:
        return guides
    n = len(items)
    return [g._replace(left=g.left[:n], right=g.right[n:]) for g in guides]


def _widths(items: Items) -> tuple[int, ...]:
    listed = isinstance(items.values, (list, Stored))
    return () if listed else tuple(np.shape(items.values)[1:])


def _of_table(name: str, table: Any) -> list[Guide]:
    """Return guides of texts, or of vectors."""
    if not isinstance(table, (list, Stored)):
        return [_cosines(name, table), _distances(f"distances of {name}", table)]
    guides = [_cosines(f"{kind} of {name}", part) for kind, part in text_guides(table)]
    return [*guides, _distances(f"lengths of {name}", log_lengths(table))]


def _cosines(name: str, vectors: Any) -> Guide:
    rows = unit_rows(vectors)
    return Guide(name, rows, rows)


def _distances(name: str, vectors: Any) -> Guide:
    """Return vectors whose products are −‖x − y‖², in units of the mean squared length."""
    rows = dense(vectors) if sp.issparse(vectors) else np.asarray(vectors, dtype=np.float64)
    # Times a power of two, which changes no digit: sums of huge numbers would be infinite.
    rows = np.ldexp(rows, -int(np.frexp(np.abs(rows).max(initial=0.0))[1]))
    rows = rows - rows.mean(axis=0)
    unit = np.abs(rows).max(initial=0.0) or 1.0
    rows /= unit
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows).mean()) or 1.0
    squares, ones = np.einsum("ij,ij->i", rows, rows)[:, None], np.ones((len(rows), 1))
    left, right = np.hstack([-squares, 2 * rows, -ones]), np.hstack([ones, rows, squares])
    return Guide(name, left.astype(np.float32), right.astype(np.float32), distances=True)


def new_vectors(
    guide: Any, name: str, new: Items, old: Items | None, basis: Basis | None
) -> SingleArray:
    """Return vectors of new items, made as those of the old ones were.

    Parameters
    ----------
    guide : array, callable or Similarity
        As for `as_guides`.
    name : str
    new, old : Items
    basis : Basis or None
        Of the old items' vectors.
    """
    cheap = isinstance(guide, Similarity)
    if cheap != (basis is not None and basis.of_items):
        was, given = ("vectors", "a similarity") if cheap else ("a similarity", "vectors")
        raise InputError(
            f"{name} was {was} for the old items, and is {given} for the new ones.",
            "Old and new vectors are compared with each other.",
            "Pass what was passed for the old items.",
        )
    if cheap:
        assert basis is not None  # noqa: S101 - just looked
        if old is None or not len(basis.places):
            raise InputError(
                f"{name} is a similarity, and the items that it was evaluated with are not at "
                "hand.",
                "New vectors are made of similarities with the same items as the old ones; of two "
                "sets of items, and of files without items, they are not kept.",
                "Pass vectors as the guide, of old and new items.",
            )
        return unit_rows(cheap_vectors(guide, new, old, basis))
    encode = getattr(guide, "encode", guide)
    given = _encoded(encode, new, name) if callable(encode) else guide
    table = _checked(given, name, len(new))
    if basis is not None:
        if table.shape[1] != basis.columns:
            raise InputError(
                f"{name} has {table.shape[1]} columns for the new items and {basis.columns} for "
                "the old ones.",
                "Old and new vectors are compared with each other.",
                "Make both with the same encoder.",
            )
        return unit_rows(basis.of(table))
    return unit_rows(table.toarray() if sp.issparse(table) else table)


def _one(guide: Any, name: str, items: Items, others: Items | None) -> Guide:
    if isinstance(guide, Similarity):
        both = items if others is None else items.joined(others)
        vectors, basis = cheap_basis(guide, both)
        rows = unit_rows(vectors)
        if others is None:
            return Guide(name, rows, rows, basis=basis)
        # Where one of two sets grows, or both change places, positions would lose their meaning.
        unkept = Basis(np.empty(0, dtype=np.int64), np.empty((0, vectors.shape[1])))
        return Guide(name, rows[: len(items)], rows[len(items) :], basis=unkept)
    encode = getattr(guide, "encode", guide)
    if callable(encode):
        left = _encoded(encode, items, name)
        right = None if others is None else _encoded(encode, others, name)
    elif isinstance(guide, tuple) and len(guide) == 2:  # noqa: PLR2004 - two sides
        left, right = guide
    else:
        left, right = guide, None
    if others is not None and right is None:
        raise InputError(
            f"{name} is one table, and there are two sets of items.",
            "Each set needs a vector for each of its items.",
            "Pass a pair of arrays, or an encoder.",
        )
    if others is None and right is not None:
        raise InputError(
            f"{name} is a pair of tables, and there is one set of items.",
            "The second would be ignored.",
            "Pass one array; several guides are a list.",
        )
    first = _checked(left, name, len(items))
    second = first if others is None else _checked(right, name, len(others))
    if first.shape[1] != second.shape[1]:
        raise InputError(
            f"{name} has {first.shape[1]} columns for the items and {second.shape[1]} for the "
            "others.",
            "Their inner products must have a meaning.",
            "Make both with the same encoder.",
        )
    directions: Basis | None = None
    if sp.issparse(first) or sp.issparse(second):
        # Along the same directions on both sides, or products would mean nothing.
        tables = [first] if others is None else [first, second]
        tables = [sp.csr_array(table) for table in tables]
        directions = leading_directions(sp.vstack(tables, format="csr"))
        made = [table.toarray() if directions is None else directions.of(table) for table in tables]
        first, second = made[0], made[-1]
    rows = unit_rows(first)
    return Guide(name, rows, rows if others is None else unit_rows(second), basis=directions)


def _encoded(encode: Any, items: Items, name: str) -> Any:
    try:
        return encode(items.take(np.arange(len(items))))
    except Exception as error:
        raise InputError(
            f"{name} failed to encode {len(items):,} items: {type(error).__name__}: {error}",
            "An encoder gets the list of items, and returns a vector for each.",
            "Mend it, or pass an array with one row for each item.",
        ) from error


def _checked(vectors: Any, name: str, count: int) -> Any:
    """Return a table, dense or sparse, that holds a vector of finite numbers for each item."""
    plain = unmasked(vectors, name)
    try:
        # Some sparse tables have no list of their values, and tensors may have to be detached.
        plain = plain.detach().float().cpu() if hasattr(plain, "detach") else plain
        table = sp.csr_array(plain) if sp.issparse(plain) else np.asarray(plain)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            f"{name} is no table of numbers, or has rows of different lengths.",
            "It holds a vector of numbers for each item.",
            "Pass an array with one row for each item, in the same order.",
        ) from error
    numeric = table.dtype.kind in "biuf"
    if table.ndim != 2 or table.shape[0] != count or not numeric:  # noqa: PLR2004 - rows, columns
        raise InputError(
            f"{name} has the shape {table.shape} and the dtype {table.dtype}, for {count} items.",
            "It holds a vector of numbers for each item.",
            "Pass an array with one row for each item, in the same order.",
        )
    if not np.isfinite(table.data if sp.issparse(table) else table).all():
        raise InputError(
            f"{name} has values that are not finite.",
            "Products with them say nothing.",
            "Fill them before the run.",
        )
    return table


def unit_rows(vectors: Any) -> SingleArray:
    """Return vectors of length one, dense and in single precision; empty ones stay zero.

    Sparse tables with many columns are projected on their leading directions first.
    """
    table = dense(vectors) if sp.issparse(vectors) else np.asarray(vectors)
    rows = np.zeros(table.shape, dtype=np.float32)
    for part in parts(len(table)):
        some = table[part].astype(np.float64)
        largest = np.abs(some).max(axis=1, initial=0.0)[:, None]
        with np.errstate(invalid="ignore"):
            some = np.divide(some, largest, out=np.zeros_like(some), where=largest > 0)
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some))[:, None]
            np.divide(some, lengths, out=rows[part], where=lengths > 0, casting="same_kind")
    return rows
