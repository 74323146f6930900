"""Compute the distances that wmd_classification.py looks up, and keep them in files.

All documents of every set against landmarks drawn among those that may be trained on. Stopped and
started again it goes on. With 512 landmarks 25 minutes of one core, 16 of them for 20NEWS (with
headers, which it does not compute unless named, longer); minutes grow with the number of landmarks.
Writes nothing but the cache.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.wmd_columns
        [--quick] [--only NAME …] [--landmarks N] [--most N]
"""

from __future__ import annotations

import time

from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import cache_folder, corpus
from benchmarks.shared.tasks import ALL_SETS, SETS


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(ALL_SETS), help="these data sets")
    parser.add_argument("--landmarks", type=int, default=512)
    parser.add_argument(
        "--most", type=int, help="so many documents of a set, where all take too long"
    )
    parser.add_argument("--cache", help="folder for distances; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    for name in options.only or list(SETS):
        whole = corpus(
            name, cache_folder(options.cache), most=400 if options.quick else options.most
        )
        start = time.perf_counter()
        columns, each = whole.landmark_columns(64 if options.quick else options.landmarks)
        taken = time.perf_counter() - start
        n = len(whole.texts)
        print(
            f"{name}: {n:,} documents, {columns.shape[1]} landmarks, {1e6 * each:.1f} µs a pair, "
            f"{taken:.0f} s; all pairs would take {each * n * (n - 1) / 2 / 3600:.1f} hours",
            flush=True,
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
