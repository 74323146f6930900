"""Text classification by a convolutional network on word vectors, as in the paper's Table 6.

FOLDER holds vectors that speed.py has saved with `--keep FOLDER`. They stay fixed, and are scaled
to one length, because frequent words would drown the others. Filters of widths 3, 4 and 5, the
maximum over the text, dropout, five epochs; macro F1 on the test part, means and ranges of seeds.
Texts are whole unless --length cuts them; a batch has texts of similar lengths, and is as long as
its longest. Of 100 dimensions the vectors derived from GloVe stand beside the others, though they
come from a far larger corpus. WebKB's texts are stemmed, as the data have them, so that many of
their words have no vector. Needs PyTorch. Writes docs/tables/word-cnn.md. Takes about four hours on
one core; what is done is kept beside the vectors, and a run that was stopped goes on there.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.cnn FOLDER [--quick] [--length 100]
        [--dimensions 100 200 300] [--sets Subj WebKB Amazon] [--seeds 2]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import fewpairs as fp
from benchmarks.shared import word_quality as quality
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors as glove

FILTERS, WIDTHS, EPOCHS, BATCH = 60, (3, 4, 5), 5, 64
#: F1 on Subj, WebKB and Amazon that the paper prints, by K.
PRINTED = {
    (100, "random"): "80.1, 91.1, 74.3",
    (100, "build-up-4K-references"): "88.2, 93.0, 80.6",
    (100, "divide-and-conquer"): "87.9, 92.0, 80.6",
    (100, "eigs"): "88.2, 92.2, 80.0",
    (100, "gensim-fastText"): "87.7, 93.4, 80.6",
    (200, "random"): "81.3, 91.8, 76.3",
    (200, "build-up-4K-references"): "88.1, 93.7, 81.4",
    (200, "divide-and-conquer"): "88.3, 92.7, 82.5",
    (200, "eigs"): "88.1, 92.5, 81.9",
    (200, "gensim-fastText"): "88.0, 93.6, 81.6",
    (300, "random"): "81.6, 92.4, 76.2",
    (300, "build-up-4K-references"): "88.3, 93.4, 82.4",
    (300, "divide-and-conquer"): "88.0, 92.8, 82.5",
    (300, "eigs"): "87.7, 92.2, 82.0",
    (300, "gensim-fastText"): "88.0, 93.8, 82.6",
}


def encoded(texts: list[str], vectors: fp.WordVectors, length: int | None) -> list[np.ndarray]:
    """Texts as word numbers, from 1; words without a vector are left out."""
    place = {word: k + 1 for k, word in enumerate(vectors.words)}
    found = ([place[w] for w in re.findall(r"[a-z]+", t.lower()) if w in place] for t in texts)
    return [np.array(numbers[:length], dtype=np.int64) for numbers in found]


def padded(texts: list[np.ndarray]):
    """One row a text, as wide as the longest; 0 where there is no word."""
    import torch

    result = np.zeros((len(texts), max(8, *(len(text) for text in texts))), dtype=np.int64)
    for row, text in zip(result, texts, strict=True):
        row[: len(text)] = text
    return torch.tensor(result)


def network(array: np.ndarray, classes: int):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            padded = np.vstack([np.zeros_like(array[:1]), array * np.sqrt(array.shape[1])])
            self.words = nn.Embedding.from_pretrained(torch.tensor(padded, dtype=torch.float32))
            self.filters = nn.ModuleList(
                nn.Conv1d(array.shape[1], FILTERS, width, padding=width - 1) for width in WIDTHS
            )
            self.dropout = nn.Dropout(0.5)
            self.out = nn.Linear(FILTERS * len(WIDTHS), classes)

        def forward(self, numbers):
            x = self.words(numbers).transpose(1, 2)
            best = [torch.relu(f(x)).amax(dim=2) for f in self.filters]
            return self.out(self.dropout(torch.cat(best, dim=1)))

    return Net()


def batches(lengths: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Places of texts with similar lengths, others in every epoch, in random order."""
    order = np.argsort(lengths * rng.uniform(0.8, 1.25, len(lengths)))
    parts = np.array_split(order, len(order) // BATCH + 1)
    return [parts[k] for k in rng.permutation(len(parts))]


def score(vectors: fp.WordVectors, title: str, seed: int, epochs: int, length: int | None) -> float:
    """Macro F1 of one training, in per cent."""
    import torch

    texts, labels, n_train = quality.labelled(*quality.CLASSIFICATION[title])
    names, y = np.unique(labels, return_inverse=True)
    x = encoded(texts, vectors, length)
    places = np.arange(len(x))
    train, test = places[:n_train], places[n_train:]
    if n_train is None:
        train, test = train_test_split(places, test_size=0.3, random_state=0, stratify=y)
    lengths = np.array([len(text) for text in x])
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = network(vectors.normalized().array, len(names))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for part in batches(lengths[train], rng):
            mine = train[part]
            targets = torch.tensor(y[mine])
            loss = torch.nn.functional.cross_entropy(model(padded([x[k] for k in mine])), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        test = test[np.argsort(lengths[test])]
        parts = np.array_split(test, len(test) // BATCH + 1)
        guess = np.concatenate([model(padded([x[k] for k in p])).argmax(dim=1) for p in parts])
    return 100 * float(f1_score(y[test], guess, average="macro"))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dimensions", type=int, nargs="*", default=[100, 200, 300])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--length", type=int, help="words that a text is cut at; none by default")
    parser.add_argument("--sets", nargs="*", default=list(quality.CLASSIFICATION))
    options = parser.parse_args()
    need_data()
    try:
        import torch  # noqa: F401
    except ImportError as error:
        sys.exit(f"skipped: {error}")
    epochs, seeds = (1, 1) if options.quick else (EPOCHS, options.seeds)
    titles = options.sets[: 1 if options.quick else None]
    sizes = options.dimensions[: 1 if options.quick else None]
    kept = Kept(None if options.quick else options.folder / "cnn.jsonl")
    lines = []
    for size in sizes:
        paths = sorted(options.folder.glob(f"*-{size}.npz"))
        made: dict[str, Callable[[], fp.WordVectors]] = {
            path.stem.removesuffix(f"-{size}"): partial(fp.WordVectors.load, path) for path in paths
        }
        if size == glove().dimensions:
            made["GloVe, larger corpus"] = glove
        for name, load in made.items():
            vectors = load()
            cells = []
            for title in titles:
                part = f"{name} {size} {title} {epochs} {seeds} {options.length}"
                if part not in kept:
                    every = range(seeds)
                    kept.add(
                        part, [score(vectors, title, k, epochs, options.length) for k in every]
                    )
                f1 = kept[part]
                cells.append(f"{np.mean(f1):.1f} ({min(f1):.1f}–{max(f1):.1f})")
            printed = PRINTED.get((size, name), "")
            lines.append([str(size), name.replace("-", " "), *cells, printed])
            print(*lines[-1], sep=" | ", flush=True)
    headings = ["K", "vectors", *(f"F1 {title}" for title in titles), "paper"]
    cut = "whole texts" if options.length is None else f"texts of {options.length} words at most"
    text = f"Seeds: {seeds}; {cut}.\n\n{table(headings, lines)}\n"
    whole = titles == list(quality.CLASSIFICATION)
    publish("word-cnn", text, quick=options.quick or not whole)


if __name__ == "__main__":
    main()
