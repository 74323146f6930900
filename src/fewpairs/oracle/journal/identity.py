"""What a journal knows items and similarities by, or why it cannot."""

from __future__ import annotations

import json
from typing import Any

from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.items.keys import Keys, content_keys, item_keys
from fewpairs.oracle.journal.journal import Journal
from fewpairs.oracle.journal.recorder import Recorder
from fewpairs.similarities.base import Similarity


def recorder_of(
    journal: Journal, similarity: Similarity, sides: list[tuple[Items, Items]]
) -> Recorder:
    """Attach a journal to the items of a matrix; everything that it needs is checked now.

    Parameters
    ----------
    journal : Journal
    similarity : Similarity
        Whose values are written.
    sides : list of (Items, Items)
        One set of items or two, each as given and as prepared.
    """
    identity = identity_of(similarity)  # before items are looked at
    keys = _keys(journal, similarity, sides)
    symmetric = bool(similarity.symmetric)
    return Recorder(journal, identity, (sides[0][0], sides[-1][0]), keys, reversible=symmetric)


def _keys(
    journal: Journal, similarity: Similarity, sides: list[tuple[Items, Items]]
) -> tuple[Keys, Keys | None]:
    given: list[Any] = [journal.key] * len(sides)
    if len(sides) > 1 and journal.key is not None and not callable(journal.key):
        given = list(journal.key)
        if len(given) != len(sides):
            raise InputError(
                f"there are keys for {len(given)} sets of items, and there are two.",
                "Each of both has its own.",
                "Pass a pair of sequences, or a function from an item to its key.",
            )
    found = []
    for (items, prepared), key in zip(sides, given, strict=True):
        content = None if key is not None else similarity.content(prepared)
        found.append(item_keys(items, key) if content is None else content_keys(content))
    return found[0], found[1] if len(found) > 1 else None


def identity_of(similarity: Similarity) -> str:
    """Return what a similarity is known by in a journal, or refuse it."""
    identity = similarity.identity
    if identity is None:
        raise InputError(
            f"{similarity!r} has no declared name and version.",
            "A journal knows a similarity by them: code that has changed must not find the values "
            "of what it was.",
            'Pass fewpairs.similarity(…, name="my model", version="1"), or set name and version on '
            "your class; a new version begins anew.",
        )
    try:
        json.dumps(dict(similarity.parameters))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the parameters of {similarity!r} cannot be written as JSON: {error}.",
            "A journal knows a similarity by them, and objects have other names in every process.",
            "Pass numbers and texts, such as the version of a model, in place of the object.",
        ) from error
    return f"{identity} {'symmetric' if similarity.symmetric else 'asymmetric'}"
