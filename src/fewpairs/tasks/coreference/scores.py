"""coreference_scores(): how well predicted clusters of mentions agree with the true ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, cast

import numpy as np

from fewpairs.arrays import IntArray, unmasked
from fewpairs.errors import InputError
from fewpairs.notebook.card import card
from fewpairs.tasks.coreference.counting import Counts, count, positions

Clusters = list[list[Hashable]]
_TITLES = {
    "muc": "MUC",
    "b_cubed": "B³",
    "ceaf_m": "CEAF-m",
    "ceaf_e": "CEAF-e",
    "blanc": "BLANC",
    "lea": "LEA",
}


class Score(NamedTuple):
    """Recall, precision and F1, each between 0 and 1."""

    recall: float
    precision: float
    f1: float


@dataclass(frozen=True)
class CoreferenceScores:
    """Six metrics of two clusterings of mentions.

    Attributes
    ----------
    muc, b_cubed, ceaf_m, ceaf_e, blanc, lea : Score
        Each has ``recall``, ``precision`` and ``f1``.
    """

    muc: Score
    b_cubed: Score
    ceaf_m: Score
    ceaf_e: Score
    blanc: Score
    lea: Score

    @property
    def conll(self) -> float:
        """The mean F1 of MUC, B³ and CEAF-e."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3

    def _repr_html_(self) -> str:
        rows = []
        for field in fields(self):
            recall, precision, f1 = getattr(self, field.name)
            told = f"F1 {f1:.4f}, recall {recall:.4f}, precision {precision:.4f}"
            rows.append((_TITLES[field.name], told))
        return card(f"CoNLL {self.conll:.4f}", rows)

    def __str__(self) -> str:
        lines = [f"{'':8}{'recall':>8}{'precision':>11}{'F1':>8}"]
        for field in fields(self):
            score = getattr(self, field.name)
            lines.append(
                f"{_TITLES[field.name]:8}{score.recall:8.4f}{score.precision:11.4f}{score.f1:8.4f}"
            )
        return "\n".join([*lines, f"{'CoNLL':8}{'':8}{'':11}{self.conll:8.4f}"])


def coreference_scores(gold: Any, predicted: Any) -> CoreferenceScores:
    """Compare predicted clusters of mentions with the true ones.

    The numbers are those of the official scorer of the CoNLL shared tasks (version 8). LEA, which
    it does not have, is as its authors define it.

    Parameters
    ----------
    gold, predicted : sequence of labels, of clusters, or mapping from documents to either
        Labels: the cluster of each mention, in the same order on both sides; texts and numbers.
        Clusters: lists, sets, ranges or other collections of mentions, which are anything that can
        be a key of a dictionary; one side may have mentions that the other does not have.
        Documents, as `read_conll` returns them, are counted one by one, and their sums make the
        scores.

    Returns
    -------
    CoreferenceScores
        A share of nothing is 0: MUC without any cluster of two, BLANC of a single mention.

    See Also
    --------
    read_conll : Documents from a file.

    Notes
    -----
    To exchange both sides exchanges recall and precision; of BLANC only where each side has pairs
    of mentions in one cluster and in two. Where the gold side has one kind alone, BLANC is that of
    this kind. An empty cluster holds no mention, and is not counted.

    Examples
    --------
    >>> import fewpairs as fp
    >>> print(fp.coreference_scores([0, 1, 1, 2, 2, 2], ["a", "b", "b", "c", "c", "d"]))
              recall  precision      F1
    MUC       0.6667     1.0000  0.8000
    B³        0.7778     1.0000  0.8750
    CEAF-m    0.8333     0.8333  0.8333
    CEAF-e    0.9333     0.7000  0.8000
    BLANC     0.7500     0.9231  0.7917
    LEA       0.6667     0.8333  0.7407
    CoNLL                        0.8250
    """
    if isinstance(gold, Mapping) != isinstance(predicted, Mapping):
        raise InputError(
            f"gold is a {type(gold).__name__} and predicted a {type(predicted).__name__}.",
            "Documents are compared with documents of the same names.",
            "Pass a mapping from documents to clusters on both sides, or on none.",
        )
    if not isinstance(gold, Mapping):
        return _scores(count(*_labels(gold, predicted)))
    total = Counts()
    for name in dict.fromkeys([*gold, *predicted]):
        total += count(*_labels(gold.get(name, []), predicted.get(name, []), f" of {name!r}"))
    return _scores(total)


def _scores(total: Counts) -> CoreferenceScores:
    gold, predicted = total.gold, total.predicted
    coreferent = _score(total.links, gold.links, total.links, predicted.links)
    apart = _score(total.non_links, gold.non_links, total.non_links, predicted.non_links)
    if gold.links and gold.non_links:
        blanc = Score(*((a + b) / 2 for a, b in zip(coreferent, apart, strict=True)))
    else:
        blanc = coreferent if gold.links else apart
    mentions, entities = total.aligned_mentions, total.aligned_entities
    return CoreferenceScores(
        _score(gold.joined_right, gold.joined, predicted.joined_right, predicted.joined),
        _score(gold.shared, gold.mentions, predicted.shared, predicted.mentions),
        _score(mentions, gold.mentions, mentions, predicted.mentions),
        _score(entities, gold.clusters, entities, predicted.clusters),
        blanc,
        _score(gold.resolved, gold.mentions, predicted.resolved, predicted.mentions),
    )


