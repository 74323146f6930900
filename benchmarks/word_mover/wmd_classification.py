"""Classify documents by Word Mover's similarity, as in the papers.

A LinearSVC on the features of every method; γ, the rank and C are chosen by cross-validation on the
training part alone. All distances of a data set are computed once, and looked up afterwards, so
"seconds" are worked out: the evaluations spent, at the measured price of one (two threads), plus
the method's own arithmetic and the final classifier, without the searches for γ, rank and C. Writes
docs/tables/wmd-classification.md.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wmd_classification [--quick] [--only NAME …]
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, LinearSVC

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.papers import PRINTED
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import MOST_FEATURES, SETS, Task, has_published_split, load
from benchmarks.shared.texts import stop_words
from fewpairs.text.tokens import tokenize

#: Landmarks at most; the embedding may have more features.
MOST_COLUMNS = 1500
GAMMAS = (0.1, 0.2, 0.4, 0.8, 1.6)
COSTS = (0.3, 3, 30)
METHODS = {
    "WME": None,
    "Nyström": "nystrom",
    "SMS-Nyström": "sms",
    "SiCUR": "sicur",
    "StaCUR": "stacur",
    "fitted": "fitted",
}


class Features(NamedTuple):
    """Rows for all documents, how many distances they took, and for how many seconds."""

    rows: np.ndarray
    evaluations: int
    seconds: float


class Result(NamedTuple):
    """One line of the table, for one seed."""

    accuracy: float
    evaluations: int
    seconds: float


def features(title: str, task: Task, gamma: float, rank: int) -> Features:
    """Features of one method: fitted to the training part, then for all documents."""
    if METHODS[title] is None:
        distances, each = task.random_distances
        rows = np.exp(-gamma * distances[:, :rank]) / np.sqrt(rank)
        return Features(rows, rows.size, rows.size * each)
    kernel = np.exp(-gamma * task.distances)

    def look_up(left, right):
        return kernel[np.ix_(left, right)]

    similarity = fp.similarity(look_up, kind="block", symmetric=True, name="exp(-gamma WMD)")
    start = time.perf_counter()
    model = fp.SimilarityFeatures(similarity, rank, method=METHODS[title], random_state=task.seed)
    train = model.fit_transform(list(range(task.n_train)))
    test = model.transform(list(range(task.n_train, len(task.labels))))
    spent = model.evaluations_ + len(model.landmark_indices_) * len(test)
    seconds = time.perf_counter() - start + spent * task.seconds_each
    return Features(np.vstack([train, test]), spent, seconds)


def scaled(rows: np.ndarray, task: Task) -> np.ndarray:
    """One scale for all features, so that C means the same for every method and rank."""
    return rows / np.sqrt((rows[task.train] ** 2).sum(axis=1).mean())


def machine(cost: float) -> LinearSVC:
    """The classifier; its primal solver is several times faster here than the dual one."""
    return LinearSVC(C=cost, dual=False, tol=1e-2)


def choices(title: str, task: Task) -> tuple[float, float]:
    """Choose γ and C on at most 1,000 training documents, at rank 128."""
    few = slice(0, min(1000, task.n_train))
    found = {}
    for gamma in GAMMAS:
        rows = scaled(features(title, task, gamma, 128).rows, task)[few]
        model = GridSearchCV(machine(1.0), {"C": COSTS}, cv=3, n_jobs=2)
        model.fit(rows, task.labels[few])
        found[model.best_score_] = gamma, model.best_params_["C"]
    return found[max(found)]


def classified(made: list[Features], task: Task, cost: float) -> Result:
    """Score on the test part the features that do best in cross-validation."""
    train = task.labels[task.train]
    ready = [scaled(one.rows, task) for one in made]
    scores = [0.0]
    if len(made) > 1:
        scores = [
            cross_val_score(machine(cost), rows[task.train], train, cv=3, n_jobs=2).mean()
            for rows in ready
        ]
    best = int(np.argmax(scores))
    start = time.perf_counter()
    model = machine(cost).fit(ready[best][task.train], train)
    accuracy = model.score(ready[best][task.test], task.labels[task.test])
    seconds = made[best].seconds + time.perf_counter() - start
    return Result(accuracy, made[best].evaluations, seconds)


def plain_baseline(task: Task) -> Result:
    """A linear SVM on TF-IDF: what no similarity of pairs is needed for."""
    start = time.perf_counter()
    stopped = set(stop_words())
    words = TfidfVectorizer(
        sublinear_tf=True, analyzer=lambda text: [t for t in tokenize(text) if t not in stopped]
    )
    train = words.fit_transform(task.texts[task.train])
    model = GridSearchCV(LinearSVC(dual="auto"), {"C": COSTS}, cv=3)
    model.fit(train, task.labels[task.train])
    score = model.score(words.transform(task.texts[task.test]), task.labels[task.test])
    return Result(float(score), 0, time.perf_counter() - start)


def neighbours(task: Task) -> Result:
    """kNN-WMD by pruned exact search, k chosen by leaving one out."""
    start = time.perf_counter()
    labels = task.labels[task.train]
    found = fp.wmd_neighbors(task.documents[task.train], task.documents[task.test], k=19, n_jobs=2)
    taken = time.perf_counter() - start
    own = task.distances[task.train, task.train].copy()
    np.fill_diagonal(own, np.inf)
    near = np.argsort(own, axis=1)[:, :19]
    best = max((1, 3, 5, 9, 19), key=lambda k: (_vote(labels, near, k) == labels).mean())
    score = (_vote(labels, found.indices, best) == task.labels[task.test]).mean()
    return Result(float(score), found.solved, taken)


def _vote(labels: np.ndarray, near: np.ndarray, k: int) -> np.ndarray:
    names, codes = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(near), len(names)))
    for rank in range(k):  # nearer ones break ties
        votes[np.arange(len(near)), codes[near[:, rank]]] += 1 - 1e-3 * rank
    return names[votes.argmax(axis=1)]


def exact_kernel(task: Task, gamma: float) -> Result:
    """An SVM on all pairs."""
    start = time.perf_counter()
    n = len(task.labels)
    kernel = np.exp(-gamma * task.distances)
    model = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, cv=3, n_jobs=2)
    model.fit(kernel[task.train, task.train], task.labels[task.train])
    score = model.score(kernel[task.test, task.train], task.labels[task.test])
    spent = n * (n - 1) // 2
    return Result(score, spent, time.perf_counter() - start + spent * task.seconds_each)


def optimal(task: Task, gamma: float, cost: float, ranks: list[int]) -> Result:
    """The best features of those ranks, from all pairs."""
    start = time.perf_counter()
    ranks = sorted({min(rank, len(task.labels)) for rank in ranks})
    values, basis = np.linalg.eigh(np.exp(-gamma * task.distances))
    order = np.argsort(-values)
    whole = (basis * np.sqrt(np.maximum(values, 0)))[:, order]
    spent = len(order) * (len(order) - 1) // 2
    seconds = time.perf_counter() - start + spent * task.seconds_each
    made = [Features(whole[:, :rank], spent, seconds) for rank in ranks]
    return classified(made, task, cost)


def runs(task: Task, ranks: dict[str, list[int]]) -> Iterator[tuple[str, str, Result]]:
    """(rank label, method, result) of every run of one seed."""
    yield "–", "TF-IDF", plain_baseline(task)
    yield "–", "kNN-WMD", neighbours(task)
    chosen = {title: choices(title, task) for title in METHODS}
    for label, sizes in ranks.items():
        for title, (gamma, cost) in chosen.items():
            most = MOST_FEATURES if title == "WME" else min(round(0.7 * task.n_train), MOST_COLUMNS)
            allowed = sorted({min(size, most) for size in sizes})
            made = [features(title, task, gamma, size) for size in allowed]
            yield label, title, classified(made, task, cost)
        fitting = [size for size in sizes if size <= MOST_COLUMNS]
        yield label, "Optimal", optimal(task, *chosen["fitted"], fitting)
    yield "–", "exact kernel", exact_kernel(task, chosen["fitted"][0])


def rows_of(name: str, most: int | None, seeds: range, ranks: dict[str, list[int]]) -> Iterator:
    """Lines of the table for one data set."""
    whole = load(name, most)
    found: dict[tuple[str, str], list[Result]] = {}
    for seed in seeds:
        task = whole.shuffled(seed, split=not has_published_split(name))
        for label, title, result in runs(task, ranks):
            found.setdefault((label, title), []).append(result)
    for label in ("–", *ranks):
        for (of, title), results in found.items():
            if of == label:
                accuracy, spent, seconds = np.array(results).T
                shown = f"{100 * accuracy.mean():.1f} ± {100 * accuracy.std():.1f}"
                cells = [shown, PRINTED.get((name, label, title), "")]
                cells += [f"{spent.mean() / 1e6:.2f}", f"{seconds.mean():.1f}"]
                yield [f"{name} ({len(whole.labels):,})", label, title, *cells]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="these data sets")
    parser.add_argument(
        "--most", type=int, default=2400, help="documents of each set but TWITTER, at most"
    )
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    need_data()
    ranks = {"small": [256, 512], "large": [MOST_COLUMNS, MOST_FEATURES]}
    if options.quick:
        options.most, options.seeds, ranks = 1000, 1, {"small": [128], "large": [512]}
    headings = ["data (documents)", "rank", "method", "accuracy, %", "papers"]
    headings += ["million evaluations", "seconds"]
    rows = []
    for name in options.only or list(SETS):
        most = None if name == "TWITTER" and not options.quick else options.most
        for row in rows_of(name, most, range(options.seeds), ranks):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
        text = (  # after every set: all of them take long
            f"TWITTER whole, at most {options.most:,} documents of the other sets, "
            f"{options.seeds} seeds. Small rank: the better of {ranks['small']}; large: up to "
            f"{MOST_COLUMNS:,} landmarks or 70 % of the training documents, and up to "
            f"{MOST_FEATURES:,} random features.\n\n{table(headings, rows)}"
        )
        publish("wmd-classification", text, quick=options.quick)


if __name__ == "__main__":
    main()
