"""From a corpus alone: word vectors, Word Mover's similarity, and a map of the texts.

Nothing is downloaded: the vectors are trained on the same texts. Texts of one library tend to lie
together, though the similarity knows nothing of libraries.
"""

import numpy as np

import fewpairs as fp

corpus = fp.datasets.docstrings()
some = np.random.default_rng(0).permutation(len(corpus.texts))[:250]
texts = [" ".join(corpus.texts[i].split()[:40]) for i in some]
library = [corpus.topics[i].split(".")[0] for i in some]

vectors = fp.train_word_vectors(
    [text[:600] for text in corpus.texts], dimensions=50, random_state=0
)
similarity = fp.WordMover(vectors, gamma=0.5, stop_words="english")
K = fp.approximate(texts, similarity, budget=0.2, random_state=0)
print(K.error)
print(texts[0][:60], "→", [texts[j][:40] for j in K.nearest(0, k=2).indices])

axes = fp.plots.plot_map(K, labels=library)
axes.set_title("250 docstrings, by Word Mover's similarity")
axes.figure.savefig("corpus_to_matrix.png", dpi=110, bbox_inches="tight")
