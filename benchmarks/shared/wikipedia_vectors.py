"""Word vectors of English Wikipedia by each of our methods, made once and kept in a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.texts import MIN_COUNT, wikipedia
from fewpairs.text.cooccurrence import Cooccurrences
from fewpairs.text.corpus import EncodedCorpus

#: Options by the names of files; divide and conquer has the paper's order of words.
METHODS: dict[str, dict[str, Any]] = {
    "build-up-4K-references": {"references": "paper"},
    "build-up-default": {},
    "divide-and-conquer-coreness": {"method": "divide", "order": "coreness"},
    "eigs": {"method": "eigs"},
}
RANDOM = "random"


def file_of(folder: Path, name: str, dimensions: int) -> Path:
    """Where vectors are kept; speed.py saves those of other packages alike."""
    return folder / f"{name}-{dimensions}.npz"


def make_missing(folder: Path, dimensions: Iterable[int], limit: int | None) -> None:
    """Train what the folder does not have yet; words are counted once for all."""
    wanted = [(name, size) for size in dimensions for name in (*METHODS, RANDOM)]
    missing = [each for each in wanted if not file_of(folder, *each).exists()]
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    corpus = EncodedCorpus.of(wikipedia(limit), min_count=MIN_COUNT)
    with threadpool_limits(1):
        counts = Cooccurrences.of(corpus)
        gram = counts.pmi()
        for name, size in missing:
            if name == RANDOM:
                array = np.random.default_rng(0).normal(size=(len(counts.words), size))
                made = fp.WordVectors(counts.words, array.astype(np.float32))
            else:
                model = fp.DistanceGeometryVectors(size, **METHODS[name])
                model._place(counts, gram)  # noqa: SLF001 - one counting serves many settings
                made = model.vectors_
            made.save(file_of(folder, name, size))
            print(f"made: {name}, {size} dimensions", flush=True)
