"""What each option of the word vectors is worth, and how the default was chosen.

One option is changed at a time, on English Wikipedia, K = 200. The default number of references is
the one that does best in the first column, on every second pair of MEN; the other columns took no
part in that choice. The other defaults are the paper's, but for stop words: the paper removes them,
the default keeps them, and some pairs have one (the share of MEN that is covered is in the last
column). Writes docs/tables/word-vector-options.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.options [--quick]
"""

from __future__ import annotations

import math
import time

from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared import word_quality as quality
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import MIN_COUNT, stop_words, wikipedia
from fewpairs.text.cooccurrence import Cooccurrences
from fewpairs.text.corpus import EncodedCorpus

COUNTING = {
    "default": {},
    "window 5": {"window": 5},
    "window 15": {"window": 15},
    "flat": {"weighting": "flat"},
    "harmonic": {"weighting": "harmonic"},
    "subsample 1e-3": {"subsample": 1e-3, "random_state": 0},
}
POINTWISE = {
    "positive": {"positive": True},
    "smoothing 0.75": {"smoothing": 0.75},
    "positive, smoothing 0.75": {"positive": True, "smoothing": 0.75},
    "positive, shift log 5": {"positive": True, "shift": math.log(5)},
}
PLACING = {
    "4K references": {"references": "paper"},
    "20K references": {"references": 20 * 200},
    "40K references": {"references": 40 * 200},
    "coreness": {"order": "coreness"},
    "4K references, coreness": {"references": "paper", "order": "coreness"},
    "divide and conquer": {"method": "divide"},
    "divide and conquer, coreness": {"method": "divide", "order": "coreness"},
    "eigs": {"method": "eigs"},
}
#: Without stop words, as in the paper.
WITHOUT_STOP_WORDS = ("4K references", "divide and conquer, coreness", "eigs")


def line(title: str, model: fp.DistanceGeometryVectors, counts: Cooccurrences, gram) -> list[str]:
    """One line of the table."""
    start = time.process_time()
    model._place(counts, gram)  # noqa: SLF001 - one counting serves many settings
    seconds = time.process_time() - start
    vectors = model.vectors_
    found = [quality.similarity(vectors, name) for name in quality.SIMILARITY]
    scores = [quality.half_of_men(vectors), *(score for score, _ in found)]
    return [title, f"{seconds:.1f}", *(f"{score:.3f}" for score in scores), f"{found[0][1]:.1%}"]


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    texts = wikipedia(10_000 if options.quick else None)
    corpus = EncodedCorpus.of(texts, min_count=MIN_COUNT)
    rows = []

    def add(title: str, counts: Cooccurrences, pointwise: dict, placing: dict) -> None:
        model = fp.DistanceGeometryVectors(200, n_jobs=2, **placing)
        rows.append(line(title, model, counts, counts.pmi(**pointwise)))
        print(*rows[-1], sep=" | ", flush=True)

    with threadpool_limits(1):
        for title, counting in COUNTING.items():
            counts = Cooccurrences.of(corpus, n_jobs=2, **counting)
            add(title, counts, {}, {})
            if title == "default":
                for name, pointwise in POINTWISE.items():
                    add(name, counts, pointwise, {})
                for name, placing in PLACING.items():
                    add(name, counts, {}, placing)
        stop = set(stop_words())
        lean = [[word for word in text if word not in stop] for text in texts]
        corpus = EncodedCorpus.of(lean, min_count=MIN_COUNT)
        counts = Cooccurrences.of(corpus, n_jobs=2)
        add("no stop words", counts, {}, {})
        for name in WITHOUT_STOP_WORDS:
            add(f"no stop words, {name}", counts, {}, PLACING[name])
    headings = ["changed", "CPU s of the vector step", "half of MEN", *quality.SIMILARITY]
    text = table([*headings, "MEN pairs covered"], rows) + "\n"
    print("\n" + text)
    publish("word-vector-options", text, quick=options.quick)


if __name__ == "__main__":
    main()
