"""Labelled sentence pairs scored by approximated cross-encoders: the paper's Tables 3 and 5.

The stored matrices are smaller than the paper's, so its numbers of landmarks are scaled to them.
Every method approximates the mean of both orders and may spend what s columns of it take; each
entry is two calls of the model. The default spends a part of that on near pairs, and labelled pairs
are near ones: how many of them were evaluated is stated, and "default, near=0" buys none of them on
purpose; its columns and the pairs that it tunes on still hold some. Writes docs/tables/glue.md.

With --model, the matrices are those of cross-encoders that are fine-tuned on the spot, on GLUE's
training pairs, over the sentences of labelled pairs drawn at random: models, and rows of matrices
as they are scored, stay in the folder. Writes docs/tables/glue-model.md. Takes about an hour on one
core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.glue [--quick] [--seeds 50] [--keep FILE]
        [--model FOLDER] [--data STS-B MRPC RTE]
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fewpairs as fp
from benchmarks.shared.budgets import PUBLISHED, cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.matrices import clip, sigmoid
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from benchmarks.shared.taught_models import scored, what_it_is_worth
from fewpairs import datasets


class Data(NamedTuple):
    """A stored matrix, the paper's size and landmarks of its like, and what the paper measures."""

    file: str
    scale: Any
    rows: int
    landmarks: tuple[int, int, int]
    threshold: float | None
    measure: str
    sentences: int  # of a model that is made on the spot


DATA = {
    "STS-B": Data("stsb-dev-large-crossattn", clip, 3000, (250, 350, 700), None, "pearson", 200),
    "MRPC": Data("mrpc-dev-crossattn", sigmoid, 816, (100, 250, 500), 0.5, "f1", 160),
    "RTE": Data("rte-dev-crossattn", sigmoid, 554, (100, 250, 450), 0.5, "accuracy", 100),
}
SMS = ("SMS Alg. 1", "SMS β")
#: Whether the sentence embeddings are the guide, and the method's own options.
OURS = {
    "default": (False, {}),
    "with guide": (True, {}),
    "default, near=0": (False, {"near": 0.0}),
    "with guide, near=0": (True, {"near": 0.0}),
}
METHODS = {
    **{name: PUBLISHED[name] for name in ("Nyström", *SMS, "SiCUR", "StaCUR(s)", "skeleton")},
    **{name: ("fitted", options) for name, (_, options) in OURS.items()},
}
MEASURES = ("pearson", "spearman", "f1", "accuracy")
#: What the paper prints for (data, method): the measure in per cent, the error; sizes in order.
PRINTED = {
    ("STS-B", "SMS Alg. 1"): ((75.61, 77.32, 79.36), (0.1738, 0.1402, 0.1349)),
    ("STS-B", "StaCUR(s)"): ((28.21, 34.18, 45.87), (0.5353, 0.5001, 0.4511)),
    ("STS-B", "SiCUR"): ((45.60, 57.65, 68.84), (0.2833, 0.2264, 0.1916)),
    ("MRPC", "SMS Alg. 1"): ((57.37, 63.93, 63.04), (0.3571, 0.3138, 0.3364)),
    ("MRPC", "StaCUR(s)"): ((53.78, 64.41, 66.97), (0.3941, 0.3339, 0.2530)),
    ("MRPC", "SiCUR"): ((69.42, 72.38, 75.53), (0.2149, 0.1854, 0.1587)),
    ("RTE", "SMS Alg. 1"): ((60.01, 61.84, 60.23), (0.1186, 0.1070, 0.1289)),
    ("RTE", "StaCUR(s)"): ((58.23, 57.32, 61.37), (0.3076, 0.3398, 0.1144)),
    ("RTE", "SiCUR"): ((61.11, 62.67, 63.28), (0.0658, 0.0691, 0.0503)),
    ("STS-B", "exact"): ((85.09,) * 3, (0.0,) * 3),
    ("STS-B", "symmetrised"): ((85.54,) * 3, (0.1375,) * 3),
    ("MRPC", "exact"): ((83.30,) * 3, (0.0,) * 3),
    ("MRPC", "symmetrised"): ((83.75,) * 3, (0.1958,) * 3),
    ("RTE", "exact"): ((65.98,) * 3, (0.0,) * 3),
    ("RTE", "symmetrised"): ((66.10,) * 3, (0.0187,) * 3),
}


