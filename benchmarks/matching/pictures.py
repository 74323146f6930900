"""The pictures of the recipes, from the code that the recipes show.

Writes docs/figures/recipe-duplicates.png, docs/figures/recipe-catalogues.png,
docs/figures/recipe-audit.png, docs/figures/recipe-neighbors.png, docs/figures/recipe-questions.png,
docs/figures/recipe-embeddings.png, docs/figures/recipe-search.png. Takes about five minutes on one
core.

    python -m benchmarks.matching.pictures [--quick]
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import FIGURES

mpl.use("Agg")
RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes"
BLUE, RED, GREY = "#2a6f97", "#c8553d", "#c9ced3"


def first_block(recipe: str) -> dict[str, object]:
    """Run the first block of code of a recipe, and return what it has made."""
    text = (RECIPES / f"{recipe}.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    made: dict[str, object] = {}
    lines = [line for line in code[1].splitlines() if "to_csv" not in line]
    exec("\n".join(lines), made)  # noqa: S102 - our own page
    return made


def scores(recipe: str):
    axes = fp.plots.plot_scores(first_block(recipe)["found"])
    axes.figure.tight_layout()
    return axes.figure


def audit():
    made = first_block("audit")
    names, stated = made["names"], made["stated"]
    matrix = made["alike"].block(names, names)
    i, j = np.nonzero(np.triu(matrix >= 0.85, 1))
    held = {tuple(pair) for pair in made["candidates"]}
    missed = [(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if (a, b) not in held]
    true = 1 - len(missed) / len(i)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    ends = [[stated.value - stated.low], [stated.high - stated.value]]
    left.errorbar([0], [stated.value], yerr=ends, fmt="o", color=BLUE, capsize=6, label="stated")
    left.axhline(true, color=RED, linewidth=1, label="true")
    left.set(ylim=(0, 1), xlim=(-1, 1), xticks=[], ylabel="recall of the candidates")
    left.legend(frameon=False)
    places = range(9)

    def differs(a: int, b: int) -> int:
        return next((k for k in places if names[a][k] != names[b][k]), 8)

    every = np.bincount([differs(a, b) for a, b in zip(i, j, strict=True)], minlength=9)
    lost = np.bincount([differs(a, b) for a, b in missed], minlength=9)
    right.bar(places, every, color=GREY, label="matches")
    right.bar(places, lost, color=RED, label="missed by the rule")
    right.set(xlabel="place of the first letter that differs", ylabel="pairs")
    right.legend(frameon=False)
    figure.tight_layout()
    return figure


def neighbors():
    made = first_block("neighbors")
    texts, scorer = made["texts"], made["scorer"]
    exact = fp.Oracle(texts, scorer).columns(range(len(texts))).copy()
    np.fill_diagonal(exact, -np.inf)
    least = np.sort(exact, axis=1)[:, -5]
    shares, lows, values, highs, truths = [0.15, 0.2, 0.3, 0.4, 0.5, 0.6], [], [], [], []
    for share in shares:
        near = fp.find_nearest(texts, scorer, k=5, budget=share, random_state=0)
        lows.append(near.recall.low)
        values.append(near.recall.value)
        highs.append(near.recall.high)
        good = near.similarities >= least[near.left] - 1e-9
        truths.append(good.sum() / (5 * len(texts)))
    figure, axes = plt.subplots(figsize=(5, 3.2))
    axes.fill_between(shares, lows, highs, color=BLUE, alpha=0.15, linewidth=0, label="interval")
    axes.plot(shares, values, marker="o", color=BLUE, label="stated")
    axes.plot(shares, truths, marker="s", color=RED, linestyle="--", label="true")
    axes.set(xlabel="budget, share of all pairs", ylabel="recall of the 5 nearest", ylim=(0, 1.02))
    axes.legend(frameon=False)
    figure.tight_layout()
    return figure


def embeddings():
    from sklearn.decomposition import PCA

    made = first_block("embeddings")
    points = PCA(2).fit_transform(made["X"])
    figure, axes = plt.subplots(figsize=(5, 3.6))
    for topic, colour in zip(made["TOPICS"], (BLUE, RED, "#e9c46a", "#4d908e"), strict=True):
        own = made["topics"] == topic
        axes.scatter(*points[own].T, s=9, color=colour, label=topic)
    axes.set(xlabel="first principal axis", ylabel="second")
    axes.legend(frameon=False, markerscale=2)
    figure.tight_layout()
    return figure


def search():
    made = first_block("search")
    K, queries, documents, encode = (made[n] for n in ("K", "queries", "documents", "encode"))
    model = made["Model"]()
    exact = np.array([model.predict([(q, d) for d in documents]) for q in queries])
    last = np.partition(exact, -10, axis=1)[:, -10:-9]
    first = np.argsort(-(encode(queries) @ encode(documents).T), axis=1, kind="stable")
    budgets = [20, 40, 60, 100, 150]
    found = {"the encoder's first": [], "one round": [], "five rounds": []}
    for budget in budgets:
        fetched = np.take_along_axis(exact, first[:, :budget], axis=1)
        best = np.sort(fetched, axis=1)[:, -10:]
        found["the encoder's first"].append(np.mean(best >= last))
        for name, rounds in (("one round", 1), ("five rounds", 5)):
            near = K.search(queries, k=10, budget=budget, rounds=rounds)
            found[name].append(np.mean(near.similarities >= last))
    figure, axes = plt.subplots(figsize=(5, 3.2))
    for (name, recalls), colour in zip(found.items(), (RED, GREY, BLUE), strict=True):
        axes.plot(budgets, recalls, marker="o", color=colour, label=name)
    axes.set(xlabel="evaluations for each query", ylabel="recall of the 10 nearest", ylim=(0, 1.02))
    axes.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    return figure


def main() -> None:
    options = arguments(__doc__).parse_args()
    figures = {
        "duplicates": lambda: scores("duplicates"),
        "catalogues": lambda: scores("catalogues"),
        "audit": audit,
        "neighbors": neighbors,
        "questions": lambda: scores("questions"),
        "embeddings": embeddings,
        "search": search,
    }
    for name in ["duplicates"] if options.quick else figures:
        figure = figures[name]()
        if not options.quick:
            figure.savefig(FIGURES / f"recipe-{name}.png", dpi=110)
        print(f"recipe-{name}.png")


if __name__ == "__main__":
    main()
