"""Classify documents with word vectors trained on the spot, beside those derived from GloVe.

GloVe's 100 dimensions come from billions of words; ours (`fp.train_word_vectors`) from 16 million
words of Wikipedia, or from the texts of the set itself, without labels. All are scaled so that a
word of the set has the length that it has in GloVe in the mean, because γ is chosen from a fixed
grid. A linear SVM on averages, on random features and on features of SMS-Nyström, as in
wmd_classification.py; first split. About ten minutes on one core; distances and results are kept.
Writes docs/tables/wmd-vectors.md.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.wmd_vectors
        [--quick] [--only NAME …] [--methods NAME …] [--size N]
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import Corpus, cache_folder, corpus
from benchmarks.shared.document_features import Distances, choose
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import accuracies
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import SETS
from benchmarks.shared.texts import MIN_COUNT, vectors, wikipedia
from benchmarks.word_mover.document_baselines import averages
from benchmarks.word_mover.wmd_classification import compared

SOURCES = ("GloVe", "ours, Wikipedia", "ours, the set's own texts")
METHODS = ("average, nBOW", "WME", "SMS-Nyström")
TEXT = """\
Per cent of the test documents, first split, {size} columns, 100 dimensions. "Covered": share of the
set's words that have a vector, of those that GloVe has, stop words left out. "–": not run.

{table}
"""


def trained(source: str, whole: Corpus, limit: int | None) -> Corpus:
    """The set with other vectors, scaled like those that it has."""
    if source == "GloVe":
        return whole
    texts = wikipedia(limit) if "Wikipedia" in source else whole.texts
    count = MIN_COUNT if "Wikipedia" in source else 5
    found = fp.train_word_vectors(texts, dimensions=100, min_count=count, random_state=0)
    other = replace(whole, trained=found)
    factor = mean_length(whole) / mean_length(other)
    return replace(whole, trained=fp.WordVectors(found.words, found.array * factor))


def mean_length(whole: Corpus) -> float:
    """Mean length of the vectors of a set's words, as often as they occur."""
    lengths = np.linalg.norm(whole.vectors.array, axis=1)
    return float(lengths[whole.documents.words].mean())


def covered(whole: Corpus) -> float:
    """Share of words with a vector, of those that some vectors know."""
    known = set(whole.vectors.words)
    words = [vectors().words[k] for k in whole_glove(whole).documents.words]
    return float(np.mean([word in known for word in words]))


def whole_glove(whole: Corpus) -> Corpus:
    return replace(whole, trained=None)


def measured(method: str, whole: Corpus, size: int) -> dict[str, float]:
    """Accuracy of one method on the first split."""
    if method in ("WME", "SMS-Nyström"):
        distances = Distances(whole, size)
        return compared(method, choose(method, distances, size), distances, size, 0)
    train, test = whole.split(0)
    rows = averages(whole, train, "nBOW")
    right = accuracies(rows[train], whole.labels[train], rows[test], whole.labels[test])
    return {"test": right[0]}


def main() -> None:
    parser = arguments(__doc__)
    default = ["TWITTER", "R8", "CLASSIC"]
    parser.add_argument("--only", nargs="*", choices=list(SETS), default=default)
    parser.add_argument("--size", type=int, default=256, help="landmarks, and random documents")
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    parser.add_argument("--cache", help="folder for distances and results; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    folder = cache_folder(options.cache)
    limit, most = (20_000, 600) if options.quick else (None, None)
    if options.quick:
        options.only, options.size, folder = ["TWITTER"], 64, folder / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder / "vectors.jsonl", "methods", "sketches", "text", "transport")
    for name in options.only:
        whole = corpus(name, folder, most=most)
        for source in SOURCES:
            part = f"{name}|{options.size}|{source}"
            wanted = [m for m in options.methods if f"{part}|{m}" not in kept]
            if not wanted:
                continue
            mine = trained(source, whole, limit)
            kept.add(f"{part}|covered", covered(mine))
            for method in wanted:
                kept.add(f"{part}|{method}", measured(method, mine, options.size)["test"])
                print(f"{part}|{method}: {kept[f'{part}|{method}']:.1f}", flush=True)
    rows = []
    for name, source in product(SETS, SOURCES):
        part = f"{name}|{options.size}|{source}"
        if f"{part}|covered" in kept:
            keys = [f"{part}|{method}" for method in METHODS]
            cells = [f"{kept[key]:.1f}" if key in kept else "–" for key in keys]
            rows.append([name, source, f"{100 * kept[f'{part}|covered']:.0f} %", *cells])
    headings = ["data", "vectors", "covered", *METHODS]
    text = TEXT.format(size=options.size, table=table(headings, rows))
    print("\n" + text)
    publish("wmd-vectors", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
