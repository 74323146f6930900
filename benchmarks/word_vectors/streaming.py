"""Word vectors from files of up to a gigabyte, which are not held in memory: peak memory by size.

The files hold words drawn from a Zipf law, and lie in a temporary folder; each is trained on in a
process of its own. Prints seconds and peak memory. Takes about ten minutes on one core.

    python -m benchmarks.word_vectors.streaming [--quick]
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import table

VOCABULARY = 50_000


def write(path: Path, size: int) -> None:
    """Write about `size` bytes of words, each drawn by itself from a Zipf law."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(3, VOCABULARY + 3)
    shares /= shares.sum()
    with path.open("w", encoding="utf-8") as file:
        written = 0
        while written < size:
            drawn = rng.choice(VOCABULARY, 200_000, p=shares).reshape(-1, 20)
            text = "\n".join(" ".join(f"w{k}" for k in line) for line in drawn.tolist()) + "\n"
            file.write(text)
            written += len(text)


def train(path: Path) -> tuple[float, int, int]:
    """Seconds, bytes at the peak, and the number of words."""
    fp.train_word_vectors([["a", "b", "c", "d"]] * 9, 1)  # compiles, loads modules
    before, start = peak_memory(), time.perf_counter()
    vectors = fp.train_word_vectors(path, 50, references="paper", n_jobs=2)
    return time.perf_counter() - start, peak_memory() - before, len(vectors)


def main() -> None:
    options = arguments(__doc__).parse_args()
    sizes = (10**7, 3 * 10**7) if options.quick else (10**8, 3 * 10**8, 10**9)
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.txt"
            write(path, size)
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                seconds, memory, words = pool.submit(train, path).result()
        rows.append([f"{size / 1e9:.2f}", f"{seconds:.0f}", f"{memory / 1e9:.2f}", f"{words:,}"])
        print(*rows[-1], sep=" | ", flush=True)
    print("\n" + table(["GB of text", "seconds", "peak memory, GB", "words"], rows))


if __name__ == "__main__":
    main()
