"""Word vectors from your own texts, in seconds: what lies beside what.

Trained on the docstrings of numpy, scipy and scikit-learn by distance geometry. A few words, each
with its five nearest: words of one subject are alike, and unlike the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import fewpairs as fp

texts = [text[:1500] for text in fp.datasets.docstrings().texts]
vectors = fp.train_word_vectors(texts, dimensions=60, random_state=0)
print(len(vectors.words), "words")

words = []
for word in ("eigenvalues", "probability", "cluster", "image", "array"):
    near = [other for other, _ in vectors.most_similar(word, k=5)]
    print(word, "→", ", ".join(near))
    words += [word, *near]
rows = np.array([vectors[word] / np.linalg.norm(vectors[word]) for word in words])

figure, axes = plt.subplots(figsize=(5.6, 5))
shown = axes.imshow(rows @ rows.T, cmap="viridis", vmin=0, vmax=1)
axes.set_xticks(range(len(words)), words, rotation=90, fontsize=7)
axes.set_yticks(range(len(words)), words, fontsize=7)
figure.colorbar(shown, label="cosine of two words' vectors", shrink=0.8)
figure.savefig("word_vectors.png", dpi=110, bbox_inches="tight")
