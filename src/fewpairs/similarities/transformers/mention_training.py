"""Training of the scorer of mentions, in PyTorch: imported only where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from fewpairs.arrays import (
    IntArray,
    RandomState,
    generator,
    is_number,
    is_whole,
)
from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.similarities.mentions import MentionScorer, scaled
from fewpairs.similarities.transformers.mention_network import Network, Weights
from fewpairs.similarities.transformers.mention_pairs import Mentions, average_precision

#: Pairs of one cluster in an epoch, at the most; and pairs in one step.
_POSITIVES, _BATCH = 20_000, 256
_COARSE_EPOCHS = 8
#: Pairs of different clusters for one of the same: an epoch draws twice as many.
_MOST_NEGATIVES = 1000
#: Pairs that `dev` is judged by.
_JUDGED = 20_000


def train(
    vectors: Any,
    clusters: Any,
    *,
    topics: Any,
    parts: Any,
    dev: tuple[Any, ...] | None,
    judge: Callable[[Weights], float] | None,
    hidden: tuple[int, ...],
    epochs: int,
    patience: int,
    negatives: float,
    random_state: RandomState,
) -> Weights:
    """Return the weights that were judged best; see `MentionScorer.train`."""
    if not is_number(negatives) or not 0 <= negatives <= _MOST_NEGATIVES:
        raise InputError(
            f"negatives is {negatives!r}.",
            "So many pairs of different clusters are drawn for each pair of one cluster.",
            f"Pass a number from 0 to {_MOST_NEGATIVES}, for example 2.0.",
        )
    for name, count, least in (("epochs", epochs, 0), ("patience", patience, 0)):
        if not is_whole(count) or count < least:
            raise InputError(
                f"{name} is {count!r}.", "It is a whole number.", f"Pass one from {least} on."
            )
    if judge is not None and not callable(judge):
        raise InputError(
            f"judge is {judge!r}.",
            "It is asked after each epoch how good a scorer is.",
            "Pass a function from a scorer to a number.",
        )
    mentions = Mentions(vectors, clusters, topics)
    _refuse_alike(mentions, "the mentions")
    same = min(mentions.positives, _POSITIVES)
    different = round(negatives * same)
    widths = tuple(hidden) if isinstance(hidden, Iterable) else (None,)  # an iterator is read once
    if isinstance(hidden, str) or not all(is_whole(h) and h > 0 for h in widths):
        raise InputError(
            f"hidden is {hidden!r}.",
            "Layers have some width.",
            "Pass positive integers, such as (128, 32).",
        )
    if not same:
        raise InputError(
            f"there are {mentions.positives} pairs of one cluster.",
            "The scorer learns from pairs that belong together.",
            "Pass mentions of which some refer to the same thing.",
        )
    sizes = _sizes(parts, mentions.vectors.shape[1])
    rng = generator(random_state)
    # What is to judge is looked at before anything is learned.
    judged = judge or _judge(dev, mentions.vectors.shape[1], rng)
    centre = mentions.vectors.mean(axis=0)
    x = torch.from_numpy(scaled(mentions.vectors, centre, sizes))
    # PyTorch's own generator is left as it was.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        network = Network(sizes, tuple(map(int, widths)))
        coarse, fine = network.steps()
        for _ in range(_COARSE_EPOCHS):
            _epoch(network.of_cosines, coarse, x, mentions.draw(same, different, rng), rng)
        kept, since = network.weights(centre), 0
        best = _judgement(judged(kept))
        for _ in range(epochs):
            _epoch(network, fine, x, mentions.draw(same, different, rng), rng)
            now = network.weights(centre)
            value = _judgement(judged(now))
            best, kept, since = (value, now, 0) if value > best else (best, kept, since + 1)
            if since >= patience:
                break
    return kept


def _refuse_alike(mentions: Mentions, which: str) -> None:
    """Refuse mentions that nobody need tell apart: every scorer would be right about them."""
    if mentions.positives and not mentions.differ:
        raise InputError(
            f"in each topic of {which} all are of one cluster.",
            "The scorer learns, and is judged, by telling clusters of a topic apart.",
            "Pass topics with several clusters.",
        )


def _sizes(parts: Any, d: int) -> IntArray:
    sizes = np.array([d]) if parts is None else np.asarray(parts)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any() or sizes.sum() != d:
        raise InputError(
            f"parts is {parts!r}, and vectors have {d} numbers.",
            "It says how many of them belong together.",
            f"Pass positive integers whose sum is {d}.",
        )
    return sizes.astype(np.int64)


def _epoch(network: Any, steps: Any, x: Any, pairs: tuple[IntArray, ...], rng: Any) -> None:
    left, right, labels = (torch.from_numpy(part) for part in pairs)
    for some in torch.from_numpy(rng.permutation(len(labels))).split(_BATCH):
        logits = network(x[left[some]], x[right[some]])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[some].float())
        steps.zero_grad()
        loss.backward()
        steps.step()


def _judgement(value: Any) -> float:
    """Return what a judge says, if epochs can be compared by it."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    if isinstance(plain, (int, float)) and plain == plain:  # noqa: PLR0124 - NaN differs
        return float(plain)
    raise InputError(
        f"judge has returned {value!r}.",
        "The best epoch is the one with the largest number; none is larger than this.",
        "Let it return a number.",
    )


def _judge(
    dev: tuple[Any, ...] | None, d: int, rng: np.random.Generator
) -> Callable[[Weights], float]:
    """Return the mean precision on pairs of `dev`; without any, the last epoch is best."""
    if dev is None:
        count = iter(range(2**31))
        return lambda _: next(count)
    if not isinstance(dev, (tuple, list)) or len(dev) not in (2, 3):
        held = f" of {len(dev)}" if isinstance(dev, (tuple, list)) else ""
        raise InputError(
            f"dev is a {type(dev).__name__}{held}.",
            "It holds other mentions, as those that are learned from.",
            "Pass (vectors, clusters) or (vectors, clusters, topics).",
        )
    mentions = Mentions(*dev)
    if not mentions.positives or mentions.vectors.shape[1] != d:
        raise InputError(
            f"dev has {mentions.positives} pairs of one cluster, and {mentions.vectors.shape[1]} "
            f"numbers in each vector; {d} are learned from.",
            "Without such pairs no epoch would be better than the first.",
            "Pass mentions of which some of one topic refer to the same thing.",
        )
    _refuse_alike(mentions, "those of dev")
    same = min(mentions.positives, _JUDGED)
    left, right, labels = mentions.draw(same, _JUDGED, rng)

    def judged(weights: Weights) -> float:
        scorer = MentionScorer(weights)
        x = scorer.prepare(Items(mentions.vectors)).values
        return average_precision(labels, scorer.aligned(x[left], x[right]))

    return judged
