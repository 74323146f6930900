"""Classify all documents of the papers' sets by Word Mover's similarity.

Tables 2 and 6 and Figure 7 of *Sublinear Time Approximation of Text Similarity Matrices*, Table 2
of *Word Mover's Embedding*. A linear SVM on centred features; γ, D and C are chosen on training
documents, for every method at the size that is used. Distances come from the files of
wmd_columns.py; results are kept beside them, and what is there is not computed again. With 512
columns three hours on one core, 25 minutes of them for the columns. Writes
docs/tables/wmd-classification.md.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.wmd_classification
        [--quick] [--only NAME …] [--size N] [--seeds N] [--most N] [--neighbours] [--exact]
        [--price] [--print]

The published page is of these runs. What has "–" there was left out by `--methods`, or needs
`--exact`; kNN-WMD is of the first split alone:

    wmd_classification --neighbours
    wmd_classification --size 1024 --only TWITTER OHSUMED 20NEWS
    wmd_classification --size 1024 --only RECIPE_L --seeds 1
    wmd_classification --only "20NEWS with headers"
    wmd_classification --methods "WME, length one" --only TWITTER 20NEWS
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.classification_report import ALL_PAIRS, PRICED, part_of, written
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import Corpus, cache_folder, corpus
from benchmarks.shared.document_features import (
    GAMMAS,
    METHODS,
    RANDOM,
    Choice,
    Distances,
    choose,
    landmark_features,
    random_features,
)
from benchmarks.shared.earlier import Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import COSTS, accuracies
from benchmarks.shared.tables import publish
from benchmarks.shared.tasks import ALL_SETS, SETS

#: The largest number of documents whose pairs are all evaluated unless a user asks for it.
MOST_FOR_ALL_PAIRS = 3200
#: Training documents by which γ and C are chosen where all pairs are known.
MOST_TO_CHOOSE = 4000
#: Documents whose kernel is decomposed whole; of more its leading part alone, which takes so many
#: rounds of subspace iteration, by so many lines at a time.
MOST_DECOMPOSED, ROUNDS, LINES = 12_000, 4, 2000


def compared(
    title: str, choice: Choice, distances: Distances, size: int, seed: int
) -> dict[str, float]:
    """Accuracy and price of one method on one split."""
    whole = distances.corpus
    train, test = whole.split(seed)
    if whole.published is not None:
        # Landmarks are the first of the pool, so these come first.
        train = whole.pool
    if title in RANDOM:
        both = np.concatenate([train, test])
        made = random_features(title, whole, choice.gamma, size, choice.max_words, both)
        each = whole.random_columns(size, choice.max_words, unit="length one" in title)[1]
    else:
        made = landmark_features(title, distances, choice.gamma, size, train, test)
        each = distances.seconds_each
    n, labels = len(train), whole.labels
    start = time.process_time()
    right = accuracies(made.rows[:n], labels[train], made.rows[n:], labels[test])
    taken = time.process_time() - start
    return {
        "test": right[0],
        "train": right[1],
        "cost": right[2],
        "gamma": choice.gamma,
        "D": choice.max_words,
        "evaluations": made.evaluations,
        "distances": made.evaluations * each,
        "arithmetic": made.seconds,
        "classifier": taken,
    }


def nearest(whole: Corpus, seed: int) -> dict[str, float]:
    """kNN-WMD by pruned exact search; k by leaving one out, among documents always trained on."""
    train, test = whole.split(seed)
    known = whole.documents[whole.pool[: min(whole.always, 1000)]]
    labels = whole.labels[whole.pool[: len(known)]]
    near = fp.wmd_neighbors(known, k=19).indices
    best = max((1, 3, 5, 9, 19), key=lambda k: (vote(labels, near, k) == labels).mean())
    start = time.process_time()
    found = fp.wmd_neighbors(whole.documents[train], whole.documents[test], k=best)
    taken = time.process_time() - start
    right = vote(whole.labels[train], found.indices, best) == whole.labels[test]
    return {"test": 100 * right.mean(), "k": best, "evaluations": found.solved, "distances": taken}


def price(whole: Corpus, seed: int) -> float:
    """Seconds that kNN-WMD would take with 9 neighbours, by a few of the test documents."""
    train, test = whole.split(seed)
    some = np.random.default_rng(0).permutation(test)[:PRICED]
    fp.wmd_neighbors(whole.documents[some], k=1)  # loads the solver before the clock starts
    start = time.process_time()
    fp.wmd_neighbors(whole.documents[train], whole.documents[some], k=9)
    return (time.process_time() - start) * len(test) / len(some)


def vote(labels: np.ndarray, near: np.ndarray, k: int) -> np.ndarray:
    names, codes = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(near), len(names)))
    for rank in range(k):  # nearer ones break ties
        votes[np.arange(len(near)), codes[near[:, rank]]] += 1 - 1e-3 * rank
    return names[votes.argmax(axis=1)]


@cache
def optimal_features(distances: Distances, gamma: float, size: int) -> np.ndarray:
    """The best features of that size of all documents, from all pairs."""
    every = np.arange(len(distances.corpus.texts))
    values, basis = leading(lambda rows: distances.kernel(gamma, rows, every), len(every), size)
    return basis * np.sqrt(np.maximum(values, 0))


def leading(
    lines: Callable[[np.ndarray], np.ndarray], n: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a kernel, given by some of its lines, and their vectors."""
    if n <= MOST_DECOMPOSED:
        kernel = lines(np.arange(n)).astype(float)
        return eigh(kernel, subset_by_index=[max(n - size, 0), n - 1], overwrite_a=True)
    some = np.array_split(np.arange(n), -(-n // LINES))

    def product(x: np.ndarray) -> np.ndarray:
        """Of the kernel with x, without room for a kernel."""
        return np.vstack([lines(rows) @ x for rows in some])

    rng = np.random.default_rng(0)
    basis = rng.standard_normal((n, size + size // 10), dtype=np.float32)
    for _ in range(ROUNDS):
        basis = np.linalg.qr(product(basis))[0]
    values, turn = eigh(basis.T @ product(basis))
    return values[-size:], basis @ turn[:, -size:]


def from_all_pairs(title: str, distances: Distances, size: int, seed: int) -> dict[str, float]:
    """The optimal features of a size, or an SVM on the kernel itself.

    γ, C and whether the kernel's machine tells pairs of classes apart, or each from the rest as the
    linear one does, are chosen on training rows.
    """
    whole = distances.corpus
    train, test = whole.split(seed)
    some = (train if whole.published is None else whole.pool)[:MOST_TO_CHOOSE]
    labels, held = whole.labels, np.arange(len(some)) % 4 == 0
    start = time.process_time()

    def right(known: np.ndarray, asked: np.ndarray, gamma: float, cost: float, rest: bool) -> float:
        if title == "Optimal":
            rows = optimal_features(distances, gamma, size)
            return accuracies(rows[known], labels[known], rows[asked], labels[asked])[0]
        model = SVC(C=cost, kernel="precomputed")
        model = OneVsRestClassifier(model) if rest else model
        model.fit(distances.kernel(gamma, known, known).astype(float), labels[known])
        return 100 * model.score(distances.kernel(gamma, asked, known), labels[asked])

    # The machine of the features chooses its own C.
    machines = ((0.0,), (True,)) if title == "Optimal" else (COSTS, (False, True))
    guesses = {
        choice: right(some[~held], some[held], *choice) for choice in product(GAMMAS, *machines)
    }
    best = max(guesses, key=guesses.get)
    n = len(whole.texts)
    spent = n * (n - 1) // 2
    gamma, cost, rest = best
    return {"test": right(train, test, *best), "cost": cost, "gamma": gamma, "rest": rest,
            "evaluations": spent, "distances": spent * distances.seconds_each,
            "arithmetic": time.process_time() - start}  # fmt: skip


def run(
    name: str, whole: Corpus, size: int, seeds: int, kept: Kept, titles: tuple[str, ...],
    *, all_pairs: bool,
) -> None:  # fmt: skip
    """Everything of one data set that is not there yet."""
    n = len(whole.texts)
    all_pairs = all_pairs or n <= MOST_FOR_ALL_PAIRS
    distances = Distances(whole, n if all_pairs else size)
    n_train = round(0.7 * n) if whole.published is None else whole.published
    length = np.diff(whole.documents.starts).mean()
    # Random documents need no landmarks' columns, which take much longer.
    each = distances.seconds_each if set(titles) & set(METHODS) else None
    if each or f"{name}|facts" not in kept:
        kept.add(f"{name}|facts", [n, n_train, length, each])
    for title in titles:
        part = f"{name}|{size}|{title}"
        if f"{part}|choice" not in kept:
            kept.add(f"{part}|choice", choose(title, distances, size))
        choice = Choice(*kept[f"{part}|choice"])
        for seed in splits(whole, seeds):
            if f"{part}|{seed}" not in kept:
                kept.add(f"{part}|{seed}", compared(title, choice, distances, size, seed))
                print(f"{part}|{seed}", kept[f"{part}|{seed}"], flush=True)
    for title in ALL_PAIRS if all_pairs and each else ():
        for seed in splits(whole, seeds):
            part = f"{part_of(name, size, title)}|{seed}"
            if part not in kept:
                kept.add(part, from_all_pairs(title, distances, size, seed))
                print(part, kept[part], flush=True)


def splits(whole: Corpus, seeds: int) -> range:
    """Seeds of the splits: one where the data have their own."""
    return range(1 if whole.published is not None else seeds)


def results(folder: Path) -> Kept:
    """What is kept: a change of our own method does away with its own lines alone."""
    rooms = ("methods", "sketches", "text", "transport")
    return Kept(folder / "classification.jsonl", *rooms, apart="fitted")


def show(kept: Kept, *, quick: bool) -> str:
    """Write the page; cells that were not run stay, and are marked if other code made them."""
    if quick:
        text = written(kept)
    else:
        earlier = Earlier.of("wmd-classification", kept.code)
        text = earlier.fill(written(kept, earlier))
    publish("wmd-classification", text, quick=quick)
    return text


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(ALL_SETS), help="these data sets")
    parser.add_argument("--size", type=int, default=512, help="landmarks, and random documents")
    parser.add_argument("--seeds", type=int, default=5, help="splits of sets without one")
    parser.add_argument(
        "--methods", nargs="*", choices=[*METHODS, *RANDOM], default=[*METHODS, "WME"]
    )
    parser.add_argument(
        "--most", type=int, help="so many documents of a set, where all take too long"
    )
    parser.add_argument("--neighbours", action="store_true", help="kNN-WMD as well")
    parser.add_argument(
        "--exact", action="store_true", help="optimal features and the exact kernel too: hours"
    )
    parser.add_argument("--price", action="store_true", help="only what kNN-WMD would take")
    parser.add_argument("--print", action="store_true", help="compute nothing: print what is kept")
    parser.add_argument("--cache", help="folder for distances and results; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    folder = cache_folder(options.cache)
    if options.quick:
        options.only, options.size, options.seeds = ["TWITTER", "R8"], 64, 1
        options.most, folder = 600, folder / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    kept, text = results(folder), ""
    for name in [] if options.print else options.only or list(SETS):
        whole = corpus(name, folder, most=options.most)
        label = name if options.most is None else f"{name}, {options.most}"
        if options.price:
            kept.add(f"{label}|price of kNN-WMD", price(whole, 0))
            continue
        titles = tuple(options.methods)
        run(label, whole, options.size, options.seeds, kept, titles, all_pairs=options.exact)
        for seed in splits(whole, options.seeds) if options.neighbours else ():
            if (part := f"{label}|kNN-WMD|{seed}") not in kept:
                kept.add(part, nearest(whole, seed))
                print(part, kept[part], flush=True)
        text = show(kept, quick=options.quick)
    print("\n" + (text or show(kept, quick=options.quick)))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
