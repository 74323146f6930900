"""Which rank does best: Table 7 and Figures 7 and 8 of the SMS-Nyström paper.

Validation accuracy of every method against the number of columns, on at most 4,000 training
documents of each set: a quarter is held out, C is the best of six. γ is the one that
wmd_classification.py has chosen at 512 columns, or chooses now. Distances come from its files, and
what they lack is computed. A set of longer documents takes about ten minutes of one core with 512
columns, less where all distances are there. Results are kept, and what is there is not computed
again; sets that are not run keep their rows. Writes docs/tables/wmd-ranks.md.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.wmd_ranks
        [--quick] [--only NAME …] [--most N] [--print]

The published page is of these runs:

    wmd_ranks
    wmd_ranks --most 1024 --only RECIPE_L OHSUMED 20NEWS
    wmd_ranks --most 1536 --only TWITTER
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import Corpus, cache_folder, corpus
from benchmarks.shared.document_features import (
    Choice,
    Distances,
    choose,
    landmark_features,
    random_features,
)
from benchmarks.shared.earlier import Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import best_cost
from benchmarks.shared.papers import RANKS
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import SETS
from benchmarks.word_mover.wmd_classification import results

SIZES = (64, 128, 256, 384, 512, 1024, 1536)
#: The largest of the paper's small ranks.
SMALL = 550
METHODS = ("WME", "SMS-Nyström", "StaCUR", "SiCUR")
#: Training documents that are looked at, and the size at which γ is chosen.
MOST, CHOSEN = 4000, 512
TEXT = """\
Per cent right on a quarter of at most {most:,} training documents, C the best of six, γ as chosen
at {chosen} columns. "Best": the smallest number of columns within half a point of the best, up to
550 (small) and above (large); in brackets the best rank that the paper prints. "–": not run.

{table}
"""


def validated(title: str, choice: Choice, distances: Distances, size: int) -> float:
    """Per cent right of held-out training documents, with so many columns."""
    whole = distances.corpus
    known = learned(whole)
    if title == "WME":
        rows = random_features(title, whole, choice.gamma, size, choice.max_words, known).rows
    else:
        none = np.array([], dtype=int)
        rows = landmark_features(title, distances, choice.gamma, size, known, none).rows
    return 100 * best_cost(rows, whole.labels[known])[1]


def learned(whole: Corpus) -> np.ndarray:
    """Training documents, landmarks first."""
    train = whole.pool if whole.published is not None else whole.split(0)[0]
    return train[:MOST]


def run(name: str, whole: Corpus, most: int, kept: Kept) -> None:
    """Everything of one data set that is not there yet."""
    sizes = [size for size in SIZES if size <= min(most, len(learned(whole)))]
    distances = Distances(whole, max(*sizes, min(CHOSEN, len(learned(whole)))))
    for title in METHODS:
        part = f"{name}|{CHOSEN}|{title}|choice"
        if part not in kept:
            kept.add(part, choose(title, distances, CHOSEN))
        choice = Choice(*kept[part])
        for size in sizes:
            key = f"{name}|rank {size}|{title}"
            if key not in kept:
                kept.add(key, validated(title, choice, distances, size))
                print(f"{key}: {kept[key]:.1f}", flush=True)


def best(found: dict[int, float]) -> str:
    """The smallest size within half a point of the best."""
    if not found:
        return "–"
    return str(
        min(size for size, value in found.items() if value >= max(found.values()) - 0.5 - 1e-9)
    )


def written(kept: Kept) -> str:
    """The page, of what there is."""
    rows = []
    for name in SETS:
        for title in METHODS:
            found = {s: kept[k] for s in SIZES if (k := f"{name}|rank {s}|{title}") in kept}
            if not found:
                continue
            cells = [f"{found[s]:.1f}" if s in found else "–" for s in SIZES]
            for small in (True, False):
                part = {s: value for s, value in found.items() if (s <= SMALL) == small}
                paper = RANKS.get((name, "small" if small else "large", title))
                # Of a part of the small sizes, or of one large one, the best is not told.
                enough = sum(s <= SMALL for s in SIZES) if small else 2
                told = best(part) if len(part) >= enough else "–"
                cells.append(told + (f" ({paper})" if paper else ""))
            rows.append([name, title, *cells])
    headings = ["data", "method", *map(str, SIZES), "best, small", "best, large"]
    return TEXT.format(most=MOST, chosen=CHOSEN, table=table(headings, rows))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="these data sets")
    parser.add_argument("--most", type=int, default=512, help="columns at most")
    parser.add_argument("--print", action="store_true", help="compute nothing: print what is kept")
    parser.add_argument("--cache", help="folder for distances and results; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    folder = cache_folder(options.cache)
    if options.quick:
        options.only, options.most, folder = ["TWITTER"], 128, folder / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    kept = results(folder)
    for name in [] if options.print else options.only or list(SETS):
        run(name, corpus(name, folder, most=600 if options.quick else None), options.most, kept)
    text = written(kept)
    if not options.quick:
        text = Earlier.of("wmd-ranks", kept.code).fill(text)
    print("\n" + text)
    publish("wmd-ranks", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
