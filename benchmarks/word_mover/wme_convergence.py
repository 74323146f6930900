"""Word Mover's Embedding: how fast it converges, what a feature costs, what else the time buys.

After Figure 2 of *Word Mover's Embedding*. γ and C are chosen on the training part, γ for each
method by itself; times are processor time of one thread. Writes docs/tables/wme-convergence.md and
draws docs/figures/wme-convergence.svg. Takes about an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wme_convergence [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish
from benchmarks.shared.tasks import Task, load
from benchmarks.shared.texts import by_length, vectors
from benchmarks.shared.wme_report import EQUAL, METHODS, SIZES, TITLES, Result, draw, written

GAMMAS = (0.05, 0.1, 0.2, 0.4, 0.8)
#: exp(−γ·WMD) for every γ is a power of exp(−UNIT·WMD), so distances are computed once.
UNIT = 0.01


def random_features(documents, train, size: int, seed: int, n_jobs: int = 1):
    """exp(−UNIT·WMD) to random documents, and the seconds that they took."""
    start = time.process_time()
    model = fp.WordMoverEmbedding(
        vectors(), size, gamma=UNIT, drawing="centred-box", random_state=seed, n_jobs=n_jobs
    )
    rows = model.fit(train).transform(documents)
    return rows * np.sqrt(size), time.process_time() - start


def power(units: np.ndarray, gamma: float) -> np.ndarray:
    return units ** (gamma / UNIT)


def kernel_errors(task: Task, gamma: float, most: int, reference: int, draws: int) -> list:
    """Root mean squared relative error at each R, against a kernel of many other draws."""
    documents, train, largest = task.documents[:most], task.documents[task.train], max(SIZES)

    def rows(seed: int) -> np.ndarray:
        return power(random_features(documents, train, largest, seed, 2)[0], gamma)

    known = (rows(1000 + seed) for seed in range(reference // largest))
    kernel = sum(r @ r.T for r in known) / reference
    squares: dict[int, list] = {size: [] for size in SIZES}
    for drawn in map(rows, range(draws)):
        for size in SIZES:
            # Features are independent of each other, so any R of them are a draw.
            parts = np.split(drawn, largest // size, axis=1)
            squares[size] += [relative(part @ part.T / size, kernel) ** 2 for part in parts]
    return [float(np.sqrt(np.mean(squares[size]))) for size in SIZES]


def prepared(rows: np.ndarray, n_train: int) -> np.ndarray:
    """Centred and scaled, so that the grid of C means the same for every method."""
    rows = rows - rows[:n_train].mean(axis=0)
    rows /= np.sqrt((rows[:n_train] ** 2).sum(axis=1).mean())
    if rows.shape[1] <= n_train:
        return rows
    # The classifier sees inner products with training rows only, and n_train columns hold them.
    values, basis = np.linalg.eigh(rows[:n_train] @ rows[:n_train].T)
    kept = values > 1e-12 * values[-1]
    return rows @ (rows[:n_train].T @ (basis[:, kept] / np.sqrt(values[kept])))


def searched(rows: np.ndarray, labels: np.ndarray) -> GridSearchCV:
    classifier = LinearSVC(dual=False, tol=1e-2)
    return GridSearchCV(classifier, {"C": (0.1, 1, 10)}, cv=KFold(3), n_jobs=2).fit(rows, labels)


def accuracies(rows: np.ndarray, task: Task) -> tuple[float, float]:
    """Per cent of the test part, and of the training part."""
    rows = prepared(rows, task.n_train)
    model = searched(rows[task.train], task.labels[task.train])
    return tuple(100 * model.score(rows[p], task.labels[p]) for p in (task.test, task.train))


def best_gamma(make: Callable, labels: np.ndarray) -> float:
    """The γ that does best in cross-validation on some training documents."""
    # Where γ is so large that landmarks say nothing about others, there may be no features.
    made = {gamma: rows for gamma in GAMMAS if (rows := make(gamma)).shape[1]}
    scores = {g: searched(prepared(r, len(r)), labels).best_score_ for g, r in made.items()}
    return max(scores, key=scores.get)


def known_landmarks(method: str, distances: np.ndarray, gamma: float) -> np.ndarray:
    """Features from distances that are known already: only to choose γ."""
    similarity = fp.Precomputed(np.exp(-gamma * distances))
    size = min(100, len(distances) // 5)
    model = fp.SimilarityFeatures(similarity, size, method=method, random_state=0)
    return model.fit_transform(list(range(len(distances))))


def landmark_features(method: str, gamma: float, size: int, task: Task):
    """Features of all documents, and the seconds that they took."""
    start = time.process_time()
    similarity = fp.WordMover(vectors(), gamma, empty="far")
    model = fp.SimilarityFeatures(similarity, size, method=method, random_state=task.seed)
    train = model.fit_transform(task.documents[task.train])
    rows = np.vstack([train, model.transform(task.documents[task.test])])
    return rows, time.process_time() - start


def affordable(method: str, gamma: float, count: int, task: Task, seconds: float):
    """Features from as many landmarks as the time buys, to about a tenth; seconds; their number."""
    for _ in range(3):
        rows, taken = landmark_features(method, gamma, count, task)
        if abs(taken / seconds - 1) < 0.1:
            break
        count = int(np.clip(count * seconds / taken, 2, 0.7 * task.n_train))
    return rows, taken, count


def compared(name: str, whole: Task, seeds: range, most: int) -> Iterator[Result]:
    """Results of all methods; γ is chosen on at most `most` training documents."""
    some = min(most, whole.n_train)
    counts = {both: min(both[1] // 4, whole.n_train // 4) for both in product(METHODS, EQUAL)}
    for seed in seeds:
        task = whole.shuffled(seed, split=True)
        train, labels = task.documents[task.train], task.labels[:some]
        made = {size: random_features(task.documents, train, size, seed) for size in SIZES}
        gamma = best_gamma(partial(power, made[256][0][:some]), labels)
        for size, (units, seconds) in made.items():
            scores = accuracies(power(units, gamma), task)
            yield Result(name, "WME", size, seed, gamma, size, seconds, *scores)
        for title, method in METHODS.items():
            known = partial(known_landmarks, method, task.distances[:some, :some])
            gamma = best_gamma(known, labels)
            for size in EQUAL:
                count, budget = counts[title, size], made[size][1]
                rows, seconds, count = affordable(method, gamma, count, task, budget)
                counts[title, size] = count  # where the next seed begins
                scores = accuracies(rows, task)
                yield Result(name, title, size, seed, gamma, count, seconds, *scores)


def price_rows(repeats: int) -> Iterator[list[str]]:
    """Lines of the table of what a feature costs, by length of the documents."""
    for title, documents in by_length().items():
        length = np.diff(documents.starts).mean()
        some, similarity, taken = documents[:500], fp.WordMover(vectors(), UNIT), []
        chosen = documents[np.random.default_rng(0).permutation(len(documents))[:20]]
        for _ in range(repeats + 1):
            rows, feature = random_features(some, some, 128, 0)
            start = time.process_time()
            block = similarity.block(some, chosen)
            column = time.process_time() - start
            taken.append((1e6 * feature / rows.size, 1e6 * column / block.size))
        feature, column = np.array(taken[1:]).T  # the first one may have compiled
        ratio = column / feature
        cells = [f"{values.min():.2f} ({values.max():.2f})" for values in (feature, column)]
        cells.append(f"**{np.median(ratio):.1f}×** ({ratio.min():.1f}–{ratio.max():.1f})")
        yield [f"{title}, L = {length:.1f}", *cells]


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    # Documents in all, and those of the kernel whose error is measured.
    sets = {"TWITTER": (None, 60), "R8": (800, 30)}
    seeds, reference, draws, repeats, some = range(3), 2**17, 24, 5, 1500
    if options.quick:
        sets = {"TWITTER": (300, 40), "R8": (200, 20)}
        seeds, reference, draws, repeats, some = range(1), 2**14, 2, 1, 140
    results: list[Result] = []
    errors, facts = {}, []
    prices = list(price_rows(repeats))
    for name, (most, for_kernel) in sets.items():
        task = load(name, most)
        for result in compared(name, task, seeds, some):
            results.append(result)
            print(*result, sep=" | ", flush=True)
        gamma = next(r.gamma for r in results if r.name == name)
        errors[name] = kernel_errors(task, gamma, for_kernel, reference, draws)
        length, n = np.diff(task.documents.starts).mean(), len(task.labels)
        gammas = {t: sorted({r.gamma for r in results if r[:2] == (name, t)}) for t in TITLES}
        chosen = ", ".join(f"{t} {' or '.join(map(str, g))}" for t, g in gammas.items())
        facts.append(
            f"{name}: {task.n_train:,} training and {n - task.n_train:,} test documents of "
            f"{length:.0f} words; γ chosen: {chosen}; error of the kernel: {for_kernel} of them, "
            f"γ = {gamma}.\n"
        )
    text = written(
        results, errors, prices,
        facts="".join(facts), seeds=len(seeds), reference=reference, draws=draws, repeats=repeats,
    )  # fmt: skip
    print("\n" + text)
    publish("wme-convergence", text, quick=options.quick)
    if not options.quick:
        draw(results, errors)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
