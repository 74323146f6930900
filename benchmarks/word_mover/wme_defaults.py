"""Word Mover's Embedding: where random words should lie, and how many a document should have.

Cross-validation on 1,000 training documents of each set, of the pipeline that the docs recommend,
`make_pipeline(WordMoverEmbedding(vectors), LogisticRegression())`: every way to draw random words,
vectors as they are and of length one, several longest lengths D. No test document is read. Then
the same on 4,000 of 20NEWS; and, on test documents, the default beside the paper's features
with γ and C tuned. About half an hour; stopped and started again with `--keep` it goes on. Writes
docs/tables/wme-defaults.md.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wme_defaults [--quick] [--keep FILE]
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import corpus
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import accuracies, best_cost
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import SETS
from benchmarks.shared.texts import stop_words, vectors
from fewpairs import datasets
from fewpairs.sketches.random_documents import DRAWINGS

N_TRAIN, N_TEST = 1000, 800
LENGTHS = (1, 3, 6, 12, 21)
#: Lengths that all ways to draw are compared at; the others only for the paper's box.
COMPARED = (6, 12)
#: The paper's features are taken at this γ, and give those at any other by a power.
UNIT = 0.01
GAMMAS = (0.05, 0.1, 0.3, 1.0, 3.0)
TRAIN, TEST = slice(0, N_TRAIN), slice(N_TRAIN, None)
#: The largest set of long documents, how many are trained on, and the ways to draw.
LARGEST, MANY = "20NEWS", 4000
ON_ALL = [
    ("box", 6, False),
    ("centred-box", 6, False),
    ("centred-box", 12, False),
    ("centred-box", 12, True),
    ("words", 12, True),
]
#: γ in units of one over the spread of distances; 0.15 is the default.
SHARES = (0.05, 0.15, 0.25, 0.5, 1.0)
#: What random documents are needed for these relative errors of the kernel.
ERRORS = (0.2, 0.1, 0.05)
TEXT = """\
## By cross-validation on training documents

Per cent right in three folds of {n_train:,} training documents of each set, 256 random documents of
1 to D words, `make_pipeline(WordMoverEmbedding(vectors, …), LogisticRegression())`; mean over
{draws} draw(s) of random documents. "box" is the paper's Algorithm 1, "centred-box" that of its
experiments, "words" takes words that occur; "length one" scales word vectors and random words, as
the authors' code does. Ordered by the mean over the sets; {default} is the default.

{compared}

## By γ

The same with the default drawing, by γ in units of one over the spread of distances to a random
document; {share:g} is the default.

{by_gamma}

## On more training documents

{many:,} training documents of 20NEWS: three quarters train a linear SVM on 256 features; per cent
right of the others, at the best of several C.

{on_all}

## On test documents

Per cent right of {n_test} test documents. Tuned: a linear SVM on the paper's features (centred box,
D = 6), γ and C by validation on training documents.

{tested}

## How many random documents

What `WordMoverEmbedding(vectors, n_components=error)` chooses: random documents for that relative
Frobenius error of the kernel, from 128 random documents of its own, by γ.

{sizes}
"""


@cache
def read(name: str) -> tuple[fp.Documents, np.ndarray]:
    """Documents and labels, the training ones first; both parts of a published split are kept."""
    data, parts, clean, _ = SETS[name]
    rng = np.random.default_rng(0)
    records = [datasets.read_records(data, part) for part in parts]
    if len(records) == 1:
        records = [[records[0][i] for i in rng.permutation(len(records[0]))]]
        records = [records[0][:N_TRAIN], records[0][N_TRAIN:]]
    chosen = [
        part[i]
        for part, count in zip(records, (N_TRAIN, N_TEST), strict=True)
        for i in rng.permutation(len(part))[:count]
    ]
    texts = [clean(record["text"]) for record in chosen]
    documents = fp.Documents.of(texts, vectors(), stop_words=stop_words(), empty="far")
    return documents, np.array([record["label"] for record in chosen])


def features(name: str, seed: int, which: slice, **options) -> np.ndarray:
    """Of some documents, as the default pipeline has them."""
    documents = read(name)[0]
    model = fp.WordMoverEmbedding(vectors(), random_state=seed, **options)
    return model.fit(documents[TRAIN]).transform(documents[which])


def validated(name: str, draws: int, **options) -> float:
    """Per cent right in cross-validation on training documents."""
    labels, found = read(name)[1][TRAIN], []
    for seed in range(draws):
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        rows = features(name, seed, TRAIN, **options)
        found.append(
            cross_val_score(LogisticRegression(max_iter=300), rows, labels, cv=folds).mean()
        )
    return 100 * float(np.mean(found))


def by_share(name: str) -> list[float]:
    """Per cent right in cross-validation with the default drawing, for each γ."""
    labels = read(name)[1][TRAIN]
    units = features(name, 0, TRAIN, gamma=UNIT)
    distances = -np.log(units * np.sqrt(units.shape[1])) / UNIT
    # Documents without words are equally far from everything, and are not measured.
    measured = distances[np.ptp(distances, axis=1) > 1e-6]
    spread = np.sqrt(measured.var(axis=0).mean())
    folds, found = StratifiedKFold(3, shuffle=True, random_state=0), []
    for share in SHARES:
        rows = np.expm1(share * (measured.mean(axis=0) - distances) / spread)
        model = LogisticRegression(max_iter=300)
        found.append(100 * cross_val_score(model, rows, labels, cv=folds).mean())
    return found


def held_out(name: str, **options) -> float:
    """Per cent right of a quarter of the training documents."""
    whole = corpus(name, Path())
    train = np.random.default_rng(0).permutation(whole.split(0)[0])[:MANY]
    model = fp.WordMoverEmbedding(vectors(), random_state=0, **options)
    rows = model.fit_transform(whole.documents[train])
    return 100 * best_cost(rows, whole.labels[train])[1]


def tests_of(name: str) -> list[float]:
    """Majority, the default pipeline, and a tuned SVM on the paper's features."""
    labels = read(name)[1]
    known, asked = labels[TRAIN], labels[TEST]
    majority = 100 * max(np.mean(asked == label) for label in np.unique(asked))
    model = LogisticRegression(max_iter=300).fit(features(name, 0, TRAIN), known)
    default = 100 * model.score(features(name, 0, TEST), asked)
    units = features(name, 0, slice(None), drawing="centred-box", gamma=UNIT)
    distances = -np.log(units * np.sqrt(units.shape[1])) / UNIT
    made = {g: np.exp(-g * (distances - distances[TRAIN].mean())) for g in GAMMAS}
    best = max(made, key=lambda g: best_cost(made[g][TRAIN], known)[1])
    tuned, _, _ = accuracies(made[best][TRAIN], known, made[best][TEST], asked)
    return [majority, default, tuned]


