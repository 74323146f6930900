"""Epochs of teaching an encoder mentions: contexts of a topic together, all pairs of a batch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.errors import FewpairsError, InputError, StoppedError
from fewpairs.oracle.progress import Progress
from fewpairs.similarities.transformers.mention_pairs import Mentions, average_precision
from fewpairs.similarities.transformers.mention_vectors import longest

#: The learning rate rises over the first tenth of all steps, and falls over the others.
_WARM_UP = 0.1
#: Weight decay of AdamW, and the longest gradient: the usual ones of fine-tuning.
_DECAY, _LONGEST_STEP = 0.01, 1.0
#: From cosines to logits, at first, and how fast that is learned.
_SCALE, _OFFSET, _SCALE_RATE = 6.0, -4.0, 3e-3
#: Contexts that are read at once to judge; pairs of each kind to judge by.
_READ, _JUDGED = 32, 20_000


#: Pairs: two mentions, whether they are of one cluster, and how many others each stands for.
_Judges: TypeAlias = tuple[IntArray, IntArray, IntArray, FloatArray]


class Taught(NamedTuple):
    """Mentions in their contexts.

    Attributes
    ----------
    contexts : list of list of str
    places : int array of shape (mentions, 4)
        Context, first token, token after the last, head.
    clusters, topics : int arrays
    """

    contexts: list[list[str]]
    places: IntArray
    clusters: IntArray
    topics: IntArray

    def of(self, chosen: Any) -> Taught:
        """Return some of the mentions, with all contexts."""
        return Taught(
            self.contexts, self.places[chosen], self.clusters[chosen], self.topics[chosen]
        )


class Epoch(NamedTuple):
    """What an epoch has come to.

    Attributes
    ----------
    loss : float
        Mean over the batches.
    precision : float
        Average precision of the cosines, over all pairs of the topics that were put aside (of more
        than 20,000 by a sample); NaN without any.
    """

    loss: float
    precision: float


class Schedule(NamedTuple):
    """How long, how fast, how many contexts at once, how much pairs of different clusters count."""

    epochs: int
    patience: int
    learning_rate: float
    contexts_at_once: int
    negatives: float


class MentionTraining:
    """An encoder, mentions that it is to tell apart, and how.

    Parameters
    ----------
    tokenizer, network : of an encoder
    schedule : Schedule
    train : Taught
    validation : Taught or None

    Attributes
    ----------
    before : float
        The precision of the encoder as it came; NaN without validation.
    """

    def __init__(
        self, tokenizer: Any, network: Any, schedule: Schedule, train: Taught, validation: Any
    ) -> None:
        self._tokenizer, self._network, self._schedule = tokenizer, network, schedule
        self._train, self._validation = train, validation
        self._limit = longest(tokenizer, network)
        self.before = math.nan
        self._groups = groups_of(train)
        self._scale = torch.nn.Parameter(torch.tensor([_SCALE, _OFFSET]))
        taught = [weight for weight in network.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": taught, "weight_decay": _DECAY},
                {"params": [self._scale], "lr": _SCALE_RATE, "weight_decay": 0.0},
            ],
            lr=schedule.learning_rate,
        )
        each = schedule.contexts_at_once
        self.steps = schedule.epochs * sum(-(-len(group) // each) for group in self._groups)
        self._rate = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, [self._share_of_rate, lambda _: 1.0]
        )

    def run(self, rng: np.random.Generator, progress: Any) -> tuple[list[Epoch], int]:
        """Train; leave the best epoch's weights in the network, and return all epochs."""
        # Of its own, so that who judges does not change what is learned.
        apart = np.random.default_rng(rng.integers(2**63))
        some = np.sort(rng.permutation(len(self._train.places))[:_JUDGED])
        # States have much in common; what tells mentions apart is what differs.
        self._centre = torch.from_numpy(self._states_of(self._train.of(some)).mean(axis=0))
        judges = self._judges(apart)
        self.before = self._judged(judges)
        done: list[Epoch] = []
        best = 0
        weights: dict[str, Any] = {}
        with Progress(self.steps, progress, unit="steps") as watching:
            for epoch in range(self._schedule.epochs):
                loss = self._epoch(rng, watching, epoch)
                self._refuse_lost(epoch)
                done.append(Epoch(loss, self._judged(judges)))
                watching.tell(f"epoch {epoch + 1}: loss {loss:.4f}; {done[-1].precision:.4f}")
                if not weights or not done[-1].precision <= done[best].precision:
                    best = epoch
                    weights = {k: v.detach().clone() for k, v in self._network.state_dict().items()}
                if epoch - best >= self._schedule.patience:
                    break
        self._network.load_state_dict(weights)
        return done, best

    def _share_of_rate(self, step: int) -> float:
        warm = max(1, round(_WARM_UP * self.steps))
        return (step + 1) / warm if step < warm else (self.steps - step) / (self.steps - warm + 1)

    def _epoch(self, rng: np.random.Generator, watching: Progress, epoch: int) -> float:
        self._network.train()
        losses = []
        for contexts in batches_of(self._groups, self._schedule.contexts_at_once, rng):
            here = self._train.of(np.isin(self._train.places[:, 0], contexts))
            loss = self._loss(here, contexts)
            self._optimizer.zero_grad()
            if loss is not None:
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self._network.parameters(), _LONGEST_STEP)
                losses.append(loss.item())
            self._optimizer.step()  # changes nothing without a gradient
            self._rate.step()
            if losses and not math.isfinite(losses[-1]):
                raise self._lost(f"the loss is {losses[-1]}", epoch)
            if not watching.update(self._rate.last_epoch):
                raise StoppedError(
                    f"the progress callback stopped the training in epoch {epoch + 1}.",
                    "Nothing was written.",
                    "Train again with the same random_state to come to the same point.",
                )
        if not losses:
            raise InputError(
                f"in epoch {epoch + 1} no two mentions of one cluster were read together.",
                f"{self._schedule.contexts_at_once} contexts are read at once, and nothing was "
                "learnt from them; nothing was written.",
                "Pass a larger contexts_at_once.",
            )
        return float(np.mean(losses))

    def _refuse_lost(self, epoch: int) -> None:
        """Look at the weights: nobody has seen a loss of the last ones."""
        if not all(torch.isfinite(weight).all() for weight in self._network.parameters()):
            raise self._lost("some weights are no longer finite", epoch)

    def _lost(self, what: str, epoch: int) -> FewpairsError:
        return FewpairsError(
            f"{what} in epoch {epoch + 1}.",
            "The weights are of no use from there on; nothing was written.",
            f"Pass a learning_rate below {self._schedule.learning_rate:g}.",
        )

    def _loss(self, mentions: Taught, contexts: IntArray) -> Any:
        """Return the cross-entropy of all pairs of a topic; None where none is of one cluster."""
        left, right = np.triu_indices(len(mentions.places), 1)
        near = mentions.topics[left] == mentions.topics[right]
        left, right = left[near], right[near]
        same = mentions.clusters[left] == mentions.clusters[right]
        count = int(same.sum())
        if not count:
            return None
        states = self._unit(self._states(mentions.places, mentions.contexts, contexts))
        cosines = (states @ states.T)[left, right]
        # Both parts have length one, so the product of both together is twice their mean.
        logits = self._scale[0] * cosines / 2 + self._scale[1]
        weight = self._schedule.negatives * count / max(len(same) - count, 1)
        weights = torch.from_numpy(np.where(same, 1.0, weight).astype(np.float32))
        labels = torch.from_numpy(same.astype(np.float32))
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        return loss(logits, labels, weights, reduction="sum") / weights.sum()

    def _unit(self, states: Any) -> Any:
        """Return both parts of each mention, centred, each of length one."""
        both = (states - self._centre).unflatten(1, (2, -1))
        return torch.nn.functional.normalize(both, dim=2).flatten(1)

    def _states(self, places: IntArray, texts: list[list[str]], contexts: IntArray) -> Any:
        """Return the mean state of each mention, and that of its head, side by side."""
        read = self._tokenizer(
            [texts[k] for k in contexts],
            is_split_into_words=True,
            truncation=True,
            max_length=self._limit,
            padding=True,
            return_tensors="pt",
        )
        states = self._network(**read).last_hidden_state
        tokens = [[-1 if t is None else t for t in read.word_ids(k)] for k in range(len(contexts))]
        token = np.array(tokens)
        row = np.searchsorted(contexts, places[:, 0])
        within = (token[row] >= places[:, 1:2]) & (token[row] < places[:, 2:3])
        head = token[row] == places[:, 3:4]
        # One product for all mentions: a row has weights at the places of its tokens.
        averages = np.zeros((2, len(places), *token.shape), dtype=np.float32)
        for kind, chosen in enumerate((within, head)):
            counts = np.maximum(chosen.sum(axis=1, keepdims=True), 1)
            averages[kind, np.arange(len(places)), row] = chosen / counts
        weights = torch.from_numpy(averages.reshape(2, len(places), -1))
        return torch.cat(list(weights @ states.flatten(0, 1)), dim=1)

    def _states_of(self, mentions: Taught) -> SingleArray:
        """Return the states of all mentions, as they are without anything dropped out."""
        self._network.eval()
        found = np.zeros((len(mentions.places), 2 * self._network.config.hidden_size), np.float32)
        wanted = np.unique(mentions.places[:, 0])
        order = np.argsort([len(mentions.contexts[k]) for k in wanted], kind="stable")
        with torch.no_grad():
            for start in range(0, len(order), _READ):
                contexts = np.sort(wanted[order[start : start + _READ]])
                here = np.flatnonzero(np.isin(mentions.places[:, 0], contexts))
                states = self._states(mentions.places[here], mentions.contexts, contexts)
                found[here] = states.numpy()
        return found

    def _judges(self, rng: np.random.Generator) -> _Judges | None:
        held = self._validation
        if held is None:
            return None
        mentions = Mentions(np.zeros((len(held.places), 1)), held.clusters, held.topics)
        return mentions.judges(_JUDGED, rng)

    def _judged(self, judges: _Judges | None) -> float:
        if judges is None:
            return math.nan
        left, right, labels, weights = judges
        states = self._unit(torch.from_numpy(self._states_of(self._validation))).numpy()
        cosines: FloatArray = np.einsum("ij,ij->i", states[left], states[right])
        return average_precision(labels, cosines, weights)


def groups_of(mentions: Taught) -> list[IntArray]:
    """Return the contexts that have topics in common, together."""
    contexts, where = np.unique(mentions.places[:, 0], return_inverse=True)
    shape = (len(contexts), int(mentions.topics.max()) + 1)
    has = sp.coo_array((np.ones(len(where)), (where, mentions.topics)), shape=shape).tocsr()
    which = connected_components(has @ has.T, directed=False)[1]
    return [contexts[which == group] for group in range(which.max() + 1)]


def batches_of(groups: list[IntArray], size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield all contexts once, those of a batch of one group, in random order."""
    batches: list[IntArray] = []
    for group in groups:
        mixed = rng.permutation(group)
        batches += np.array_split(mixed, -(-len(mixed) // size))
    for k in rng.permutation(len(batches)):
        yield np.sort(batches[k])
