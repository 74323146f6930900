"""finetune_mention_encoder(): mentions with their clusters and a local encoder → a better one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewpairs.arrays import BoolArray, IntArray, RandomState, generator, is_number, is_whole
from fewpairs.errors import InputError, NothingLearntWarning, warn
from fewpairs.oracle.progress import ProgressOption
from fewpairs.similarities.transformers.mention_pairs import listed, numbered
from fewpairs.similarities.transformers.mention_vectors import (
    as_contexts,
    checked_mentions,
    heads_read,
    longest,
    read_encoder,
    warn_of_cut,
)
from fewpairs.tasks.finetuning.base import freeze, need_libraries, refuse_existing, save

if TYPE_CHECKING:
    from fewpairs.tasks.finetuning.mention_epochs import Epoch


@dataclass(frozen=True)
class FinetunedEncoder:
    """An encoder that was made, and how it came to be.

    Attributes
    ----------
    folder : Path
        For ``fp.mention_vectors(…, folder)``.
    epochs : tuple of Epoch
        Of each its `loss`, and the average `precision` on the topics that were put aside.
    best : int
        The epoch that was kept, counted from 0.
    before : float
        The precision of the encoder as it came; NaN without topics that were put aside.
    """

    folder: Path
    epochs: tuple[Epoch, ...]
    best: int
    before: float


def finetune_mention_encoder(
    contexts: Sequence[Sequence[str]],
    mentions: Sequence[tuple[int, int, int]],
    clusters: Any,
    *,
    base: str | Path,
    output: str | Path,
    topics: Any = None,
    heads: Sequence[int] | None = None,
    validation: Any = None,
    epochs: int = 3,
    patience: int = 2,
    learning_rate: float = 5e-5,
    negatives: float = 4.0,
    contexts_at_once: int = 24,
    frozen_layers: int = 0,
    progress: ProgressOption = None,
    random_state: RandomState = 0,
) -> FinetunedEncoder:
    """Teach a local encoder which mentions refer to the same thing; needs PyTorch and transformers.

    Batches are contexts of one topic. Of all pairs of mentions in a batch the cosine of their
    states, those of the mention and those of its head, is to tell whether they are of one cluster
    (AdamW, a rate that rises over the first tenth of the steps and then falls). Embeddings of words
    stay as they are. Nothing is downloaded, and no code that comes with a model is run.

    An encoder knows the mentions it was taught by better than any others. A scorer that learns from
    vectors of the same mentions trusts it too much; let it learn from vectors of an encoder that
    was taught by other topics (see docs/coreference.md).

    Parameters
    ----------
    contexts, mentions, heads : as for `mention_vectors`
    clusters : sequence of labels
        One for each mention.
    base : str or Path
        The folder of an encoder, such as MiniLM.
    output : str or Path
        The folder to write, which is new or empty. It appears as a whole when the training is over.
    topics : sequence of labels, optional
        Only mentions of one topic are compared; by default all have the same one.
    validation : collection of labels, optional
        Topics that are put aside. Every epoch is judged by them, and the best one is kept; without
        any, the last.
    epochs : int, default=3
    patience : int, default=2
        The training ends after so many epochs in a row that are not better than the best.
    learning_rate : float, default=5e-5
    negatives : float, default=4.0
        What all pairs of different clusters of a batch count, beside those of one cluster.
    contexts_at_once : int, default=24
        In a batch.
    frozen_layers : int, default=0
        So many of the lowest layers stay as they are.
    progress : bool, callable or None, default=None
        As for `finetune_cross_encoder`.
    random_state : int or Generator, default=0
        The order of the contexts, and what drops out. The same integer gives the same encoder, on
        the same machine with as many threads.

    Returns
    -------
    FinetunedEncoder

    Warns
    -----
    MentionsCutWarning
        Mentions whose heads lie beyond what the encoder reads are left out.
    NothingLearntWarning
        On the topics that were put aside no epoch is better than the encoder as it came.

    Examples
    --------
    >>> import fewpairs as fp
    >>> contexts = [["An", "ape", "fled"], ["The", "ape", "and", "a", "cat"], ["That", "cat"]]
    >>> mentions = [(0, 0, 2), (1, 0, 2), (1, 3, 5), (2, 0, 2)]
    >>> made = fp.finetune_mention_encoder(
    ...     contexts, mentions, ["ape", "ape", "cat", "cat"], base="MiniLM", output="mine"
    ... )  # doctest: +SKIP
    >>> vectors = fp.mention_vectors(contexts, mentions, made.folder)  # doctest: +SKIP
    """
    rng = generator(random_state)
    counts = {"epochs": epochs, "patience": patience, "contexts_at_once": contexts_at_once}
    for name, value in counts.items():
        if not is_whole(value) or value < 1:
            raise InputError(
                f"{name} is {value!r}.", "It is a whole number, from 1 on.", "Pass at least 1."
            )
    for name, number, most in (
        ("learning_rate", learning_rate, 1.0),
        ("negatives", negatives, 1e6),
    ):
        if not is_number(number) or not 0 < number <= most:
            raise InputError(
                f"{name} is {number!r}.",
                f"It is a positive number, {most:g} at most.",
                "Pass for example the default.",
            )
    contexts = as_contexts(contexts)
    places = checked_mentions(contexts, mentions, heads)
    groups = numbered(clusters, "clusters")
    labels = [0] * len(places) if topics is None else topics
    if isinstance(labels, Iterator):  # which can be gone through once
        labels = list(labels)
    numbers = numbered(labels, "topics")
    if len(groups) != len(places) or len(numbers) != len(places):
        raise InputError(
            f"there are {len(places)} mentions, {len(groups)} clusters and {len(numbers)} topics.",
            "Each mention has one cluster and one topic.",
            "Pass as many of each.",
        )
    aside = _aside(listed(labels), validation)
    _refuse_useless(groups, numbers, aside)
    folder = _folder(output)
    refuse_existing(folder)
    need_libraries("finetune_mention_encoder")
    from fewpairs.tasks.finetuning import mention_epochs as taught  # noqa: PLC0415 - optional
    from fewpairs.tasks.finetuning.epochs import own_randomness  # noqa: PLC0415

    schedule = taught.Schedule(epochs, patience, learning_rate, contexts_at_once, negatives)
    with own_randomness(int(rng.integers(2**62))):
        tokenizer, network = read_encoder(base, "finetune_mention_encoder")
        freeze(network, frozen_layers, taught=1)
        network.get_input_embeddings().requires_grad_(requires_grad=False)
        limit = longest(tokenizer, network)
        seen = heads_read(tokenizer, limit, contexts, places)
        everyone = taught.Taught([list(text) for text in contexts], places, groups, numbers)
        if not seen.all():
            warn_of_cut(seen, limit, "They are left out.")
            everyone, aside = everyone.of(seen), aside[seen]
            _refuse_useless(everyone.clusters, everyone.topics, aside)
        held = everyone.of(aside) if aside.any() else None
        training = taught.MentionTraining(tokenizer, network, schedule, everyone.of(~aside), held)
        done, best = training.run(rng, progress)
    save(network, tokenizer, folder, None, scores=False)
    if done[best].precision <= training.before:
        warn(
            NothingLearntWarning(
                f"the average precision on the topics that were put aside is "
                f"{done[best].precision:.3f} at best, and was {training.before:.3f} before: no "
                "epoch is better than the encoder as it came. Pass another learning_rate, or more "
                "mentions."
            )
        )
    return FinetunedEncoder(folder, tuple(done), best, training.before)


def _folder(output: Any) -> Path:
    """Return the place of a folder, which may be anything that names one."""
    try:
        return Path(output)
    except TypeError as error:
        raise InputError(
            f"output is {output!r}.",
            "It names the folder that the encoder is written to.",
            "Pass a path, such as 'my-encoder'.",
        ) from error


def _refuse_useless(clusters: IntArray, topics: IntArray, aside: BoolArray) -> None:
    """Refuse mentions by which nothing can be learned, or judged."""
    for what, some, needed in (("to learn from", ~aside, True), ("in validation", aside, False)):
        if (needed or some.any()) and not _together(clusters[some], topics[some]):
            raise InputError(
                f"of {int(some.sum())} mentions {what} no two of one topic are of one cluster.",
                "The encoder learns, and is judged, by mentions that belong together.",
                "Pass mentions of which some refer to the same thing, and their topics.",
            )
        if some.any() and not _apart(clusters[some], topics[some]):
            raise InputError(
                f"all {int(some.sum())} mentions {what} of a topic are of one cluster.",
                "The encoder learns, and is judged, by how it tells clusters of a topic apart.",
                "Pass topics that have several clusters.",
            )


def _aside(topics: list[Any], validation: Any) -> BoolArray:
    """Say which mentions are of topics that judge."""
    refused = InputError(
        f"validation is {validation!r}.",
        "It holds the labels of topics that are put aside.",
        "Pass a list of them.",
    )
    if isinstance(validation, (str, bytes)):  # its letters are no labels
        raise refused
    try:
        wanted = set() if validation is None else set(listed(validation))
    except TypeError as error:
        raise refused from error
    unknown = wanted - set(topics)
    if unknown or (wanted and wanted == set(topics)):
        said = ", ".join(sorted(map(repr, unknown or wanted))[:5])
        raise InputError(
            f"validation holds {said}"
            + (", and there are no mentions of it." if unknown else ": all topics there are."),
            "Some topics teach, and others judge.",
            "Pass labels that topics= holds, and leave some out.",
        )
    return np.array([topic in wanted for topic in topics], dtype=bool)


def _together(clusters: Any, topics: Any) -> bool:
    """Whether two mentions of one topic are of one cluster."""
    return len(set(zip(clusters.tolist(), topics.tolist(), strict=True))) < len(clusters)


def _apart(clusters: Any, topics: Any) -> bool:
    """Whether two mentions of one topic are of different clusters."""
    return len(set(zip(clusters.tolist(), topics.tolist(), strict=True))) > len(
        set(topics.tolist())
    )
