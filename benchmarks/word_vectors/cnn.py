"""Text classification by a convolutional network on word vectors, as in the paper's Table 6.

Vectors by our methods are made where FOLDER does not have them; those of rivals are there if
speed.py has saved them (`--keep FOLDER --only gensim GloVe`). They stay fixed, and are scaled to
one length, because frequent words would drown the others. Filters of widths 3, 4 and 5, the maximum
over the text, dropout, five epochs; macro F1 on the test part, means and ranges of seeds. Texts are
whole unless --length cuts them. Of 100 dimensions the vectors derived from GloVe's published ones
stand beside the others, though they come from a far larger corpus. WebKB's texts are stemmed, as
the data have them, so that many of their words have no vector. Needs PyTorch. Writes
docs/tables/word-cnn.md, unless texts are cut or seeds are not two. Takes about seven minutes on one
core, vectors of ours and two seeds; what is done is kept beside the vectors, and a run that was
stopped goes on. Vectors that are not in FOLDER, and sizes that are not run, keep their lines.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.cnn FOLDER [--quick] [--length 100]
        [--dimensions 100 200 300] [--sets Subj WebKB Amazon] [--seeds 2]
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import fewpairs as fp
from benchmarks.shared import text_cnn
from benchmarks.shared import word_quality as quality
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.earlier import Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.tables import publish, table
from benchmarks.shared.texts import vectors as glove
from benchmarks.shared.wikipedia_vectors import file_of, make_missing

EPOCHS, BATCH = 5, 64
GLOVE = "GloVe, larger corpus"
#: F1 on Subj, WebKB and Amazon that the paper prints, by K.
PRINTED = {
    (100, "random"): "80.1, 91.1, 74.3",
    (100, "build-up-4K-references"): "88.2, 93.0, 80.6",
    (100, "divide-and-conquer-coreness"): "87.9, 92.0, 80.6",
    (100, "eigs"): "88.2, 92.2, 80.0",
    (100, "GloVe"): "88.0, 93.1, 79.8",
    (100, "gensim-fastText"): "87.7, 93.4, 80.6",
    (200, "random"): "81.3, 91.8, 76.3",
    (200, "build-up-4K-references"): "88.1, 93.7, 81.4",
    (200, "divide-and-conquer-coreness"): "88.3, 92.7, 82.5",
    (200, "eigs"): "88.1, 92.5, 81.9",
    (200, "GloVe"): "87.6, 93.2, 79.8",
    (200, "gensim-fastText"): "88.0, 93.6, 81.6",
    (300, "random"): "81.6, 92.4, 76.2",
    (300, "build-up-4K-references"): "88.3, 93.4, 82.4",
    (300, "divide-and-conquer-coreness"): "88.0, 92.8, 82.5",
    (300, "eigs"): "87.7, 92.2, 82.0",
    (300, "GloVe"): "87.8, 93.2, 81.6",
    (300, "gensim-fastText"): "88.0, 93.8, 82.6",
}


@cache
def words_of(title: str) -> list[list[str]]:
    """Words of the texts of a set."""
    texts, _, _ = quality.labelled(*quality.CLASSIFICATION[title])
    return [re.findall(r"[a-z]+", text.lower()) for text in texts]


def encoded(title: str, vectors: fp.WordVectors, length: int | None) -> list[np.ndarray]:
    """Texts as word numbers, from 1; words without a vector are left out."""
    place = {word: k + 1 for k, word in enumerate(vectors.words)}
    found = ([place[w] for w in words if w in place] for words in words_of(title))
    return [np.array(numbers[:length], dtype=np.int64) for numbers in found]


def split(title: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes as numbers, places of the training texts, and of the test texts."""
    _, labels, n_train = quality.labelled(*quality.CLASSIFICATION[title])
    _, y = np.unique(labels, return_inverse=True)
    places = np.arange(len(y))
    if n_train is not None:
        return y, places[:n_train], places[n_train:]
    return y, *train_test_split(places, test_size=0.3, random_state=0, stratify=y)


def batches(places: np.ndarray) -> list[np.ndarray]:
    return np.array_split(places, len(places) // BATCH + 1)


def score(vectors: fp.WordVectors, title: str, seed: int, epochs: int, length: int | None) -> float:
    """Macro F1 of one training, in per cent."""
    import torch

    y, train, test = split(title)
    x = encoded(title, vectors, length)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    array = vectors.normalized().array * np.sqrt(vectors.dimensions)
    model = text_cnn.network(np.vstack([np.zeros_like(array[:1]), array]), y.max() + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for places in batches(rng.permutation(train)):
            guess = model([x[k] for k in places])
            loss = torch.nn.functional.cross_entropy(guess, torch.tensor(y[places]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        guess = np.concatenate([model([x[k] for k in p]).argmax(dim=1) for p in batches(test)])
    return 100 * float(f1_score(y[test], guess, average="macro"))


def vectors_of(folder: Path, name: str, size: int) -> fp.WordVectors:
    return glove() if name == GLOVE else fp.WordVectors.load(file_of(folder, name, size))


def fingerprint(vectors: fp.WordVectors) -> str:
    """A short word for vectors: results of others are not theirs, whatever their file is named."""
    return hashlib.sha256(vectors.array.tobytes()).hexdigest()[:8]


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
        import torch
    except ImportError as error:
        sys.exit(f"skipped: {error}")
    torch.set_num_threads(1)
    epochs, seeds = (1, 1) if options.quick else (EPOCHS, options.seeds)
    titles = options.sets[: 1 if options.quick else None]
    sizes = options.dimensions[: 1 if options.quick else None]
    # Vectors of a part of the corpus must not be taken for those of all.
    folder = options.folder / "quick" if options.quick else options.folder
    make_missing(folder, sizes, 10_000 if options.quick else None)
    kept = Kept(None if options.quick else folder / "cnn.jsonl", "text")
    lines = []
    for size in sizes:
        names = [path.stem.removesuffix(f"-{size}") for path in folder.glob(f"*-{size}.npz")]
        for name in [*sorted(names), *([GLOVE] if size == glove().dimensions else [])]:
            cells = []
            vectors = vectors_of(folder, name, size)
            known = f"{name} {size} {fingerprint(vectors)}"
            for title in titles:
                f1 = []
                for seed in range(seeds):
                    key = f"{known} {title} {epochs} {seed} {options.length}"
                    if key not in kept:
                        kept.add(key, score(vectors, title, seed, epochs, options.length))
                    f1.append(kept[key])
                spread = f" ({min(f1):.1f}–{max(f1):.1f})" if seeds > 1 else ""
                cells.append(f"{np.mean(f1):.1f}{spread}")
            printed = PRINTED.get((size, name), "")
            lines.append([str(size), name.replace("-", " "), *cells, printed])
            print(*lines[-1], sep=" | ", flush=True)
    headings = ["K", "vectors", *(f"F1 {title}" for title in titles), "paper"]
    cut = "whole texts" if options.length is None else f"texts of {options.length} words at most"
    text = f"Seeds: {seeds}; {cut}.\n\n{table(headings, lines)}\n"
    # Lines that stay from an earlier page are of all sets, whole texts and as many seeds.
    differs = titles != list(quality.CLASSIFICATION) or options.length is not None
    differs = differs or options.quick or seeds != parser.get_default("seeds")
    if not differs:
        text = Earlier.of("word-cnn", kept.code).fill(text)
    publish("word-cnn", text, quick=differs)


if __name__ == "__main__":
    main()
