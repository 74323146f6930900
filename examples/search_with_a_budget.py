"""Search with an expensive model: a budget of evaluations for each query.

A cheap encoder alone fetches and re-ranks; a matrix of the documents, made once, lets a query's
first scores say which documents to score next.
"""

import matplotlib.pyplot as plt
import numpy as np
from rapidfuzz import fuzz, process
from sklearn.feature_extraction.text import HashingVectorizer

import fewpairs as fp

corpus = fp.datasets.docstrings()
some = np.random.default_rng(1).permutation(len(corpus.texts))[:450]
texts = [corpus.texts[i][:200] for i in some]
documents, queries = texts[50:], texts[:50]
letters = HashingVectorizer(n_features=256, analyzer="char_wb", ngram_range=(2, 3))


def scores(left, right):  # in earnest: a cross-encoder
    return process.cdist(left, right, scorer=fuzz.token_set_ratio, dtype=np.float64) / 100


def encode(some_texts):  # in earnest: an embedding model
    return letters.transform(some_texts).toarray()


model = fp.similarity(scores, kind="block", symmetric=True, diagonal=1.0, name="model")
K = fp.approximate(documents, model, budget=0.15, guide=encode, error_pairs=0, random_state=0)
exact = scores(queries, documents)
tenth = np.partition(exact, -10, axis=1)[:, -10:-9]
order = np.argsort(-(encode(queries) @ encode(documents).T), axis=1, kind="stable")

budgets, fetched, searched = (20, 40, 80, 120), [], []
for budget in budgets:
    best = np.sort(np.take_along_axis(exact, order[:, :budget], axis=1), axis=1)[:, -10:]
    fetched.append(np.mean(best >= tenth))
    searched.append(np.mean(K.search(queries, k=10, budget=budget).similarities >= tenth))
print(
    "recall of the ten nearest:", *(f"{b}: {r:.2f}" for b, r in zip(budgets, searched, strict=True))
)

figure, axes = plt.subplots(figsize=(5, 3.2))
axes.plot(budgets, fetched, marker="o", color="#c8553d", label="the encoder's first, re-ranked")
axes.plot(budgets, searched, marker="o", color="#2a6f97", label="K.search")
axes.set(
    xlabel="evaluations for each query, of 400", ylabel="recall of the 10 nearest", ylim=(0, 1)
)
axes.legend(frameon=False, loc="lower right")
figure.savefig("search_with_a_budget.png", dpi=110, bbox_inches="tight")