def sizes_of(name: str) -> list[int]:
    """Random documents that each error takes, with the default γ and with the paper's features."""
    some = read(name)[0][TRAIN]
    models = [
        fp.WordMoverEmbedding(vectors(), error, random_state=0, **options)
        for options in ({}, {"gamma": 1.0})
        for error in ERRORS
    ]
    return [len(model.fit(some).random_documents_) for model in models]


def title(drawing: str, length: int, unit: bool) -> str:
    return f"{drawing}, D = {length}{', length one' * unit}"


def compute(kept: Kept, names: list[str], cases: list[tuple], draws: int, *, quick: bool) -> None:
    """Everything that is not kept yet."""
    for (drawing, length, unit), name in product(cases, names):
        given = {"drawing": drawing, "max_words": length, "normalize": unit}
        part = f"{name} {title(drawing, length, unit)}"
        if part not in kept:
            kept.add(part, validated(name, draws, **given))
            print(part, kept[part], flush=True)
        part = f"{name} many {title(drawing, length, unit)}"
        many = name == LARGEST and (drawing, length, unit) in ON_ALL and not quick
        if many and part not in kept:
            kept.add(part, held_out(name, **given))
            print(part, kept[part], flush=True)
    for name, (what, find) in product(names, (
        ("tests", tests_of), ("shares", by_share), ("numbers", sizes_of)
    )):  # fmt: skip
        if f"{name} {what}" not in kept:
            kept.add(f"{name} {what}", find(name))


def compared(kept: Kept, names: list[str], cases: list[tuple], kind: str = "") -> str:
    """A table of ways to draw, the best first."""
    found = {title(*case): [kept[f"{n} {kind}{title(*case)}"] for n in names] for case in cases}
    order = sorted(found, key=lambda case: -np.mean(found[case]))
    rows = [[case, *(f"{v:.1f}" for v in (*found[case], np.mean(found[case])))] for case in order]
    return table(["random words", *names, "mean"], rows)


def written(kept: Kept, names: list[str], cases: list[tuple], draws: int, *, quick: bool) -> str:
    """The whole page."""
    model = fp.WordMoverEmbedding({})
    shares = [kept[f"{name} shares"] for name in names]
    by_gamma = [*zip(names, shares, strict=True), ("mean", np.mean(shares, axis=0))]
    return TEXT.format(
        n_train=N_TRAIN, n_test=N_TEST, draws=draws, many=MANY, share=SHARES[1],
        default=title(model.drawing, model.max_words, model.normalize),
        compared=compared(kept, names, cases),
        by_gamma=table(
            ["data", *(f"{share:g}" for share in SHARES)],
            [[name, *(f"{value:.1f}" for value in values)] for name, values in by_gamma],
        ),
        on_all="" if quick else compared(kept, [LARGEST], ON_ALL, "many "),
        tested=table(
            ["data", "majority", "default", "the paper's features, tuned"],
            [[name, *(f"{value:.1f}" for value in kept[f"{name} tests"])] for name in names],
        ),
        sizes=table(
            ["data", *(f"default γ, {e:g}" for e in ERRORS), *(f"γ = 1, {e:g}" for e in ERRORS)],
            [[name, *(f"{value:,}" for value in kept[f"{name} numbers"])] for name in names],
        ),
    )  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    parser.add_argument("--draws", type=int, default=1, help="of random documents, for each case")
    options = parser.parse_args()
    need_data()
    kept = Kept(options.keep, "sketches", "text", "transport")
    names = [*SETS][:2] if options.quick else [*SETS]
    cases = list(product(DRAWINGS, COMPARED, (False, True)))
    cases += [("box", length, False) for length in LENGTHS if length not in COMPARED]
    if options.quick:
        cases = cases[:2]
    compute(kept, names, cases, options.draws, quick=options.quick)
    text = written(kept, names, cases, options.draws, quick=options.quick)
    print(text)
    publish("wme-defaults", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
