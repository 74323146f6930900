"""The training itself: epochs over shuffled batches, each judged, the best one kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.special import expit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import FewpairsError, StoppedError
from fewpairs.oracle.progress import Progress
from fewpairs.similarities.transformers.joining import PairTokenizer
from fewpairs.similarities.transformers.network import Network
from fewpairs.similarities.transformers.scoring import Scoring
from fewpairs.similarities.transformers.tokens import Tokens
from fewpairs.tasks.finetuning.examples import Examples
from fewpairs.tasks.pairs import PairScores, pair_scores

#: The learning rate rises over the first tenth of all steps, and falls to zero over the others.
_WARM_UP = 0.1
#: Weight decay of AdamW, and the longest gradient: the usual ones of fine-tuning.
_DECAY, _LONGEST_STEP = 0.01, 1.0
#: So many batches are drawn together and sorted by length, so that little is padded.
_TOGETHER = 16


@dataclass(frozen=True)
class Epoch:
    """What an epoch has come to.

    Attributes
    ----------
    loss : float
        Mean cross-entropy of the batches that were trained on.
    scores : PairScores or None
        Agreement with the pairs that were put aside.
    """

    loss: float
    scores: PairScores | None

    def is_better(self, best: Epoch) -> bool:
        """Whether it is better than the best before it; without pairs put aside, any is."""
        if self.scores is None or best.scores is None:
            return True
        return _quality(self.scores) > _quality(best.scores)


@dataclass(frozen=True)
class Schedule:
    """How long, how fast, how many at once.

    Parameters
    ----------
    epochs, batch_size : int
    learning_rate : float
    patience : int or None
        Epochs in a row that may be no better before the training ends.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    patience: int | None


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Seed PyTorch here, and leave its state to others as it was."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices), torch.inference_mode(mode=False):
        torch.manual_seed(seed)
        with torch.enable_grad():
            yield


class Training:
    """A network, what it is to learn, and how.

    Parameters
    ----------
    network : sequence-classification model with one output
    joining : PairTokenizer
    schedule : Schedule
    train : Examples
    validation : Examples or None
    """

    def __init__(
        self,
        network: Any,
        joining: PairTokenizer,
        schedule: Schedule,
        train: Examples,
        validation: Examples | None,
    ) -> None:
        self.network, self.joining, self.schedule = network, joining, schedule
        self.train, self.validation = train, validation
        self._left, self._right = joining.read(train.left), joining.read(train.right)
        self._lengths = joining.lengths(self._left, self._right)
        per_epoch = -(-len(train) // schedule.batch_size)
        self.steps = per_epoch * schedule.epochs
        taught = [weight for weight in network.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(taught, lr=schedule.learning_rate, weight_decay=_DECAY)
        self._rate = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._share_of_rate)

    def run(self, rng: np.random.Generator, progress: Any) -> tuple[list[Epoch], int]:
        """Train; leave the best epoch's weights in the network, and return all epochs."""
        done: list[Epoch] = []
        best = 0
        weights: dict[str, Any] = {}
        with Progress(self.steps, progress, unit="steps") as watching:
            for epoch in range(self.schedule.epochs):
                loss = self._epoch(rng, watching, epoch)
                done.append(Epoch(loss, self._judged()))
                watching.tell(f"epoch {epoch + 1}: loss {loss:.4f}; {done[-1].scores or ''}")
                if not weights or done[-1].is_better(done[best]):
                    best = epoch
                    weights = {k: v.detach().clone() for k, v in self.network.state_dict().items()}
                patience = self.schedule.patience
                if patience is not None and epoch - best >= patience:
                    break
        self.network.load_state_dict(weights)
        return done, best

    def _share_of_rate(self, step: int) -> float:
        warm = max(1, round(_WARM_UP * self.steps))
        return (step + 1) / warm if step < warm else (self.steps - step) / (self.steps - warm + 1)

    def _epoch(self, rng: np.random.Generator, watching: Progress, epoch: int) -> float:
        self.network.train()
        device = next(self.network.parameters()).device
        losses: list[tuple[float, int]] = []
        for some in shuffled(self._lengths, self.schedule.batch_size, rng):
            batch = self.joining.batch(self._left[some], self._right[some])
            inputs = {name: torch.from_numpy(array).to(device) for name, array in batch.items()}
            logits = self.network(**inputs).logits[:, 0]
            wanted = torch.as_tensor(self.train.targets[some], dtype=logits.dtype, device=device)
            # Of a degree between 0 and 1 the same loss as of a label: least where both agree.
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
            self._optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), _LONGEST_STEP)
            self._optimizer.step()
            self._rate.step()
            losses.append((loss.item(), len(some)))
            self._check(losses[-1][0], epoch, len(losses))
            if not watching.update(self._rate.last_epoch):
                raise StoppedError(
                    f"the progress callback stopped the training in epoch {epoch + 1}.",
                    "Nothing was written.",
                    "Train again with the same random_state to come to the same point.",
                )
        return sum(loss * count for loss, count in losses) / len(self.train)

    def _check(self, loss: float, epoch: int, step: int) -> None:
        if not math.isfinite(loss):
            raise FewpairsError(
                f"the loss is {loss} at step {step} of epoch {epoch + 1}.",
                "The weights are of no use from there on; nothing was written.",
                f"Pass a learning_rate below {self.schedule.learning_rate:g}.",
            )

    def _judged(self) -> PairScores | None:
        if self.validation is None:
            return None
        held = self.validation
        left, right = self.joining.read(held.left), self.joining.read(held.right)
        said = self._said(left, right)
        labelled = held.labelled and self.train.labelled
        return pair_scores(held.targets, said, threshold=0.5 if labelled else None)

    def _said(self, left: Tokens, right: Tokens) -> FloatArray:
        asked = Scoring(Network(self.network), self.joining, self.schedule.batch_size)
        return np.asarray(expit(asked.score(left, right)[:, 0]))


def _quality(scores: PairScores) -> float:
    """F1 of labels, Spearman of degrees; worst of all where neither is defined."""
    value = scores.spearman if scores.f1 is None else scores.f1
    return -math.inf if math.isnan(value) else value


def shuffled(lengths: IntArray, batch_size: int, rng: np.random.Generator) -> list[IntArray]:
    """Cut all places into batches at random, those of one batch of similar length."""
    order = rng.permutation(len(lengths))
    batches: list[IntArray] = []
    for start in range(0, len(order), _TOGETHER * batch_size):
        some = order[start : start + _TOGETHER * batch_size]
        some = some[np.argsort(lengths[some], kind="stable")]
        batches += np.split(some, range(batch_size, len(some), batch_size))
    return [batches[k] for k in rng.permutation(len(batches))]
