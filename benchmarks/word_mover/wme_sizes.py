"""Accuracy against R and against D: Figures 2 to 5 of *Word Mover's Embedding*.

All documents of the papers' sets, training and test accuracy of a linear SVM on the paper's
features; γ and C are chosen on training documents at each R and D. R grows with D = 6, and D with
R = 512: random documents of 1 to D words. Where the data have no split, the first random one. The
figures are curves, and print no numbers. Distances and results are kept in the cache, and what is
there is not computed again; sets that are not run keep their rows. TWITTER is published with
`--only TWITTER --most 4096`. Half an hour on one core. Writes docs/tables/wme-sizes.md.

    FEWPAIRS_DATA=… FEWPAIRS_CACHE=… python -m benchmarks.word_mover.wme_sizes
        [--quick] [--only NAME …] [--most N] [--print]
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.corpora import Corpus, cache_folder, corpus
from benchmarks.shared.document_features import SHARES, random_features, validated
from benchmarks.shared.earlier import Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.linear_svm import accuracies
from benchmarks.shared.tables import publish, table
from benchmarks.shared.tasks import SETS

#: R with D = FIXED_D, and D with R = FIXED_R.
SIZES, LENGTHS = (4, 16, 64, 256, 512, 1024, 4096), (1, 3, 6, 12, 21)
FIXED_R, FIXED_D = 512, 6
TEXT = """\
Per cent right of the test and of the training documents, all documents of each set; random splits
of 70/30 where none is published, the first one. Vectors of 100 dimensions, SMART stop words left
out. γ and C are chosen on training documents, for every cell. "–": not run.

## By R, D = {fixed_d}: Figures 2 and 4

{by_size}

## By D, R = {fixed_r}: Figures 3 and 5

{by_length}
"""


def measured(whole: Corpus, size: int, max_words: int) -> tuple[float, float, float]:
    """Per cent right of test and of training documents, and the γ that was chosen."""
    train, test = whole.split(0)
    if whole.published is not None:
        train = whole.pool  # in random order, as in wmd_classification.py
    known = whole.pool[: whole.always]

    def rows(share: float, which: np.ndarray) -> np.ndarray:
        return random_features("WME", whole, share, size, max_words, which).rows

    tried = {share: validated(rows(share, known), whole.labels[known]) for share in SHARES}
    share = max(tried, key=tried.get)
    labels = whole.labels
    right = accuracies(rows(share, train), labels[train], rows(share, test), labels[test])
    return *right[:2], share


def run(name: str, whole: Corpus, most: int, kept: Kept) -> None:
    """Everything of one data set that is not there yet."""
    cells = [(size, FIXED_D) for size in SIZES if size <= most]
    cells += [(FIXED_R, length) for length in LENGTHS if most >= FIXED_R]
    for size, length in cells:
        part = f"{name}|R = {size}|D = {length}"
        if part not in kept:
            kept.add(part, measured(whole, size, length))
            print(part, *kept[part], flush=True)


def written(kept: Kept) -> str:
    """The page, of what there is."""

    def lines(parts: list[str]) -> list[list[str]]:
        rows = []
        for name in SETS:
            for place, what in enumerate(("test", "training")):
                keys = [f"{name}|{part}" for part in parts]
                cells = [f"{kept[key][place]:.1f}" if key in kept else "–" for key in keys]
                if set(cells) != {"–"}:
                    rows.append([f"{name}, {what}", *cells])
        return rows

    sizes, lengths = ([f"{letter} = {n:,}" for n in ns] for letter, ns in
                      (("R", SIZES), ("D", LENGTHS)))  # fmt: skip
    by_size = [f"R = {size}|D = {FIXED_D}" for size in SIZES]
    by_length = [f"R = {FIXED_R}|D = {length}" for length in LENGTHS]
    return TEXT.format(
        fixed_d=FIXED_D,
        fixed_r=FIXED_R,
        by_size=table(["data", *sizes], lines(by_size)),
        by_length=table(["data", *lengths], lines(by_length)),
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="these data sets")
    parser.add_argument("--most", type=int, default=1024, help="random documents at most")
    parser.add_argument("--print", action="store_true", help="compute nothing: print what is kept")
    parser.add_argument("--cache", help="folder for distances and results; else FEWPAIRS_CACHE")
    options = parser.parse_args()
    need_data()
    folder = cache_folder(options.cache)
    if options.quick:
        options.only, options.most, folder = ["TWITTER"], FIXED_R, folder / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder / "sizes.jsonl", "sketches", "text", "transport")
    for name in [] if options.print else options.only or list(SETS):
        run(name, corpus(name, folder, most=600 if options.quick else None), options.most, kept)
    text = written(kept)
    if not options.quick:
        text = Earlier.of("wme-sizes", kept.code).fill(text)
    print("\n" + text)
    publish("wme-sizes", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
