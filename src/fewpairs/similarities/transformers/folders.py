"""Folders of models: read without reports, and refused where something is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fewpairs.errors import InputError


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Silence a report that a head is new, or not used: that is why the model is read this way."""
    logging = transformers.utils.logging
    before, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bar:
            logging.enable_progress_bar()


def unreadable(model: str | Path, otherwise: str = "") -> InputError:
    """Say that there is no model; `otherwise`: what can be done instead."""
    return InputError(
        f"there is no model that can be read at {str(model)!r}.",
        "Nothing is downloaded.",
        f"Pass a folder with config.json, weights and tokenizer files{otherwise}.",
    )


def refuse_wordless(tokenizer: Any, model: str | Path) -> None:
    """Refuse a tokenizer that knows no words: one is made up where a folder has none."""
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise InputError(
            f"{str(model)!r} has no vocabulary.",
            "All words would be the same to its model.",
            "Put the tokenizer's files beside the weights, such as tokenizer.json or vocab.txt.",
        )


def refuse_unlearned(missing: Iterable[str], model: str | Path) -> None:
    """Refuse a model some of whose weights are nowhere."""
    names = sorted(missing)
    if names:
        more = f" and {len(names) - 3} others" if len(names) > 3 else ""  # noqa: PLR2004 - enough
        raise InputError(
            f"{str(model)!r} has no weights for {', '.join(names[:3])}{more}.",
            "They would be random numbers, and so would the similarities.",
            "Pass a folder whose weights and configuration belong together, and that was trained "
            "for what is asked of it.",
        )
