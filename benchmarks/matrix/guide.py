"""A guide beside the default method: embeddings that cost no evaluations, useful and useless ones.

Five stored matrices of sentence-pair models, raw and on the scale of their labels, symmetrised; the
guide is the sentence embedding that users of such models have anyway. Every comparison is at equal
evaluations, and of the same seeds: the same landmarks. Writes docs/tables/guide.md. Takes about ten
minutes on one core; stopped and started again with `--keep` it goes on.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.guide [--quick] [--keep FILE]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.matrix.neighbors import recall
from benchmarks.shared.budgets import cost_of_columns, run
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.matrices import STORED, stored_matrix
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors
from fewpairs import datasets

#: The five that the constants were looked at on; the others were not looked at.
SMALL = (
    "STS-B cross-attention",
    "MRPC probabilities",
    "STS-B cross-encoder",
    "RTE logits",
    "STS-B cross-attention, clipped",
)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
NOISE = (0.5, 1, 2, 4)


def embeddings(title: str) -> np.ndarray:
    """MiniLM vectors of the sentences, of length one."""
    folder = datasets.benchmark_folder() / "matrices"
    table_of = np.load(folder / f"{STORED[title][0]}.minilm.npy").astype(np.float64)
    return table_of / np.linalg.norm(table_of, axis=1, keepdims=True)


def sentences(title: str) -> list[str]:
    folder = datasets.benchmark_folder() / "matrices"
    return np.load(folder / f"{STORED[title][0]}.npz")["sentences"].tolist()


def tf_idf(title: str):
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(sentences(title))


def mean_words(title: str) -> np.ndarray:
    """The mean of the sentence's word vectors, which no transformer has seen."""
    words = vectors()
    rows = []
    for text in sentences(title):
        known = [words[w] for w in text.lower().split() if w in words]
        rows.append(np.mean(known, axis=0) if known else np.zeros(words.array.shape[1]))
    return np.array(rows)


