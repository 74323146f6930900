"""Text classification by a convolutional network on word vectors, as in the paper's Table 6.

FOLDER holds vectors that speed.py has saved with `--keep FOLDER`. They stay fixed, and are scaled
to one length, because frequent words would drown the others. Filters of widths 3, 4 and 5, the
maximum over the text, dropout, five epochs; macro F1 on the test part, means and ranges of seeds.
Texts are cut at 100 tokens. Needs PyTorch. Writes docs/tables/word-cnn.md.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.cnn FOLDER [--quick] [--dimensions 200]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import fewpairs as fp
from benchmarks.shared import word_quality as quality
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table

LENGTH, FILTERS, WIDTHS, EPOCHS = 100, 60, (3, 4, 5), 5
#: F1 on Subj, WebKB and Amazon that the paper prints at K = 200.
PRINTED = {
    "random": "81.3, 91.8, 76.3",
    "build-up-4K-references": "88.1, 93.7, 81.4",
    "divide-and-conquer": "88.3, 92.7, 82.5",
    "eigs": "88.1, 92.5, 81.9",
    "gensim-fastText": "88.0, 93.6, 81.6",
}


def encoded(texts: list[str], vectors: fp.WordVectors) -> np.ndarray:
    """Texts as rows of word numbers, from 1; 0 where there is no word."""
    place = {word: k + 1 for k, word in enumerate(vectors.words)}
    result = np.zeros((len(texts), LENGTH), dtype=np.int64)
    for row, text in zip(result, texts, strict=True):
        known = [place[w] for w in re.findall(r"[a-z]+", text.lower()) if w in place][:LENGTH]
        row[: len(known)] = known
    return result


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


def score(vectors: fp.WordVectors, title: str, seed: int, epochs: int) -> float:
    """Macro F1 of one training, in per cent."""
    import torch

    texts, labels, n_train = quality.labelled(*quality.CLASSIFICATION[title])
    names, y = np.unique(labels, return_inverse=True)
    x = encoded(texts, vectors)
    if n_train is None:
        parts = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
    else:
        parts = x[:n_train], x[n_train:], y[:n_train], y[n_train:]
    inputs, tests, targets, truth = (torch.tensor(part) for part in parts)
    torch.manual_seed(seed)
    model = network(vectors.normalized().array, len(names))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for part in torch.randperm(len(inputs)).split(64):
            batch = inputs[part]
            batch = batch[:, : max(8, int((batch > 0).sum(dim=1).max()))]
            loss = torch.nn.functional.cross_entropy(model(batch), targets[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        guess = torch.cat([model(part).argmax(dim=1) for part in tests.split(256)])
    return 100 * float(f1_score(truth, guess, average="macro"))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dimensions", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    need_data()
    try:
        import torch  # noqa: F401
    except ImportError as error:
        sys.exit(f"skipped: {error}")
    epochs, seeds = (1, 1) if options.quick else (EPOCHS, options.seeds)
    titles = list(quality.CLASSIFICATION)[: 1 if options.quick else None]
    lines = []
    for path in sorted(options.folder.glob(f"*-{options.dimensions}.npz")):
        vectors = fp.WordVectors.load(path)
        found = [[score(vectors, t, seed, epochs) for seed in range(seeds)] for t in titles]
        name = path.stem.removesuffix(f"-{options.dimensions}")
        cells = [f"{np.mean(f1):.1f} ({min(f1):.1f}–{max(f1):.1f})" for f1 in found]
        lines.append([name.replace("-", " "), *cells, PRINTED.get(name, "")])
        print(*lines[-1], sep=" | ", flush=True)
    headings = ["vectors", *(f"F1 {title}" for title in titles), "paper"]
    text = f"K = {options.dimensions}, seeds: {seeds}.\n\n{table(headings, lines)}\n"
    publish("word-cnn", text, quick=options.quick)


if __name__ == "__main__":
    main()
