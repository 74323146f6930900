"""Duplicates among thousands of questions by a cross-encoder: the recipe, in earnest.

The questions are TREC's. The model is MiniLM, fine-tuned on the spot on STS-B's degrees of
similarity and run by ONNX Runtime where that is installed; MiniLM's own embeddings are the guide.
The threshold is the one that tells STS-B's labelled pairs apart best. Nobody knows all matches of
5,000 questions, so some of those that begin with "What is the" are scored each against each: what
the search holds of their matches is its true recall there, and over twenty seeds they say what the
search finds and states of them alone. Models and scores stay in the folder, and a run that was
stopped goes on there. Writes docs/tables/questions.md. Takes about a quarter of an hour on one
core.

    FEWPAIRS_DATA=… python -m benchmarks.cross_encoders.questions [--quick] [--model FOLDER]
        [--questions 5000] [--budget 100000] [--checked 200]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table
from benchmarks.shared.taught_models import all_scores, embedded, labelled_pairs, taught
from fewpairs import datasets

#: Thresholds to choose from, and the human score (0 to 5) from which on two texts mean the same.
THRESHOLDS, SAME = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9), 4
#: Enough of the checked questions' pairs are above this to tell a recall.
LOWER = 0.6
#: How the questions begin that are scored each against each.
OPENING = "What is the "
SEEDS = 20
#: Shares of all pairs that the search among the checked questions may spend.
SHARES = (0.1, 0.3)
PURPOSES = ("ranked", "landmarks", "blind", "symmetry")


class Search(NamedTuple):
    """A search among all questions, the processor time that it took, and calls a second."""

    found: fp.Found
    seconds: float
    rate: float

    def rows(self, count: int) -> list[list[str]]:
        """What was spent on what, what was found, what is stated."""
        found, recall = self.found, self.found.recall
        everything = count * (count - 1)
        return [
            ["questions", f"{count:,}"],
            ["calls that all pairs would take", f"{everything:,}"],
            *([f"calls: {name}", f"{found.spent[name]:,}"] for name in PURPOSES),
            ["calls in all", f"{found.evaluations:,}"],
            ["of these looked up from an earlier search", f"{found.looked_up:,}"],
            ["matches found", f"{len(found):,}"],
            ["questions left, of linked ones one", f"{len(set(found.groups().tolist())):,}"],
            ["recall stated", f"{recall.value:.3f} ({recall.low:.3f} to {recall.high:.3f})"],
            ["matches among blind pairs, of these missed", f"{recall.met}, {recall.missed}"],
            ["processor time of this run", f"{self.seconds:,.0f} s"],
            ["calls per processor second, of 1,000 pairs at random", f"{self.rate:.0f}"],
            ["all calls of the search at that rate", f"{found.evaluations / self.rate:,.0f} s"],
            ["all pairs at that rate", f"{everything / self.rate / 3600:.1f} hours"],
        ]


def calls_a_second(questions: list[str], model) -> float:
    """Measure it on pairs at random, since a search may look calls up."""
    left, right = np.random.default_rng(0).integers(0, len(questions), (2, 1000))
    start = time.process_time()
    fp.score_pairs(model, [questions[k] for k in left], [questions[k] for k in right])
    return 2 * len(left) / (time.process_time() - start)


def best_threshold(model, pairs: list[tuple[str, str]], gold: np.ndarray) -> tuple[float, str]:
    """Return the threshold with the best F1 on labelled pairs, and what it is worth."""
    said = fp.score_pairs(model, *([pair[side] for pair in pairs] for side in (0, 1)))
    same = (gold >= SAME).astype(float)
    found = {t: fp.pair_scores(same, said, threshold=t).f1 or 0.0 for t in THRESHOLDS}
    best = max(found, key=lambda t: found[t])
    return best, f"F1 {found[best]:.2f} on {len(pairs):,} pairs; no score is above {said.max():.2f}"


def searched(
    questions: list[str], model, above: float, guide, budget: int, journal: Path
) -> Search:
    """Find what the budget allows; an answer that was paid for is not paid for again."""
    start = time.process_time()
    found = fp.find_pairs(
        questions,
        model,
        above=above,
        guide=guide,
        budget=budget,  # calls: a pair that is read in both orders takes two
        random_state=0,
        journal=journal,
    )
    seconds = time.process_time() - start
    return Search(found, seconds, calls_a_second(questions, model))


def true_recall(
    found: fp.Found, places: np.ndarray, mean: np.ndarray, above: float
) -> tuple[int, int]:
    """How many matches there are among the checked questions, and how many of them were found."""
    i, j = np.triu_indices(len(places), 1)
    held = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    matches = [
        (int(places[a]), int(places[b])) for a, b in zip(i, j, strict=True) if mean[a, b] >= above
    ]
    return len(matches), sum(pair in held for pair in matches)


def alone(mean: np.ndarray, guide: np.ndarray, above: float, share: float, seeds: int) -> list[str]:
    """True and stated recall of searches among the checked questions alone."""
    n = len(mean)
    matches = int((mean[np.triu_indices(n, 1)] >= above).sum())
    true, stated, low, holds, spent = [], [], [], 0, []
    for seed in range(seeds):
        found = fp.find_pairs(
            range(n),
            fp.Precomputed(mean, symmetric=True),
            above=above,
            guide=guide,
            budget=share,
            all_pairs=False,
            random_state=seed,
        )
        true.append(len(found) / max(matches, 1))
        stated.append(found.recall.value)
        low.append(found.recall.low)
        holds += found.recall.low <= true[-1] <= found.recall.high
        spent.append(2 * found.evaluations)
    return [
        f"{above:g} ({matches})",
        f"{np.mean(spent):,.0f} of {n * (n - 1):,}",
        f"{np.mean(true):.3f}",
        f"{np.mean(stated):.3f}, {np.mean(low):.3f}",
        f"{holds} of {seeds}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, default=Path("models"), help="keeps model and scores")
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--budget", type=int, default=100_000, help="calls of the model")
    parser.add_argument("--checked", type=int, default=200, help="questions each against each")
    options = parser.parse_args()
    need_data()
    quick = options.quick
    count, budget, checked = (
        (60, 1200, 8) if quick else (options.questions, options.budget, options.checked)
    )
    records = [r for part in ("train", "test") for r in datasets.read_records("trec", part)]
    questions = list(dict.fromkeys(r["text"] for r in records))[:count]
    options.model.mkdir(parents=True, exist_ok=True)
    folder = taught("STS-B", options.model, quick)
    guide = embedded(questions)
    kept = options.model / f"questions{'-quick' if quick else ''}"

    model = fp.CrossEncoder(folder, max_length=64)
    pairs, gold = labelled_pairs("STS-B", "dev")
    some = slice(0, 40 if quick else None)
    above, worth = best_threshold(model, pairs[some], gold[some])
    print(f"above {above:g}: {worth}", flush=True)
    search = searched(questions, model, above, guide, budget, kept.with_suffix(".paid"))
    rows = search.rows(len(questions))
    print(table(["", ""], rows), flush=True)
    found = search.found
    some = np.unique(np.linspace(0, len(found) - 1, min(10, len(found)), dtype=int))
    examples = [
        [f"{found.similarities[k]:.3f}", questions[found.left[k]], questions[found.right[k]]]
        for k in some
    ]
    print(table(["score", "one", "other"], examples), flush=True)

    places = np.array([k for k, text in enumerate(questions) if text.startswith(OPENING)][:checked])
    orders = all_scores(
        fp.CrossEncoder(folder, max_length=64, symmetric=None),
        [questions[k] for k in places],
        kept.with_name(f"{kept.name}-{len(places)}.rows.npy"),
    )
    mean = (orders + orders.T) / 2
    matches, held = true_recall(found, places, mean, above)
    seeds = 2 if quick else SEEDS
    subset = [
        alone(mean, guide[places], threshold, share, seeds)
        for threshold in (above, LOWER)
        for share in SHARES
    ]
    text = (
        f"{len(questions):,} questions of TREC, each once. The model is MiniLM, fine-tuned on "
        "STS-B's degrees of similarity; a score is the mean of both orders, two calls. From "
        f"{above:g} on a pair is a match: of {len(THRESHOLDS)} thresholds it tells labelled pairs "
        f"of STS-B with a human score of {SAME} or more from the others best ({worth}). That is "
        "what the model says of questions, and no human. The guide is MiniLM's embedding. One "
        f"search, {budget:,} calls at most.\n\n"
        + table(["", "one search"], rows)
        + "\n\nSome of what it found, from the best to the last:\n\n"
        + table(["score", "one", "other"], examples)
        + f'\n\nTrue recall. The first {len(places)} questions that begin with "{OPENING.strip()}" '
        f"were scored each against each: {matches} pairs match, and the search above holds {held} "
        f"of them. The same questions searched alone, {seeds} seeds, and with a lower threshold, "
        "at which there are matches enough to tell:\n\n"
        + table(
            ["above (matches)", "calls", "true recall", "stated, from", "interval holds"], subset
        )
    )
    print(text)
    publish("questions", text, quick=quick)


if __name__ == "__main__":
    main()
