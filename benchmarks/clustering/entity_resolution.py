"""Records of the same thing: groups by fewpairs beside splink and blocking alone.

DBLP–ACM, Amazon–Google, Febrl 3 and names of places, each with the string similarity and threshold
of the matching benchmarks (not tuned for these groups). The truth is the data's own: which records
are one thing. `links` and `average` are what `fewpairs dedupe --groups` writes, by search (recall
0.95); `cluster` is `fewpairs cluster` with 200 evaluations for each record. Blocking puts records
into a group that share their first word and its neighbour; scored, only pairs of a block that reach
the threshold are linked. splink is Fellegi and Sunter's model, fitted by EM on the fields with the
rules of blocking below, clusters at the probability that is best in hindsight for pairwise F1. It
knows the fields, the others one text. Writes docs/tables/clustering-entities.md; cases that are not
run keep their rows. Takes about half an hour on one core.

    python -m benchmarks.clustering.entity_resolution [--quick] [--cases NAME …] [--ways NAME …]
"""

from __future__ import annotations

import importlib.util
import logging
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import (
    Case,
    amazon_google,
    dblp_acm,
    febrl,
    named_places,
    places,
)
from benchmarks.shared.partitions import pairwise
from benchmarks.shared.tables import publish, published_rows, table
from fewpairs import datasets

FEW = 600
#: Of splink: probabilities of which the best counts; words by which titles are blocked.
PROBABILITIES = (0.01, 0.1, 0.2, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999, 0.9999)
RARE = 4


class Task(NamedTuple):
    """Items with their similarity; their true clusters; fields, where there are some."""

    case: Case
    gold: np.ndarray
    fields: list[dict[str, Any]] | None
    #: Of splink: names compared by Jaro–Winkler, titles by Levenshtein and common words, others by
    #: Levenshtein; blocking rules, of which rare words are one each; trained on.
    names: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    rules: tuple[tuple[str, ...], ...] = ()
    trained: tuple[str, ...] = ()


def _task(case: Case, name: str, split: str, **splink: Any) -> Task:
    records = datasets.read_records(name, split)[: len(case.items)]
    gold = np.unique([str(r["cluster"]) for r in records], return_inverse=True)[1]
    return Task(case, gold, [r["fields"] for r in records], **splink)


def _places() -> Task:
    case = places()
    cities = [city for _, city in named_places(4003)]
    return Task(case, np.unique(cities, return_inverse=True)[1], None)


