"""Records of the same thing: groups by fewpairs beside splink and blocking alone.

DBLP–ACM, Amazon–Google, Febrl 3 and names of places. The truth is the data's own: which records are
one thing. Where records have fields, one half of the true groups is there to choose by, and all
ways are run and scored on the other. As one text, records are compared by the string similarity and
threshold of the matching benchmarks (not tuned for these groups): `links` and `average` are what
`fewpairs dedupe --groups` writes, by search (recall 0.95); `cluster` is `fewpairs cluster` with 200
evaluations for each record. `fields` are the same with `fp.RecordSimilarity`, whose weights and
threshold are the best ones of the half to choose by. Blocking puts records into a group that share
their first word and its neighbour; scored, only pairs of a block that reach the threshold are
linked. splink is Fellegi and Sunter's model, fitted by EM on the fields with the rules of blocking
of benchmarks/shared/entities.py, clusters at the probability that is best in hindsight for pairwise
F1, on the half that is scored. Writes docs/tables/clustering-entities.md; cases that are not run
keep their rows. Takes about a quarter of an hour on one core.

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
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.entities import TASKS, Setting, Task, learned
from benchmarks.shared.partitions import pairwise
from benchmarks.shared.tables import publish, published_rows, table

FEW = 600
#: Evaluations of `cluster` for each record.
FOR_EACH = 200
#: Of splink: probabilities of which the best counts; words by which titles are blocked.
PROBABILITIES = (0.01, 0.1, 0.2, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999, 0.9999)
RARE = 4


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
        budget=FOR_EACH * len(task.gold),
        random_state=0,
    )
    return found.labels, found.evaluations


def fields_links(task: Task, setting: Setting) -> tuple[np.ndarray, int | None]:
    found = _by_fields(task, setting)
    return found.groups(), found.evaluations


def fields_average(task: Task, setting: Setting) -> tuple[np.ndarray, int | None]:
    found = _by_fields(task, setting)
    return found.averaged_groups(), found.oracle.evaluations


def fields_cluster(task: Task, setting: Setting) -> tuple[np.ndarray, int | None]:
    found = fp.cluster(
        task.fields,
        setting.similarity,
        threshold=setting.above,
        budget=FOR_EACH * len(task.gold),
        random_state=0,
    )
    return found.labels, found.evaluations


def _by_fields(task: Task, setting: Setting) -> fp.Found:
    oracle = fp.Oracle(task.fields, setting.similarity)
    return fp.find_pairs(oracle, above=setting.above, random_state=0, all_pairs=False)


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
    "fewpairs, fields, links": fields_links,
    "fewpairs, fields, average": fields_average,
    "fewpairs, fields, cluster": fields_cluster,
    "blocking": blocking,
    "blocking, scored": blocking_scored,
    "splink": splink,
}
BY_FIELDS = tuple(way for way in WAYS if "fields" in way)


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
            task = task.few(FEW)
        settings: dict[str, Setting] = {}
        if task.fields is not None:
            to_choose_by, task = task.halves()
            for linked in ("single", "average"):
                settings[linked] = learned(to_choose_by, linked)
                print(f"{name}, {linked}: {settings[linked]}", flush=True)
        for way in options.ways:
            if way in BY_FIELDS and not settings:
                continue
            given = (
                [settings["single" if "links" in way else "average"]] if way in BY_FIELDS else []
            )
            begin = time.process_time()
            answer = WAYS[way](task, *given)
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
    text = (
        "Groups of records beside the truth of the data. Where rows of fields stand, all are of "
        "the half of the groups by which no setting was chosen; elsewhere of all groups. "
        "Evaluations and seconds of fields leave out the choosing, by all pairs of the other half."
    )
    order = [f"{name}: {way}" for name in TASKS for way in WAYS]
    return f"{text}\n\n{table(head, (rows[label] for label in order if label in rows))}"


if __name__ == "__main__":
    main()
