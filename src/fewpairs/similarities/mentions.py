"""Similarities of mentions: a small network of both embeddings and their product."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray, unmasked
from fewpairs.errors import FileFormatError, InputError, MissingExtraError
from fewpairs.files import archive
from fewpairs.items.items import Items
from fewpairs.numerics import parts
from fewpairs.similarities.protocol import Pair, Similarity

Weights = Mapping[str, npt.NDArray[Any]]

#: Numbers that one step holds at a time: 8 MB.
_STEP = 2**21
_LAYER = ("weight", "bias")
#: Squares of larger numbers might not be finite in single precision.
LARGEST = 1e15
#: Squares of smaller ones might be nothing.
_SQUARED_AWAY = 1e-15
#: Products of few numbers may raise this flag for places that BLAS reads beside them, and leaves
#: out (numpy issue 24067). What is not finite in the result itself, the oracle finds.
_quiet = np.errstate(invalid="ignore")


class MentionScorer(Similarity):
    """The probability that two mentions refer to the same thing, by a network of [x; y; x∘y].

    Items are vectors, one for each mention (see `mention_vectors`). The order counts: x first, or
    y. No concatenation of a pair is made: the first layer W·[x; y; x∘y] = W₁x + W₂y + W₃(x∘y), of
    which the first two are products per mention, and the third one for all y at once (W₃·diag x)·Y.

    Parameters
    ----------
    weights : mapping of names to arrays, str or Path
        What `MentionScorer.train` has learned, or the file that `save` has written. ``centre`` (d)
        is subtracted from each vector. ``parts``: how many numbers each part of a vector has; every
        part is then scaled to length one. ``weight0`` (h × 3d) and ``bias0`` (h), ``weight1``,
        ``bias1`` …: layers, with max(0, ·) between them; the last has one output, whose sigmoid is
        the similarity.

    Examples
    --------
    >>> import fewpairs as fp
    >>> import numpy as np
    >>> layers = {"weight0": np.array([[1.0, 0, 0, 0, 2, 2]]), "bias0": np.zeros(1)}
    >>> scorer = fp.MentionScorer({**layers, "centre": np.zeros(2), "parts": np.array([2])})
    >>> fp.score_pairs(scorer, [[5.0, 0], [3.0, 4]], [[3.0, 4], [5.0, 0]]).round(3)
    array([0.9  , 0.858])
    >>> scorer.symmetric
    False
    """

    name = "mention-scorer"
    symmetric = False
    takes_vectors = True
    value_range = (0.0, 1.0)
    #: Rows are taken one by one; a row is long enough for the processor from some hundred on.
    block_size = 2**14

    def __init__(self, weights: Weights | str | Path) -> None:
        self.weights = weights
        if not isinstance(weights, (str, Path, Mapping)):
            raise InputError(
                f"weights is a {type(weights).__name__}.",
                "A scorer is its weights.",
                "Pass what MentionScorer.train has learned, or the file that save has written.",
            )
        loaded = _read(weights) if isinstance(weights, (str, Path)) else dict(weights)
        self._layers, self._centre, self._parts = _checked(loaded)
        d = len(self._centre)
        self.parameters = {"dimensions": d, "hidden": [len(bias) for _, bias in self._layers[:-1]]}
        digest = hashlib.sha256()
        for name in sorted(loaded):
            array = np.ascontiguousarray(loaded[name], dtype=np.float32)
            digest.update(f"{name} {array.shape} ".encode())
            digest.update(array.reshape(-1).view(np.uint8).data)
        self.version = digest.hexdigest()[:32]

    @staticmethod
    def train(
        vectors: npt.ArrayLike,
        clusters: Any,
        *,
        topics: Any = None,
        parts: Any = None,
        dev: tuple[Any, ...] | None = None,
        judge: Any = None,
        hidden: tuple[int, ...] = (128, 32),
        epochs: int = 20,
        patience: int = 3,
        negatives: float = 2.0,
        random_state: RandomState = 0,
    ) -> MentionScorer:
        """Learn from mentions whose clusters are known; needs PyTorch.

        Parameters
        ----------
        vectors : array of shape (mentions, dimensions)
        clusters : sequence of labels
        topics : sequence of labels, optional
            Pairs are drawn within a topic; by default all mentions have the same one.
        parts : sequence of int, optional
            How many numbers each part of a vector has: states of the mention, of its head, of its
            context. Learning starts from a network of the parts' cosines, and goes on from there to
            their single products. By default a vector is one part.
        dev : (vectors, clusters, topics), optional
            Other mentions, which say when to stop; topics may be left out.
        judge : callable, optional
            From a scorer to a number that is to be large, after each epoch, in place of `dev`.
        hidden : tuple of int, default=(128, 32)
        epochs : int, default=20
            At the most. In each one all pairs of a cluster are seen, or 20,000 of them.
        patience : int, default=3
            Epochs without a better judgement before the end; the best one is returned.
        negatives : float, default=2.0
            Pairs of different clusters of a topic, for each pair of a cluster; drawn anew each
            epoch.
        random_state : int or Generator, default=0

        Returns
        -------
        MentionScorer
        """
        try:
            from fewpairs.similarities.transformers import mention_training  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("torch", "transformers", "MentionScorer.train") from error
        return MentionScorer(
            mention_training.train(
                vectors,
                clusters,
                topics=topics,
                parts=parts,
                dev=dev,
                judge=(lambda found: judge(MentionScorer(found))) if callable(judge) else judge,
                hidden=hidden,
                epochs=epochs,
                patience=patience,
                negatives=negatives,
                random_state=random_state,
            )
        )

    def save(self, path: str | Path) -> None:
        """Write the weights to a file, whole or not at all: safetensors with checksums."""
        arrays: dict[str, npt.NDArray[Any]] = {"centre": self._centre, "parts": self._parts}
        for k, (weight, bias) in enumerate(self._layers):
            arrays |= {f"weight{k}": weight, f"bias{k}": bias}
        archive.write(path, arrays, {"kind": self.name})

    def prepare(self, items: Items) -> Items:
        """Centre the vectors, and scale each part to length one."""
        values = np.asarray(items.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self._centre):  # noqa: PLR2004
            raise InputError(
                f"the mentions have the shape {values.shape}.",
                f"The scorer has learned from vectors of {len(self._centre)} numbers.",
                "Pass mentions × numbers, made as those were that it has learned from.",
            )
        usable = (np.abs(values) <= LARGEST).all(axis=1)
        if not usable.all():
            raise InputError(
                f"the vector of mention {int(np.argmin(usable))} holds NaN, infinity, or a number "
                f"beyond {LARGEST:g}.",
                "All its similarities would be NaN.",
                "Leave such mentions out before the run, or scale them.",
            )
        return Items(scaled(values, self._centre, self._parts))

    @_quiet
    def block(self, left: Any, right: Any) -> FloatArray:
        """Score all mentions on the left, each first, with all on the right."""
        x, y = np.asarray(left), np.asarray(right)
        d = len(self._centre)
        weight, bias = self._layers[0]
        first, second, product = weight[:, :d], weight[:, d : 2 * d], weight[:, 2 * d :]
        of_x, of_y = x @ first.T + bias, y @ second.T
        scores = np.empty((len(x), len(y)))
        for i in range(len(x)):
            # Whichever has fewer numbers to be multiplied by x: the weights, or all y.
            both = y @ (product * x[i]).T if len(y) > len(product) else (y * x[i]) @ product.T
            scores[i] = self._rest(both + (of_y + of_x[i]))
        return scores

    @_quiet
    def aligned(self, left: Any, right: Any) -> FloatArray:
        """Score mention k on the left, first, with mention k on the right."""
        x, y = np.asarray(left), np.asarray(right)
        weight, bias = self._layers[0]
        scores = np.empty(len(x))
        for some in parts(len(x), max(1, _STEP // weight.shape[1])):
            joined = np.concatenate([x[some], y[some], x[some] * y[some]], axis=1)
            scores[some] = self._rest(joined @ weight.T + bias)
        return scores

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Score single pairs of prepared mentions."""
        x, y = (np.asarray([pair[side] for pair in pairs]) for side in (0, 1))
        return self.aligned(x, y)

    def _rest(self, values: SingleArray) -> FloatArray:
        """Return the similarities that belong to what comes out of the first layer."""
        for weight, bias in self._layers[1:]:
            values = np.maximum(values, 0, out=values) @ weight.T + bias
        logits = values[:, 0].astype(np.float64)
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)))  # a sigmoid that cannot overflow


