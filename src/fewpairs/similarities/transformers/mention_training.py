"""Training of the scorer of mentions, in PyTorch: imported only where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from fewpairs.arrays import (
    FloatArray,
    IntArray,
    RandomState,
    SingleArray,
    generator,
    is_number,
    is_whole,
)
from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.similarities.mentions import LARGEST, MentionScorer, numbers, scaled

Weights = dict[str, npt.NDArray[Any]]

#: Pairs of one cluster in an epoch, at the most; and pairs in one step.
_POSITIVES, _BATCH = 20_000, 256
_COARSE_EPOCHS, _RATE, _DECAY, _DROPOUT = 8, 3e-3, 1e-4, 0.1
#: Of the weights of single coordinates, which could learn the training mentions by heart.
_SLOW_RATE, _SLOW_DECAY, _FINE = 2e-4, 1.0, 0.3
#: Pairs that `dev` is judged by.
_JUDGED = 20_000


class Mentions:
    """Vectors with clusters and topics, from which pairs are drawn.

    Parameters
    ----------
    vectors : array of shape (mentions, dimensions)
    clusters, topics : sequences of labels
        Without topics all mentions have the same one.
    """

    def __init__(self, vectors: Any, clusters: Any, topics: Any = None) -> None:
        self.vectors: SingleArray = numbers(vectors, "vectors")
        n = len(self.vectors) if self.vectors.ndim else 0
        self.clusters = _numbered(clusters, "clusters")
        self.topics = np.zeros(n, dtype=np.int64) if topics is None else _numbered(topics, "topics")
        if self.vectors.ndim != 2 or len(self.clusters) != n or len(self.topics) != n:  # noqa: PLR2004
            raise InputError(
                f"there are vectors of shape {self.vectors.shape}, {len(self.clusters)} clusters "
                f"and {len(self.topics)} topics.",
                "Each mention has one vector, one cluster and one topic.",
                "Pass as many of each.",
            )
        if not (np.abs(self.vectors) <= LARGEST).all():
            raise InputError(
                f"some vectors hold NaN, infinity, or numbers beyond {LARGEST:g}.",
                "The scorer would learn nothing from them but NaN.",
                "Leave such mentions out, or scale them.",
            )
        # A cluster counts as another one in each topic: pairs are of one topic.
        self._groups = self.topics * (int(self.clusters.max(initial=0)) + 1) + self.clusters
        sizes = np.bincount(np.unique(self._groups, return_inverse=True)[1])
        self.positives = int((sizes * (sizes - 1)).sum())

    def draw(self, same: int, different: int, rng: np.random.Generator) -> tuple[IntArray, ...]:
        """Draw pairs of one cluster, and of different clusters of one topic; and which is which."""
        _, group, sizes = np.unique(self._groups, return_inverse=True, return_counts=True)
        counts = sizes[group]
        share = np.maximum(counts - 1, 0) / max((counts - 1).sum(), 1)
        left = rng.choice(len(counts), same, p=share) if same else np.empty(0, dtype=np.int64)
        right = _partners(left, self._groups, rng)
        far = rng.integers(0, len(counts), 2 * different)
        near = _partners(far, self.topics, rng)
        apart = np.flatnonzero(self.clusters[far] != self.clusters[near])[:different]
        left, right = np.append(left, far[apart]), np.append(right, near[apart])
        return left, right, np.repeat([1, 0], [same, len(apart)])


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
    if not is_number(negatives) or negatives < 0:
        raise InputError(
            f"negatives is {negatives!r}.",
            "So many pairs of different clusters are drawn for each pair of one cluster.",
            "Pass a number from 0 on, for example 2.0.",
        )
    mentions = Mentions(vectors, clusters, topics)
    same = min(mentions.positives, _POSITIVES)
    different = round(negatives * same)
    if not same or not all(is_whole(h) and h > 0 for h in hidden):
        raise InputError(
            f"there are {mentions.positives} pairs of one cluster, and hidden is {hidden!r}.",
            "The scorer learns from pairs that belong together, in layers of some width.",
            "Pass mentions of which some refer to the same thing, and positive integers.",
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
        network = Network(sizes, hidden)
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


class Network(torch.nn.Module):
    """The network of [x; y; x∘y], whose first layer starts with one weight for all of a part.

    Coordinates of one part, all of one weight, sum up to its cosine: a few numbers that mean the
    same in every topic. What single coordinates add is learned more slowly, and decays.

    Parameters
    ----------
    sizes : int array
        Of the parts.
    hidden : tuple of int
    """

    def __init__(self, sizes: IntArray, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes, d = torch.from_numpy(sizes), int(sizes.sum())
        widths = (*hidden, 1)
        self.coarse = torch.nn.Linear(len(sizes), widths[0])
        self.fine = torch.nn.Parameter(torch.randn(widths[0], 3 * d) * _FINE / d**0.5)
        self.rest = torch.nn.ModuleList(
            torch.nn.Linear(inputs, outputs) for inputs, outputs in pairwise(widths)
        )

    def first(self) -> Any:
        """Return the weights of the first layer."""
        d = self.fine.shape[1] // 3
        same = torch.repeat_interleave(self.coarse.weight, self.sizes, dim=1)
        return torch.cat([self.fine[:, : 2 * d], self.fine[:, 2 * d :] + same], dim=1)

    def forward(self, x: Any, y: Any) -> Any:
        """Return the logits of pairs."""
        d = x.shape[1]
        one, other, both = self.first().split(d, dim=1)
        linear = torch.nn.functional.linear
        return self._rest(linear(x * y, both, self.coarse.bias) + linear(x, one) + linear(y, other))

    def of_cosines(self, x: Any, y: Any) -> Any:
        """Return what the logits are without the weights of single coordinates."""
        cosines = [part.sum(dim=1) for part in (x * y).split(self.sizes.tolist(), dim=1)]
        return self._rest(self.coarse(torch.stack(cosines, dim=1)))

    def _rest(self, values: Any) -> Any:
        for layer in self.rest:
            values = layer(torch.nn.functional.dropout(values.relu(), _DROPOUT))
        return values[:, 0]

    def steps(self) -> tuple[Any, Any]:
        """Return what learns first, from cosines, and what learns then."""
        fast = [*self.coarse.parameters(), *self.rest.parameters()]
        slow = {"params": [self.fine], "weight_decay": _SLOW_DECAY}
        kind = torch.optim.AdamW
        return (
            kind(fast, lr=_RATE, weight_decay=_DECAY),
            kind([{"params": fast}, slow], lr=_SLOW_RATE, weight_decay=_DECAY),
        )

    def weights(self, centre: SingleArray) -> Weights:
        """Return what was learned so far."""
        found: Weights = {"centre": centre, "parts": self.sizes.numpy().copy()}
        layers = [(self.first(), self.coarse.bias), *((r.weight, r.bias) for r in self.rest)]
        for k, (weight, bias) in enumerate(layers):
            found[f"weight{k}"] = weight.detach().numpy().copy()
            found[f"bias{k}"] = bias.detach().numpy().copy()
        return found


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
    same = min(mentions.positives, _JUDGED)
    left, right, labels = mentions.draw(same, _JUDGED, rng)

    def judged(weights: Weights) -> float:
        scorer = MentionScorer(weights)
        x = scorer.prepare(Items(mentions.vectors)).values
        return _average_precision(labels, scorer.aligned(x[left], x[right]))

    return judged


def _average_precision(labels: IntArray, scores: FloatArray) -> float:
    right = labels[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return float((precision * right).sum() / max(right.sum(), 1))


def _partners(left: IntArray, groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw another member of the group of each; of a group of one, itself."""
    order = np.argsort(groups, kind="stable")
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(groups), dtype=np.int64)
    place[order] = np.arange(len(groups)) - starts[group[order]]
    size = sizes[group[left]]
    step = 1 + (rng.random(len(left)) * np.maximum(size - 1, 1)).astype(np.int64)
    return np.asarray(order[starts[group[left]] + (place[left] + step) % size])


def _numbered(labels: Any, name: str) -> IntArray:
    """Return labels as numbers from 0 on; a label that is missing would join what is not one."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InputError(
            f"{name} is a {type(labels).__name__}.",
            "Each mention has a label.",
            "Pass a sequence of numbers or texts.",
        )
    number: dict[Any, int] = {}
    found = []
    for k, label in enumerate(
        np.asarray(labels).ravel().tolist() if hasattr(labels, "dtype") else labels
    ):
        try:
            missing = label is None or bool(label != label)  # noqa: PLR0124 - NaN differs
            found.append(number.setdefault(label, len(number)))
        except TypeError:  # pandas.NA, and what cannot be a key
            missing = True
        if missing:
            raise InputError(
                f"{name} holds {label!r} at position {k}.",
                "Mentions without a label would make one cluster.",
                "Pass numbers or texts; a label of its own for a mention that is alone.",
            )
    return np.array(found, dtype=np.int64)
