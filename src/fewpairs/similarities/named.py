"""Ready similarities by name: for the command, and for matrices that were saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.similarities.metrics import METRICS
from fewpairs.similarities.protocol import Similarity
from fewpairs.similarities.strings import SCORERS, StringSimilarity
from fewpairs.similarities.vectors import VectorSimilarity
from fewpairs.similarities.word_mover import WordMover
from fewpairs.text.word_vectors import WordVectors


class Family(NamedTuple):
    """Similarities that are made in the same way.

    Attributes
    ----------
    names : collection of str
    options : callable
        ``options(name)`` returns the names of the options that this similarity takes.
    make : callable
        ``make(name, **options)`` returns the similarity.
    """

    names: Collection[str]
    options: Callable[[str], Collection[str]]
    make: Callable[..., Similarity]


def _word_mover(name: str, *, vectors: Path | None = None, **options: Any) -> WordMover:
    if vectors is not None and not vectors.is_file():
        raise InputError(
            f"there is no file {str(vectors)!r}.", "It holds the word vectors.", "Check the path."
        )
    if vectors is None:
        raise InputError(
            f"{name} was asked for without a file of word vectors.",
            "They say how far one word is from another.",
            "Pass --vectors with a word2vec, GloVe or .npz file.",
        )
    # A file of texts may hold one without a known word; that is no reason to refuse all others.
    return WordMover(WordVectors.load(vectors), **({"empty": "far"} | options))


#: Not the tokenizer, which is a function, and so cannot be named in a file.
_WORD_MOVER = ("vectors", "gamma", "metric", "normalize", "stop_words", "weights", "empty")

#: Everything that has a name on the command line. A new similarity is one more entry.
FAMILIES: list[Family] = [
    Family(SCORERS, lambda _: (), StringSimilarity),
    Family(METRICS, lambda name: METRICS[name].parameters, VectorSimilarity),
    Family(("word_mover",), lambda _: _WORD_MOVER, _word_mover),
]


def named_similarity(name: str, **options: Any) -> Similarity:
    """Make a ready similarity.

    Parameters
    ----------
    name : str
        Of a string scorer, a vector metric, or "word_mover".
    **options
        Such as ``gamma`` or, for "word_mover", ``vectors``, the path of a file. None counts as
        not given.

    Returns
    -------
    Similarity
    """
    family = _family(name)
    if family is None:
        raise UnknownNameError("similarity", name, [n for f in FAMILIES for n in f.names])
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in family.options(name):
            raise InputError(
                f"--{option} was given with the similarity {name}.",
                "This similarity does not depend on it, so it would be ignored.",
                f"Leave it out, or choose a similarity that takes it: {_takers(option)}.",
            )
    return family.make(name, **given)


def saved_similarity(fingerprint: str, vectors: Path | None = None) -> Similarity:
    """Make the similarity again that a file names by its fingerprint.

    Parameters
    ----------
    fingerprint : str
        As `Similarity.fingerprint` writes it.
    vectors : Path, optional
        The file of word vectors, for "word_mover": matrices do not hold them.

    Returns
    -------
    Similarity
    """
    written, _, parameters = fingerprint.partition("{")
    name = written.replace(" ", "_")
    family = _family(name)
    try:
        kept = json.loads("{" + parameters)
    except (ValueError, RecursionError):
        family = None  # not a fingerprint of ours
    if family is None:
        raise InputError(
            f"the matrix was made with "
            f"{fingerprint[:200] or 'a similarity that it does not name'}, "
            "which the command cannot make again.",
            "New pairs must be evaluated by the same similarity.",
            "Pass --similarity module:function, if it is yours; or use Python: "
            "fewpairs.load(path, similarity=…).",
        )
    options = {option: kept.get(option) for option in family.options(name)}
    return named_similarity(name, **(options | {"vectors": vectors}))


def _family(name: str) -> Family | None:
    return next((family for family in FAMILIES if name in family.names), None)


def _takers(option: str) -> str:
    names = (name for family in FAMILIES for name in family.names)
    found = [n for n in names if (family := _family(n)) and option in family.options(n)]
    return ", ".join(found) or "none does"