def scaled(vectors: npt.NDArray[Any], centre: SingleArray, sizes: IntArray) -> SingleArray:
    """Return centred vectors of which each part has length one, or is zero."""
    found = np.asarray(vectors, dtype=np.float32) - centre
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        part = found[:, start:end]
        length = np.linalg.norm(part, axis=1, keepdims=True)
        few = np.flatnonzero(length < _SQUARED_AWAY)
        if few.size:
            length[few] = np.linalg.norm(part[few].astype(np.float64), axis=1, keepdims=True)
        part /= np.where(length > 0, length, np.float32(1))
    return found


def numbers(given: Any, name: str) -> SingleArray:
    """Return an array in single precision; what is too large for that becomes infinite."""
    try:
        with np.errstate(over="ignore"):
            return np.asarray(unmasked(given, name), dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} cannot be read as an array of numbers: {error}.",
            "The scorer computes with them.",
            "Pass an array of real numbers.",
        ) from error


def _read(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    arrays, facts = archive.read(path)
    if facts.get("kind") != MentionScorer.name:
        raise FileFormatError(
            f"{str(path)!r} is a file of fewpairs, but not of a mention scorer.",
            "Its arrays are no layers.",
            "Pass what MentionScorer.save has written.",
        )
    return arrays


def _checked(given: Weights) -> tuple[list[tuple[SingleArray, SingleArray]], SingleArray, IntArray]:
    """Return layers, centre and parts, if they fit each other."""
    count = sum(str(name).startswith("weight") for name in given)
    names = {"centre", "parts", *(f"{kind}{k}" for k in range(count) for kind in _LAYER)}
    if set(given) != names or not count:
        raise InputError(
            f"the weights are {', '.join(sorted(map(str, given))) or 'none'}.",
            "A layer has a weight and a bias, and they are numbered from 0 on.",
            f"Pass {', '.join(sorted(names | {'weight0', 'bias0'}))}.",
        )
    said = numbers(given["parts"], "parts")
    sizes = np.where(np.isfinite(said), said, 0).astype(np.int64)
    # Copies: the version is a checksum of what they are now.
    arrays = {name: numbers(given[name], name).copy() for name in names - {"parts"}}
    d = int(sizes.sum())
    fits = arrays["centre"].shape == (d,) and sizes.ndim == 1 and bool((sizes > 0).all())
    fits = fits and bool((sizes == said).all())
    layers = [(arrays[f"weight{k}"], arrays[f"bias{k}"]) for k in range(count)]
    width = 3 * d
    for weight, bias in layers:
        fits = fits and bias.ndim == 1 and weight.shape == (len(bias), width)
        width = bias.size
    if not fits or width != 1 or not all(np.isfinite(array).all() for array in arrays.values()):
        raise InputError(
            f"the parts are {sizes.tolist()}, and the weights have the shapes "
            + ", ".join(f"{name} {array.shape}" for name, array in sorted(arrays.items()))
            + ("." if not fits or width != 1 else ", and some are not finite."),
            "Each layer takes what the one before it gives, the first one 3·d; the last gives one.",
            "Pass finite weights that MentionScorer.train has learned.",
        )
    return layers, arrays["centre"], sizes
