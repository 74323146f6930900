"""Ten million exact Word Mover's Distances: 20,000 tweets against 500, on one thread and on two.

The tweets are drawn with replacement from the real ones. Times are wall times, so leave the machine
alone. Then one distance between two long documents of random words. Prints its table. Takes about
five minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.wmd_scale [--quick]
"""

from __future__ import annotations

import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import table
from benchmarks.shared.texts import by_length


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    n, s = (4000, 100) if options.quick else (20_000, 500)
    tweets = by_length()["tweets, SMART stop words removed"]
    rng = np.random.default_rng(0)
    documents = tweets[rng.integers(0, len(tweets), n)]
    landmarks = tweets[rng.permutation(len(tweets))[:s]]
    fp.wmd(documents[:10], landmarks[:2])  # compiles before the clock starts
    before = peak_memory()
    rows, seconds = [], {}
    for jobs in (1, 2, 1, 2):
        start = time.perf_counter()
        fp.wmd(documents, landmarks, n_jobs=jobs)
        seconds.setdefault(jobs, []).append(time.perf_counter() - start)
    for jobs, taken in seconds.items():
        each = min(taken) / (n * s) * 1e6
        rows.append([jobs, f"{min(taken):.1f} ({max(taken):.1f})", f"{each:.2f}"])
    print(table(["threads", "seconds, best (worst) of 2", "µs a pair"], rows))
    print(
        f"\n{n * s:,} distances; two threads are {min(seconds[1]) / min(seconds[2]):.2f}× one; "
        f"peak memory {(peak_memory() - before) / 1e9:.2f} GB above what was there before"
    )
    long_documents(1000 if options.quick else 10_000)


def long_documents(words: int) -> None:
    """Print time and memory of one distance between two documents of that many different words."""
    rng = np.random.default_rng(0)
    vectors = fp.WordVectors(
        [f"w{k}" for k in range(2 * words)], rng.normal(size=(2 * words, 50)).astype(np.float32)
    )
    texts = [vectors.words[:words], vectors.words[words:]]
    before, start = peak_memory(), time.perf_counter()
    fp.wmd(texts[:1], texts[1:], vectors)
    print(
        f"one distance between documents of {words:,} words: {time.perf_counter() - start:.1f} s, "
        f"{(peak_memory() - before) / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
