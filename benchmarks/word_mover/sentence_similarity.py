"""Sentence similarity on STS-B: how well unsupervised scores of a pair follow human ones.

After Table 4 of *Word Mover's Embedding*. Everything that can be chosen is chosen on training
pairs; word frequencies, components and means come from training sentences. Writes
docs/tables/sentence-similarity.md. Takes about an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.word_mover.sentence_similarity [--quick]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product

import numpy as np
from scipy.stats import pearsonr
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.sentence_pairs import (
    READINGS,
    WEIGHTS,
    agreement,
    bags,
    inner,
    pairs,
    weighed,
)
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors

GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: exp(−γ·WMD) for every γ is a power of exp(−UNIT·WMD), so distances are computed once.
UNIT = 0.01
KINDS = ("plain", "cosine", "centred")
PARTS = ("dev", "test")
#: Pearson × 100 as printed in the WME paper, Table 4: unsupervised methods, GloVe vectors.
PAPER = {
    "STS'12": (52.5, 58.7, 56.2, 60.6),
    "STS'13": (42.3, 52.1, 56.6, 54.5),
    "STS'14": (54.2, 63.8, 68.5, 65.5),
    "STS'15": (52.7, 60.6, 71.7, 61.8),
}
SCORES = """\
Pearson's and Spearman's coefficients × 100 of a score with the human one, on the pairs of STS-B.
Word vectors: 100 dimensions, derived from GloVe. "Average": cosine of averaged vectors; for SIF,
a = 0.001 and the first component of training sentences is removed. "Plain", "cosine", "centred":
inner products of features, their cosines, and (not in the paper) cosines after the mean of training
sentences is taken off. WME: mean ± standard deviation of {draws} draws. Landmarks: features of
exp(−γ·WMD) to s other training sentences, {seeds} seeds. Both cost one distance a sentence and
feature, and evaluate no pair of dev or test. {empty} test pairs have a sentence of stop words
alone."""
ENTRIES = """\
Entries of exp(−γ·WMD) ({chosen}) by `fp.approximate`, for all pairs of a part's different
sentences, {seeds} seeds; Pearson × 100. "Bought": pairs of STS-B that the run evaluated, because a
sentence is a landmark or the pair was drawn as a near one; "fitted" puts their values back, "sms"
does not. The last three columns leave them out: the exact kernel and the approximated one with
human scores, and the two with each other. Who needs these {numbers} pairs alone
evaluates them alone, exactly; this shows what single entries are worth."""
PUBLISHED = """\
The WME paper's own Pearson × 100 (Table 4). It has no line for STS-B, which is a selection from
STS'12 to STS'17, and its GloVe vectors are others than ours."""


def averaged(part: str, stop: str, weights: str) -> np.ndarray:
    """Cosines of averaged word vectors; for SIF without the first component."""
    features = weighed(part, stop, weights).centroids()
    if weights == "SIF":
        train = weighed("train", stop, weights).centroids()
        first = np.linalg.eigh(train.T @ train)[1][:, -1]
        features = features - np.outer(features @ first, first)
    return inner(part, features, "cosine", 0.0)


@cache
def exact(part: str, stop: str, weights: str, gamma: float = UNIT) -> np.ndarray:
    """exp(−γ·WMD) of each pair."""
    if gamma != UNIT:
        return exact(part, stop, weights) ** (gamma / UNIT)
    left, right = (bags(part, stop, weights)[side] for side in pairs(part)[1:3])
    return fp.WordMover(vectors(), UNIT).aligned(left, right)


def embed(part: str, size: int, seed: int, center: bool, *reading: str) -> np.ndarray:
    """Features exp(−UNIT·WMD) to random documents."""
    model = fp.WordMoverEmbedding(
        vectors(),
        size,
        gamma=UNIT,
        drawing="centred-box" if center else "box",
        random_state=seed,
        n_jobs=2,
    )
    model.fit(bags("train", *reading))
    return model.transform(bags(part, *reading)) * np.sqrt(size)


@cache
def best(score: Callable, *weights: str) -> tuple:
    """Stop words, weights and γ (if the score has one) that do best on all training pairs."""
    gammas = [(gamma,) for gamma in GAMMAS] if score is exact else [()]
    choices = [(*r, *gamma) for r in READINGS for gamma in gammas if r[1] in weights]
    return max(choices, key=lambda choice: agreement({"train": score("train", *choice)})[0])


def chosen(stop: str, weights: str, gamma: float | None = None, center: bool = False) -> str:
    """What was chosen, in words."""
    words = [weights, "stop words left out" * (stop == "SMART")]
    words += [f"γ = {gamma:g}" if gamma else "", "centred words" * center]
    return ", ".join(filter(None, words))


def plain_lines() -> Iterator[list[str]]:
    for score, weights in product((averaged, exact), WEIGHTS):
        choice = best(score, weights)
        values = agreement({part: score(part, *choice) for part in PARTS})
        name = "average" if score is averaged else "exp(−γ·WMD)"
        yield [name, chosen(*choice), *(f"{v:.1f}" for v in values)]


def embedding_lines(sizes: tuple[int, ...], seeds: range, trial: int) -> Iterator[list[str]]:
    tried, largest = {}, max(sizes)
    for center, reading in product((False, True), READINGS):
        unit = embed("sample", trial, 0, center, *reading)
        for gamma, kind in product(GAMMAS, KINDS):
            features = unit ** (gamma / UNIT)
            guess = inner("sample", features, kind, features.mean(axis=0))
            tried[kind, center, reading, gamma] = agreement({"sample": guess})[0]
    # All kinds share the stop words and weights, so that a draw serves them all; γ is their own.
    _, center, reading, _ = max((c for c in tried if c[0] == "cosine"), key=tried.get)
    here = [c for c in tried if c[1:3] == (center, reading)]
    gammas = {kind: max((c for c in here if c[0] == kind), key=tried.get)[3] for kind in KINDS}
    found: dict[tuple[str, int], list] = {both: [] for both in product(KINDS, sizes)}
    for seed in seeds:
        units = {p: embed(p, largest, seed, center, *reading) for p in ("sample", *PARTS)}
        for kind, gamma in gammas.items():
            features = {part: unit ** (gamma / UNIT) for part, unit in units.items()}
            mean = features["sample"].mean(axis=0)
            # Features are independent of each other, so any R of them are a draw.
            for size, begin in ((s, b) for s in sizes for b in range(0, largest, s)):
                at = slice(begin, begin + size)
                guesses = {p: inner(p, features[p][:, at], kind, mean[at]) for p in PARTS}
                found[kind, size].append(agreement(guesses))
    for (kind, size), values in found.items():
        choice = chosen(*reading, gammas[kind], center)
        yield [f"WME, {kind}, R = {size:,}", choice, *spreads(values)]


@cache
def landmark_scores(method: str, gamma: float, size: int, seed: int, *parts: str) -> dict:
    """Agreement in all parts, by kind of inner product; landmarks are training sentences."""
    reading = best(exact, *WEIGHTS)[:2]
    similarity = fp.WordMover(vectors(), gamma, empty="far")
    model = fp.SimilarityFeatures(similarity, size, method=method, random_state=seed, n_jobs=2)
    # A sixth of the pairs have a sentence that is in the training part too; it is no landmark.
    asked = {sentence for part in PARTS for sentence in pairs(part).sentences}
    free = [k for k, text in enumerate(pairs("train").sentences) if text not in asked]
    some = np.random.default_rng(seed).permutation(free)[: 6 * size]
    mean = model.fit_transform(bags("train", *reading)[some]).mean(axis=0)
    made = {part: model.transform(bags(part, *reading)) for part in parts}
    return {k: agreement({p: inner(p, made[p], k, mean) for p in parts}) for k in KINDS[1:]}


def landmark_lines(size: int, seeds: range) -> Iterator[list[str]]:
    for method in ("sms", "fitted"):
        tried = {g: landmark_scores(method, g, size, 99, "sample") for g in GAMMAS[::2]}
        for kind in KINDS[1:]:
            _, gamma = max((values[kind][0], gamma) for gamma, values in tried.items())
            found = [landmark_scores(method, gamma, size, s, *PARTS)[kind] for s in seeds]
            choice = chosen(*best(exact, *WEIGHTS)[:2], gamma)
            yield [f"landmarks, {method}, {kind}, s = {size}", choice, *spreads(found)]


def entry_lines(counts: tuple[int, ...], seeds: range) -> Iterator[list[object]]:
    *reading, gamma = best(exact, *WEIGHTS)
    for part, count, method in product(PARTS, counts, ("sms", "fitted")):
        task, truth, found = pairs(part), exact(part, *reading, gamma), []
        n = len(task.sentences)
        for seed in seeds:
            similarity = fp.WordMover(vectors(), gamma, empty="far")
            oracle = fp.Oracle(bags(part, *reading), similarity, n_jobs=2)
            K = fp.approximate(
                oracle, landmarks=count, method=method, error_pairs=0, random_state=seed
            )
            guess, human = K.entries(task.left, task.right), task.scores
            free = np.isnan(oracle.memory.find(task.left, task.right))
            compared = [(guess, human), *((x[free], human[free]) for x in (truth, guess))]
            compared.append((guess[free], truth[free]))
            values = [100 * pearsonr(*both)[0] for both in compared]
            found.append([K.evaluations / (n * (n + 1) / 2), (~free).mean(), *values])
        share, bought = np.mean(found, axis=0)[:2]
        rest = spreads([values[2:] for values in found])
        yield [part, method, count, f"{share:.1%}", f"{bought:.0%}", *rest]


def spreads(found: list) -> list[str]:
    means, deviations = np.mean(found, axis=0), np.std(found, axis=0)
    return [f"{m:.1f} ± {d:.1f}" for m, d in zip(means, deviations, strict=True)]


def shown(lines: Iterable[list]) -> list[list]:
    """Print lines as they come, and keep them."""
    rows = []
    for line in lines:
        print(*line, sep=" | ", flush=True)
        rows.append(line)
    return rows


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds = range(1 if options.quick else 3)
    sizes, trial = ((64, 256), 64) if options.quick else ((256, 1024, 4096), 512)
    rows = shown(plain_lines()) + shown(embedding_lines(sizes, seeds, trial))
    rows += shown(landmark_lines(64 if options.quick else 256, seeds))
    entries = shown(entry_lines((100,) if options.quick else (100, 300), seeds))
    draws = ", ".join(f"{len(seeds) * max(sizes) // size}" for size in sizes)
    words = np.diff(bags("test", "SMART", "nBOW").starts)
    empty = np.count_nonzero(words[pairs("test").left] * words[pairs("test").right] == 0)
    numbers = " and ".join(f"{len(pairs(part).scores):,}" for part in PARTS)
    headings = [f"{part}, {name}" for part in PARTS for name in ("Pearson", "Spearman")]
    bought = ["pairs evaluated", "bought", "Pearson, all pairs", "not bought: exact"]
    bought += ["not bought: approximated", "not bought: with each other"]
    paragraphs = (
        SCORES.format(draws=draws, seeds=len(seeds), empty=empty),
        table(["score", "chosen on training pairs", *headings], rows),
        ENTRIES.format(seeds=len(seeds), numbers=numbers, chosen=chosen(*best(exact, *WEIGHTS))),
        table(["part", "method", "landmarks", *bought], entries),
        PUBLISHED,
        table(["task", "nbow", "tf-idf", "SIF", "WME"], [[k, *v] for k, v in PAPER.items()]),
    )
    text = "\n\n".join(paragraphs) + "\n"
    print("\n" + text)
    publish("sentence-similarity", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # the library has two threads already
        main()
