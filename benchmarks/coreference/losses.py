"""Where the default method loses points on ECB+: the matrix, the threshold, the scorer, or chance.

benchmarks.coreference.ecb has one scorer, three seeds of the landmarks, and a threshold that is
chosen for each. Here the same difference to the exact matrices is taken apart: at the threshold of
the exact matrices, over a band of thresholds around it, at the best one of the test topics in
hindsight; with its standard error over topics; with the same errors at other places; with
approximations of log-odds, and clipped to probabilities; and with other scorers, which have learned
from the same vectors with another seed. Writes docs/tables/ecb-losses.md. Takes about half an hour
on one core, most of it for encoders and scorers, which are read from the folder if they are there.

    FEWPAIRS_DATA=… python -m benchmarks.coreference.losses [--quick] [--seeds 10] [--scorers 3]
        [--keep FOLDER]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.coreference import ecb as benchmark
from benchmarks.coreference.ecb import NAMES, THRESHOLDS, Topic, approximated, partitions
from benchmarks.shared import ecb
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.tables import publish, table

SHARES = (0.25, 0.5)
#: Thresholds on each side of the exact one that make a band: ±0.12.
BAND = 3
#: Log-odds of probabilities below this, or above 1 less this, are all the same.
_SATURATED = 0.005

Approximation = Callable[..., Any]


def clipped(topic: Topic, share: float, seed: int) -> np.ndarray:
    """The approximation with entries beyond 0 and 1 put there."""
    return np.clip(approximated(topic, share, seed, "fitted", {}).to_dense(), 0, 1)


def by_log_odds(topic: Topic, share: float, seed: int) -> np.ndarray:
    """Log-odds are approximated, and their probabilities clustered."""
    mean = np.clip(topic.mean, _SATURATED, 1 - _SATURATED)
    odds = topic._replace(scores=np.log(mean / (1 - mean)))
    return 1 / (1 + np.exp(-approximated(odds, share, seed, "fitted", {}).to_dense()))


def displaced(topic: Topic, share: float, seed: int) -> np.ndarray:
    """The exact matrix with the approximation's errors, at random places among the unseen ones."""
    wrong = approximated(topic, share, seed, "fitted", {}).to_dense() - topic.mean
    above = np.triu_indices(len(wrong), 1)
    errors = wrong[above]
    unseen = np.flatnonzero(np.abs(errors) > 1e-9)
    errors[unseen] = np.random.default_rng(seed).permutation(errors[unseen])
    moved = np.zeros_like(wrong)
    moved[above] = errors
    return topic.mean + moved + moved.T


WAYS: dict[str, Approximation] = {
    "default": lambda topic, share, seed: approximated(topic, share, seed, "fitted", {}),
    "clipped to 0 and 1": clipped,
    "log-odds approximated": by_log_odds,
    "its errors at other places": displaced,
}


class Curves(NamedTuple):
    """CoNLL F1 by threshold on development and on test topics, and that of test without each topic.

    The last is at the threshold that is best on the development topics.
    """

    dev: np.ndarray
    test: np.ndarray
    without: np.ndarray

    @classmethod
    def of(cls, dev: list[Topic], test: list[Topic], make: Callable[[Topic], Any]) -> Curves:
        """Cluster what `make` makes of each topic."""
        on_dev = benchmark.conll(dev, [make(topic) for topic in dev], THRESHOLDS)
        labels = [partitions(make(topic), THRESHOLDS) for topic in test]
        at = [[one[k] for one in labels] for k in range(len(THRESHOLDS))]
        on_test = np.array([benchmark.scored(test, some) for some in at])
        said, everyone = at[best(on_dev)], range(len(test))
        without = [
            benchmark.scored(*([some[k] for k in everyone if k != out] for some in (test, said)))
            for out in everyone
        ]
        return cls(on_dev, on_test, np.array(without))

    @property
    def chosen(self) -> float:
        """F1 on test at the threshold that is best on the development topics."""
        return float(self.test[best(self.dev)])


