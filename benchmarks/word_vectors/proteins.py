"""Protein properties from k-mer vectors trained on the spot, as in the paper's Table 4.

Vectors of 3-mers (K = 64) are trained on 20,000 UniProt sequences. A 3-mer's neighbours are the w
on each side, all alike ("flat", as in the paper), or those nearer more ("windows", our default for
words). A protein is the mean of its 3-mers' vectors, from which a Gaussian process with a Matérn
5/2 kernel predicts localization and T50, on the published split. The rival is gensim's doc2vec on
the same sequences. Gaps in aligned sequences are left out. Writes docs/tables/proteins.md. Takes
about half an hour on one core, nearly all of it doc2vec's.

    FEWPAIRS_DATA=… python -m benchmarks.word_vectors.proteins [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.preprocessing import StandardScaler

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table
from fewpairs import datasets

K, DIMENSIONS = 3, 64
OURS = {
    "build-up, 4K references": {"references": "paper", "weighting": "flat"},
    "build-up, 4K references, windows": {"references": "paper"},
    "build-up, all 3-mers": {"weighting": "flat"},
    "build-up, all 3-mers, windows": {},
    "build-up, all 3-mers, positive PMI": {"positive": True, "weighting": "flat"},
}
#: R² and MAE of localization, then of T50, as the paper prints them (trained on 524,529 sequences).
PRINTED = {
    ("doc2vec", 3): "0.52 / 0.756, 0.35 / 3.02",
    ("doc2vec", 7): "0.47 / 0.787, 0.45 / 2.94",
    ("build-up, 4K references", 3): "0.54 / 0.728, 0.42 / 3.00",
    ("build-up, 4K references", 7): "0.61 / 0.667, 0.48 / 2.69",
}


def task(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Sequences, targets, and which are for training."""
    records = [r for r in datasets.read_records("proteins", name) if r["target"] is not None]
    sequences = [record["sequence"].replace("-", "") for record in records]
    targets = np.array([record["target"] for record in records], dtype=float)
    return sequences, targets, np.array([bool(record["is_train"]) for record in records])


def predicted(features: np.ndarray, targets: np.ndarray, train: np.ndarray) -> tuple[float, float]:
    """R² and mean absolute error on the test part."""
    scaler = StandardScaler().fit(features[train])
    kernel = ConstantKernel(1.0) * Matern(10.0, (1e-2, 1e4), nu=2.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=3, random_state=0
    )
    model.fit(scaler.transform(features[train]), targets[train])
    guess = model.predict(scaler.transform(features[~train]))
    return r2_score(targets[~train], guess), mean_absolute_error(targets[~train], guess)


def doc2vec(sequences: list[str], window: int, epochs: int):
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    tagged = [TaggedDocument(words, [k]) for k, words in enumerate(fp.kmer_documents(sequences, K))]
    return Doc2Vec(
        tagged, vector_size=DIMENSIONS, window=window, epochs=epochs, workers=2, seed=1, min_count=5
    )


def inferred(model, sequences: list[str]) -> np.ndarray:
    """The mean of doc2vec's vectors over the three reading frames."""
    return np.array(
        [
            np.mean([model.infer_vector(words) for words in fp.kmers(s, K) if words], axis=0)
            for s in sequences
        ]
    )


def results(sequences: list[str], window: int, epochs: int) -> Iterator[list[str]]:
    """Lines of the table for one window."""
    tasks = [task("localization"), task("t50")]

    def line(title: str, seconds: float, embed) -> list[str]:
        scores = [predicted(embed(s), y, train) for s, y, train in tasks]
        cells = [f"{r2:.2f} / {mae:.3g}" for r2, mae in scores]
        printed = PRINTED.get((title.split(" (", maxsplit=1)[0], window), "")
        return [title, str(window), f"{seconds:.1f}", *cells, printed]

    for title, options in OURS.items():
        start = time.process_time()
        # A window of w k-mers to each side holds w + 1 tokens from a word to its last neighbour.
        vectors = fp.train_word_vectors(
            fp.kmer_documents(sequences, K), DIMENSIONS, window=window + 1, n_jobs=2, **options
        )
        seconds = time.process_time() - start
        yield line(title, seconds, lambda s, v=vectors: fp.embed_sequences(s, v, K))
    try:
        start = time.process_time()
        model = doc2vec(sequences, window, epochs)
        seconds = time.process_time() - start
        yield line(f"doc2vec ({epochs} epochs)", seconds, lambda s: inferred(model, s))
    except ImportError as error:
        print(f"left out: doc2vec ({error})")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--epochs", type=int, default=25, help="of doc2vec; the paper has 25")
    options = parser.parse_args()
    need_data()
    warnings.simplefilter("ignore", ConvergenceWarning)
    path = datasets.benchmark_folder() / "proteins" / "uniprot20k.fasta.gz"
    sequences = [found.letters for found in fp.read_fasta(path)]
    if options.quick:
        sequences = sequences[:2000]
    fp.train_word_vectors(fp.kmer_documents(sequences[:500], K), 8)  # compiles
    rows = []
    for window in (3, 7):
        for row in results(sequences, window, 5 if options.quick else options.epochs):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    headings = ["vectors", "w", "CPU s", "localization R² / MAE", "T50 R² / MAE", "paper"]
    print("\n" + table(headings, rows))
    publish("proteins", table(headings, rows), quick=options.quick)


if __name__ == "__main__":
    main()