TASKS: dict[str, Callable[[], Task]] = {
    "DBLP–ACM": lambda: _task(
        dblp_acm(),
        "dblp_acm",
        "records",
        names=("title", "authors"),
        others=("venue", "year"),
        rules=(("title",), ("authors",), ("year", "title_start"), ("year", "authors_start")),
        trained=("title", "authors"),
    ),
    "Amazon–Google": lambda: _task(
        amazon_google(),
        "amazon_google",
        "records",
        titles=("title",),
        rules=(("title",), ("title_start",), ("title_rare",)),
        trained=("title_start",),
    ),
    "Febrl 3": lambda: _task(
        febrl(),
        "febrl",
        "dataset3",
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


def cut(task: Task, n: int) -> Task:
    """The same with fewer clusters, for a quick run."""
    order = np.argsort(np.random.default_rng(0).random(task.gold.max() + 1)[task.gold])[:n]
    kept = np.sort(order).tolist()
    case = task.case
    fields = None if task.fields is None else [task.fields[k] for k in kept]
    some = Case(case.name, [case.items[k] for k in kept], case.similarity, case.above)
    return task._replace(case=some, gold=task.gold[kept], fields=fields)


def joined(n: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    links = sp.coo_array((np.ones(len(left)), (left, right)), shape=(n, n))
    return connected_components(links, directed=False)[1]


def links(task: Task) -> tuple[np.ndarray, int | None]:
    found = task.case.find(0)
    return found.groups(), found.evaluations


def average(task: Task) -> tuple[np.ndarray, int | None]:
    oracle = fp.Oracle(task.case.items, task.case.similarity)
    found = fp.find_pairs(oracle, above=task.case.above, random_state=0, all_pairs=False)
    return found.averaged_groups(), oracle.evaluations


def cluster(task: Task) -> tuple[np.ndarray, int | None]:
    found = fp.cluster(
        task.case.items,
        task.case.similarity,
        threshold=task.case.above,
        guide="auto",
        random_state=0,
    )
    return found.labels, found.evaluations


def _blocks(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of neighbours in the order of their blocks' members."""
    keys = [" ".join(sorted(text.split()[:2])) for text in task.case.items]
    which = np.unique(keys, return_inverse=True)[1]
    order = np.argsort(which, kind="stable")
    sizes = np.bincount(which)
    members = np.split(order, np.cumsum(sizes)[:-1])
    pairs = [np.triu_indices(len(some), 1) for some in members]
    left = np.concatenate([some[i] for some, (i, _) in zip(members, pairs, strict=True)])
    right = np.concatenate([some[j] for some, (_, j) in zip(members, pairs, strict=True)])
    return left, right


def blocking(task: Task) -> tuple[np.ndarray, int | None]:
    return joined(len(task.gold), *_blocks(task)), None


def blocking_scored(task: Task) -> tuple[np.ndarray, int | None]:
    left, right = _blocks(task)
    texts = task.case.items
    values = task.case.similarity.pairs(
        [(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]
    )
    kept = np.asarray(values) >= task.case.above
    return joined(len(task.gold), left[kept], right[kept]), len(left)


def splink(task: Task) -> tuple[np.ndarray, int | None] | None:
    if task.fields is None or importlib.util.find_spec("splink") is None:
        return None
    import pandas as pd
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    frame = pd.DataFrame(task.fields)
    frame = (
        frame.astype(str)
        .apply(lambda c: c.str.lower())
        .replace({"": None, "nan": None, "none": None})
    )
    if "name" in frame:  # what Google calls a title
        frame["title"] = frame["title"].fillna(frame["name"])
    for field in ("title", "authors"):
        if field in frame:
            frame[f"{field}_start"] = frame[field].str[:6]
    for field in task.titles:
        words = [sorted(set(re.findall(r"\w+", text))) for text in frame[field].fillna("")]
        how_often = Counter(word for some in words for word in some)
        frame[f"{field}_words"] = words
        frame[f"{field}_rare"] = [
            sorted(some, key=lambda word: (how_often[word], word))[:RARE] for some in words
        ]
    frame = frame.assign(unique_id=np.arange(len(frame)))
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            *(cl.JaroWinklerAtThresholds(name) for name in task.names),
            *(cl.LevenshteinAtThresholds(name) for name in task.others),
            *(cl.LevenshteinAtThresholds(name, [1, 3, 6, 10, 15]) for name in task.titles),
            *(cl.ArrayIntersectAtSizes(f"{name}_words", [6, 5, 4, 3, 2]) for name in task.titles),
        ],
        blocking_rules_to_generate_predictions=[
            block_on(*rule, arrays_to_explode=[name for name in rule if name.endswith("_rare")])
            for rule in task.rules
        ],
    )
    linker = Linker(DuckDBAPI().register(frame), settings, log_level=logging.ERROR)
    linker.training.estimate_probability_two_random_records_match(
        [block_on(*task.rules[0])], recall=0.8
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    try:
        for field in task.trained:
            linker.training.estimate_parameters_using_expectation_maximisation(block_on(field))
    except ValueError as error:  # no records agree, as among few of a quick run
        print(f"splink learns nothing from {len(frame):,} records: {error}")
        return None
    found = linker.inference.predict(threshold_match_probability=PROBABILITIES[0])
    found = found.as_pandas_dataframe()
    left, right = (found[f"unique_id_{side}"].to_numpy(dtype=np.int64) for side in "lr")
    probability = found["match_probability"].to_numpy()
    answers = [
        joined(len(task.gold), left[probability >= least], right[probability >= least])
        for least in PROBABILITIES
    ]
    return max(answers, key=lambda labels: pairwise(task.gold, labels)[2]), None


WAYS: dict[str, Callable[[Task], Any]] = {
    "fewpairs, links": links,
    "fewpairs, average": average,
    "fewpairs, cluster": cluster,
    "blocking": blocking,
    "blocking, scored": blocking_scored,
    "splink": splink,
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    options = parser.parse_args()
    need_data()
    warnings.simplefilter("ignore")
    rows = {} if options.quick else published_rows("clustering-entities")
    for name in options.cases:
        task = TASKS[name]()
        if options.quick:
            task = cut(task, FEW)
        for way in options.ways:
            begin = time.process_time()
            answer = WAYS[way](task)
            if answer is None:
                continue
            labels, evaluations = answer
            seconds = time.process_time() - begin
            pairs, score = pairwise(task.gold, labels), fp.coreference_scores(task.gold, labels)
            cubed = (score.b_cubed.precision, score.b_cubed.recall, score.b_cubed.f1)
            label = f"{name}: {way}"
            rows[label] = [
                label,
                *(f"{value:.3f}" for value in (*pairs, *cubed)),
                "none" if evaluations is None else f"{evaluations:,}",
                f"{seconds:.0f}",
            ]
            print(*rows[label], sep=" | ", flush=True)
            publish("clustering-entities", page(rows), quick=options.quick)
    print(page(rows))


def page(rows: dict[str, list[str]]) -> str:
    head = ["records: groups by", "precision", "recall", "pairwise F1"]
    head += ["B³ precision", "B³ recall", "B³ F1", "evaluations", "CPU s"]
    return f"Groups of records beside the truth of the data.\n\n{table(head, rows.values())}"


if __name__ == "__main__":
    main()