class Labelled(NamedTuple):
    """A matrix on its scale, sentence embeddings, and labelled pairs."""

    matrix: np.ndarray
    guide: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray
    threshold: float | None

    def measured(self, dense: np.ndarray, asked: float = 1.0) -> list[float]:
        """Agreement with the labels, in per cent; labelled pairs evaluated; the error."""
        found = fp.pair_scores(self.gold, dense[self.left, self.right], threshold=self.threshold)
        values = [getattr(found, name) for name in MEASURES]
        scores = [np.nan if value is None else 100 * value for value in values]
        return [*scores, 100 * asked, relative(dense, self.matrix)]

    def by_guide_alone(self) -> list[float]:
        """Agreement of plain cosines with the labels: what costs no evaluation at all."""
        unit = self.guide / np.linalg.norm(self.guide, axis=1, keepdims=True)
        cosines = unit @ unit.T
        found = self._replace(threshold=None).measured(cosines, 0.0)
        return [*found[:-1], np.nan]  # cosines are on no scale of the model's


class Noted(fp.Similarity):
    """A matrix that notes what was asked for."""

    name = "noted"
    symmetric = True

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix, self.asked = matrix, np.zeros(matrix.shape, dtype=bool)

    def aligned(self, left, right):
        """Look pairs up."""
        self.asked[left, right] = self.asked[right, left] = True
        return self.matrix[left, right]

    def pairs(self, pairs):
        """Look pairs up that are a list."""
        return self.aligned(*np.array(pairs).T)


def approximated(case: Labelled, mean, budget: int, seed: int, title: str) -> list[float]:
    """What one method reaches with one seed, within the budget."""
    noted = Noted(mean)
    method, options = METHODS[title]
    guided = title in OURS and OURS[title][0]
    found = fp.approximate(
        range(len(mean)),
        noted,
        budget=budget,
        method=method,
        error_pairs=0,
        random_state=seed,
        guide=case.guide if guided else None,
        **options,
    )
    assert found.evaluations <= budget  # noqa: S101 - this is what "equal budget" means
    return case.measured(found.to_dense(), noted.asked[case.left, case.right].mean())


def labelled(data: Data) -> Labelled:
    with np.load(datasets.benchmark_folder() / "matrices" / f"{data.file}.npz") as file:
        pairs = [np.asarray(file[name]) for name in ("pair_i", "pair_j", "gold")]
    guide = np.load(datasets.benchmark_folder() / "matrices" / f"{data.file}.minilm.npy")
    matrix = data.scale(datasets.read_matrix(data.file))
    return Labelled(matrix, guide.astype(np.float64), *pairs, data.threshold)


def cells(
    name: str, case: Labelled, seeds: int, kept: Kept
) -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
    """Landmarks, evaluations, and what each method reaches with each seed."""
    data = DATA[name]
    n = len(case.matrix)
    mean = (case.matrix + case.matrix.T) / 2
    for printed in data.landmarks:
        s = round(printed * n / data.rows)
        budget = cost_of_columns(n, s)
        found: dict[str, list[list[float]]] = {
            "exact": [case.measured(case.matrix)],
            "symmetrised": [case.measured(mean)],
            "guide alone": [case.by_guide_alone()],
        }
        for title in METHODS:
            for seed in range(seeds):
                part = f"{name} {n} {s} {title} {seed}"
                if part not in kept:
                    kept.add(part, approximated(case, mean, budget, seed, title))
                found.setdefault(title, []).append(kept[part])
        yield s, 2 * budget, {title: np.array(values) for title, values in found.items()}


def losses_of(found: dict[str, np.ndarray], measure: int) -> list[str]:
    """What the better SMS and ours lose against the symmetrised model, and ours as a share."""
    exact = found["symmetrised"][0, measure]
    sms, *ours = (
        min(exact - found[title][:, measure].mean() for title in titles)
        for titles in (SMS, *((title,) for title in OURS))
    )
    shares = [f"{one:.2f} ({one / sms:.2f})" if sms > 0.05 else f"{one:.2f}" for one in ours]
    return [f"{sms:.2f}", *shares]


