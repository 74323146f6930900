"""MiniLM, taught by the training topics of ECB+, and what it makes of mentions.

An encoder knows the mentions it was taught by better than others. So that a scorer can learn how
far to trust it, the vectors of training mentions come from two encoders that were each taught by
the other half of the training topics; those of all others from one that was taught by all. Epochs
are judged by the development topics.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared import ecb

#: Of the encoder: the mention and its head.
PARTS = (ecb.WIDTH, ecb.WIDTH)
SETTING: dict[str, Any] = {"epochs": 3, "learning_rate": 5e-5, "negatives": 4.0}


class Sentences:
    """The sentences of mentions of all kinds, each once, and where the mentions are in them."""

    def __init__(self, mentions: list[ecb.Mention]) -> None:
        number: dict[str, int] = {}
        places = [number.setdefault(m.sentence, len(number)) for m in mentions]
        self.contexts = [text.split(" ") for text in number]
        self.places = [
            (k, m.start - m.begins, m.end - m.begins) for k, m in zip(places, mentions, strict=True)
        ]
        self.heads = [m.head - m.begins for m in mentions]

    def vectors(self, folder: Path) -> np.ndarray:
        """The states of the mention and of its head, side by side."""
        made = fp.mention_vectors(self.contexts, self.places, folder, heads=self.heads)
        return made[:, : sum(PARTS)]


def halves(topics: np.ndarray) -> np.ndarray:
    """Whether a mention is of the first half of the topics: every other one."""
    return np.searchsorted(np.unique(topics), topics) % 2 == 0


def taught(kinds: dict[str, list[ecb.Mention]], dev: dict[str, list[ecb.Mention]], folder: Path):
    """Teach an encoder by some mentions, unless the folder is there."""
    if not folder.exists():
        mentions = [(kind, m) for some in (kinds, dev) for kind in some for m in some[kind]]
        read = Sentences([m for _, m in mentions])
        made = fp.finetune_mention_encoder(
            read.contexts,
            read.places,
            [m.cluster for _, m in mentions],
            base=ecb.need_model(),
            output=folder,
            topics=[f"{m.topic} {kind}" for kind, m in mentions],
            heads=read.heads,
            validation={f"{m.topic} {kind}" for kind in dev for m in dev[kind]},
            random_state=0,
            **SETTING,
        )
        print(folder.name, made.best, *made.epochs, flush=True)
    return folder


def states(splits: dict[str, dict[str, list[ecb.Mention]]], folder: Path) -> dict[str, Any]:
    """Vectors of all mentions by split and kind, from encoders that were not taught by them.

    Encoders and vectors are kept in the folder, and read from it if they are there.
    """
    path = folder / "states.npz"
    if path.exists():
        with np.load(path) as kept:
            return {s: {kind: kept[f"{s} {kind}"] for kind in splits[s]} for s in splits}
    train, dev = splits["train"], splits["dev"]
    first = {kind: halves(np.array([m.topic for m in train[kind]])) for kind in train}
    parts = [
        {
            kind: [m for m, f in zip(train[kind], first[kind], strict=True) if f == half]
            for kind in train
        }
        for half in (True, False)
    ]
    by_half = [taught(part, dev, folder / f"encoder-{k}") for k, part in enumerate(parts)]
    by_all = taught(train, dev, folder / "encoder")
    found: dict[str, Any] = {split: {} for split in splits}
    for split, kinds in splits.items():
        for kind, mentions in kinds.items():
            read = Sentences(mentions)
            if split == "train":
                other = [read.vectors(encoder) for encoder in by_half]
                found[split][kind] = np.where(first[kind][:, None], other[1], other[0])
            else:
                found[split][kind] = read.vectors(by_all)
    arrays = {f"{s} {kind}": made for s, kinds in found.items() for kind, made in kinds.items()}
    np.savez(path, **arrays)
    return found
