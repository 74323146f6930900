"""Word Mover's Embedding: where random words should lie, and how many a document should have.

Cross-validation on 1,000 training documents of each set, of the pipeline that the docs recommend,
`make_pipeline(WordMoverEmbedding(vectors), LogisticRegression())`: every way to draw random words,
vectors as they are and of length one, several longest lengths D. No test document is read. Then,
on test documents, the default beside the paper's features with γ and C tuned. About a quarter of
an hour; stopped and started again with `--keep` it goes on. Writes docs/tables/wme-defaults.md.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wme_defaults [--quick] [--keep FILE]
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
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
GAMMAS, CS = (0.05, 0.1, 0.3, 1.0, 3.0), (0.001, 0.01, 0.1, 1.0)
#: What random documents are needed for these relative errors of the kernel.
ERRORS = (0.2, 0.1, 0.05)
TEXT = """\
## By cross-validation on training documents

Per cent right in three folds of {n_train:,} training documents of each set, 256 random documents of
1 to D words, `make_pipeline(WordMoverEmbedding(vectors, …), LogisticRegression())`; mean over
{draws} draws of random documents. "box" is the paper's Algorithm 1, "centred-box" that of its
experiments, "words" takes words that occur; "length one" scales word vectors and random words, as
the authors' code does. Ordered by the mean over the sets; {default} is the default.

{compared}

## On test documents

Per cent right of {n_test} test documents. Tuned: the paper's features with a scaler, γ and C by
cross-validation.

{tested}

## How many random documents

What `WordMoverEmbedding(vectors, n_features=error)` chooses: random documents for that relative
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


def features(name: str, seed: int, **options) -> np.ndarray:
    """Of training documents, then test documents, as the default pipeline has them."""
    documents = read(name)[0]
    model = fp.WordMoverEmbedding(vectors(), random_state=seed, **options)
    return model.fit(documents[:N_TRAIN]).transform(documents)


def validated(name: str, draws: int, **options) -> float:
    """Per cent right in cross-validation on training documents."""
    labels, found = read(name)[1][:N_TRAIN], []
    for seed in range(draws):
        rows = features(name, seed, **options)[:N_TRAIN]
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        model = LogisticRegression(max_iter=300)
        found.append(cross_val_score(model, rows, labels, cv=folds).mean())
    return 100 * float(np.mean(found))


def tested(name: str, rows: np.ndarray, model) -> float:
    """Per cent right of the test documents."""
    labels = read(name)[1]
    model.fit(rows[:N_TRAIN], labels[:N_TRAIN])
    return 100 * model.score(rows[N_TRAIN:], labels[N_TRAIN:])


def tuned() -> GridSearchCV:
    """The paper's features with a scaler; γ and C by cross-validation on the training part."""
    power = FunctionTransformer(lambda d, gamma: np.exp(-gamma * (d - d.mean())))
    pipeline = make_pipeline(power, StandardScaler(), LogisticRegression(max_iter=1000))
    grid = {
        "functiontransformer__kw_args": [{"gamma": gamma} for gamma in GAMMAS],
        "logisticregression__C": CS,
    }
    return GridSearchCV(pipeline, grid, cv=3)


def tests_of(name: str) -> list[float]:
    """Majority, the default, and the paper's features tuned."""
    labels = read(name)[1][N_TRAIN:]
    majority = 100 * max(np.mean(labels == label) for label in np.unique(labels))
    default = tested(name, features(name, 0), LogisticRegression(max_iter=300))
    rows = features(name, 0, drawing="centred-box", gamma=UNIT)
    distances = -np.log(rows * np.sqrt(rows.shape[1])) / UNIT
    return [majority, default, tested(name, distances, tuned())]


def sizes_of(name: str) -> list[int]:
    """Random documents that each error takes, with the default γ and with the paper's features."""
    some = read(name)[0][:N_TRAIN]
    models = [
        fp.WordMoverEmbedding(vectors(), error, random_state=0, **options)
        for options in ({}, {"gamma": 0.1})
        for error in ERRORS
    ]
    return [len(model.fit(some).random_documents_) for model in models]


def title(drawing: str, length: int, unit: bool) -> str:
    return f"{drawing}, D = {length}{', length one' * unit}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    options = parser.parse_args()
    need_data()
    kept, draws = Kept(options.keep), 1 if options.quick else 2
    names = [*SETS][:2] if options.quick else [*SETS]
    cases = list(product(DRAWINGS, COMPARED, (False, True)))
    cases += [("box", length, False) for length in LENGTHS if length not in COMPARED]
    for case in cases[:3] if options.quick else cases:
        for name in names:
            if (part := f"{name} {title(*case)}") not in kept:
                drawing, length, unit = case
                given = {"drawing": drawing, "max_words": length, "normalize": unit}
                kept.add(part, validated(name, draws, **given))
                print(part, kept[part], flush=True)
    done = [case for case in cases if all(f"{name} {title(*case)}" in kept for name in names)]
    values = {title(*case): [kept[f"{name} {title(*case)}"] for name in names] for case in done}
    order = sorted(values, key=lambda case: -np.mean(values[case]))
    compared = [
        [case, *(f"{v:.1f}" for v in (*values[case], np.mean(values[case])))] for case in order
    ]
    for name in names:
        if f"{name} tests" not in kept:
            kept.add(f"{name} tests", tests_of(name))
            kept.add(f"{name} sizes", sizes_of(name))
    model = fp.WordMoverEmbedding({})
    text = TEXT.format(
        n_train=N_TRAIN, n_test=N_TEST, draws=draws,
        default=title(model.drawing, model.max_words, model.normalize),
        compared=table(["random words", *names, "mean"], compared),
        tested=table(
            ["data", "majority", "default", "the paper's features, tuned"],
            [[name, *(f"{value:.1f}" for value in kept[f"{name} tests"])] for name in names],
        ),
        sizes=table(
            ["data", *(f"default γ, {e:g}" for e in ERRORS), *(f"γ = 0.1, {e:g}" for e in ERRORS)],
            [[name, *(f"{value:,}" for value in kept[f"{name} sizes"])] for name in names],
        ),
    )  # fmt: skip
    print(text)
    publish("wme-defaults", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
