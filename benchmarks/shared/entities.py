"""Records whose true groups are known; and field by field, what half of these groups teaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.linear_model import LogisticRegression

import fewpairs as fp
from benchmarks.shared.matching_cases import (
    Case,
    amazon_google,
    dblp_acm,
    febrl,
    named_places,
    places,
)
from benchmarks.shared.partitions import pairwise
from fewpairs import datasets

#: Pairs of different groups, for each pair of a group, that weights are learned from: those that
#: look most alike.
_AGAINST = 10
THRESHOLDS = np.linspace(0.5, 1.0, 51)


class Task(NamedTuple):
    """Items with their similarity; their true clusters; fields, where there are some."""

    case: Case
    gold: np.ndarray
    fields: list[dict[str, Any]] | None
    #: What compares each field, of ours.
    scorers: dict[str, str] | None = None
    #: Of splink: names compared by Jaro–Winkler, titles by Levenshtein and common words, others by
    #: Levenshtein; blocking rules, of which rare words are one each; trained on.
    names: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    rules: tuple[tuple[str, ...], ...] = ()
    trained: tuple[str, ...] = ()

    def part(self, kept: np.ndarray) -> Task:
        """Some of the records."""
        case, places_ = self.case, np.flatnonzero(kept).tolist()
        some = Case(case.name, [case.items[k] for k in places_], case.similarity, case.above)
        fields = None if self.fields is None else [self.fields[k] for k in places_]
        gold = np.unique(self.gold[kept], return_inverse=True)[1]
        return self._replace(case=some, gold=gold, fields=fields)

    def halves(self) -> tuple[Task, Task]:
        """Two halves of the true groups: to choose by, and to be scored."""
        first = np.random.default_rng(0).permutation(self.gold.max() + 1) % 2 == 0
        return self.part(first[self.gold]), self.part(~first[self.gold])

    def few(self, n: int) -> Task:
        """Records of few groups, for a quick run."""
        groups = np.random.default_rng(0).random(self.gold.max() + 1)[self.gold]
        return self.part(np.argsort(np.argsort(groups, kind="stable")) < n)


def _task(case: Case, name: str, split: str, **told: Any) -> Task:
    records = datasets.read_records(name, split)[: len(case.items)]
    gold = np.unique([str(r["cluster"]) for r in records], return_inverse=True)[1]
    fields = [{key: str(v).lower() for key, v in r["fields"].items()} for r in records]
    for one in fields:
        if "name" in one:  # what Google calls a title
            one["title"] = one.pop("name")
    return Task(case, gold, fields, **told)


def _places() -> Task:
    case = places()
    cities = [city for _, city in named_places(4003)]
    return Task(case, np.unique(cities, return_inverse=True)[1], None)


TASKS: dict[str, Callable[[], Task]] = {
    "DBLP–ACM": lambda: _task(
        dblp_acm(),
        "dblp_acm",
        "records",
        scorers={
            "title": "token_sort_ratio",
            "authors": "token_sort_ratio",
            "venue": "token_set_ratio",
            "year": "ratio",
        },
        names=("authors",),
        titles=("title",),
        others=("venue", "year"),
        rules=(
            ("title",),
            ("authors",),
            ("year", "title_start"),
            ("year", "authors_start"),
            ("title_rare",),
        ),
        trained=("title", "authors"),
    ),
    "Amazon–Google": lambda: _task(
        amazon_google(),
        "amazon_google",
        "records",
        scorers={
            "title": "token_set_ratio",
            "description": "token_set_ratio",
            "manufacturer": "token_set_ratio",
            "price": "ratio",
        },
        titles=("title",),
        rules=(("title",), ("title_start",), ("title_rare",)),
        trained=("title_start",),
    ),
    "Febrl 3": lambda: _task(
        febrl(),
        "febrl",
        "dataset3",
        scorers={
            "given_name": "jaro_winkler",
            "surname": "jaro_winkler",
            "postcode": "ratio",
            "date_of_birth": "ratio",
            "soc_sec_id": "ratio",
            "suburb": "ratio",
            "address_1": "ratio",
        },
        names=("given_name", "surname"),
        others=("postcode", "date_of_birth", "soc_sec_id", "suburb", "address_1"),
        rules=(
            ("given_name", "surname"),
            ("soc_sec_id",),
            ("date_of_birth",),
            ("postcode", "surname"),
            ("postcode", "given_name"),
            ("address_1",),
        ),
        trained=("date_of_birth", "given_name"),
    ),
    "places": _places,
}


class Setting(NamedTuple):
    """How records are compared field by field, and from where on they are one thing."""

    similarity: fp.RecordSimilarity
    above: float

    def __str__(self) -> str:
        weights = [f"{name} {weight:.2g}" for name, (_, weight) in self.similarity.fields.items()]
        return f"above {self.above:.2f}, weights {', '.join(weights)}"


def learned(task: Task, way: str) -> Setting:
    """The weights and the threshold that are best on these records, by "average" or "single".

    Weights are all equal, or those of a logistic regression on fields of true pairs and of the
    others that look most alike; whichever is better.
    """
    best: tuple[float, Setting] | None = None
    for weights in (np.ones(len(task.scorers)), _weights(task)):
        parts = {
            name: (scorer, float(weight))
            for (name, scorer), weight in zip(task.scorers.items(), weights, strict=True)
            if weight > 0
        }
        similarity = fp.RecordSimilarity(parts)
        distances = np.maximum(1 - _all_pairs(similarity, task.fields), 0)
        np.fill_diagonal(distances, 0)
        tree = linkage(squareform(distances, checks=False), way)
        labels = [fcluster(tree, 1 - above, "distance") for above in THRESHOLDS]
        scores = np.array([pairwise(task.gold, some)[2] for some in labels])
        equal = np.flatnonzero(scores == scores.max())
        if best is None or scores.max() > best[0]:
            middle = float(THRESHOLDS[equal[len(equal) // 2]])
            best = scores.max(), Setting(similarity, middle)
    return best[1]


def _weights(task: Task) -> np.ndarray:
    i, j = np.triu_indices(len(task.gold), 1)
    each = [
        # A field that one of both does not have says nothing.
        _all_pairs(fp.RecordSimilarity({name: scorer}, incomparable=0.5), task.fields)[i, j]
        for name, scorer in task.scorers.items()
    ]
    values, same = np.stack(each, axis=1), task.gold[i] == task.gold[j]
    most = np.argsort(-values.mean(axis=1) + 2 * same)[: _AGAINST * int(same.sum())]
    chosen = np.append(np.flatnonzero(same), most)
    model = LogisticRegression(C=10, max_iter=1000).fit(values[chosen], same[chosen])
    return np.maximum(model.coef_[0] / np.abs(model.coef_).max(), 0)


def _all_pairs(similarity: fp.RecordSimilarity, records: list[dict[str, Any]]) -> np.ndarray:
    from fewpairs.items.items import Items

    prepared = similarity.prepare(Items(records)).values
    return similarity.block(prepared, prepared)