def _score(found: float, wanted: float, right: float, said: float) -> Score:
    recall, precision = (found / wanted if wanted else 0.0), (right / said if said else 0.0)
    both = recall + precision
    return Score(recall, precision, 2 * recall * precision / both if both else 0.0)


def _labels(gold: Any, predicted: Any, where: str = "") -> list[IntArray]:
    """Return the cluster of each mention on both sides."""
    sides = [
        _values(_sequence(side, f"{name}{where}"))
        for name, side in (("gold", gold), ("predicted", predicted))
    ]
    listed = [
        _all_listed(side, f"{name}{where}")
        for name, side in zip(("gold", "predicted"), sides, strict=True)
    ]
    if any(listed) and all(held or not side for held, side in zip(listed, sides, strict=True)):
        return positions(
            [
                _clusters(side, f"{name}{where}")
                for name, side in zip(("gold", "predicted"), sides, strict=True)
            ]
        )
    if any(listed) or len(sides[0]) != len(sides[1]):
        raise InputError(
            f"gold{where} has {len(sides[0])} {'clusters' if listed[0] else 'labels'} and "
            f"predicted {len(sides[1])} {'clusters' if listed[1] else 'labels'}.",
            "Label k on one side belongs to label k on the other; clusters list their mentions.",
            "Pass as many labels on both sides, or clusters on both.",
        )
    return [
        _numbered(side, f"{name}{where}")
        for name, side in zip(("gold", "predicted"), sides, strict=True)
    ]


def _sequence(given: Any, name: str) -> Iterable[Any]:
    if hasattr(given, "columns") and hasattr(given, "shape"):
        raise InputError(
            f"{name} is a data frame.",
            "What is listed is labels or clusters; a frame lists its columns.",
            'Pass one column of it, such as frame["cluster"].',
        )
    plain = unmasked(given, name)
    if not _is_collection(plain):
        raise InputError(
            f"{name} is a {type(given).__name__}.",
            "It is a sequence of labels, or of clusters.",
            'Pass [0, 0, 1] or [["a", "b"], ["c"]].',
        )
    return cast("Iterable[Any]", plain)


def _is_collection(value: Any) -> bool:
    """Say whether this lists something; texts and arrays without dimensions do not."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    return getattr(value, "ndim", 1) != 0


def _values(given: Iterable[Any]) -> list[Any]:
    """Return what is listed; single numbers of an array type as the numbers that they are.

    Of PyTorch's, for one, each is a key of its own, whatever its number.
    """
    return [
        x.item()
        if getattr(x, "ndim", None) == 0 and hasattr(x, "item") and not isinstance(x, np.generic)
        else x
        for x in given
    ]


def _all_listed(side: list[Any], name: str) -> bool:
    """Say whether these are clusters; refuse a mixture of clusters and labels."""
    listed = [_is_collection(x) for x in side]
    if any(listed) and not all(listed):
        k = listed.index(not listed[0])
        raise InputError(
            f"{name} has a {type(side[0]).__name__} at position 0 and a {type(side[k]).__name__} "
            f"at position {k}.",
            "Clusters list their mentions; a text or a number is a label of one mention.",
            'Pass [0, 0, 1] or [["a", "b"], ["c"]].',
        )
    return bool(side) and all(listed)


def _clusters(given: list[Any], name: str) -> Clusters:
    """Return the clusters that hold a mention, if each mention is in one of them."""
    clusters = [held for held in (_values(unmasked(c, name)) for c in given) if held]
    seen: dict[Hashable, int] = {}
    for k, cluster in enumerate(clusters):
        for mention in cluster:
            first = _number(seen, mention, k, f"{name} has a mention that")
            if first != k:
                raise InputError(
                    f"{name} has the mention {mention!r} in two clusters.",
                    "A mention refers to one thing.",
                    "Leave it in one of them.",
                )
    repeated = len(seen) != sum(map(len, clusters))
    return [list(dict.fromkeys(cluster)) for cluster in clusters] if repeated else clusters


def _numbered(labels: list[Any], name: str) -> IntArray:
    """Return labels as numbers from 0 on, in the order in which they come."""
    number: dict[Hashable, int] = {}
    found = np.empty(len(labels), dtype=np.int64)
    for k, label in enumerate(labels):
        found[k] = _number(number, label, len(number), f"{name} has at position {k} a label that")
    return found


def _number(known: dict[Hashable, int], key: Any, number: int, where: str) -> int:
    """Return the number of a mention or label, this one if it is new."""
    try:
        found = known.setdefault(key, number)
    except TypeError as error:
        raise InputError(
            f"{where} is a {type(key).__name__}.",
            "Those of both sides are found by what they are, as keys are.",
            "Pass numbers, texts or tuples of them.",
        ) from error
    if _is_missing(key):
        raise InputError(
            f"{where} is {key!r}.",
            "What is missing is in no cluster, and the same as nothing else.",
            "Leave such mentions out; give a mention that is alone a label of its own.",
        )
    return found


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN differs from itself
    except (TypeError, ValueError):  # pandas.NA is neither equal nor different
        return True
