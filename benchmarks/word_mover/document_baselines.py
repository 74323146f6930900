"""Document vectors without transport: Tables 3, 5 and 6 of *Word Mover's Embedding*.

All documents of every set, with the splits of wmd_classification.py. A linear SVM on averaged word
vectors, paragraph vectors and plain TF-IDF, C chosen on training documents; nearest neighbours by
cosines of counts, TF-IDF, BM25, latent semantic indexing and latent Dirichlet allocation, their
number chosen by leaving one out among training documents. A quarter of an hour on one core, twice
as long with `--paragraphs`; results are kept in the cache, and what is there is not computed
again. Writes docs/tables/document-baselines.md.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.document_baselines
        [--quick] [--only NAME …] [--paragraphs] [--methods NAME …] [--seeds N] [--print]

The published page is of these runs, once more with `--only "20NEWS with headers"`; paragraph
vectors are of the first split:

    document_baselines --seeds 5
    document_baselines --paragraphs
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.shared.classification_report import mean, set_of, spread, with_paper
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import Corpus, cache_folder, corpus
from benchmarks.shared.earlier import Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import accuracies, best_cost
from benchmarks.shared.papers import BASELINES, PRINTED
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import ALL_SETS, SETS
from benchmarks.shared.texts import stop_words
from benchmarks.word_mover.wmd_classification import results, vote
from fewpairs.text.tokens import tokenize

#: Components of LSI, and topics of LDA.
COMPONENTS, TOPICS = 100, 50
#: Random splits at most.
SEEDS = 5
#: Training documents that are left out, one after the other, to choose the number of neighbours.
LEFT_OUT = 2000
TEXT = """\
Per cent of the test documents, all documents of each set; random splits of 70/30 where none is
published, mean ± standard deviation of five, or the first of them. In brackets what the paper
prints. SMART stop words left out. "–": not run.

## Linear SVM on document vectors: Tables 3 and 6

Averages of 100-dimensional vectors derived from GloVe (the paper: 300 dimensions, Google News; for
SIF its own GloVe). For SIF, a = 0.001 and the first component of training documents is taken off.
"PV" are paragraph vectors of all documents by gensim, 100 dimensions, 40 epochs, as they are or of
length one, whichever does better in validation. "TF-IDF" is a linear SVM on the sparse vectors,
which the paper does not have; its words and their frequencies are those of training documents.

{svm}

## Nearest neighbours: Table 5

By cosines. Words and their frequencies are those of training documents; {components} components of
LSI and {topics} topics of LDA are learned from all documents, without labels. mSDA was not made: no
kept package has it.

{near}
"""


class Counts(NamedTuple):
    """Words of all documents counted, and weighed by TF-IDF."""

    plain: sp.csr_matrix
    tfidf: sp.csr_matrix


def counted(whole: Corpus, known: np.ndarray) -> Counts:
    """Words of all documents; which words there are, and how rare, is learned from the known."""
    stopped = set(stop_words())
    counter = CountVectorizer(
        analyzer=lambda text: [token for token in tokenize(text) if token not in stopped], min_df=2
    )
    counter.fit([whole.texts[k] for k in known])
    plain = counter.transform(whole.texts).astype(float)
    return Counts(plain, TfidfTransformer(sublinear_tf=True).fit(plain[known]).transform(plain))


def averages(whole: Corpus, train: np.ndarray, weights: str) -> np.ndarray:
    """Averaged word vectors; frequencies and components come from training documents."""
    bags = whole.documents
    document = np.repeat(np.arange(len(bags)), np.diff(bags.starts))
    values, array = bags.weights.copy(), whole.vectors.array
    among = np.isin(document, train)
    if weights == "TF-IDF":
        having = np.bincount(bags.words[among], minlength=len(array))
        values *= (np.log(len(train) / np.maximum(having, 1)) + 1)[bags.words]
    if weights == "SIF":
        mass = np.bincount(bags.words[among], bags.weights[among], minlength=len(array))
        values *= (1e-3 / (1e-3 + mass / mass.sum()))[bags.words]
    shape = len(bags), len(array)
    rows = sp.csr_matrix((values, (document, bags.words)), shape=shape) @ array
    if weights == "SIF":
        first = np.linalg.eigh(rows[train].T @ rows[train])[1][:, -1]
        rows -= np.outer(rows @ first, first)
    return normalize(rows)


def paragraphs(whole: Corpus, *, memory: bool) -> np.ndarray:
    """Paragraph vectors of all documents by gensim, without labels: PV-DM or PV-DBOW.

    They learn in the order that they are given: a random one, because files stand by class.
    """
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    stopped = set(stop_words())
    told = [
        TaggedDocument([token for token in tokenize(whole.texts[k]) if token not in stopped], [k])
        for k in shuffled(whole)
    ]
    model = Doc2Vec(
        told, dm=int(memory), vector_size=100, epochs=40, min_count=2, seed=0, workers=1
    )
    return np.array([model.dv[k] for k in range(len(told))])


def shuffled(whole: Corpus) -> list[int]:
    """All documents in random order."""
    return np.random.default_rng(0).permutation(len(whole.texts)).tolist()


def bm25(counts: sp.csr_matrix, known: np.ndarray) -> sp.csr_matrix:
    """Okapi weights, k₁ = 1.2 and b = 0.75, rarity and mean length from the known documents."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    having = np.asarray((counts[known] > 0).sum(axis=0)).ravel()
    rarity = np.log1p((len(known) - having + 0.5) / (having + 0.5))
    result = counts.copy()
    row = np.repeat(np.arange(len(lengths)), np.diff(counts.indptr))
    dull = 1.2 * (0.25 + 0.75 * lengths / max(lengths[known].mean(), 1))[row]
    result.data = rarity[counts.indices] * 2.2 * counts.data / (counts.data + dull)
    return result


