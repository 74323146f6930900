"""Clusters from few evaluations: spending at the threshold beside clustering an approximation.

The truth is average linkage of the whole matrix, at two thresholds: where it has half as many
clusters as items, and where it has a tenth. Beside the adjusted Rand index: of how many runs the
stated precision and recall (95 %) hold. `plain` gives the whole budget to `approximate` and
clusters the result; `cluster` spends at the threshold, and a tenth of its budget on what it states;
`links` gives it to `find_pairs` and groups what is found by average linkage, which may take further
evaluations (all in brackets, as a share of the budget). How `cluster` divides its budget was chosen
on made data (Gaussian clusters), not on these. Cases that are not run keep their rows, and a run
that is stopped keeps what it has. Writes docs/tables/clustering-spending.md. Takes about half an
hour on one core.

    python -m benchmarks.clustering.spending [--quick] [--cases NAME …]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import dblp_acm, places, word_mover
from benchmarks.shared.matrices import stored_matrix
from benchmarks.shared.tables import publish, published_rows, table
from fewpairs import datasets

BUDGETS = (0.05, 0.1, 0.2)
N = 1200


def _stored(title: str, file: str) -> tuple[np.ndarray, Any]:
    guide = np.load(datasets.benchmark_folder() / "matrices" / f"{file}.minilm.npy")
    return stored_matrix(title), guide.astype(np.float32)


def _strings(case: Any) -> tuple[np.ndarray, Any]:
    chosen = np.sort(np.random.default_rng(1).permutation(len(case.items))[:N])
    texts = [case.items[k] for k in chosen]
    return case.similarity.block(texts, texts).astype(np.float64), None


CASES: dict[str, Callable[[], tuple[np.ndarray, Any]]] = {
    "STS-B cross-attention": lambda: _stored("STS-B cross-attention", "stsb-dev-crossattn"),
    "STS-B large": lambda: _stored("STS-B large", "stsb-dev-large-crossattn"),
    "MRPC probabilities": lambda: _stored("MRPC probabilities", "mrpc-dev-crossattn"),
    "RTE probabilities": lambda: _stored("RTE probabilities", "rte-dev-crossattn"),
    "Word Mover's": lambda: (word_mover(1000).values, None),
    "place names": lambda: _strings(places(N)),
    "DBLP–ACM": lambda: _strings(dblp_acm()),
}


def exact(matrix: np.ndarray) -> fp.FactoredAgglomerative:
    whole = fp.approximate(
        range(len(matrix)), fp.Precomputed(matrix), landmarks=len(matrix), error_pairs=0
    )
    return fp.FactoredAgglomerative(1).fit(whole)


def labels_at(tree: fp.FactoredAgglomerative, threshold: float) -> np.ndarray:
    return fp.FactoredAgglomerative(threshold=threshold).fit(tree.matrix_).labels_


def holds(share: Any, truth: float) -> bool:
    return bool(share.low - 1e-12 <= truth <= share.high + 1e-12)


def one(
    matrix: np.ndarray, guide: Any, truth: np.ndarray, threshold: float, budget: float, seed: int
) -> dict[str, float]:
    items, similarity = range(len(matrix)), fp.Precomputed(matrix)
    allowed = int(budget * len(matrix) * (len(matrix) - 1) / 2)
    scores = {}
    for way in ("", "guided ") if guide is not None else ("",):
        given = {"budget": allowed, "guide": guide if way else None, "random_state": seed}
        plain = fp.cluster(fp.approximate(items, similarity, **given), threshold=threshold)
        spent = fp.cluster(items, similarity, threshold=threshold, **given)
        scores[way + "plain"] = adjusted_rand_score(truth, plain.labels)
        scores[way + "cluster"] = adjusted_rand_score(truth, spent.labels)
        upper = np.triu_indices(len(matrix), 1)
        match = matrix[upper] >= threshold
        same = (spent.labels[:, None] == spent.labels)[upper]
        hits = np.sum(match & same)
        scores[way + "holds"] = (
            holds(spent.precision, hits / max(same.sum(), 1))
            + holds(spent.recall, hits / max(match.sum(), 1))
        ) / 2
    oracle = fp.Oracle(items, similarity)
    found = fp.find_pairs(
        oracle, above=threshold, budget=allowed, guide=guide, random_state=seed, all_pairs=False
    )
    groups = found.averaged_groups()
    scores["links"] = adjusted_rand_score(truth, groups)
    scores["more"] = oracle.evaluations / allowed
    return scores


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    need_data()
    warnings.simplefilter("ignore", fp.errors.FewpairsWarning)
    seeds = range(1 if options.quick else 3)
    columns = ("plain", "cluster", "guided plain", "guided cluster", "links")
    rows = published_rows("clustering-spending") if not options.quick else {}
    for name in options.cases:
        matrix, guide = CASES[name]()
        tree = exact(matrix)
        n = len(matrix)
        for share, clusters in (("n/2", n // 2), ("n/10", n // 10)):
            at = tree.similarities_
            threshold = float((at[n - clusters - 1] + at[n - clusters]) / 2)
            truth = labels_at(tree, threshold)
            for budget in (0.1,) if options.quick else BUDGETS:
                runs = [one(matrix, guide, truth, threshold, budget, seed) for seed in seeds]
                mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
                held = [value for key, value in mean.items() if key.endswith("holds")]
                label = f"{name}, n = {n}, {share} clusters, {100 * budget:g} %"
                rows[label] = [
                    label,
                    *(f"{mean[key]:.3f}" if key in mean else "" for key in columns[:-1]),
                    f"{mean['links']:.3f} ({mean['more']:.2f})",
                    f"{np.mean(held):.2f}",
                ]
                print(*rows[label], sep=" | ", flush=True)
                publish("clustering-spending", page(rows), quick=options.quick)
    print(page(rows))


def page(rows: dict[str, list[str]]) -> str:
    columns = ("plain", "cluster", "guided plain", "guided cluster")
    head = ["case, clusters, budget", *columns, "links (evaluations)", "statements hold"]
    return (
        "Adjusted Rand index with average linkage of the whole matrix, mean of three runs. Budgets "
        f"are shares of all pairs.\n\n{table(head, rows.values())}"
    )


if __name__ == "__main__":
    main()
