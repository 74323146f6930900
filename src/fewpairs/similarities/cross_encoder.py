"""Similarities of texts by a cross-encoder: a model that reads both at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError, SimilarityError
from fewpairs.items.items import Items
from fewpairs.similarities.protocol import Pair, Similarity
from fewpairs.similarities.transformers.activations import (
    BOUNDED,
    Activation,
    activation_of,
    label_of,
)
from fewpairs.similarities.transformers.joining import PairTokenizer, longest
from fewpairs.similarities.transformers.models import Encoder, Predicting, encoder_of
from fewpairs.similarities.transformers.scoring import Scoring
from fewpairs.similarities.transformers.tokens import Tokens

#: Batches in one call: enough that sorting by length leaves little to pad.
_BATCHES = 32


class CrossEncoder(Similarity):
    """What a cross-encoder says of two texts, the mean of both orders by default.

    Each text is tokenised once, not once for each pair. Pairs are sorted by length into batches.
    Nothing is downloaded, and no code that comes with a model is run.

    Parameters
    ----------
    model : object, str or Path
        A CrossEncoder of sentence-transformers; a sequence-classification model of Hugging Face,
        with `tokenizer`; the folder of one; or any object with ``predict(list of pairs)``.
    tokenizer : tokenizer of Hugging Face, optional
        That belongs to the model.
    activation : str or callable, optional
        From what the model says to the similarity: "identity", "sigmoid", "softmax", or a function
        of an array pairs × labels. By default the model's own; where it names none, a sigmoid of
        one number, a softmax of several. Of what an object predicts, nothing more by default.
    symmetric : {"mean", None}, default="mean"
        The mean of f(a, b) and f(b, a), which costs two evaluations; or f(a, b) alone.
    label : int or str, optional
        Which number, of a model that returns several: its position or its name.
    batch_size : int, default=32
        Pairs that the model reads at once.
    max_length : int, optional
        Tokens of both texts together. Of longer pairs the longer text loses its end. By default
        what the model can read.
    device : str or device of PyTorch, optional
        By default a model stays where it is; one from a folder goes to a graphics card if there is
        one.
    onnx : bool, optional
        Whether ONNX Runtime reads the model. By default it does where the folder has a file for it,
        and it is installed.
    version : str, optional
        Of an object that is only asked to predict, or of a function as activation, for a journal.
        Otherwise a checksum of the weights, the vocabulary and their settings is known. It is
        taken here: after weights are changed in place, make another CrossEncoder of them.

    Examples
    --------
    >>> import fewpairs as fp
    >>> class Overlap:
    ...     def predict(self, pairs):
    ...         return [len(set(a.split()) & set(b.split())) / len(a.split()) for a, b in pairs]
    >>> model = fp.CrossEncoder(Overlap())
    >>> fp.score_pairs(model, ["a red ape"], ["an ape"])
    array([0.41666667])
    >>> model.evaluations_per_entry
    2
    """

    name = "cross-encoder"

    def __init__(
        self,
        model: Any,
        *,
        tokenizer: Any = None,
        activation: Activation | None = None,
        symmetric: str | None = "mean",
        label: int | str | None = None,
        batch_size: int = 32,
        max_length: int | None = None,
        device: Any = None,
        onnx: bool | None = None,
        version: str | None = None,
    ) -> None:
        if symmetric not in ("mean", None):
            raise InputError(
                f"symmetric is {symmetric!r}.",
                "A cross-encoder hardly ever says the same of both orders.",
                'Pass symmetric="mean" for the mean of both, or None for the order as it is.',
            )
        if not is_whole(batch_size) or batch_size < 1:
            raise InputError(
                f"batch_size is {batch_size!r}.",
                "It is the number of pairs that the model reads at once.",
                "Pass a positive integer.",
            )
        self.model, self.tokenizer, self.label = model, tokenizer, label
        self.activation, self.batch_size, self.max_length = activation, batch_size, max_length
        self.device, self.onnx = device, onnx
        self.symmetric = self.symmetry_proven = symmetric is not None
        self.evaluations_per_entry = 2 if self.symmetric else 1
        self.block_size = _BATCHES * int(batch_size)
        encoder = encoder_of(model, tokenizer, device, onnx)
        self._scoring: Scoring | Predicting
        if encoder is None:
            self._scoring, chosen, known = Predicting(model), activation or "identity", ""
            self._label = None if label is None else label_of(label, {}, _labels(model, label))
        else:
            joining = PairTokenizer(
                encoder.tokenizer, longest(encoder.tokenizer, encoder.config, max_length)
            )
            self._scoring = Scoring(encoder.forward, joining, int(batch_size))
            chosen, known = activation or encoder.activation, encoder.version
            self._label = label_of(label, encoder.labels, int(encoder.config.num_labels))
        self._activation = activation_of(chosen)
        named = isinstance(chosen, str)
        self.version = str(version) if version is not None else known if named else ""
        self.value_range = (0.0, 1.0) if named and chosen in BOUNDED else None
        self.parameters = {
            "activation": chosen if named else getattr(chosen, "__qualname__", "own"),
            "label": self._label,
            "max_length": _limit(encoder, max_length),
            "symmetric": symmetric,
        }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what the similarity was made with."""
        made = super().get_params(deep) | {"symmetric": "mean" if self.symmetric else None}
        made.pop("version", None)  # which may have been computed
        return made

    def prepare(self, items: Items) -> Items:
        """Tokenise the texts, each different one once."""
        return Items(self._read(items.values))

    def aligned(self, left: Any, right: Any) -> FloatArray:
        """Score text k on the left with text k on the right."""
        there = self._scored(left, right)
        return (there + self._scored(right, left)) / 2 if self.symmetric else there

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Score single pairs of texts."""
        left, right = (self._read([_text(pair[side]) for pair in pairs]) for side in (0, 1))
        return self.aligned(left, right)

    def _read(self, texts: Any) -> Any:
        scoring = self._scoring
        return texts if isinstance(scoring, Predicting) else scoring.joining.read(texts)

    def _scored(self, left: Any, right: Any) -> FloatArray:
        if not len(left):
            return np.empty(0)
        logits = self._scoring.score(left, right)
        if self._label is None and logits.shape[1:] != (1,):
            raise SimilarityError(
                f"the model returned the shape {logits.shape} for {len(left)} pairs.",
                "A similarity is one number.",
                "Pass label=…, the position of the number that is meant.",
            )
        values = np.asarray(self._activation(logits), dtype=np.float64)
        if len(left) and (values.ndim == 0 or len(values) != len(left)):
            raise SimilarityError(
                f"the model returned the shape {values.shape} for {len(left)} pairs.",
                "There is one answer for each pair.",
                "Mend its predict, which gets a list of pairs.",
            )
        return values.reshape(len(left), -1)[:, self._label or 0]


def _text(item: Any) -> Any:
    return item.texts()[0] if isinstance(item, Tokens) else item


def _labels(model: Any, label: Any) -> int:
    """Return how many numbers an object returns for a pair; where it does not say, enough."""
    known = getattr(model, "num_labels", None)
    return known if is_whole(known) else int(label) + 1 if is_whole(label) else 1


def _limit(encoder: Encoder | None, max_length: int | None) -> int | None:
    return None if encoder is None else longest(encoder.tokenizer, encoder.config, max_length)