def useless(X: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Guides that know nothing, or less and less."""
    rng = np.random.default_rng(1000 + seed)
    noise = rng.normal(size=X.shape) / np.sqrt(X.shape[1])
    yield "rows shuffled", X[rng.permutation(len(X))]
    yield "Gaussian", noise
    for strength in NOISE:
        yield f"+ {strength:g} × noise", X + strength * noise


def off(found: np.ndarray, matrix: np.ndarray) -> float:
    return float(np.linalg.norm(found - matrix) / np.linalg.norm(matrix))


def middle(values) -> float:
    return float(np.exp(np.mean(np.log(values))))


def errors(
    kept: Kept, key: str, matrix: np.ndarray, share: float, seeds: range, guide: Callable
) -> list[float]:
    """Relative errors with what `guide` makes of each seed; `key` names matrix and guide."""
    name = f"{key}|{share}|{len(seeds)}"
    return list(kept.part(name, lambda: measured(matrix, share, seeds, guide)))


def measured(matrix: np.ndarray, share: float, seeds: range, guide: Callable) -> list[float]:
    """Work them out."""
    budget = cost_of_columns(len(matrix), max(1, round(share * len(matrix))))
    return [
        off(run(matrix, budget, seed, "fitted", guide=guide(seed)).to_dense(), matrix)
        for seed in seeds
    ]


def useful_table(kept: Kept, titles, shares, seeds: range) -> str:
    rows, ratios = [], {}
    for title in titles:
        matrix, X = stored_matrix(title), embeddings(title)
        spectrum = np.linalg.svd(matrix, compute_uv=False) ** 2
        cells = []
        for share in shares:
            s = max(1, round(share * len(matrix)))
            plain = errors(kept, title, matrix, share, seeds, lambda _: None)
            guided = errors(kept, f"{title}|MiniLM", matrix, share, seeds, lambda _, X=X: X)
            ratio = middle(plain) / middle(guided)
            ratios.setdefault(share, {})[title] = ratio
            svd = np.sqrt(spectrum[s:].sum() / spectrum.sum())
            cells.append(
                f"{middle(plain):.3f} → **{middle(guided):.3f}** ({ratio:.2f} ×; SVD {svd:.3f})"
            )
        rows.append([f"{title} ({len(matrix):,})", *cells])
        print(*rows[-1], sep=" | ", flush=True)
    for name, chosen in (("all", titles), ("the five of the constants", SMALL), ("the others", [])):
        some = [t for t in (chosen or [t for t in titles if t not in SMALL]) if t in titles]
        if some:
            means = [f"{middle([ratios[share][t] for t in some]):.2f} ×" for share in shares]
            rows.append([f"geometric mean, {name}", *means])
    return table(["matrix (n)", *map(str, shares)], rows)


def useless_table(kept: Kept, titles, shares, few: range, many: range) -> str:
    """Error with a useless guide over that without: the mean of all cells, and the worst cell's.

    With few landmarks the guide has a say in which pairs are drawn, and other pairs give another
    error: a mean of many seeds is needed, and its standard error is shown.
    """
    found: dict[str, dict[float, list[tuple[float, float]]]] = {}
    for title in titles:
        matrix, X = stored_matrix(title), embeddings(title)
        made = [dict(useless(X, seed)) for seed in many]
        for share in shares:
            seeds = many if share < 0.05 else few
            plain = errors(kept, title, matrix, share, seeds, lambda _: None)
            for kind in made[0]:
                guided = errors(
                    kept, f"{title}|{kind}", matrix, share, seeds,
                    lambda seed, k=kind, m=made: m[seed][k],
                )  # fmt: skip
                ratios = np.array(guided) / plain
                error = float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
                cell = float(ratios.mean()), error
                found.setdefault(kind, {}).setdefault(share, []).append(cell)
        last = {
            k: [f"{v[s][-1][0]:.3f} ± {v[s][-1][1]:.3f}" for s in shares] for k, v in found.items()
        }
        print(title, last, flush=True)
    rows = []
    for kind, cells in found.items():
        row = []
        for share in shares:
            worst, error = max(cells[share])
            row.append(f"{middle([r for r, _ in cells[share]]):.3f} ({worst:.3f} ± {error:.3f})")
        rows.append([kind, *row])
    return table(["guide", *map(str, shares)], rows)


def others_table(kept: Kept, titles, share: float, seeds: range) -> str:
    """Guides that the models were not made from, and several at once."""
    rows = []
    for title in titles:
        matrix, X = stored_matrix(title), embeddings(title)
        noise = np.random.default_rng(0).normal(size=X.shape)
        guides = {
            "MiniLM": X,
            "TF-IDF": tf_idf(title),
            "mean word vectors": mean_words(title),
            "MiniLM, TF-IDF": [X, tf_idf(title)],
            "MiniLM, Gaussian": [X, noise],
        }
        plain = middle(errors(kept, title, matrix, share, seeds, lambda _: None))
        ratios = [
            plain / middle(errors(kept, f"{title}|{k}", matrix, share, seeds, lambda _, g=g: g))
            for k, g in guides.items()
        ]
        rows.append([title, f"{plain:.3f}", *(f"{ratio:.2f} ×" for ratio in ratios)])
        print(*rows[-1], sep=" | ", flush=True)
    return table(["matrix", "no guide", *guides], rows)


def mean_recall(matrix: np.ndarray, share: float, seeds: range, guide: np.ndarray | None) -> float:
    budget = cost_of_columns(len(matrix), max(1, round(share * len(matrix))))
    found = [run(matrix, budget, seed, "fitted", guide=guide).to_dense() for seed in seeds]
    return float(np.mean([recall(dense, matrix) for dense in found]))


def recall_table(kept: Kept, titles, shares, seeds: range) -> str:
    rows = []
    for title in titles:
        matrix, X = stored_matrix(title), embeddings(title)
        cells = []
        for share in shares:
            found = [
                kept.part(name, partial(mean_recall, matrix, share, seeds, guide))
                for name, guide in (
                    (f"{title}|recall|{share}", None),
                    (f"{title}|MiniLM|recall|{share}", X),
                )
            ]
            cells.append(f"{found[0]:.2f} → {found[1]:.2f}")
        rows.append([title, f"{recall(X @ X.T, matrix):.2f}", *cells])
        print(*rows[-1], sep=" | ", flush=True)
    return table(["matrix", "the guide alone", *map(str, shares)], rows)


def of_new_items(
    whole: np.ndarray, X: np.ndarray, share: float, seed: int
) -> dict[str, tuple[float, float]]:
    """Error of the entries of a sixth of the items with the others, and recall@10 among these."""
    n = len(whole)
    order = np.random.default_rng(seed).permutation(n)
    old, new = order[n // 6 :], order[: n // 6]
    exact = whole[np.ix_(new, old)]
    sim = fp.similarity(lambda a, b: whole[np.ix_(a, b)], kind="block", symmetric=True)
    budget = cost_of_columns(len(old), max(1, round(share * len(old))))
    found = {}
    for guide in (None, lambda items: X[np.asarray(items)]):
        K = fp.approximate(old, sim, budget=budget, guide=guide, error_pairs=0, random_state=seed)
        s = len(K.source.left_landmarks)
        counts = {"no guide, s": None}
        if K.source.guide is not None:
            counts = {"guide, 0": 0, "guide, s/4": s // 4, "guide, s": None}
        for name, count in counts.items():
            guess = K.extend(new, evaluations=count)[len(old) :][:, : len(old)]
            hits = [
                len(np.intersect1d(np.argsort(-a)[:10], np.argsort(-b)[:10])) / 10
                for a, b in zip(guess, exact, strict=True)
            ]
            found[name] = off(guess, exact), float(np.mean(hits))
    return found


def new_items_table(kept: Kept, titles, shares, seeds: range) -> str:
    keys = ("no guide, s", "guide, 0", "guide, s/4", "guide, s")
    rows = []
    for title in titles:
        whole, X = stored_matrix(title), embeddings(title)
        for share in shares:
            cells = [
                kept.part(f"{title}|new|{share}|{k}", partial(of_new_items, whole, X, share, k))
                for k in seeds
            ]
            means = [np.mean([cell[key] for cell in cells if key in cell], axis=0) for key in keys]
            rows.append([title, share, *(f"{e:.3f}, {r:.2f}" for e, r in means)])
            print(*rows[-1], sep=" | ", flush=True)
    return table(["matrix", "s/n", *keys], rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    options = parser.parse_args()
    need_data()
    kept = Kept(options.keep)
    titles = SMALL[1:3] if options.quick else tuple(STORED)
    some = SMALL[1:3] if options.quick else SMALL
    shares = (0.02, 0.1) if options.quick else SHARES
    seeds = range(2 if options.quick else 5)
    text = (
        "Relative error without a guide → with MiniLM embeddings as the guide, at the evaluations "
        "of s columns, by s/n (geometric means of five seeds; SVD: the best of rank s, which takes "
        "all pairs):\n\n"
        + useful_table(kept, titles, shares, seeds)
        + "\n\nUseless guides: error with the guide over that without one, mean over the cells "
        "(and of the worst cell, with its standard error) of five matrices, sixty seeds below "
        "s/n = 0.05, five from there on:\n\n"
        + useless_table(kept, some, shares, seeds, range(2 if options.quick else 60))
        + "\n\nOther guides, at s/n = 0.05, by how much each lowers the error:\n\n"
        + others_table(kept, some, 0.05, seeds)
        + "\n\nRecall@10 of all items from the factored matrix alone, without → with the guide:\n\n"
        + recall_table(kept, some, shares, range(2))
        + "\n\nNew items, a sixth of all: error of their entries with the others, and recall@10 "
        "among these; each compared with no landmark, a quarter of them, all of them:\n\n"
        + new_items_table(kept, some, (0.02, 0.1), range(1 if options.quick else 3))
        + "\n"
    )
    print("\n" + text)
    publish("guide", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
