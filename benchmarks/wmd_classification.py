"""Classify documents by Word Mover's similarity, as in the papers.

γ and C are chosen by cross-validation on the training part alone; LinearSVC on the features of
every method, several seeds. "Evaluations" are exact distances computed for training and test
together; "seconds" everything but the search for γ. Writes docs/wmd-classification-table.md.

    FEWPAIRS_DATA=… python benchmarks/wmd_classification.py [--quick] [--only NAME …]
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from common import DOCS, arguments, need_data, table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, LinearSVC
from texts import body, stop_words, vectors

import fewpairs as fp
from fewpairs import datasets

GAMMAS = (0.05, 0.1, 0.2, 0.4, 0.8)
COSTS = {"C": np.geomspace(0.1, 1000, 9)}
LANDMARK_METHODS = {
    "Nyström": "nystrom",
    "SMS-Nyström": "sms",
    "SiCUR": "sicur",
    "StaCUR": "stacur",
    "fitted": "fitted",
}
#: name → (data set, splits, text cleaner, train and test size of a full run)
SETS = {
    "TWITTER": ("twitter", ("all",), str, (2176, 932)),
    "RECIPE_L": ("recipe_cuisine", ("all",), str, (27841, 11933)),
    "OHSUMED": ("ohsumed10", ("train", "test"), str, (3999, 5153)),
    "20NEWS": ("20news", ("train", "test"), body, (11314, 7532)),
    "R8": ("r8", ("train", "test"), str, (5485, 2189)),
    "CLASSIC": ("classic4", ("all",), str, (4965, 2128)),
    "AMAZON": ("amazon", ("all",), str, (5600, 2400)),
}


@dataclass(frozen=True)
class Split:
    """Training and test texts with their labels."""

    texts: list[str]
    labels: np.ndarray
    n_train: int

    @property
    def train(self) -> slice:
        """Where the training part lies."""
        return slice(0, self.n_train)

    @property
    def test(self) -> slice:
        """Where the test part lies."""
        return slice(self.n_train, None)


def split(name: str, seed: int, most: int | None) -> Split:
    """The published split if there is one, else a random one of the same sizes."""
    data, parts, clean, (n_train, n_test) = SETS[name]
    rng = np.random.default_rng(seed)
    if most is not None:
        shrink = min(1.0, most / (n_train + n_test))
        n_train, n_test = round(shrink * n_train), round(shrink * n_test)
    records = [datasets.read_records(data, part) for part in parts]
    if len(records) == 1:
        order = rng.permutation(len(records[0]))
        chosen = [records[0][i] for i in order[: n_train + n_test]]
    else:
        chosen = [
            record[i]
            for record, count in zip(records, (n_train, n_test), strict=True)
            for i in rng.permutation(len(record))[:count]
        ]
        n_train = min(n_train, len(records[0]))
    texts = [clean(r["text"]) for r in chosen]
    return Split(texts, np.array([r["label"] for r in chosen]), n_train)


def by_linear_svm(features: np.ndarray, task: Split) -> float:
    # One scale for all features, so that the grid of C means the same for every method.
    scale = np.sqrt((features[task.train] ** 2).sum(axis=1).mean())
    features = features / max(float(scale), 1e-300)
    model = GridSearchCV(LinearSVC(dual="auto", max_iter=5000), COSTS, cv=3, n_jobs=2)
    model.fit(features[task.train], task.labels[task.train])
    return float(model.score(features[task.test], task.labels[task.test]))


def best_gamma(make, documents: fp.Documents, task: Split) -> float:
    """Choose γ by cross-validation on at most 1,500 training documents, at a small rank."""
    some = slice(0, min(1500, task.n_train))
    scores = []
    for gamma in GAMMAS:
        features = make(gamma, 100, 0).fit_transform(documents[some])
        features /= np.sqrt((features**2).sum(axis=1).mean())
        model = LinearSVC(C=10, dual="auto", max_iter=5000)
        scores.append(cross_val_score(model, features, task.labels[some], cv=3).mean())
    return GAMMAS[int(np.argmax(scores))]


def landmark_features(method: str):
    def make(gamma: float, rank: int, seed: int) -> fp.SimilarityFeatures:
        similarity = fp.WordMover(vectors(), gamma, empty="far")
        return fp.SimilarityFeatures(similarity, rank, method=method, random_state=seed, n_jobs=2)

    return make


def embedding(gamma: float, rank: int, seed: int) -> fp.WordMoverEmbedding:
    return fp.WordMoverEmbedding(
        vectors(), rank, gamma=gamma, center=True, random_state=seed, n_jobs=2
    )


def of_features(make, documents, task: Split, gamma: float, rank: int, seed: int):
    """Accuracy, evaluations and seconds of one run."""
    start = time.perf_counter()
    model = make(gamma, rank, seed)
    train = model.fit_transform(documents[task.train])
    spent = getattr(model, "evaluations_", rank * task.n_train)
    test = model.transform(documents[task.test])
    columns = len(getattr(model, "landmark_indices_", np.empty(rank)))
    accuracy = by_linear_svm(np.vstack([train, test]), task)
    return accuracy, spent + columns * len(test), time.perf_counter() - start


def plain_baseline(task: Split) -> tuple[float, int, float]:
    start = time.perf_counter()
    pattern = r"(?u)\b\w+\b"
    words = TfidfVectorizer(sublinear_tf=True, stop_words=stop_words(), token_pattern=pattern)
    train = words.fit_transform(task.texts[task.train])
    model = GridSearchCV(LinearSVC(dual="auto"), COSTS, cv=3).fit(train, task.labels[task.train])
    score = model.score(words.transform(task.texts[task.test]), task.labels[task.test])
    return float(score), 0, time.perf_counter() - start


def neighbours(documents, task: Split) -> tuple[float, int, float]:
    """kNN-WMD by pruned exact search, k chosen by leaving one out."""
    start = time.perf_counter()
    train, test = documents[task.train], documents[task.test]
    labels = task.labels[task.train]
    own = fp.wmd_neighbors(train[:1500], k=19, n_jobs=2)
    found = fp.wmd_neighbors(train, test, k=19, n_jobs=2)
    choices = (1, 3, 5, 9, 19)
    best = max(choices, key=lambda k: (_vote(labels, own.indices, k) == labels[:1500]).mean())
    score = (_vote(labels, found.indices, best) == task.labels[task.test]).mean()
    return float(score), own.solved + found.solved, time.perf_counter() - start


def _vote(labels: np.ndarray, near: np.ndarray, k: int) -> np.ndarray:
    names, codes = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(near), len(names)))
    for rank in range(k):  # nearer ones break ties
        votes[np.arange(len(near)), codes[near[:, rank]]] += 1 - 1e-3 * rank
    return names[votes.argmax(axis=1)]


def exact_kernel(documents, task: Split, gamma: float) -> tuple[float, int, float]:
    start = time.perf_counter()
    n = len(documents)
    kernel = np.exp(-gamma * fp.wmd(documents, n_jobs=2))
    model = GridSearchCV(SVC(kernel="precomputed"), COSTS, cv=3)
    model.fit(kernel[task.train, task.train], task.labels[task.train])
    score = model.score(kernel[task.test, task.train], task.labels[task.test])
    return float(score), n * (n - 1) // 2, time.perf_counter() - start


def optimal(documents, task: Split, gamma: float, rank: int) -> tuple[float, int, float]:
    """The best features of that rank, from all pairs."""
    start = time.perf_counter()
    n = len(documents)
    values, basis = np.linalg.eigh(np.exp(-gamma * fp.wmd(documents, n_jobs=2)))
    top = np.argsort(-values)[:rank]
    features = basis[:, top] * np.sqrt(np.maximum(values[top], 0))
    return by_linear_svm(features, task), n * (n - 1) // 2, time.perf_counter() - start


def runs(name: str, seeds: range, most: int | None, ranks: dict[str, int]) -> Iterator[tuple]:
    """(rank label, method, accuracy, evaluations, seconds) of every run."""
    for seed in seeds:
        task = split(name, seed, most)
        documents = fp.Documents.of(task.texts, vectors(), stop_words=stop_words(), empty="far")
        yield "–", "TF-IDF", *plain_baseline(task)
        yield "–", "kNN-WMD", *neighbours(documents, task)
        makers = {"WME": embedding} | {
            title: landmark_features(method) for title, method in LANDMARK_METHODS.items()
        }
        gammas = {title: best_gamma(make, documents, task) for title, make in makers.items()}
        for label, rank in ranks.items():
            for title, make in makers.items():
                size = min(rank, task.n_train // 2)
                yield label, title, *of_features(make, documents, task, gammas[title], size, seed)
            if len(documents) <= 4000:
                yield label, "Optimal", *optimal(documents, task, gammas["Nyström"], rank)
        if len(documents) <= 4000:
            yield "–", "exact kernel", *exact_kernel(documents, task, gammas["Nyström"])


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="these data sets")
    parser.add_argument("--most", type=int, help="documents of each data set, at most")
    options = parser.parse_args()
    need_data()
    names = options.only or list(SETS)
    most = options.most or (1500 if options.quick else None)
    seeds = range(1 if options.quick else 3)
    ranks = {"small": 128, "large": 512} if options.quick else {"small": 512, "large": 1500}
    rows = []
    for name in names:
        found: dict[tuple[str, str], list] = {}
        for label, title, *result in runs(name, seeds, most, ranks):
            found.setdefault((label, title), []).append(result)
        for (label, title), results in found.items():
            accuracy, spent, seconds = np.array(results).T
            rows.append(
                [
                    name,
                    label if label == "–" else f"{label} ({ranks[label]})",
                    title,
                    f"{100 * accuracy.mean():.1f} ± {100 * accuracy.std():.1f}",
                    f"{spent.mean() / 1e6:.2f} M",
                    f"{seconds.mean():.1f}",
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    limit = "all documents" if most is None else f"at most {most:,} documents of each set"
    headings = ["data", "rank", "method", "accuracy, %", "evaluations", "seconds"]
    text = f"{limit}, {len(seeds)} seeds.\n\n{table(headings, rows)}\n"
    print("\n" + text)
    if not options.quick:
        (DOCS / "wmd-classification-table.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