def best(curve: np.ndarray) -> int:
    """Place of the highest; of several the middle one."""
    highest = np.flatnonzero(curve == curve.max())
    return int(highest[len(highest) // 2])


def band(curve: np.ndarray, centre: int) -> float:
    """Mean over thresholds around one."""
    return float(curve[max(centre - BAND, 0) : centre + BAND + 1].mean())


def jackknife(differences: np.ndarray) -> float:
    """Standard error over topics, from what is left without each of them."""
    n = len(differences)
    return float(np.sqrt((n - 1) / n * np.sum((differences - differences.mean()) ** 2)))


def parts(exact: Curves, some: list[Curves]) -> dict[str, str]:
    """What is lost, in points of F1: means over seeds, and standard deviations."""
    at = best(exact.dev)

    def lost(values) -> str:
        values = np.array(list(values))
        return f"{values.mean():+.2f} ± {values.std():.2f}"

    over_topics = jackknife(np.mean([one.without for one in some], axis=0) - exact.without)
    return {
        "each at the threshold that is best on dev": lost(c.chosen - exact.chosen for c in some),
        "… its standard error over test topics": f"{over_topics:.2f}",
        "all at the exact matrices' threshold": lost(c.test[at] - exact.test[at] for c in some),
        "mean over thresholds within 0.12 of it": lost(
            band(c.test, at) - band(exact.test, at) for c in some
        ),
        "each at its best on test, in hindsight": lost(
            c.test.max() - exact.test.max() for c in some
        ),
        "on dev, mean over thresholds within 0.12": lost(
            band(c.dev, at) - band(exact.dev, at) for c in some
        ),
    }


def measured(name: str, dev, test, make, kept: Kept) -> Curves:
    if name not in kept:
        found = Curves.of(dev, test, make)
        kept.add(name, [part.tolist() for part in found])
        print(name, f"{found.chosen:.2f}", flush=True)
    return Curves(*(np.array(part) for part in kept[name]))


def section(kind: str, runs: list[tuple[list[Topic], list[Topic]]], options, kept: Kept) -> str:
    """The tables of one kind; runs are the development and test topics of each scorer."""
    rows: dict[str, list[str]] = {}
    others = []
    for scorer, (dev, test) in enumerate(runs):
        name = f"{kind} scorer {scorer}"
        exact = measured(f"{name} exact", dev, test, lambda topic: topic.mean, kept)
        for share in SHARES:
            for way, make in WAYS.items() if scorer == 0 else [("default", WAYS["default"])]:
                some = []
                for seed in range(options.seeds):
                    made = partial(make, share=share, seed=seed)
                    some.append(measured(f"{name} {way} {share} {seed}", dev, test, made, kept))
                found = parts(exact, some)
                if scorer == 0:
                    for what, value in found.items():
                        if way == "default" or what.startswith(("each at the", "mean over")):
                            rows.setdefault(f"{way}: {what}", []).append(value)
                if way == "default":
                    wide = found["mean over thresholds within 0.12 of it"]
                    chosen = found["each at the threshold that is best on dev"]
                    others.append([scorer, f"{share:.0%}", f"{exact.chosen:.2f}", chosen, wide])
        if scorer == 0:
            at = best(exact.dev)
            near = range(max(at - BAND, 0), min(at + BAND + 1, len(THRESHOLDS)))
            levels = [[f"{THRESHOLDS[k]:.2f}", *(f"{c[k]:.2f}" for c in exact[:2])] for k in near]
    heads = ["", *(f"{round(100 * share)} %" for share in SHARES)]
    return (
        f"## {NAMES[kind]}\n\nPoints of CoNLL F1 beside the exact matrices:\n\n"
        f"{table(heads, [[what, *cells] for what, cells in rows.items()])}\n\n"
        "The exact matrices, by threshold:\n\n"
        f"{table(['threshold', 'dev', 'test'], levels)}\n\nBy scorer, the default method:\n\n"
        + table(["scorer", "landmarks", "exact", "lost, threshold of dev", "lost, band"], others)
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scorers", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="the folder of benchmarks.coreference.ecb")
    options = parser.parse_args()
    need_data()
    ecb.need_model()
    if options.quick:
        options.seeds = options.scorers = 1
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    kept = Kept(options.keep / "losses.jsonl" if options.keep else None)
    runs: dict[str, list[tuple[list[Topic], list[Topic]]]] = {}
    for kind, _, dev, test in benchmark.cases(options, range(options.scorers)):
        runs.setdefault(kind, []).append((dev, test))
    pages = [section(kind, some, options, kept) for kind, some in runs.items()]
    text = (
        f"What the default method loses beside the exact matrices on ECB+, means over "
        f"{options.seeds} seeds of the landmarks ± standard deviations. Settings as in "
        "[ecb.md](ecb.md), with its scorer, unless another is named: scorers have learned from the "
        "same vectors, with the seeds "
        f"{', '.join(map(str, range(options.scorers)))}."
    )
    print("\n\n".join(pages))
    publish("ecb-losses", "\n\n".join([text, *pages]), quick=options.quick)


if __name__ == "__main__":
    main()