def neighbours(rows, train: np.ndarray, test: np.ndarray, labels: np.ndarray) -> float:
    """Per cent right of nearest neighbours by cosines."""
    rows = normalize(rows)
    some = train[:LEFT_OUT]
    own = nearest(rows, some, train, leave_out=True)
    best = max((1, 3, 5, 9, 19), key=lambda k: (vote(labels[train], own, k) == labels[some]).mean())
    found = vote(labels[train], nearest(rows, test, train), best)
    return 100 * float((found == labels[test]).mean())


def nearest(rows, asked: np.ndarray, among: np.ndarray, *, leave_out: bool = False) -> np.ndarray:
    """Places in `among` of the 19 nearest, the nearest first."""
    found = []
    for begin in range(0, len(asked), 500):
        part = asked[begin : begin + 500]
        near = rows[part] @ rows[among].T
        near = near.toarray() if sp.issparse(near) else near
        if leave_out:
            near[np.arange(len(part)), np.arange(begin, begin + len(part))] = -np.inf
        top = np.argpartition(-near, 19, axis=1)[:, :19]
        order = np.take_along_axis(near, top, axis=1).argsort(axis=1)[:, ::-1]
        found.append(np.take_along_axis(top, order, axis=1))
    return np.vstack(found)


def sparse_svm(rows, train: np.ndarray, test: np.ndarray, labels: np.ndarray) -> float:
    """Per cent right of a linear SVM on sparse rows."""
    held = np.arange(len(train)) % 4 == 0
    scores = {
        cost: LinearSVC(C=cost).fit(rows[train[~held]], labels[train[~held]])
        .score(rows[train[held]], labels[train[held]])
        for cost in (0.1, 0.3, 1.0, 3.0)
    }  # fmt: skip
    model = LinearSVC(C=max(scores, key=scores.get)).fit(rows[train], labels[train])
    return 100 * model.score(rows[test], labels[test])


