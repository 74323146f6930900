"""Approximate a function of your own: the whole matrix from a fifth of the pairs.

The function compares the words of two docstrings. Left is what the matrix says of 80 texts, right
what the function says; only the left one would be there in earnest.
"""

import numpy as np

import fewpairs as fp

corpus = fp.datasets.docstrings()
some = np.random.default_rng(0).permutation(len(corpus.texts))[:300]
bags = [frozenset(corpus.texts[i].lower().split()[:60]) for i in some]


def shared(a, b):  # yours: a model, an alignment, a service
    return len(a & b) / min(len(a), len(b))


similarity = fp.similarity(shared, kind="pair", symmetric=True, diagonal=1.0, name="shared words")
print(fp.plan(bags, similarity, budget=0.2))
K = fp.approximate(bags, similarity, budget=0.2, random_state=0)
print(K.error)

block = np.arange(80)
exact = fp.Oracle(bags, similarity).block(block, block)
axes = fp.plots.plot_block(K, block, exact=exact)
axes.figure.savefig("own_function.png", dpi=110, bbox_inches="tight")
