"""Two texts as one input of a model, put together exactly as its tokenizer would do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import IntArray, is_whole
from fewpairs.errors import InputError
from fewpairs.similarities.transformers.tokens import (
    ONE_AT_A_TIME,
    Tokens,
    plain_ids,
    tokenised,
)

#: What a model is given: arrays of pairs × tokens, by the names of its arguments.
Batch = dict[str, IntArray]
#: Tokenizers without a limit of their own say a number like this.
_NO_LIMIT = 10**9


@dataclass(frozen=True, eq=False)
class Frame:
    """What stands before, between and behind two texts, and the kinds of all five parts."""

    before: IntArray
    between: IntArray
    behind: IntArray
    types: tuple[IntArray, int, IntArray, int, IntArray]

    @property
    def size(self) -> int:
        """How many special tokens there are."""
        return len(self.before) + len(self.between) + len(self.behind)


class PairTokenizer:
    """Texts → tokens → inputs of a model.

    The tokenizer is asked what it does with two texts; pairs are then put together without it. A
    few of them, short, empty and too long ones, are compared with its own: should it do anything
    else, it is asked for every pair.

    Parameters
    ----------
    tokenizer : tokenizer of Hugging Face
    max_length : int or None
        Tokens that the model can read; longer pairs lose the end of the longer text.
    """

    def __init__(self, tokenizer: Any, max_length: int | None) -> None:
        self.tokenizer, self.max_length = tokenizer, max_length
        self.pad = getattr(tokenizer, "pad_token_id", None)
        if self.pad is None:
            raise InputError(
                "the tokenizer has no token for padding.",
                "Pairs of different lengths are read together, the shorter ones padded.",
                "Set tokenizer.pad_token, and config.pad_token_id of the model.",
            )
        self._pads_left = getattr(tokenizer, "padding_side", "right") == "left"
        self._cuts_left = getattr(tokenizer, "truncation_side", "right") == "left"
        with ONE_AT_A_TIME:
            names = set(tokenizer("a", "b", verbose=False))
        self._typed, self._masked = "token_type_ids" in names, "attention_mask" in names
        frame = self._frame_of_probe()
        if frame is not None and max_length is not None and max_length < frame.size + 2:
            raise InputError(
                f"max_length is {max_length}.",
                f"The special tokens of a pair are {frame.size} already.",
                f"Pass at least {frame.size + 2}.",
            )
        self.frame = frame
        if frame is not None and not self._agrees():
            self.frame = None

    def read(self, texts: Any) -> Tokens:
        """Tokenise texts, each different one once."""
        return tokenised(texts, self.tokenizer, self.max_length)

    def lengths(self, left: Tokens, right: Tokens) -> IntArray:
        """Return how many tokens each pair has, special ones included."""
        size = 0 if self.frame is None else self.frame.size
        total = left.lengths + right.lengths + size
        return total if self.max_length is None else np.minimum(total, self.max_length)

    def batch(self, left: Tokens, right: Tokens) -> Batch:
        """Return one input for each pair, padded to the longest."""
        if self.frame is None:
            return self._asked(left, right)
        frame = self.frame
        a, b = self._cut(left.lengths, right.lengths, frame.size)
        sizes = a + b + frame.size
        width = int(sizes.max(initial=0))
        origin = width - sizes if self._pads_left else np.zeros_like(sizes)
        ids = np.full((len(sizes), width), self.pad, dtype=np.int64)
        types = np.full_like(ids, getattr(self.tokenizer, "pad_token_type_id", 0))
        mask = np.zeros_like(ids)
        mask[_ragged(origin, sizes)] = 1
        at = origin
        kinds = iter(frame.types)
        for part in (frame.before, (left, a), frame.between, (right, b), frame.behind):
            kind = next(kinds)
            if isinstance(part, tuple):
                tokens, counts = part
                first = tokens.starts + (tokens.kept - counts if self._cuts_left else 0)
                where = _ragged(at, counts)
                ids[where] = tokens.table.ids[_flat(first, counts)]
                types[where] = kind
                at = at + counts
            else:
                where = np.arange(len(sizes))[:, None], at[:, None] + np.arange(len(part))
                ids[where], types[where] = part, kind
                at = at + len(part)
        batch = {"input_ids": ids}
        if self._typed:
            batch["token_type_ids"] = types
        if self._masked:
            batch["attention_mask"] = mask
        return batch

    def _cut(self, a: IntArray, b: IntArray, special: int) -> tuple[IntArray, IntArray]:
        """Return how many tokens of both texts are read: the longer one is cut first."""
        if self.max_length is None:
            return a, b
        room = self.max_length - special
        short, long = np.minimum(a, b), np.maximum(a, b)
        rest = np.where(short > room, short, np.maximum(short, room - short))
        halved = short + rest > room
        less = np.where(halved, room // 2, short)
        more = np.where(halved, room - room // 2, rest)
        fits = a + b <= room
        less, more = np.where(fits, short, less), np.where(fits, long, more)
        longer = a > b
        return np.where(longer, more, less), np.where(longer, less, more)

    def _asked(self, left: Tokens, right: Tokens) -> Batch:
        """Return what the tokenizer itself makes of pairs."""
        with ONE_AT_A_TIME:
            answer = self.tokenizer(
                left.texts(),
                right.texts(),
                truncation=False if self.max_length is None else "longest_first",
                max_length=self.max_length,
                padding=True,
                return_tensors="np",
                verbose=False,
            )
        return {name: np.asarray(array, dtype=np.int64) for name, array in answer.items()}

    def _frame_of_probe(self) -> Frame | None:
        """Find two texts in what the tokenizer makes of them; what is left is the frame."""
        texts = ["one", "two three"]
        first, second = plain_ids(self.tokenizer, texts)
        with ONE_AT_A_TIME:
            whole = self.tokenizer(*texts, truncation=False, return_token_type_ids=True)
        ids, types = whole["input_ids"], np.asarray(whole["token_type_ids"], dtype=np.int64)
        special = len(ids) - len(first) - len(second)
        for start in range(special + 1):
            for gap in range(special - start + 1):
                one, two = start + len(first), start + len(first) + gap
                if ids[start:one] == first and ids[two : two + len(second)] == second:
                    end = two + len(second)
                    around = [(0, start), (one, two), (end, len(ids))]
                    first_ids, middle_ids, last_ids = (
                        np.asarray(ids[a:b], dtype=np.int64) for a, b in around
                    )
                    before, between, behind = (types[a:b] for a, b in around)
                    kinds = before, int(types[start]), between, int(types[two]), behind
                    return Frame(first_ids, middle_ids, last_ids, kinds)
        return None

    def _agrees(self) -> bool:
        """Say whether pairs that are put together here are what the tokenizer makes of them."""
        most = 40 if self.max_length is None else self.max_length
        long = "one two three " * (most // 2 + 1)
        texts = ["", "one", "two, three!", long, long + "four five"]
        tokens = self.read(texts)
        i, j = (side.ravel() for side in np.indices((len(texts), len(texts))))
        ours, theirs = self.batch(tokens[i], tokens[j]), self._asked(tokens[i], tokens[j])
        return all(np.array_equal(ours[name], theirs[name]) for name in ours)


def longest(tokenizer: Any, config: Any, max_length: int | None) -> int | None:
    """Return how many tokens a model can read: what it and its tokenizer say, or fewer."""
    positions = _positions(config)
    limits = [positions] if positions > 0 else []
    own = getattr(tokenizer, "model_max_length", None)
    limits += [int(own)] if own and own < _NO_LIMIT else []
    most = min(limits) if limits else None
    if max_length is None:
        return most
    if not is_whole(max_length) or max_length < 1 or 0 < positions < max_length:
        raise InputError(
            f"max_length is {max_length!r}.",
            f"The model has positions for {positions or 'any number of'} tokens.",
            "Pass a positive integer within that, or None.",
        )
    return int(max_length)


#: Models whose positions are counted from behind the padding token's, as RoBERTa does it.
_BEHIND_PADDING = {
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "roberta-prelayernorm"),
    *("longformer", "mpnet", "data2vec-text", "ibert", "xmod", "esm", "luke", "mluke"),
}


def _positions(config: Any) -> int:
    """Return how many tokens have a position; some models never use the first few."""
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions > 0 and getattr(config, "model_type", "") in _BEHIND_PADDING:
        padding = getattr(config, "pad_token_id", None)
        positions -= 1 + (1 if padding is None else int(padding))
    return int(positions)


def _flat(starts: IntArray, counts: IntArray) -> IntArray:
    """Return counts[0] numbers from starts[0] on, counts[1] from starts[1] on, and so on."""
    ends = np.cumsum(counts)
    first = np.repeat(starts - (ends - counts), counts)
    return first + np.arange(int(ends[-1]) if len(ends) else 0)


def _ragged(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows and columns of counts[k] cells in row k, from starts[k] on."""
    return np.repeat(np.arange(len(counts)), counts), _flat(starts, counts)