def parts(whole: Corpus, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training documents in random order, as the first of them choose k; and test documents."""
    train, test = whole.split(seed)
    return (train if whole.published is None else whole.pool), test


def methods(whole: Corpus, seed: int, *, with_paragraphs: bool) -> dict[str, Callable[[], float]]:
    """All methods by name, on one split."""
    train, test = parts(whole, seed)
    labels = whole.labels

    @cache
    def learned() -> Counts:
        return counted(whole, train)

    @cache
    def from_all() -> Counts:
        return counted(whole, np.arange(len(whole.texts)))

    def lsi() -> np.ndarray:
        size = min(COMPONENTS, from_all().plain.shape[1] - 1)
        return TruncatedSVD(size, n_iter=3, random_state=0).fit_transform(from_all().tfidf)

    def lda() -> np.ndarray:
        model = LatentDirichletAllocation(
            TOPICS, learning_method="online", max_iter=3, batch_size=512, random_state=0
        )
        counts = from_all().plain
        return model.fit(counts[shuffled(whole)]).transform(counts)

    def svm(rows: np.ndarray) -> float:
        return accuracies(rows[train], labels[train], rows[test], labels[test])[0]

    def svm_of_paragraphs(*, memory: bool) -> float:
        rows = paragraphs(whole, memory=memory)  # as they are or of length one, by validation
        best = max((rows, normalize(rows)), key=lambda x: best_cost(x[train], labels[train])[1])
        return svm(best)

    def near(rows) -> float:
        return neighbours(rows, train, test, labels)

    found: dict[str, Callable[[], float]] = {
        f"average, {weights}": lambda w=weights: svm(averages(whole, train, w))
        for weights in ("nBOW", "TF-IDF", "SIF")
    }
    found |= {
        "TF-IDF": lambda: sparse_svm(learned().tfidf, train, test, labels),
        "kNN, BOW": lambda: near(learned().plain),
        "kNN, TF-IDF": lambda: near(learned().tfidf),
        "kNN, BM25": lambda: near(bm25(learned().plain, train)),
        "kNN, LSI": lambda: near(lsi()),
        "kNN, LDA": lambda: near(lda()),
    }
    if with_paragraphs:
        found["PV-DBOW"] = lambda: svm_of_paragraphs(memory=False)
        found["PV-DM"] = lambda: svm_of_paragraphs(memory=True)
    return found


def key(name: str, method: str, seed: int) -> str:
    """What a result is kept under; that of the first split without its number."""
    return f"{name}|{method}|{seed}" if seed else f"{name}|{method}"


def of_splits(found: list[float]) -> str:
    return spread((float(np.mean(found)), float(np.std(found)), len(found)) if found else None)


def written(kept: Kept, others: Kept, before: str) -> str:
    """The page, of what there is, with columns for all sets of an earlier page."""
    names = [
        name
        for name in ALL_SETS
        if name in SETS or f"{name}|average, nBOW" in kept or f"| {name} |" in before
    ]

    def row(title: str, method: str) -> list[str]:
        cells = [title]
        for name in names:
            found = [kept[part] for s in range(SEEDS) if (part := key(name, method, s)) in kept]
            cells.append(with_paper(of_splits(found), BASELINES.get((set_of(name), method))))
        return cells

    def embedded(title: str, part: str, printed: tuple[str, str]) -> list[str]:
        cells = [title]
        for name in names:
            mine = spread(mean(others, f"{name}|{part}"))
            cells.append(with_paper(mine, PRINTED.get((set_of(name), *printed))))
        return cells

    linear = ["average, nBOW", "average, TF-IDF", "average, SIF", "PV-DBOW", "PV-DM", "TF-IDF"]
    near = ["kNN, BOW", "kNN, TF-IDF", "kNN, BM25", "kNN, LSI", "kNN, LDA", "kNN, mSDA"]
    last = embedded("WME, R = 512 (paper: to 4,096)", "512|WME", ("large", "WME"))
    return TEXT.format(
        components=COMPONENTS, topics=TOPICS,
        svm=table(["method", *names], [*(row(m, m) for m in linear), last]),
        near=table(
            ["method", *names],
            [*(row(m, m) for m in near), embedded("kNN, WMD", "kNN-WMD", ("–", "kNN-WMD")), last],
        ),
    )  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(ALL_SETS), help="these data sets")
    parser.add_argument("--paragraphs", action="store_true", help="paragraph vectors by gensim too")
    parser.add_argument("--methods", nargs="*", help="those whose names begin so; else all")
    parser.add_argument("--seeds", type=int, default=1, help="splits of sets without one, up to 5")
    parser.add_argument("--print", action="store_true", help="compute nothing: print what is kept")
    parser.add_argument("--cache", help="folder for results; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    folder = cache_folder(options.cache)
    if options.quick:
        options.only, folder = ["TWITTER", "R8"], folder / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder / "baselines.jsonl", "text")
    for name in [] if options.print else options.only or list(SETS):
        whole = corpus(name, folder, most=600 if options.quick else None)
        for seed in range(1 if whole.published is not None else min(options.seeds, SEEDS)):
            for method, run in methods(whole, seed, with_paragraphs=options.paragraphs).items():
                part = key(name, method, seed)
                if part not in kept and method.startswith(tuple(options.methods or [""])):
                    start = time.process_time()
                    kept.add(part, run())
                    print(
                        f"{part}: {kept[part]:.1f}, {time.process_time() - start:.0f} s", flush=True
                    )
    others = results(folder)
    code = f"{kept.code}-{others.code}"  # lines of WME and kNN-WMD are made by other rooms
    earlier = Earlier.of("document-baselines", code)
    text = written(kept, others, "" if options.quick else earlier.page)
    if not options.quick:
        text = earlier.fill(text)
    print(text)
    publish("document-baselines", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
