"""Sentence similarity on STS-B: how well unsupervised scores of a pair follow human ones.

After Table 4 of *Word Mover's Embedding*. Stop words, word weights, γ and the middle of the random
words are chosen on training pairs alone; word frequencies and principal components come from
training sentences. Writes docs/sentence-similarity-table.md.

    FEWPAIRS_DATA=… python benchmarks/sentence_similarity.py [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from common import DOCS, arguments, need_data, table
from scipy.stats import pearsonr, spearmanr
from texts import stop_words, vectors

import fewpairs as fp
from fewpairs import datasets

GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: exp(−γ·WMD) for every γ is a power of exp(−UNIT·WMD), so distances are computed once.
UNIT = 0.01
STOPS = ("no stop words", "SMART stop words")
WEIGHTS = ("nBOW", "TF-IDF", "SIF")
#: Pearson × 100 as printed in the WME paper, Table 4, unsupervised methods with GloVe vectors.
PAPER = {
    "STS'12": (52.5, 58.7, 56.2, 60.6),
    "STS'13": (42.3, 52.1, 56.6, 54.5),
    "STS'14": (54.2, 63.8, 68.5, 65.5),
    "STS'15": (52.7, 60.6, 71.7, 61.8),
}
EXPLANATION = """\
Pearson / Spearman × 100 of a score with the human one, on the pairs of STS-B. Word vectors: the 100
dimensions at hand, derived from GloVe. Chosen on training pairs for each line: stop words, γ, and
for WME the weights of words and whether random words are centred. ± is the standard deviation over
{draws} draws of random documents, disjoint parts of {seeds} × {largest:,}. WME's lines: the plain
inner product of features, their cosine, and (ours, not in the paper) the cosine after the mean
feature vector of training sentences is taken off. SIF: a = 0.001, the first component removed."""
APPROXIMATED = """\
The same exp(−γ·WMD), with the reading of its best line on training pairs ({chosen}), approximated
for all pairs of the different sentences of a part, {seeds} seeds. "Bought": pairs of STS-B that the
run evaluated, because a sentence is a landmark or the pair was drawn as near. The last columns
leave those out: Pearson × 100 with the human scores by the exact and by the approximated kernel,
and of the two kernels with each other. To score only these pairs, {fewest:,} to {most:,}
evaluations of the pairs themselves are cheaper and exact; this shows what single entries are
worth."""
PAPERS_OWN = """\
The paper has no line for STS-B, which is a selection from STS'12 to STS'17. Its own Pearson × 100
on the yearly tasks (Table 4), with GloVe vectors of its choice:"""


class Reading(NamedTuple):
    """How sentences become bags of words."""

    stop: str
    weights: str


@dataclass(frozen=True, eq=False)
class Pairs:
    """Different sentences, and which of them were compared by people."""

    sentences: list[str]
    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, part: str) -> Pairs:
        """Read a part of STS-B."""
        records = datasets.read_records("stsb", part)
        sentences = list(dict.fromkeys(r[side] for r in records for side in "ab"))
        place = {sentence: k for k, sentence in enumerate(sentences)}
        left, right = (np.array([place[r[side]] for r in records]) for side in "ab")
        return cls(sentences, left, right, np.array([r["score"] for r in records]))

    def agreement(self, guess: np.ndarray) -> tuple[float, float]:
        """Pearson's and Spearman's coefficients × 100."""
        return tuple(100 * float(r(guess, self.scores)[0]) for r in (pearsonr, spearmanr))


@cache
def pairs(part: str) -> Pairs:
    return Pairs.of(part)


@cache
def counted(part: str, stop: str) -> fp.Documents:
    stopped = stop_words() if stop == STOPS[1] else None
    return fp.Documents.of(pairs(part).sentences, vectors(), stop_words=stopped, empty="far")


@cache
def word_weights(reading: Reading) -> np.ndarray:
    """A weight for each word of the table, from training sentences."""
    train, size = counted("train", reading.stop), len(vectors())
    having = np.bincount(train.words, minlength=size)
    if reading.weights == "TF-IDF":
        return np.log(len(train) / np.maximum(having, 1)) + 1
    if reading.weights == "SIF":
        return 1e-3 / (1e-3 + having / having.sum())
    return np.ones(size)


@cache
def bags(part: str, reading: Reading) -> fp.Documents:
    documents = counted(part, reading.stop)
    weights = documents.weights * word_weights(reading)[documents.words]
    sentence = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
    totals = np.bincount(sentence, weights, minlength=len(documents))
    return replace(documents, weights=weights / totals[sentence])


def dots(features: np.ndarray, part: str, *, cosine: bool) -> np.ndarray:
    """Inner product of the two sentences of each pair; a sentence without words has none."""
    if cosine:
        length = np.linalg.norm(features, axis=1, keepdims=True)
        features = features / np.maximum(length, 1e-300)
    return np.einsum("ij,ij->i", features[pairs(part).left], features[pairs(part).right])


def averaged(part: str, reading: Reading) -> np.ndarray:
    """Cosine of weighted sums of vectors; for SIF without the first training component."""

    def sums(part: str) -> np.ndarray:
        documents = counted(part, reading.stop)
        weights = documents.weights * word_weights(reading)[documents.words]
        return replace(documents, weights=weights).centroids()

    features = sums(part)
    if reading.weights == "SIF":
        first = np.linalg.svd(sums("train"), full_matrices=False)[2][0]
        features = features - np.outer(features @ first, first)
    return dots(features, part, cosine=True)


@cache
def exact(part: str, reading: Reading) -> np.ndarray:
    """exp(−UNIT·WMD) of each pair."""
    documents = bags(part, reading)
    compare = fp.WordMover(vectors(), UNIT)
    return compare.aligned(documents[pairs(part).left], documents[pairs(part).right])


@cache
def embedding(reading: Reading, center: bool, size: int, seed: int) -> fp.WordMoverEmbedding:
    model = fp.WordMoverEmbedding(
        vectors(), size, gamma=UNIT, center=center, random_state=seed, n_jobs=2
    )
    return model.fit(bags("train", reading))


def embedded(model: fp.WordMoverEmbedding, documents: fp.Documents) -> np.ndarray:
    """exp(−UNIT·WMD) to each random document."""
    return model.transform(documents) * np.sqrt(model.n_features)


def by_features(kind: str, features: np.ndarray, mean: np.ndarray, part: str) -> np.ndarray:
    if kind == "centred":
        features = features - mean
    return dots(features, part, cosine=kind != "plain")


def pearson(part: str, guess: np.ndarray) -> float:
    return pairs(part).agreement(guess)[0]


def choose_embedding(kind: str, size: int, most: int) -> tuple[Reading, bool, float]:
    """Reading, centre and γ of the best Pearson coefficient on training pairs."""
    found = {}
    for stop, weights, center in product(STOPS, WEIGHTS, (False, True)):
        reading = Reading(stop, weights)
        some, unit = training_features(reading, center, size, most)
        for gamma in GAMMAS:
            features = unit ** (gamma / UNIT)
            if kind == "centred":
                features = features - features.mean(axis=0)
            length = np.linalg.norm(features, axis=1, keepdims=True) if kind != "plain" else 1.0
            features = features / np.maximum(length, 1e-300)
            left, right = features.reshape(2, len(some), -1)
            guess = np.einsum("ij,ij->i", left, right)
            found[reading, center, gamma] = pearsonr(guess, pairs("train").scores[some])[0]
    return max(found, key=found.get)


@cache
def training_features(reading: Reading, center: bool, size: int, most: int):
    """Some training pairs, and features of their left, then of their right sentences."""
    train = pairs("train")
    some = np.random.default_rng(0).permutation(len(train.scores))[:most]
    both = bags("train", reading)[np.concatenate([train.left[some], train.right[some]])]
    return some, embedded(embedding(reading, center, size, 0), both)


def embedding_lines(sizes: tuple[int, ...], seeds: range, quick: bool) -> Iterator[list[str]]:
    largest = max(sizes)
    for kind in ("plain", "cosine", "centred"):
        reading, center, gamma = choose_embedding(kind, 256, 500 if quick else 2000)
        found: dict[tuple[int, str], list] = {}
        for seed, part in product(seeds, ("dev", "test")):
            model = embedding(reading, center, largest, seed)
            some = bags("train", reading)[: 1000 if kind == "centred" else 1]
            mean = (embedded(model, some) ** (gamma / UNIT)).mean(axis=0)
            features = embedded(model, bags(part, reading)) ** (gamma / UNIT)
            # Features are independent, so every stretch of R is a draw of its own.
            for size, begin in ((s, b) for s in sizes for b in range(0, largest, s)):
                at = slice(begin, begin + size)
                guess = by_features(kind, features[:, at], mean[at], part)
                found.setdefault((size, part), []).append(pairs(part).agreement(guess))
        chosen = f"{reading.stop}, {reading.weights}, γ = {gamma:g}"
        chosen += ", centred words" if center else ""
        for size in sizes:
            cells = []
            for part in ("dev", "test"):
                mean, deviation = np.mean(found[size, part], 0), np.std(found[size, part], 0)
                cells += [f"{m:.1f} ± {d:.1f}" for m, d in zip(mean, deviation, strict=True)]
            yield [f"WME, {kind}, R = {size:,}", chosen, *cells]


def plain_lines() -> Iterator[list[str]]:
    for weights in WEIGHTS:
        readings = [Reading(stop, weights) for stop in STOPS]
        best = max(readings, key=lambda r: pearson("train", averaged("train", r)))
        cells = [f"{v:.1f}" for p in ("dev", "test") for v in pairs(p).agreement(averaged(p, best))]
        yield [f"average, {weights}", best.stop, *cells]


def choose_exact(weights: tuple[str, ...]) -> tuple[Reading, float]:
    found = {}
    for stop, name, gamma in product(STOPS, weights, GAMMAS):
        reading = Reading(stop, name)
        found[reading, gamma] = pearson("train", exact("train", reading) ** (gamma / UNIT))
    return max(found, key=found.get)


def exact_lines() -> Iterator[list[str]]:
    for weights in WEIGHTS:
        reading, gamma = choose_exact((weights,))
        cells = []
        for part in ("dev", "test"):
            guess = exact(part, reading) ** (gamma / UNIT)
            cells += [f"{v:.1f}" for v in pairs(part).agreement(guess)]
        yield [f"exp(−γ·WMD), {weights}", f"{reading.stop}, γ = {gamma:g}", *cells]


def approximated_lines(counts: tuple[int, ...], seeds: range) -> Iterator[list[object]]:
    reading, gamma = choose_exact(WEIGHTS)
    for part, count, method in product(("dev", "test"), counts, ("sms", "fitted")):
        task, found = pairs(part), []
        truth = exact(part, reading) ** (gamma / UNIT)
        for seed in seeds:
            oracle = fp.Oracle(bags(part, reading), fp.WordMover(vectors(), gamma, empty="far"))
            K = fp.approximate(
                oracle, landmarks=count, method=method, error_pairs=0, random_state=seed
            )
            guess = K.entries(task.left, task.right)
            free = np.isnan(oracle.memory.find(task.left, task.right))
            human = task.scores[free]
            rest = [pearsonr(truth[free], human), pearsonr(guess[free], human)]
            rest.append(pearsonr(guess[free], truth[free]))
            n = len(task.sentences)
            share = K.evaluations / (n * (n + 1) / 2)
            found.append(
                [K.evaluations / 1e3, share, (~free).mean(), pearson(part, guess) / 100]
                + [r[0] for r in rest]
            )
        spent, share, bought, *scores = np.mean(found, axis=0)
        last = f"{scores[-1]:.3f}"
        deviations = np.std(found, axis=0)[3:]
        cells = [f"{100 * s:.1f} ± {100 * d:.1f}" for s, d in zip(scores, deviations, strict=True)]
        price = f"{spent:.0f} k ({share:.1%})"
        yield [part, method, count, price, f"{bought:.1%}", *cells[:-1], last]


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    need_data()
    seeds = range(1 if options.quick else 3)
    sizes = (64, 256) if options.quick else (256, 1024, 4096)
    rows = []
    for line in (*plain_lines(), *exact_lines()):
        rows.append(line)
        print(*line, sep=" | ", flush=True)
    for line in embedding_lines(sizes, seeds, options.quick):
        rows.append(line)
        print(*line, sep=" | ", flush=True)
    approximated = []
    for line in approximated_lines((100,) if options.quick else (100, 300), seeds):
        approximated.append(line)
        print(*line, sep=" | ", flush=True)
    text = document(rows, approximated, sizes, seeds)
    print("\n" + text)
    if not options.quick:
        (DOCS / "sentence-similarity-table.md").write_text(text, encoding="utf-8")


def document(rows: list, approximated: list, sizes: tuple[int, ...], seeds: range) -> str:
    largest = max(sizes)
    draws = ", ".join(f"{len(seeds) * largest // size} (R = {size:,})" for size in sizes)
    reading, gamma = choose_exact(WEIGHTS)
    numbers = [len(pairs(part).scores) for part in ("dev", "test")]
    parts = [
        EXPLANATION.format(draws=draws, seeds=len(seeds), largest=largest),
        table(["score", "chosen on training pairs", *_headings()], rows),
        APPROXIMATED.format(
            chosen=f"{reading.stop}, {reading.weights}, γ = {gamma:g}",
            seeds=len(seeds), fewest=min(numbers), most=max(numbers),
        ),
        table(
            ["part", "method", "landmarks", "evaluations", "bought", "Pearson, all pairs",
             "not bought: exact", "not bought: approximated", "with each other"],
            approximated,
        ),
        PAPERS_OWN,
        table(["task", "nbow", "tf-idf", "SIF", "WME"], [[k, *v] for k, v in PAPER.items()]),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _headings() -> list[str]:
    return [f"{part}, {name}" for part in ("dev", "test") for name in ("Pearson", "Spearman")]


if __name__ == "__main__":
    main()
