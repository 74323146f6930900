"""Sentence similarity by sub-task: Tables 4 and 8 of *Word Mover's Embedding*, parts of STS-B.

STS-B is a selection from the SemEval tasks of 2012 to 2017, and says of every pair where it comes
from. Everything that can be chosen is chosen on training pairs; the pairs of the table are those of
dev and test. Three minutes; writes docs/tables/sentence-subtasks.md.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.sentence_subtasks [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from scipy.stats import pearsonr
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.sentence_pairs import READINGS, agreement, bags, inner, pairs
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors
from benchmarks.word_mover.sentence_similarity import GAMMAS, UNIT, averaged, best, chosen, exact
from fewpairs import datasets

PARTS = ("dev", "test")
LENGTHS = (6, 12)
#: Pearson × 100 of WME Table 8, GloVe vectors: nbow, tf-idf, SIF, WME.
PAPER = {
    ("MSRpar", "2012"): (47.7, 50.3, 35.6, 45.3),
    ("MSRvid", "2012"): (63.9, 77.9, 83.8, 75.9),
    ("headlines", "2013"): (63.8, 69.2, 69.2, 70.5),
    ("headlines", "2014"): (59.5, 63.7, 64.7, 65.6),
    ("headlines", "2015"): (61.8, 70.9, 70.7, 70.8),
    ("images", "2014"): (61.0, 72.5, 82.6, 69.2),
    ("images", "2015"): (67.5, 72.9, 81.5, 67.9),
    ("answers-forums", "2015"): (30.5, 45.6, 63.9, 56.4),
}
TEXT = """\
Pearson × 100 of a score with the human one, on the {count:,} pairs of dev and test together, by
genre, by year and by task; in brackets what Table 8 of the paper prints for all pairs of the task
of that name and year (GloVe, but other vectors than ours). STS-B's dev and test parts have some of
each task's pairs. {facts}

{table}

Of the {shared} tasks that the paper has too: WME (cosine) is ahead of averages with nBOW weights in
{nbow} ({paper_nbow} in the paper), with TF-IDF weights in {tfidf} ({paper_tfidf}), with SIF weights
in {sif} ({paper_sif}).
"""


@cache
def records() -> list[dict]:
    """Pairs of dev and test, with where they come from."""
    return [record for part in PARTS for record in datasets.read_records("stsb", part)]


@cache
def units(part: str, size: int, drawing: str, max_words: int, unit: bool, *reading: str):
    """Features exp(−UNIT·WMD) to random documents."""
    model = fp.WordMoverEmbedding(
        vectors(), size, max_words=max_words, gamma=UNIT, drawing=drawing, normalize=unit,
        random_state=0,
    )  # fmt: skip
    model.fit(bags("train", *reading))
    return model.transform(bags(part, *reading)) * np.sqrt(size)


def chosen_embedding(kind: str, trial: int) -> tuple:
    """The drawing, D, weights and γ that do best on a sample of training pairs."""
    found = {}
    for options in product(("box", "centred-box", "words"), LENGTHS, (False, True)):
        for reading in READINGS:
            unit = units("sample", trial, *options, *reading)
            # Vectors of length one are nearer to each other, so γ is larger for them.
            for gamma in GAMMAS:
                power = gamma * (5 if options[2] else 1)
                features = unit ** (power / UNIT)
                guess = inner("sample", features, kind, features.mean(axis=0))
                found[*options, *reading, power] = agreement({"sample": guess})[0]
    return max(found, key=found.get)


def embedded(part: str, kind: str, size: int, choice: tuple) -> np.ndarray:
    """Scores of one part's pairs."""
    *options, gamma = choice
    sample, here = (units(p, size, *options) ** (gamma / UNIT) for p in ("sample", part))
    return inner(part, here, kind, sample.mean(axis=0))


def groups() -> dict[str, np.ndarray]:
    """Which pairs each line of the table is about."""
    year = np.array([r["year"][:4] for r in records()])
    genre = np.array([r["genre"].removeprefix("main-").rstrip("s") for r in records()])
    source = np.array([r["source"] for r in records()])
    found = {"all": np.ones(len(year), dtype=bool)}
    found |= {f"genre: {name}s": genre == name for name in np.unique(genre)}
    found |= {f"year: {name}": year == name for name in np.unique(year)}
    for name, when in sorted({*zip(source.tolist(), year.tolist(), strict=True)}):
        found[f"{name} {when}"] = (source == name) & (year == when)
    return found


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    size, trial = (64, 32) if options.quick else (1024, 128)
    scores: dict[str, Callable[[str], np.ndarray]] = {}
    facts = []
    for weights in ("nBOW", "TF-IDF", "SIF"):
        choice = best(averaged, weights)
        scores[f"average, {weights}"] = lambda part, choice=choice: averaged(part, *choice)
    choice = best(exact, "nBOW", "TF-IDF", "SIF")
    facts.append(f"exp(−γ·WMD): {chosen(*choice)}")
    scores["exp(−γ·WMD)"] = lambda part, choice=choice: exact(part, *choice)
    for kind in ("cosine", "centred"):
        choice = chosen_embedding(kind, trial)
        drawing, words, unit, stop, weights, gamma = choice
        facts.append(
            f"WME, {kind}: {drawing}, D = {words}{', length one' * unit}, "
            f"{chosen(stop, weights, gamma)}, R = {size:,}"
        )
        scores[f"WME, {kind}"] = lambda part, k=kind, c=choice: embedded(part, k, size, c)
    human = np.concatenate([pairs(part).scores for part in PARTS])
    values = {}
    for name, score in scores.items():
        # Parts have their own mean and scale of scores, but one formula: they are put together.
        values[name] = np.concatenate([score(part) for part in PARTS])
        print(name, flush=True)
    rows, ours = [], {}
    for title, which in groups().items():
        found = {name: 100 * pearsonr(v[which], human[which])[0] for name, v in values.items()}
        printed = PAPER.get(tuple(title.split()))
        cells = [f"{value:.1f}" for value in found.values()]
        if printed:
            ours[title] = list(found.values()), printed
            for column, value in zip((0, 1, 2, 4), printed, strict=True):
                cells[column] += f" ({value})"
        rows.append([title, int(which.sum()), *cells])

    def ahead(place: int, paper: bool) -> int:
        both = [(p[3], p[place]) if paper else (v[4], v[place]) for v, p in ours.values()]
        return sum(mine > theirs for mine, theirs in both)

    text = TEXT.format(
        count=len(human), facts="; ".join(facts) + ".", shared=len(ours),
        table=table(["pairs from", "pairs", *values], rows),
        nbow=ahead(0, False), tfidf=ahead(1, False), sif=ahead(2, False),
        paper_nbow=ahead(0, True), paper_tfidf=ahead(1, True), paper_sif=ahead(2, True),
    )  # fmt: skip
    print(text)
    publish("sentence-subtasks", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