def shown(values: np.ndarray, digits: int = 2) -> str:
    mean = values.mean()
    if np.isnan(mean):
        return "–"
    if mean > 10 and digits > 2:
        return ">10"
    return f"{mean:.{digits}f}" + (f" ± {values.std():.{digits}f}" if len(values) > 1 else "")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--keep", type=Path, help="a file that keeps what was done")
    parser.add_argument("--model", type=Path, help="a folder for models that are made on the spot")
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    options = parser.parse_args()
    need_data()
    seeds = 2 if options.quick else options.seeds
    kept = Kept(options.keep)
    rows, losses, sizes, worth = [], [], [], []
    for name, data in DATA.items():
        if name not in options.data or (options.quick and name == "STS-B"):
            continue
        measure = MEASURES.index(data.measure)
        case = labelled(data)
        if options.model is not None:
            made = scored(
                name, options.model, 24 if options.quick else data.sentences, options.quick
            )
            case = Labelled(*made, data.threshold)
            worth.append(f"{name}, {what_it_is_worth(name, options.model, options.quick)}")
        for k, (s, evaluations, found) in enumerate(cells(name, case, seeds, kept)):
            losses.append([name, s, data.measure, *losses_of(found, measure)])
            for title, values in found.items():
                scores = [shown(values[:, m]) for m in range(len(MEASURES))]
                whole = "none" if title == "guide alone" else "all"
                scores.append(f"{values[:, -2].mean():.0f} %" if title in METHODS else whole)
                spent = f"{evaluations:,}" if title in METHODS else whole
                printed = PRINTED.get((name, title))
                beside = ["–", "–"] if printed is None else [printed[0][k], printed[1][k]]
                rows.append([name, s, title, *scores, shown(values[:, -1], 4), spent, *beside])
                print(*rows[-1], sep=" | ", flush=True)
        n = len(case.matrix)
        scaled = ", ".join(str(s) for s in dict.fromkeys(row[1] for row in rows if row[0] == name))
        sizes.append(
            f"{name}: {data.rows:,} sentences and {data.landmarks} landmarks in the paper, {n:,} "
            f"and {scaled} here"
        )
    made_here, scale = "", "STS-B is clipped to 0 … 1, MRPC and RTE are probabilities"
    if options.model is not None:
        made_here = (
            "Every model was fine-tuned on the spot, by fp.finetune_cross_encoder from MiniLM's "
            "weights, two layers frozen, and its matrix is over a subset of the sentences "
            f"({'; '.join(worth)}). "
        )
        scale = "All values lie between 0 and 1"
    text = (
        f"Means ± standard deviations over {seeds} seeds. {'. '.join(sizes)}. The models and the "
        f"sentences are others than the paper's. {made_here}Scores are in per cent; the error is "
        f"that of the whole matrix against the model itself, both orders apart. {scale}, and a "
        "pair is positive from 0.5 on: the model's own decision, as in the paper. "
        '"Labelled known" is the share of the labelled pairs that a method has '
        "evaluated. The default buys near pairs, and labelled pairs are near ones, so most of its "
        'scores are the model\'s own; "near=0" does without. It still evaluates its columns and '
        "pairs to tune on, which are drawn where values are large, so it knows more of them than "
        "the published methods do; where it knows nearly all, it shows nothing either. The guide "
        'is MiniLM\'s sentence embedding; "guide alone" is its cosine, without the model. The last '
        "two columns are what the paper prints: Pearson for STS-B, F1 for MRPC, accuracy for RTE, "
        "and its error.\n\n"
        + table(
            [
                *("data", "s", "method", *MEASURES, "labelled known", "error", "evaluations"),
                *("paper", "paper's error"),
            ],
            rows,
        )
        + "\n\nWhat is lost against the symmetrised model, in points; of SMS the better one, of "
        "Algorithm 1 and rescaled. In brackets, ours as a share of that.\n\n"
        + table(["data", "s", "measure", "SMS", *OURS], losses)
    )
    print("\n" + table(["data", "s", "measure", "SMS", *OURS], losses))
    if options.model is None:
        publish("glue", text, quick=options.quick)
    else:
        publish("glue-model", text, quick=options.quick)


if __name__ == "__main__":
    main()
